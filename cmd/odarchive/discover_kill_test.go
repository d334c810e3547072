package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"odarchive/crawler/follow/discover"
)

// town is a site of 30 lists with 10 pages each, of which every one has a file. It keeps account of who asks for what.
type town struct {
	mu    sync.Mutex // guards what follows
	asked map[string]int
	all   int
	until func(all int) bool // kills the asker; may be nil
}

func (s *town) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked[r.URL.Path]++
	s.all++
	killed := s.until != nil && s.until(s.all)
	s.mu.Unlock()
	if killed {
		return
	}
	n := 0
	_, _ = fmt.Sscan(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:], &n)
	w.Header().Set("Content-Type", "text/html")
	switch {
	case r.URL.Path == "/robots.txt":
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, "User-agent: *\nDisallow: /forbidden/\n")
	case r.URL.Path == "/":
		fmt.Fprint(w,
			`<html><title>Town</title><a href="/list/0">Records</a> <a href="/forbidden/1">Data</a> <a `+
				`href="/forbidden/2.csv">Data</a></html>`)
	case strings.HasPrefix(r.URL.Path, "/list/") && n < 30:
		for i := range 10 {
			fmt.Fprintf(w, `<li><a href="/record/%d">Record</a></li>`, n*10+i)
		}
		fmt.Fprintf(w, `<p><a href="/list/%d">next</a></p>`, n+1)
	case strings.HasPrefix(r.URL.Path, "/record/"):
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, n))
		if r.Header.Get("If-None-Match") == w.Header().Get("ETag") {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprintf(w, `<h1>Record %d</h1><a href="/files/%d.csv">Table %d</a>`, n, n, n)
	default:
		http.NotFound(w, r)
	}
}

// The test kills a discovery (SIGKILL) at certain requests and starts it again. In the end every file must be
// registered, none reported twice, few pages asked for twice, and the budget kept.
func TestADiscoveryThatIsKilledGoesOn(t *testing.T) {
	t.Parallel()
	s := &town{asked: map[string]int{}}
	server := httptest.NewServer(s)
	defer server.Close()
	data := t.TempDir()
	out, err := os.Create(filepath.Join(t.TempDir(), "found.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	program, err := exec.LookPath("odarchive") // testscript added it to the PATH
	if err != nil {
		t.Fatal(err)
	}
	kills := []int{1, 40, 163, 290}
	for i := range len(kills) + 1 {
		cmd := exec.CommandContext(t.Context(), program, "discover", server.URL, "--data", data, "--json", "--allow-private-hosts",
			"--host-delay", "1ms", "--log-level", "error", "--budget", "700")
		cmd.Stdout = out
		s.mu.Lock()
		if s.until = nil; i < len(kills) {
			s.until = func(all int) bool { return all == kills[i] && cmd.Process.Kill() == nil }
		}
		err := cmd.Start() // before the first request is counted, which may kill it
		s.mu.Unlock()
		if err == nil {
			err = cmd.Wait()
		}
		if err == nil != (i == len(kills)) {
			t.Fatalf("run %d: %v", i, err)
		}
	}
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	reported := map[string]int{}
	for line := range strings.Lines(string(text)) {
		var f discover.Find
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if reported[f.URL]++; reported[f.URL] > 1 {
			t.Errorf("%s was reported again", f.URL)
		}
	}
	if len(reported) != 300 {
		t.Errorf("%d files were reported", len(reported))
	}
	if _, files := harvested(t, data); len(files) != 300 {
		t.Errorf("%d files are registered", len(files))
	}
	repeated := 0
	for path, n := range s.asked {
		if strings.HasPrefix(path, "/forbidden/") || strings.HasPrefix(path, "/files/") {
			t.Errorf("%s was asked for", path)
		}
		repeated += n - 1
	}
	if repeated > 50*len(kills) || s.all > 700 {
		t.Errorf("killed %d times: %d requests, %d of them again", len(kills), s.all, repeated)
	}
}
