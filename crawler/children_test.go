package crawler

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/examine"
	"odarchive/crawler/web/fetch"
)

// The test binary is its own child.
func TestMain(m *testing.M) {
	if examine.IsChild() {
		os.Exit(examine.Serve())
	}
	os.Exit(m.Run())
}

// examiner returns what all tests of this package examine files with: this process, or children if ODARCHIVE_EXAMINE is
// "children".
func examiner(t testing.TB) *examine.Pool {
	if os.Getenv("ODARCHIVE_EXAMINE") == "children" {
		return children(t, "")
	}
	return nil
}

func children(t testing.TB, notes string) *examine.Pool {
	t.Helper()
	p, err := examine.New(examine.Options{Children: 2, Memory: 256 << 20, Notes: notes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func (n *node) examineWith(p *examine.Pool) {
	n.Pipeline.Examine = p
	n.Pipeline.Archive.ExamineWith(p)
}

// bombDocument is a document of Word with one text of 400 MB, which its decoder holds in one piece. No count in the
// file says so beforehand, so that it is the memory of the process that ends it.
func bombDocument(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	add := func(name, head string, text int, tail string) {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, head)
		}
		for block := bytes.Repeat([]byte("a"), 1<<20); err == nil && text > 0; text -= len(block) {
			_, err = w.Write(block)
		}
		if err == nil {
			_, err = io.WriteString(w, tail)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	add("[Content_Types].xml", `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">`+
		`<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.`+
		`wordprocessingml.document.main+xml"/></Types>`, 0, "")
	add("word/document.xml", `<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/`+
		`2006/main"><w:body><w:p><w:r><w:t>`, 400<<20, `</w:t></w:r></w:p></w:body></w:document>`)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestAHostileFileCostsAChildAndHasASentence(t *testing.T) {
	t.Parallel()
	s, n := newSite(t), newNode(t)
	n.examineWith(children(t, ""))
	bomb := bombDocument(t)
	s.set("/bomb.docx", bomb)
	s.set("/good.csv", "a,b\n1,2\n")
	n.add(t, s.URL+"/bomb.docx", s.URL+"/good.csv")
	got := n.crawl(t, RunOptions{})
	if r := got["/bomb.docx"]; r.Outcome != catalog.Archived ||
		r.DetectedType != "application/vnd.openxmlformats-officedocument.wordprocessingml.document" {
		t.Errorf("the bomb: %+v", r)
	}
	if r := got["/good.csv"]; r.Outcome != catalog.Archived || r.DetectedType != "text/csv" {
		t.Errorf("the other file: %+v", r)
	}
	v, err := n.Pipeline.Archive.Newest(t.Context(), s.URL+"/bomb.docx")
	if err != nil {
		t.Fatal(err)
	}
	in, err := n.Pipeline.Archive.Inside(t.Context(), v.ID)
	if err != nil || in == nil || len(in.Faults) != 1 || in.Faults[0] != "inspect: examining it took more than 256 MiB of memory" {
		t.Errorf("inside: %+v, %v", in, err)
	}
	list, total, err := n.Pipeline.Archive.InternalFailures(t.Context(), 0)
	if err != nil || total != 1 || !list[0].Kept || !strings.Contains(list[0].Why, "256 MiB") {
		t.Errorf("listed: %+v, %d, %v", list, total, err)
	}
	body, err := n.Pipeline.Archive.Open(t.Context(), v.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	var held bytes.Buffer
	if _, err := held.ReadFrom(body); err != nil || held.String() != bomb {
		t.Errorf("its bytes: %d, %v", held.Len(), err)
	}
	s.set("/bomb.docx", bomb+"PAR1")
	s.set("/good.csv", "a,b\n1,2\n3,4\n")
	n.clock.advance(48 * time.Hour)
	n.crawl(t, RunOptions{})
	if v, err = n.Pipeline.Archive.Newest(t.Context(), s.URL+"/good.csv"); err != nil {
		t.Fatal(err)
	}
	if change, err := n.Pipeline.Archive.Change(t.Context(), v.ID); err != nil || change == nil || change.RowsAdded != 1 {
		t.Errorf("what changed in the other file: %+v, %v", change, err)
	}
	tables, _, err := n.Pipeline.Archive.Tables(t.Context(), v)
	if err != nil || len(tables) != 1 {
		t.Fatal(tables, err)
	}
	rows := 0
	err = n.Pipeline.Archive.EachRowFrom(t.Context(), v, tables[0], inspect.Marks{}, func([][]byte) error { rows++; return nil })
	if err != nil || rows != 2 {
		t.Errorf("%d rows, %v", rows, err)
	}
}

// A file on disk goes to a child as a descriptor.
func TestALargeFileIsExaminedInAChild(t *testing.T) {
	t.Parallel()
	s, n := newSite(t), newNode(t)
	n.examineWith(children(t, ""))
	s.set("/large.csv", "a,b\n"+strings.Repeat("some,text of a row\n", 50_000))
	n.add(t, s.URL+"/large.csv")
	n.crawl(t, RunOptions{})
	v, err := n.Pipeline.Archive.Newest(t.Context(), s.URL+"/large.csv")
	if err != nil {
		t.Fatal(err)
	}
	in, err := n.Pipeline.Archive.Inside(t.Context(), v.ID)
	if err != nil || in == nil || len(in.Tables) != 1 || in.Tables[0].Rows != 50_000 {
		t.Errorf("%+v, %v", in, err)
	}
}

func TestAFileDuringWhichTheProgramEndedTwiceIsKeptAndNotExaminedAgain(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "examining")
	s, n := newSite(t), newNode(t)
	var log lockedBuffer
	n.Log = slog.New(slog.NewTextHandler(&log, nil))
	s.set("/bad.csv", "a,b\n1,2\n")
	s.set("/good.csv", "a,b\n1,3\n")
	n.add(t, s.URL+"/bad.csv", s.URL+"/good.csv")
	for range 2 { // deaths
		p := children(t, dir)
		ex := fetched(t, n, s.URL+"/bad.csv")
		if _, err := p.Open(t.Context(), examine.Crawl, examine.About{SHA256: ex.Body.Digests().SHA256, URL: ex.URL},
			bodyOf(ex)); err != nil {
			t.Fatal(err)
		}
	}
	n.examineWith(children(t, dir))
	got := n.crawl(t, RunOptions{})
	if r := got["/bad.csv"]; r.Outcome != catalog.Archived || r.DetectedType != "application/octet-stream" {
		t.Errorf("%+v", r)
	}
	if r := got["/good.csv"]; r.Outcome != catalog.Archived || r.DetectedType != "text/csv" {
		t.Errorf("the other file: %+v", r)
	}
	v, err := n.Pipeline.Archive.Newest(t.Context(), s.URL+"/bad.csv")
	if err != nil {
		t.Fatal(err)
	}
	in, err := n.Pipeline.Archive.Inside(t.Context(), v.ID)
	if err != nil || in == nil || len(in.Faults) != 1 || !strings.Contains(in.Faults[0], "when the program ended, twice") {
		t.Errorf("inside: %+v, %v", in, err)
	}
}

func fetched(t *testing.T, n *node, url string) *fetch.Exchange {
	t.Helper()
	ex, err := n.Fetcher.Fetch(t.Context(), fetch.Request{URL: url})
	if err != nil || ex.Body == nil {
		t.Fatal(ex, err)
	}
	t.Cleanup(func() { _ = ex.Body.Remove() })
	return ex
}

// Trouble with starting children is this machine's: nothing is recorded of the file, and it is due again.
func TestAFileWaitsIfNoChildCanBeStarted(t *testing.T) {
	t.Parallel()
	s, n := newSite(t), newNode(t)
	p := children(t, "")
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	n.examineWith(p)
	s.set("/a.csv", "a,b\n1,2\n")
	n.add(t, s.URL+"/a.csv")
	ctx, stop := contextUntil(t, func() bool { return n.Outage() != "" })
	defer stop()
	_, err := n.Run(ctx, RunOptions{})
	if err != nil && !errors.Is(err, ctx.Err()) {
		t.Error(err)
	}
	if why := n.Outage(); !strings.Contains(why, "cannot be examined") {
		t.Errorf("the crawl waits because %q", why)
	}
	if _, err := n.Pipeline.Archive.Newest(t.Context(), s.URL+"/a.csv"); !errors.Is(err, archive.ErrNotFound) {
		t.Errorf("%v", err)
	}
}
