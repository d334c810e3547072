package crawler

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/archive/content"
	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/queue/supervise"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/politeness"
	"odarchive/testdata/underrace"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
)

// tripping makes some steps of one URL's visit fail, by a panic or with an error.
func tripping(path string, fail error, steps ...string) func(step, url string) error {
	return func(step, url string) error {
		for _, s := range steps {
			if s == step && strings.HasSuffix(url, path) {
				if fail == nil {
					_ = []int{}[len(url)]
				}
				return fail
			}
		}
		return nil
	}
}

func TestAFaultOfThisProgramIsTheOutcomeOfOneURLAndOfNoOther(t *testing.T) {
	t.Parallel()
	const commit, bare, failure = "commit", "commit without what is inside", "commit the failure"
	for _, c := range []struct {
		steps   []string
		outcome catalog.Outcome
		class   catalog.ErrorClass
		listed  int
	}{
		{[]string{"fetch"}, catalog.NoVersion, catalog.ErrInternal, 1},
		{[]string{"detect"}, catalog.Archived, "", 1},
		{[]string{"inspect"}, catalog.Archived, "", 1},
		{[]string{commit}, catalog.Archived, "", 1},
		{[]string{commit + ", in the transaction"}, catalog.Archived, "", 1}, // others get their turn
		{[]string{commit, bare + ", in the transaction"}, catalog.NoVersion, catalog.ErrInternal, 1},
		{[]string{"detect", "inspect", commit, bare}, catalog.NoVersion, catalog.ErrInternal, 1},
		{[]string{commit, bare, failure}, catalog.NoVersion, catalog.ErrInternal, 0}, // which only the frontier can tell
	} {
		for _, fail := range []error{nil, kv.ErrTooBig, context.DeadlineExceeded} {
			s, n := newSite(t), newNode(t)
			var log lockedBuffer
			n.Log = slog.New(slog.NewTextHandler(&log, nil))
			n.trip = tripping("/odd.csv", fail, c.steps...)
			s.set("/odd.csv", "a,b\n1,2\n")
			s.set("/plain.csv", "a,b\n3,4\n")
			n.add(t, s.URL+"/odd.csv", s.URL+"/plain.csv")
			got := n.crawl(t, RunOptions{})
			what := fmt.Sprintf("%v in %v", fail, c.steps)
			if r := got["/odd.csv"]; r.Outcome != c.outcome || r.ErrorClass != c.class {
				t.Errorf("%s: %+v, want %s %s", what, r, c.outcome, c.class)
			}
			if r := got["/plain.csv"]; r.Outcome != catalog.Archived {
				t.Errorf("%s: the other URL: %+v", what, r)
			}
			if fail == nil && !strings.Contains(log.String(), "index out of range") || !strings.Contains(log.String(), "level=ERROR") {
				t.Errorf("%s: the log: %s", what, log.String())
			}
			status, err := n.Status()
			if err != nil || status.Internal.Count != c.listed || len(status.Internal.Newest) != c.listed || status.Internal.Since == 0 {
				t.Errorf("%s: %+v, %v, want %d listed", what, status.Internal, err, c.listed)
			}
			n.clock.advance(50 * time.Minute)
			if again := n.crawl(t, RunOptions{}); len(again) > 0 {
				t.Errorf("%s: fetched again soon: %v", what, again)
			}
		}
	}
}

// lockedBuffer is a buffer for several writers.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestAPanicInComparingVersionsCostsTheComparisonOnly(t *testing.T) {
	t.Parallel()
	s, n := newSite(t), newNode(t)
	s.set("/a.csv", "a,b\n1,2\n")
	n.add(t, s.URL+"/a.csv")
	n.crawl(t, RunOptions{})
	n.trip = tripping("/a.csv", nil, "compare")
	s.set("/a.csv", "a,b\n1,3\n")
	n.clock.advance(48 * time.Hour)
	if got := n.crawl(t, RunOptions{}); got["/a.csv"].Outcome != catalog.Archived || got["/a.csv"].Versions != 2 {
		t.Errorf("%+v, want a second version", got)
	}
	list, total, err := n.Pipeline.Archive.InternalFailures(t.Context(), 0)
	if err != nil || total != 1 || !list[0].Kept || !strings.Contains(list[0].Why, "compare") {
		t.Errorf("listed: %+v, %d, %v", list, total, err)
	}
}

func TestAnInternalFailureBacksOffAndIsForgottenWhenAVisitGoesWell(t *testing.T) {
	t.Parallel()
	s, n := newSite(t), newNode(t)
	s.set("/a.csv", "a,b\n1,2\n")
	n.add(t, s.URL+"/a.csv")
	n.trip = tripping("/a.csv", nil, "fetch")
	n.crawl(t, RunOptions{})
	for want := time.Hour; want <= 4*time.Hour; want *= 2 {
		u, err := n.Pipeline.Frontier.Get(s.URL + "/a.csv")
		if err != nil {
			t.Fatal(err)
		}
		if wait := u.Due.Sub(n.clock.now()); wait > want || wait < want-time.Minute {
			t.Errorf("due again in %s, want %s", wait, want)
		}
		n.clock.advance(want + time.Minute)
		n.crawl(t, RunOptions{})
	}
	list, _, err := n.Pipeline.Archive.InternalFailures(t.Context(), 0)
	if err != nil || len(list) != 1 || list[0].Times != 4 || list[0].Kept || !list[0].Since.Before(list[0].At) {
		t.Errorf("listed: %+v, %v, want four failures in a row", list, err)
	}
	n.trip = nil
	n.clock.advance(9 * time.Hour)
	if got := n.crawl(t, RunOptions{}); got["/a.csv"].Outcome != catalog.Archived {
		t.Errorf("%+v", got)
	}
	if _, total, err := n.Pipeline.Archive.InternalFailures(t.Context(), 0); err != nil || total != 0 {
		t.Errorf("%d still listed, %v", total, err)
	}
}

func TestTheLongestInternalPauseIsAWeek(t *testing.T) {
	t.Parallel()
	for failures, want := range map[int]time.Duration{0: time.Hour, 1: 2 * time.Hour, 7: 128 * time.Hour, 8: 168 * time.Hour,
		1 << 40: 168 * time.Hour} {
		if got := internalPause(failures); got != want {
			t.Errorf("after %d failures: %s, want %s", failures, got, want)
		}
	}
}

func TestOnlyTheArchivesOwnTroublesEndAVisit(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		nil:                    false,
		kv.ErrDiskFull:         true,
		kv.ErrWritesStopped:    true,
		kv.ErrClosed:           true,
		kv.ErrDamaged:          true,
		frontier.ErrLeaseLost:  true,
		syscall.EIO:            true,
		syscall.EMFILE:         true,
		syscall.ENAMETOOLONG:   false, // a stranger may have chosen the name
		fs.ErrClosed:           true,
		triplestore.ErrDamaged: true,
		triplestore.ErrBadQuad: false,
		&politeness.Wait{}:     true,
		&fetch.OwnTrouble{Err: errors.New("no descriptors")}: true,
		kv.ErrTooBig:                  false,
		context.DeadlineExceeded:      false, // of a step, while the visit goes on
		context.Canceled:              false,
		content.ErrDamaged:            false,
		archive.ErrBadRecord:          false,
		&supervise.Panic{Value: "no"}: false,
	} {
		if err != nil {
			err = fmt.Errorf("archive: commit: %w", err)
		}
		if got := endsVisit(t.Context(), err); got != want {
			t.Errorf("%v ends a visit: %v, want %v", err, got, want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if !endsVisit(ended, errors.New("any")) {
		t.Error("the visit goes on after the end of its context")
	}
}

// csvOf returns a CSV with so many columns and rows.
func csvOf(columns, rows int, cell func(row, column int) string) []byte {
	var b bytes.Buffer
	for row := -1; row < rows; row++ {
		for i := range columns {
			if i > 0 {
				b.WriteByte(',')
			}
			if row < 0 {
				fmt.Fprintf(&b, "col%d", i)
				continue
			}
			b.WriteString(cell(row, i))
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

func number(row, column int) string { return fmt.Sprint((row + 3) * column % 97) }
func words(row, column int) string  { return fmt.Sprintf("word %d of %d", row*column, column) }

// zipped returns a zip of so many files with the same bytes.
func zipped(t *testing.T, members int, body []byte) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := range members {
		w, err := z.Create(fmt.Sprintf("d%d/m%d.csv", i%100, i))
		if err == nil {
			_, err = w.Write(body)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Each of these files once ended the crawl, and every later one.
func TestFilesOfUnusualShapeAreArchivedAndTheCrawlGoesOn(t *testing.T) {
	t.Parallel()
	underrace.Skip(t)
	var keys strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&keys, ",\"k%d\":%d", i, i)
	}
	object := `{"a":1` + keys.String() + `}`
	shapes := map[string]string{
		"/numbers-4000.csv":       string(csvOf(4000, 3, number)),
		"/words-1600.csv":         string(csvOf(1600, 60, words)),
		"/wide-50000.csv":         string(csvOf(50_000, 3, number)),
		"/wide-words.csv":         string(csvOf(16_000, 30, words)),
		"/tables-100.zip":         zipped(t, 100, csvOf(20, 5, words)),
		"/members-1000.zip":       zipped(t, 1000, csvOf(3, 2, number)),
		"/members-12000.zip":      zipped(t, 12_000, csvOf(3, 2, number)),
		"/wide-tables-20.zip":     zipped(t, 20, csvOf(3000, 3, number)),
		"/keys-4000.json":         "[" + object + "," + object + "]",
		"/iris.nt":                longIRIs(),
		"/after-all-the-rest.csv": "a,b\n1,2\n",
	}
	s := newSite(t)
	dir, packs := t.TempDir(), t.TempDir()
	open := func() (*node, func()) {
		db, err := kv.Open(dir, kv.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return newNodeOf(t, db, packs, content.Options{NoSync: true, MinFree: -1})
	}
	n, closeNode := open()
	for path, body := range shapes {
		s.set(path, body)
		n.add(t, s.URL+path)
	}
	for path, r := range n.crawl(t, RunOptions{}) {
		if r.Outcome != catalog.Archived {
			t.Errorf("%s: %+v", path, r)
		}
	}
	if list, total, err := n.Pipeline.Archive.InternalFailures(t.Context(), 0); err != nil || total > 0 {
		t.Errorf("faults: %+v, %v", list, err)
	}
	closeNode()

	n, closeNode = open()
	defer closeNode()
	for path := range shapes {
		v, err := n.Pipeline.Archive.Newest(t.Context(), s.URL+path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		in, err := n.Pipeline.Archive.Inside(t.Context(), v.ID)
		if err != nil || in == nil {
			t.Errorf("%s: inside %v, %v", path, in, err)
		}
		if path == "/members-12000.zip" && (len(in.Members) != 10_000 || in.MembersOmitted != 2000) {
			t.Errorf("%s: %d members, %d omitted", path, len(in.Members), in.MembersOmitted)
		}
		s.set(path, strings.ReplaceAll(shapes[path], "word 2", "other 2")+" ")
	}
	n.clock.advance(48 * time.Hour)
	for path, r := range n.crawl(t, RunOptions{}) {
		if r.Outcome != catalog.Archived || r.Versions != 2 {
			t.Errorf("%s, the second time: %+v", path, r)
		}
	}
}

// longIRIs returns RDF whose predicates alone are larger than a record may be.
func longIRIs() string {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "<http://e.example/s> <http://e.example/%d/%s> \"o\" .\n", i, strings.Repeat("p", 50*i))
	}
	return b.String()
}
