//go:build unix

package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// daemon is a server that runs as a process of its own.
type daemon struct {
	t       *testing.T
	cmd     *exec.Cmd
	address string
	ended   chan struct{} // closed when its messages end
}

// startDaemon starts a server at an address and waits until it is ready.
func startDaemon(t *testing.T, address string, args ...string) *daemon {
	t.Helper()
	program, err := exec.LookPath("odarchive") // testscript added it to the PATH
	if err != nil {
		t.Fatal(err)
	}
	d := &daemon{t: t, address: address, ended: make(chan struct{})}
	d.cmd = exec.Command(program,
		append([]string{"serve", "--no-crawl", "--token", "secret", "--log-level", "warn", "--listen", address}, args...)...)
	out, err := d.cmd.StderrPipe()
	if err == nil {
		err = d.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = d.cmd.Process.Kill() // it may have ended
		<-d.ended
	})
	go func() {
		defer close(d.ended)
		for in := bufio.NewScanner(out); in.Scan(); {
			t.Logf("%s: %s", address, in.Text())
		}
	}()
	for !isReady(address) {
		select {
		case <-d.ended:
			t.Fatalf("%v: it has ended", args)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return d
}

func isReady(address string) bool {
	res, err := http.Get("http://" + address + "/readyz")
	if err != nil {
		return false
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return err == nil && res.StatusCode == http.StatusOK
}

// wait waits for the end, which must be a good one.
func (d *daemon) wait() {
	d.t.Helper()
	<-d.ended
	if err := d.cmd.Wait(); err != nil {
		d.t.Errorf("the server ended with %v", err)
	}
}

// unusedAddress returns an address at which nobody listens, where a server can be started several times.
func unusedAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Whoever starts a server with timeout(1) sends it SIGTERM twice: as a child, and as a member of the group.
func TestASignalThatComesTwiceIsOneOrder(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, unusedAddress(t), "--data", filepath.Join(t.TempDir(), "data"), "--shutdown-delay", "100ms")
	for began := time.Now(); time.Since(began) < sameOrder/2; time.Sleep(time.Millisecond) {
		if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		select {
		case <-d.ended:
			d.wait()
			return
		default:
		}
	}
	d.wait()
}

// A supervisor may repeat its order while the server waits for load balancers.
func TestSIGTERMAgainChangesNothing(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, unusedAddress(t), "--data", filepath.Join(t.TempDir(), "data"), "--shutdown-delay", "2s")
	for _, after := range []time.Duration{0, sameOrder + sameOrder/4, 0} {
		time.Sleep(after)
		if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	d.wait()
}

// balancer leads each request to a server of which it has heard that it is ready. It asks them ten times a second.
type balancer struct {
	servers []string
	ready   []atomic.Bool
	next    atomic.Uint64
}

func (b *balancer) watch(ctx context.Context) {
	for ctx.Err() == nil {
		for i, s := range b.servers {
			b.ready[i].Store(isReady(s))
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// pick returns a server that was ready when it was last asked.
func (b *balancer) pick() string {
	for {
		if i := b.next.Add(1) % uint64(len(b.servers)); b.ready[i].Load() {
			return b.servers[i]
		}
	}
}

// Clients of two replicas behind a load balancer notice nothing when each is restarted, and the writer, too.
func TestARestartOfReplicasFailsNoRequest(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts servers again and again")
	}
	dir := t.TempDir()
	addresses := []string{unusedAddress(t), unusedAddress(t), unusedAddress(t)}
	start := func(i int) *daemon {
		args := []string{"--data", filepath.Join(dir, addresses[i][strings.LastIndexByte(addresses[i], ':')+1:]), "--shutdown-delay", "2s"}
		if i > 0 {
			args = append(args, "--follow", "http://"+addresses[0]+"/")
		}
		return startDaemon(t, addresses[i], args...)
	}
	var servers [3]*daemon
	for i := range servers {
		servers[i] = start(i)
	}
	b := &balancer{servers: addresses[1:], ready: make([]atomic.Bool, 2)}
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() { b.watch(ctx) })
	var answered, failed atomic.Int64
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	for range 4 {
		group.Go(func() {
			for ctx.Err() == nil {
				// A POST is not repeated when its connection turns out to be closed.
				res, err := client.Post("http://"+b.pick()+"/sparql", "application/sparql-query", strings.NewReader("ASK {}"))
				if err == nil {
					_, err = io.Copy(io.Discard, res.Body)
					res.Body.Close()
				}
				if err != nil || res.StatusCode != http.StatusOK {
					failed.Add(1)
					t.Logf("a request failed: %v, %v", err, res)
				}
				answered.Add(1)
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	for _, i := range []int{1, 2, 0, 1} {
		time.Sleep(time.Second)
		if err := servers[i].cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		servers[i].wait()
		servers[i] = start(i)
		for i > 0 && !b.ready[i-1].Load() {
			time.Sleep(10 * time.Millisecond)
		}
	}
	stop()
	group.Wait()
	for _, s := range servers {
		if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		s.wait()
	}
	if failed.Load() > 0 || answered.Load() < 100 {
		t.Errorf("%d of %d requests failed", failed.Load(), answered.Load())
	}
	t.Logf("%d requests", answered.Load())
}
