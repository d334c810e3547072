package data_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"odarchive/sparqlapi/data"
	"odarchive/sparqlapi/problem"
	"odarchive/triplestore"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
)

// log is a log of commits of one quad each, but for some large ones.
type log struct {
	trimmed uint64
	newest  atomic.Uint64
	large   map[uint64]int // pieces of 1,000 quads
	fails   error
}

func (l *log) Position() uint64 { return l.newest.Load() }

func (l *log) Changes(ctx context.Context, since uint64, f func(triplestore.Commit) error) (uint64, error) {
	if since < l.trimmed {
		return since, fmt.Errorf("%w: it begins after position %d", triplestore.ErrTrimmed, l.trimmed)
	}
	for p := since + 1; p <= l.newest.Load(); p++ {
		if l.large[p] == 0 {
			if err := f(triplestore.Commit{Position: p, Added: []term.Quad{quad(int(p))},
				Removed: []term.Quad{quad(-int(p))}}); err != nil {
				return p, err
			}
		}
		for n := range l.large[p] {
			c := triplestore.Commit{Position: p, More: n < l.large[p]-1}
			for i := range 1000 {
				c.Added = append(c.Added, quad(n*1000+i))
			}
			if err := f(c); err != nil {
				return p, err
			}
			if l.fails != nil && n > 100 {
				return p, l.fails
			}
		}
	}
	return l.newest.Load(), nil
}

func quad(n int) term.Quad {
	return term.Quad{S: term.IRI("http://example.org/s"), P: term.IRI("http://example.org/p"), O: term.String(fmt.Sprint(n))}
}

func newLog(newest uint64) *log {
	l := &log{large: map[uint64]int{}}
	l.newest.Store(newest)
	return l
}

func serve(t *testing.T, l *log) string {
	t.Helper()
	h := data.NewLog(data.LogOptions{Log: l, ID: "log1", Base: "http://base.example/", Logs: slog.New(slog.DiscardHandler)})
	mux := problem.Use(problem.Options{})(problem.Handler(h.Changes))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL + "/changes/rdf"
}

func get(t *testing.T, url string) (*http.Response, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return resp, string(b)
}

func TestCommitsAreTransactionsWithTheirNames(t *testing.T) {
	t.Parallel()
	resp, text := get(t, serve(t, newLog(2))+"?after=1")
	want := `H id <http://base.example/changes/rdf#2> .
H prev <http://base.example/changes/rdf#1> .
TX .
D <http://example.org/s> <http://example.org/p> "-2" .
A <http://example.org/s> <http://example.org/p> "2" .
TC .
`
	if text != want || resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "application/rdf-patch; charset=utf-8" {
		t.Errorf("%s %v\n%s", resp.Status, resp.Header, text)
	}
	if resp.Header.Get(data.HeaderPosition) != "2" || resp.Header.Get(data.HeaderNewest) != "2" ||
		resp.Header.Get(data.HeaderLog) != "log1" {
		t.Errorf("%v", resp.Header)
	}
}

func TestWhoFollowsThePositionsGetsEveryCommitOnce(t *testing.T) {
	t.Parallel()
	l := newLog(60_000)
	l.large[7], l.large[30_000] = 30, 1
	url := serve(t, l)
	var after, answers int
	var objects []string
	for {
		resp, text := get(t, fmt.Sprintf("%s?after=%d&log=log1", url, after))
		if resp.StatusCode == http.StatusNoContent {
			break
		}
		answers++
		p := rdfio.NewPatchReader(strings.NewReader(text))
		for {
			row, err := p.Read()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if row.Kind == rdfio.PatchBegin {
				after++
			}
			if row.Kind == rdfio.PatchAdd {
				objects = append(objects, row.Quad.O.Value())
			}
		}
		if got := resp.Header.Get(data.HeaderPosition); got != fmt.Sprint(after) {
			t.Fatalf("the answer has commits up to %d and says %s", after, got)
		}
	}
	if after != 60_000 || len(objects) != 60_000-2+31_000 || answers < 3 {
		t.Errorf("position %d, %d quads, %d answers", after, len(objects), answers)
	}
}

func TestAPositionThatTheLogDoesNotReachIsGone(t *testing.T) {
	t.Parallel()
	l := newLog(20)
	l.trimmed = 10
	url := serve(t, l)
	for query, want := range map[string]int{"": 410, "?after=9": 410, "?after=10": 200, "?after=20": 204, "?after=21": 410,
		"?after=15&log=other": 410, "?after=x": 400, "?after=-1": 400, "?wait=x": 400, "?wait=-1": 400, "?wait=NaN": 400} {
		resp, text := get(t, url+query)
		if resp.StatusCode != want {
			t.Errorf("%s: %s %s, want %d", query, resp.Status, text, want)
		}
		if want == 410 && !strings.Contains(text, "/rdf-graph-store") {
			t.Errorf("%s: %s does not say what to do", query, text)
		}
	}
}

func TestARequestWaitsForACommit(t *testing.T) {
	t.Parallel()
	l := newLog(5)
	url := serve(t, l)
	time.AfterFunc(300*time.Millisecond, func() { l.newest.Store(6) })
	if resp, text := get(t, url+"?after=5&wait=60"); resp.StatusCode != 200 || !strings.Contains(text, "#6>") {
		t.Errorf("%s %s", resp.Status, text)
	}
	if resp, _ := get(t, url+"?after=6&wait=0.2"); resp.StatusCode != 204 || resp.Header.Get(data.HeaderNewest) != "6" {
		t.Errorf("%s %v", resp.Status, resp.Header)
	}
}

func TestAnAnswerThatBreaksOffIsNotTakenForComplete(t *testing.T) {
	t.Parallel()
	l := newLog(1)
	l.large[1], l.fails = 200, io.ErrUnexpectedEOF
	resp, err := http.Get(serve(t, l) + "?after=0")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("the answer ended without an error")
	}
}
