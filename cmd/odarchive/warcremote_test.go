package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// holdings serves files, with ranges or without, and counts the bytes of their bodies.
type holdings struct {
	*httptest.Server
	mu       sync.Mutex
	files    map[string][]byte
	etag     string
	noRanges bool
	changes  bool // after each response
	requests int
	sent     int64
}

func newHoldings(t *testing.T) *holdings {
	h := &holdings{files: map[string][]byte{}, etag: `"0"`}
	h.Server = httptest.NewServer(http.HandlerFunc(h.serve))
	t.Cleanup(h.Close)
	return h
}

func (h *holdings) serve(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	file, known := h.files[r.URL.Path]
	if !known {
		http.NotFound(w, r)
		return
	}
	h.requests++
	if h.noRanges {
		r.Header.Del("Range")
	}
	w.Header().Set("ETag", h.etag)
	counted := &countedResponse{ResponseWriter: w}
	http.ServeContent(counted, r, "", time.Time{}, bytes.NewReader(file))
	h.sent += counted.n
	if h.changes {
		h.etag = fmt.Sprintf("%q", fmt.Sprint(h.requests))
	}
}

// since returns the requests and bytes since it was called last.
func (h *holdings) since() (requests int, sent int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	requests, sent = h.requests, h.sent
	h.requests, h.sent = 0, 0
	return requests, sent
}

type countedResponse struct {
	http.ResponseWriter
	n int64
}

func (c *countedResponse) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.n += int64(n)
	return n, err
}

// importing imports from a file of the web.
func importing(t *testing.T, args ...string) (status int, out, errs string) {
	t.Helper()
	return ran(t, append([]string{"warc", "import", "--allow-private-hosts", "--host-delay", "0s"}, args...)...)
}

func noise(n int) string {
	b := make([]byte, n)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return string(b)
}

func TestOfAPackageOnTheWebOnlyWhatIsNeededIsFetched(t *testing.T) {
	t.Chdir(t.TempDir())
	h := newHoldings(t)
	var pack bytes.Buffer
	z := zip.NewWriter(&pack)
	for name, text := range map[string]string{
		"archive/a.warc.gz": captureOf("http://a.example/1", "", "a,b\n1,2\n") + captureOf("http://a.example/2", "", noise(300_000)),
		"pages/video.bin":   noise(8 << 20), "indexes/index.idx": noise(4 << 20),
	} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(text))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	h.files["/a.wacz"] = pack.Bytes()
	for _, want := range []string{"2 versions imported; 0 captures", "0 versions imported; 2 captures"} {
		status, out, errs := importing(t, h.URL+"/a.wacz", "--max-body", "2MiB")
		requests, sent := h.since()
		if status != 0 || !strings.HasPrefix(out, want) || requests > 10 || sent > 1<<20 {
			t.Errorf("exit %d, %s%s; %d requests, %d of %d bytes", status, out, errs, requests, sent, pack.Len())
		}
	}
	h.noRanges = true
	if status, out, errs := importing(t, h.URL+"/a.wacz", "--max-body", "2MiB"); status != 1 || !strings.Contains(errs, "the limit is") {
		t.Errorf("longer than --max-body: exit %d, %s%s", status, out, errs)
	}
	h.since()
	status, out, errs := importing(t, h.URL+"/a.wacz")
	if requests, sent := h.since(); status != 0 || requests != 1 || sent != int64(pack.Len()) {
		t.Errorf("without ranges: exit %d, %s%s; %d requests, %d bytes", status, out, errs, requests, sent)
	}
}

func TestAFileOnTheWebThatChangesMeanwhileIsNotImported(t *testing.T) {
	t.Chdir(t.TempDir())
	h := newHoldings(t)
	h.changes = true
	h.files["/a.warc.gz"] = []byte(captureOf("http://a.example/1", "", noise(500_000)))
	status, out, errs := importing(t, h.URL+"/a.warc.gz")
	if status != 1 || out != "" || !strings.Contains(errs, `a.warc.gz changed while it was read: its ETag was "0" and is "1" now`) {
		t.Errorf("exit %d, %s%s", status, out, errs)
	}
}

func TestAPartOfAFileOnTheWebIsImportedByItself(t *testing.T) {
	t.Chdir(t.TempDir())
	h := newHoldings(t)
	one, two, three := captureOf("http://a.example/1", "", noise(90_000)), captureOf("http://a.example/2", "", noise(1000)),
		captureOf("http://a.example/3", "", noise(2000))
	h.files["/crawl/a.warc.gz"] = []byte(one + two + three)
	status, out, errs := importing(t, h.URL+"/crawl/a.warc.gz", "--offset", fmt.Sprint(len(one)), "--length", fmt.Sprint(len(two)))
	if requests, sent := h.since(); status != 0 || !strings.HasPrefix(out, "1 version imported") || requests != 1 ||
		sent != int64(len(two)) {
		t.Errorf("exit %d, %s%s; %d requests, %d bytes", status, out, errs, requests, sent)
	}
	line := func(offset, length int, name string) string {
		return fmt.Sprintf(
			"example,a)/x 20240101000000 {\"url\":\"http://a.example/x\",\"offset\":\"%d\",\"length\":\"%d\",\"filename\":%q}\n", offset,
			length, name)
	}
	index := line(0, len(one), "crawl/a.warc.gz") + line(len(one)+len(two), len(three), "crawl/a.warc.gz")
	if err := os.WriteFile("good.cdxj", []byte(index), 0o600); err != nil {
		t.Fatal(err)
	}
	status, out, errs = importing(t, "--cdx", "good.cdxj", h.URL+"/")
	if requests, sent := h.since(); status != 0 || !strings.HasPrefix(out, "2 versions imported") || requests != 2 ||
		sent != int64(len(one)+len(three)) {
		t.Errorf("exit %d, %s%s; %d requests, %d bytes", status, out, errs, requests, sent)
	}
	index = "no line\n" + line(0, len(one), "../a.warc.gz") + line(0, 1<<30, "crawl/a.warc.gz") + line(0, 10, "crawl/b.warc.gz") + line(0,
		len(one), "crawl/a.warc.gz")
	if err := os.WriteFile("bad.cdxj", []byte(index), 0o600); err != nil {
		t.Fatal(err)
	}
	status, out, errs = importing(t, "--cdx", "bad.cdxj", h.URL+"/")
	if status != 1 || !strings.HasPrefix(out, "0 versions imported; 1 capture unchanged") || strings.Count(errs, "bad.cdxj: line ") != 4 {
		t.Errorf("exit %d, %s%s", status, out, errs)
	}
	if status, _, errs := ran(t, "warc", "import", "--host-delay", "0s", h.URL+"/crawl/a.warc.gz"); status != 1 ||
		!strings.Contains(errs, "blocked") {
		t.Errorf("a private host: exit %d, %s", status, errs)
	}
	if status, _, _ := ran(t, "warc", "import", h.URL+"/crawl/a.warc.gz", "--offset", "3"); status != 2 {
		t.Errorf("--offset alone: exit %d", status)
	}
}
