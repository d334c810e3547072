package crawler

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/archive/content"
	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/frontier"
)

// oneFile is a server of a file that does not change, and what it was asked.
type oneFile struct {
	*httptest.Server
	mu     sync.Mutex // guards the rest
	asked  []string   // the If-None-Match of the requests
	during func()     // is called during the next request; may be nil
}

const ownBytes = "id,name\n1,own\n"

func newOneFile(t *testing.T) *oneFile {
	f := &oneFile{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/a.csv" {
			http.NotFound(w, r)
			return
		}
		f.mu.Lock()
		tag, during := r.Header.Get("If-None-Match"), f.during
		f.asked, f.during = append(f.asked, tag), nil
		f.mu.Unlock()
		if during != nil {
			during()
		}
		w.Header().Set("ETag", `"own"`)
		if tag == `"own"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", "text/csv")
		io.WriteString(w, ownBytes)
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *oneFile) url() string { return f.URL + "/a.csv" }

// lastAsked returns the entity tag of the last request.
func (f *oneFile) lastAsked() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked[len(f.asked)-1]
}

// importForeign stores bytes that another archive says it got from a URL.
func (n *node) importForeign(t *testing.T, url, body string, at time.Time) {
	t.Helper()
	ref, err := n.Pipeline.Archive.Bytes().Put(t.Context(), strings.NewReader(body), content.PutOptions{})
	if err != nil {
		t.Error(err)
		return
	}
	_, err = n.Pipeline.Archive.Commit(t.Context(), archive.Visit{
		Activity: catalog.Activity{URL: url, Start: at, End: at, Outcome: catalog.Archived, Status: 200},
		Kept:     &archive.Kept{Ref: ref, Type: "text/csv", FileName: "a.csv", ETag: `"theirs"`}, Past: &archive.Past{},
	}, nil)
	if err != nil {
		t.Error(err)
	}
}

// latestIsOwn checks that the latest version has the bytes of oneFile.
func (n *node) latestIsOwn(t *testing.T, url string) {
	t.Helper()
	v, err := n.Pipeline.Archive.Latest(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	body, err := n.Pipeline.Archive.Open(t.Context(), v.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	if text, err := io.ReadAll(body); err != nil || string(text) != ownBytes {
		t.Errorf("the latest version, %s of %s, is %q, %v", v.ID, v.At, text, err)
	}
}

const foreign = "id,name\n1,another\n2,archive\n"

func TestAVisitAfterACaptureAmongOurVisitsConfirmsOurBytes(t *testing.T) {
	t.Parallel()
	n, f := newNode(t), newOneFile(t)
	n.add(t, f.url())
	for range 3 {
		n.crawl(t, RunOptions{})
		n.clock.advance(48 * time.Hour)
	}
	n.importForeign(t, f.url(), foreign, n.clock.now().Add(-72*time.Hour))
	n.latestIsOwn(t, f.url())
	r := n.crawl(t, RunOptions{})["/a.csv"]
	if r.Outcome != catalog.Unchanged || r.Status != 304 || f.lastAsked() != `"own"` {
		t.Errorf("%+v, asked with %q", r, f.lastAsked())
	}
	n.latestIsOwn(t, f.url())
}

func TestOurValidatorsAreNotSentForTheBytesOfAnotherArchive(t *testing.T) {
	t.Parallel()
	n, f := newNode(t), newOneFile(t)
	n.add(t, f.url())
	for range 2 {
		n.crawl(t, RunOptions{})
		n.clock.advance(48 * time.Hour)
	}
	n.importForeign(t, f.url(), foreign, n.clock.now().Add(-time.Hour)) // later than our last visit
	r := n.crawl(t, RunOptions{})["/a.csv"]
	if r.Outcome != catalog.Archived || r.Status != 200 || r.Why != "" || f.lastAsked() != "" {
		t.Errorf("%+v, asked with %q", r, f.lastAsked())
	}
	n.latestIsOwn(t, f.url())
	if u, err := n.Pipeline.Frontier.Get(f.url()); err != nil || u.Liar || u.ETag != `"own"` {
		t.Errorf("the server is called a liar: %v, its entity tag is %s, %v", u.Liar, u.ETag, err)
	}
	n.clock.advance(48 * time.Hour)
	if r = n.crawl(t, RunOptions{})["/a.csv"]; r.Outcome != catalog.Unchanged || r.Status != 304 {
		t.Errorf("the visit after that: %+v", r)
	}
}

func TestACaptureThatIsImportedDuringARequestIsNotWhatTheAnswerConfirms(t *testing.T) {
	t.Parallel()
	n, f := newNode(t), newOneFile(t)
	n.add(t, f.url())
	n.crawl(t, RunOptions{})
	n.clock.advance(48 * time.Hour)
	f.mu.Lock()
	f.during = func() { n.importForeign(t, f.url(), foreign, n.clock.now().Add(-time.Hour)) }
	f.mu.Unlock()
	r := n.crawl(t, RunOptions{})["/a.csv"]
	if r.Outcome != catalog.Archived || f.lastAsked() != `"own"` {
		t.Errorf("%+v, asked with %q", r, f.lastAsked())
	}
	n.latestIsOwn(t, f.url())
	if u, err := n.Pipeline.Frontier.Get(f.url()); err != nil || u.Liar {
		t.Errorf("the server is called a liar: %v, %v", u.Liar, err)
	}
}

func TestAWorkerIsToldNoValidatorsOfOtherBytesAndConfirmsWhatItAskedFor(t *testing.T) {
	t.Parallel()
	n, f := newNode(t), newOneFile(t)
	n.add(t, f.url())
	n.crawl(t, RunOptions{})
	own, err := n.Pipeline.Archive.Latest(t.Context(), f.url())
	if err != nil {
		t.Fatal(err)
	}
	u, err := n.Pipeline.Frontier.Get(f.url())
	if err != nil {
		t.Fatal(err)
	}
	job := frontier.Job{URL: u.URL, Key: u.Key, ETag: u.ETag, LastModified: u.LastModified, History: u.History, Fetches: u.Fetches}
	office := &Office{Pipeline: n.Pipeline}
	told, err := office.Describe(t.Context(), job)
	if err != nil || told.ETag != `"own"` || told.Latest == nil || told.Latest.Digests != own.Digests {
		t.Errorf("before the import, a worker is told %+v, %v", told, err)
	}
	n.clock.advance(48 * time.Hour)
	n.importForeign(t, f.url(), foreign, n.clock.now().Add(-time.Hour))
	if told, err = office.Describe(t.Context(), job); err != nil || told.ETag != "" || told.Latest == nil ||
		told.Latest.Digests == own.Digests {
		t.Errorf("after the import, a worker is told %+v, %v", told, err)
	}
	if v, err := n.Pipeline.asked(t.Context(), job); err != nil || v == nil || v.ID != own.ID {
		t.Errorf("a worker that asked before the import confirms %+v, %v; want %s", v, err, own.ID)
	}
}
