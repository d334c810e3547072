package buckettest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"odarchive/triplestore/bucket"
)

// Gateway is a running versitygw with one bucket, whose objects are files of a folder.
type Gateway struct {
	URL  string // of the bucket, for bucket.Open
	Root string // the folder of the bucket

	t    testing.TB
	port int
	cmd  *exec.Cmd
}

// The gateway's credentials, which Getenv returns.
const (
	accessKey = "odarchive-test"
	secretKey = "not-a-secret-of-anybody"
)

// StartGateway runs versitygw until the test ends. It skips the test if the program is neither named by $VERSITYGW nor
// on the PATH.
func StartGateway(t testing.TB) *Gateway {
	t.Helper()
	program := os.Getenv("VERSITYGW")
	if program == "" {
		found, err := exec.LookPath("versitygw")
		if err != nil {
			t.Skip("versitygw is not installed: set VERSITYGW, or put it on the PATH, to test with a real object store")
		}
		program = found
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "archive"), 0o755); err != nil {
		t.Fatal(err)
	}
	g := &Gateway{t: t, port: port, Root: filepath.Join(root, "archive")}
	g.URL = fmt.Sprintf("s3://archive/some/prefix?endpoint=http://127.0.0.1:%d&region=us-east-1", port)
	g.cmd = exec.Command(program)
	g.Start()
	t.Cleanup(g.Kill)
	return g
}

// Getenv returns the gateway's credentials as bucket.Options expects them.
func (g *Gateway) Getenv(name string) string {
	switch name {
	case "AWS_ACCESS_KEY_ID":
		return accessKey
	case "AWS_SECRET_ACCESS_KEY":
		return secretKey
	}
	return ""
}

// Environ returns the credentials for the environment of a process.
func (g *Gateway) Environ() []string {
	return []string{"AWS_ACCESS_KEY_ID=" + accessKey, "AWS_SECRET_ACCESS_KEY=" + secretKey}
}

// Open opens a folder of the gateway's bucket.
func (g *Gateway) Open(o bucket.Options) bucket.Bucket {
	g.t.Helper()
	o.Getenv = g.Getenv
	b, err := bucket.Open(context.Background(), g.URL, o)
	if err != nil {
		g.t.Fatal(err)
	}
	return b
}

// Start runs the gateway, also again after Kill, and waits until it answers.
func (g *Gateway) Start() {
	g.t.Helper()
	address := fmt.Sprintf("127.0.0.1:%d", g.port)
	g.cmd = exec.Command(g.cmd.Path, "--quiet", "--port", address, "--region", "us-east-1", "--access", accessKey, "--secret", secretKey,
		"posix", filepath.Dir(g.Root))
	if err := g.cmd.Start(); err != nil {
		g.t.Fatalf("start %s: %v", g.cmd.Path, err)
	}
	for range 1000 {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	g.t.Fatal("versitygw does not answer")
}

// Kill ends the gateway at once. It does nothing if it does not run.
func (g *Gateway) Kill() {
	if g.cmd.ProcessState == nil {
		_ = g.cmd.Process.Kill() // it may have ended
		_ = g.cmd.Wait()         // "signal: killed"
	}
}

// Pause stops the gateway with SIGSTOP: it accepts connections and does not answer.
func (g *Gateway) Pause() { _ = g.cmd.Process.Signal(syscall.SIGSTOP) }

// Continue ends a Pause.
func (g *Gateway) Continue() { _ = g.cmd.Process.Signal(syscall.SIGCONT) }
