//go:build browser

package ui_test

import (
	"bufio"
	"context"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"
)

// ofThis is the base of the IRIs of the archives below, which their servers do not have.
const ofThis = "https://archive.example/"

// history is the real program serving an archive with a past: three topics of five portals over five months, the last
// visit of which was twenty days ago.
type history struct {
	browser context.Context
	base    string // of the server, without a slash at its end
	program string
}

// startHistory builds the programs, makes the archive and serves it.
func startHistory(t *testing.T, ctx context.Context) *history {
	t.Helper()
	dir := t.TempDir()
	h := &history{browser: ctx, program: filepath.Join(dir, "odarchive")}
	for name, source := range map[string]string{"odarchive": "../cmd/odarchive", "samplearchive": "../cmd/samplearchive"} {
		if out, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", filepath.Join(dir, name),
			source).CombinedOutput(); err != nil {
			t.Fatalf("build: %v\n%s", err, out)
		}
	}
	data := filepath.Join(dir, "data")
	sample := exec.CommandContext(t.Context(), filepath.Join(dir, "samplearchive"), "-program", h.program, "-data", data, "-base", ofThis,
		"-months", "5", "-ago", "480h", "-only", "^(population|dogs|baby-names)-(wien|graz|nordstadt|bern|riverside|milltown)$")
	if out, err := sample.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	h.base = serve(t, h.program, "--data", data, "--base", ofThis, "--no-crawl")
	return h
}

// serve runs a server until the test ends, and returns its address.
func serve(t *testing.T, program string, flags ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	server := exec.CommandContext(ctx, program, append([]string{"serve", "--listen", "127.0.0.1:0", "--log-level", "error"}, flags...)...)
	server.Cancel = func() error { return server.Process.Signal(syscall.SIGTERM) }
	server.WaitDelay = 20 * time.Second
	out, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); server.Wait() }) // it ends by the signal, so its error is expected
	line, err := bufio.NewReader(out).ReadString('\n')
	where := regexp.MustCompile(`listening on ([^)]+)\)`).FindStringSubmatch(line)
	if where == nil {
		t.Fatalf("the server prints %q, %v", line, err)
	}
	go io.Copy(io.Discard, out) // ends with the server
	return "http://" + where[1]
}
