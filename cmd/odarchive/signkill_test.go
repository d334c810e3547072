package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"odarchive/cmd/internal/faces"
	"odarchive/crawler/archive/transparency"
)

// signTime bounds one request of the test to a server. It is far beyond what the slowest machine needs.
const signTime = 2 * time.Minute

// A checkpoint that anybody has got is of a tree that the archive still continues, whenever the server that signs and
// crawls was killed (SIGKILL). The key can go on signing, and no size has two trees.
func TestAKilledSignerNeverTakesBackWhatItGaveOut(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for seconds")
	}
	t.Parallel()
	var visits atomic.Int64
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/csv")
		fmt.Fprintf(w, "visit\n%d\n", visits.Add(1)) // each visit is a version
	}))
	t.Cleanup(web.Close)
	dir := t.TempDir()
	data := filepath.Join(dir, "archive")
	add := []string{"add", "--data", data}
	for i := range 8 {
		add = append(add, fmt.Sprintf("%s/%d.csv", web.URL, i))
	}
	odarchive(t, add...)
	odarchive(t, "log", "key", "new", "--origin", "archive.example/log", "--data", data)
	given := map[int64][]byte{} // checkpoints that were given out, by the size of their trees
	for i := range 5 {
		for _, note := range signUntilKilled(t, data, i+1, time.Duration(i*17)*time.Millisecond) {
			_, tree, err := transparency.ParseNote(note)
			if err != nil {
				t.Fatal(err)
			}
			if before, ok := given[tree.N]; ok && bodyOf(t, before) != bodyOf(t, note) {
				t.Fatalf("two trees of %d versions are signed:\n%s\n%s", tree.N, before, note)
			}
			given[tree.N] = note
		}
	}
	odarchive(t, "log", "sign", "--data", data, "-o", filepath.Join(dir, "last"))
	static := filepath.Join(dir, "static") // to open the archive once, however many checkpoints there are
	odarchive(t, "log", "publish", static, "--data", data)
	for size, note := range given {
		file := filepath.Join(dir, fmt.Sprintf("%d.checkpoint", size))
		if err := os.WriteFile(file, note, 0o600); err != nil {
			t.Fatal(err)
		}
		status, out, errs := says(t, "verify", "--checkpoint", file, "--against", static)
		if status != 0 || !strings.Contains(out, fmt.Sprintf("the %d versions of the checkpoint are the first of", size)) {
			t.Errorf("the checkpoint of %d versions: %d %s %s", size, status, out, errs)
		}
	}
	if status, out, errs := says(t, "check", "--data", data); status != 0 {
		t.Errorf("check: %d %s %s", status, out, errs)
	}
	t.Logf("%d checkpoints were given out by servers that were killed", len(given))
}

// signUntilKilled runs a server that crawls, lets it sign again and again, and kills it some time after it has signed n
// times, which is mostly while it signs. It returns what it signed.
func signUntilKilled(t *testing.T, data string, n int, delay time.Duration) (signed [][]byte) {
	t.Helper()
	server := launch(t, "serve", "--data", data, "--listen", "127.0.0.1:0", "--log-level", "error",
		"--allow-private-hosts", "--host-delay", "1ms", "--min-interval", "20ms", "--max-interval", "50ms")
	var once sync.Once
	kill := func() {
		once.Do(func() {
			_ = server.Process.Kill()
			_ = server.Wait()
		})
	}
	t.Cleanup(kill)
	begun := time.Now()
	remote := faces.HolderOf(t.Context(), data)
	for ; remote == nil; remote = faces.HolderOf(t.Context(), data) {
		if time.Since(begun) > signTime {
			t.Fatal("the server does not answer")
		}
		time.Sleep(10 * time.Millisecond)
	}
	killed := make(chan struct{})
	for {
		ctx, cancel := context.WithTimeout(t.Context(), signTime)
		var note bytes.Buffer
		result, err := remote.RunCommand(ctx, "log sign", faces.CommandOrder{}, faces.Terminal{File: &note, Stderr: io.Discard})
		err = cmp.Or(err, errorOf(result))
		late := ctx.Err() != nil
		cancel()
		select {
		case <-killed:
			return signed
		default:
		}
		switch {
		case late:
			t.Fatalf("the server has not answered within %s", signTime)
		case err == nil:
			signed = append(signed, note.Bytes())
		case time.Since(begun) > 2*signTime:
			t.Fatalf("the server signs nothing: %v", err)
		default:
			time.Sleep(time.Millisecond) // the log may be empty as yet, or the server is being killed
		}
		if err == nil && len(signed) == n {
			go func() {
				defer close(killed)
				time.Sleep(delay) // the moment is the point of the test; nothing waits for an effect
				kill()
			}()
		}
	}
}

func bodyOf(t *testing.T, note []byte) string {
	t.Helper()
	body, err := transparency.Body(note)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
