package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/archive/events"
)

// A hook is told of the changes of crawls. The test kills the crawls (SIGKILL), and the hook refuses some requests. In
// the end the hook must have been told of each change, in order. Only changes at a kill may be told twice.
func TestAHookOfCrawlsThatAreKilledIsToldOfEveryChange(t *testing.T) {
	t.Parallel()
	var state atomic.Int64
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/csv")
		fmt.Fprintf(w, "path,n\n%s,%d\n", r.URL.Path, state.Add(1)) // another version each time
	}))
	defer files.Close()
	var mu sync.Mutex
	var told []uint64
	asked := 0
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		var change events.Change
		if err := json.NewDecoder(r.Body).Decode(&change); err != nil || r.Header.Get("Webhook-Signature") == "" {
			t.Errorf("a bad message: %v, %v", err, r.Header)
		}
		if asked++; asked%10 == 9 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		told = append(told, change.Event)
	}))
	defer hook.Close()
	count := func() int { mu.Lock(); defer mu.Unlock(); return len(told) }

	data, secret := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("0123456789abcdef0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	add := []string{"add", "--data", data}
	for i := range 5 {
		add = append(add, fmt.Sprintf("%s/%d.csv", files.URL, i))
	}
	odarchive(t, add...)
	crawl := []string{"crawl", "--data", data, "--allow-private-hosts", "--host-delay", "1ms", "--min-interval", "10ms", "--max-interval",
		"20ms", "--log-level", "error",
		"--hook", hook.URL + "/in kind=all", "--hook-secret-file", secret}
	const kills = 3
	for range kills {
		before := count()
		cmd := launch(t, crawl...)
		for began := time.Now(); count() < before+4 && time.Since(began) < 30*time.Second; {
			time.Sleep(time.Millisecond)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		var exit *exec.ExitError
		if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
	}
	cfg := config.Defaults()
	cfg.Data = data
	happened := func() (n uint64) {
		node, err := app.Open(t.Context(), cfg, slog.New(slog.DiscardHandler), store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer node.Close()
		if n, err = node.Archive.EventCount(); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for began := time.Now(); time.Since(began) < 60*time.Second; { // each time, one that fails ends it
		odarchive(t, append(crawl, "--max-fetches", "1")...)
		if mu.Lock(); len(told) > 0 && told[len(told)-1]+1 == happened() {
			mu.Unlock()
			break
		}
		mu.Unlock()
	}
	next, again := uint64(0), 0
	for _, seq := range told {
		switch {
		case seq == next:
			next++
		case seq+1 == next:
			again++
		default:
			t.Fatalf("event %d came when %d was due: %v", seq, next, told)
		}
	}
	if n := happened(); next != n || n < 4*kills || again > kills {
		t.Errorf("told of %d of %d changes, %d of them twice", next, n, again)
	}
	t.Logf("%d changes, %d told twice", next, again)
}
