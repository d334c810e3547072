//go:build campaign

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"odarchive/triplestore/bucket/buckettest"
	"odarchive/triplestore/disk/disktest"
)

// failoverBase is the base of the archives, which stays wherever they are served.
const failoverBase = "http://archive.example/"

// failoverWorld is a web, a bucket, and what writers have acknowledged.
type failoverWorld struct {
	t          *testing.T
	r          *rand.Rand
	round      int
	web        []*httptest.Server
	root       string // of the directories of archives, a small disk
	bucketRoot string // of the bucket, another one; "" for a gateway
	url        string // of the bucket
	gateway    *buckettest.Gateway
	dirs, next int // directories and files so far

	mu      sync.Mutex     // guards the fields below
	visited map[string]int // URLs of files by their numbers
	updated map[int]bool
}

func newFailoverWorld(t *testing.T, kind string, r *rand.Rand) *failoverWorld {
	w := &failoverWorld{t: t, r: r, visited: make(map[string]int), updated: make(map[int]bool)}
	for range 6 { // each is a host
		s := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, q *http.Request) {
			number, err := strconv.Atoi(strings.TrimPrefix(q.URL.Path, "/f/"))
			if err != nil {
				http.NotFound(out, q)
				return
			}
			out.Header().Set("Content-Type", "application/octet-stream")
			_, _ = out.Write(webFile(number))
		}))
		t.Cleanup(s.Close)
		w.web = append(w.web, s)
	}
	w.root = disktest.Small(t, "2g")
	if kind == "s3" {
		w.gateway = buckettest.StartGateway(t)
		w.url = w.gateway.URL
	} else {
		w.bucketRoot = disktest.Small(t, "2g")
		w.url = "file://" + filepath.Join(w.bucketRoot, "bucket")
	}
	return w
}

// webFile returns the bytes of a file of the web, which cannot be compressed. Every 20th is big.
func webFile(number int) []byte {
	size := 300 + number*7919%40_000
	if number%20 == 0 {
		size = 1<<20 + number*1009%(2<<20)
	}
	b := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{byte(number), byte(number >> 8), byte(number >> 16), 1}).Read(b) // never fails
	return b
}

func (w *failoverWorld) newDir() string {
	w.dirs++
	return filepath.Join(w.root, fmt.Sprint("archive", w.dirs))
}

func (w *failoverWorld) command(args ...string) *exec.Cmd {
	program, err := exec.LookPath("odarchive") // testscript added it to the PATH
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.CommandContext(w.t.Context(), program, args...)
	if w.gateway != nil {
		cmd.Env = append(os.Environ(), w.gateway.Environ()...)
	}
	return cmd
}

// machine is a running server with its directory.
type machine struct {
	w       *failoverWorld
	cmd     *exec.Cmd
	dir     string
	address string
	ended   chan struct{}
	last    []string // lines of its log
}

var visitDone = regexp.MustCompile(`msg="visit done" .*url=(\S+) outcome=(\S+)`)

// serve starts a server and waits until it answers: a follower of another one, if that is not nil.
func (w *failoverWorld) serve(dir string, follows *machine, args ...string) *machine {
	w.t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0") // a follower that is promoted listens again
	if err != nil {
		w.t.Fatal(err)
	}
	listen := free.Addr().String()
	free.Close()
	args = append([]string{"serve", "--data", dir, "--listen", listen, "--base", failoverBase, "--token", "secret", "--backup-to", w.url,
		"--backup-wait", "--allow-private-hosts", "--host-delay", "5ms", "--log-level", "info"}, args...)
	if follows != nil {
		args = append(args, "--follow", follows.address)
	}
	s := &machine{w: w, cmd: w.command(args...), dir: dir, address: "http://" + listen, ended: make(chan struct{})}
	out, err := s.cmd.StderrPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	go s.read(out)
	w.t.Cleanup(s.kill)
	s.await("ready", "/readyz", "ok")
	return s
}

// read reads the log: a visit is acknowledged when it is there.
func (s *machine) read(out io.Reader) {
	defer close(s.ended)
	in := bufio.NewScanner(out)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		line := in.Text()
		s.w.mu.Lock()
		if m := visitDone.FindStringSubmatch(line); m == nil {
			s.last = append(s.last[max(0, len(s.last)-40):], line)
		} else if m[2] == "archive" {
			u, err := url.Parse(m[1])
			if number, failed := strconv.Atoi(strings.TrimPrefix(u.Path, "/f/")); err == nil && failed == nil {
				s.w.visited[m[1]] = number
			}
		}
		s.w.mu.Unlock()
	}
}

// await waits until a page says something.
func (s *machine) await(what, path, text string) {
	s.w.t.Helper()
	for range 1200 {
		res, err := http.Get(s.address + path)
		if err == nil {
			body, failed := io.ReadAll(res.Body)
			res.Body.Close()
			if failed == nil && strings.Contains(string(body), text) {
				return
			}
		}
		select {
		case <-s.ended:
			s.w.t.Fatalf("round %d: %s has ended:\n%s", s.w.round, s.dir, strings.Join(s.last, "\n"))
		case <-time.After(100 * time.Millisecond):
		}
	}
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.t.Fatalf("round %d: %s is not %s:\n%s", s.w.round, s.dir, what, strings.Join(s.last, "\n"))
}

// awaitWhole waits until the backup has a complete copy, from which on nothing that is acknowledged may be lost.
func (s *machine) awaitWhole() {
	s.w.t.Helper()
	s.await("the writer with a complete copy", "/metrics", "\nodarchive_backup_whole 1")
}

func (s *machine) kill() {
	_ = s.cmd.Process.Kill() // it may have ended
	<-s.ended
	_ = s.cmd.Wait() // "signal: killed"
}

// load lets clients write to a server until stop is called, which says what was acknowledged.
func (w *failoverWorld) load(s *machine) (stop func() string) {
	ctx, cancel := context.WithCancel(w.t.Context())
	visits, updates := w.acknowledged()
	var group sync.WaitGroup
	var first = w.next
	w.next += 600
	group.Go(func() {
		for from := first; from < first+600 && ctx.Err() == nil; from += 60 {
			args := []string{"add", "--data", s.dir}
			for number := from; number < from+60; number++ {
				args = append(args, fmt.Sprintf("%s/f/%d", w.web[number%len(w.web)].URL, number))
			}
			cmd := w.command(args...)
			cmd.Stderr = os.Stderr
			_ = cmd.Start() // a server that is stopped or killed refuses
			done := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
			_ = cmd.Wait()
			done()
		}
	})
	for client := range 3 {
		group.Go(func() {
			for number := first*10 + client; ctx.Err() == nil; number += 3 {
				if w.update(ctx, s, number) {
					w.mu.Lock()
					w.updated[number] = true
					w.mu.Unlock()
					time.Sleep(2 * time.Millisecond)
				} else {
					time.Sleep(50 * time.Millisecond)
				}
			}
		})
	}
	return func() string {
		cancel()
		group.Wait()
		v, u := w.acknowledged()
		return fmt.Sprintf("%d visits and %d updates acknowledged", v-visits, u-updates)
	}
}

func (w *failoverWorld) acknowledged() (visits, updates int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.visited), len(w.updated)
}

// update inserts a number, and reports whether that was acknowledged.
func (w *failoverWorld) update(ctx context.Context, s *machine, number int) bool {
	body := url.Values{"update": {fmt.Sprintf("INSERT DATA { <urn:x:a> <urn:x:n> %d }", number)}}.Encode()
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, s.address+"/sparql", strings.NewReader(body))
	if err != nil {
		return false
	}
	q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	q.Header.Set("Authorization", "Bearer secret")
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, res.Body)
	return err == nil && res.Body.Close() == nil && res.StatusCode < 300
}
