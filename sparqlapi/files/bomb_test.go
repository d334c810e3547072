package files

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/unpack"
	"odarchive/crawler/web/spool"
	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"
)

// bombs is an archive whose members exceed the limits, except "small". Extract of "slow" waits.
type bombs struct {
	extracted chan string
	release   chan struct{}
}

func (bombs) Member(_ context.Context, id, path string) (archive.Member, error) {
	return archive.Member{Version: catalog.Version{ID: id}, Member: inspect.Member{Path: path}}, nil
}

func (b bombs) Extract(ctx context.Context, m archive.Member, w io.Writer) error {
	b.extracted <- m.Path
	switch m.Path {
	case "small":
		_, err := io.WriteString(w, "a,b")
		return err
	case "slow":
		select {
		case <-b.release:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return fmt.Errorf("unpack: %w", unpack.ErrBomb)
}

func TestABombIsUnpackedOnceAndTakesNobodysPlace(t *testing.T) {
	t.Parallel()
	files, err := spool.New(t.TempDir(), spool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := bombs{make(chan string, 100), make(chan struct{})}
	h := &Members{Archive: b, Spool: files, Gate: access.NewGate(access.Limits{Places: 2, PerClient: 1, Queue: 4, PerQueue: 1})}
	ask := func(ctx context.Context, client, path string) int {
		rec := httptest.NewRecorder()
		problem.Handler(func(w http.ResponseWriter, r *http.Request) error { return h.Member(w, r, "v_0", path) }).
			ServeHTTP(rec, httptest.NewRequest("GET", "/", nil).WithContext(access.WithClient(ctx, client)))
		return rec.Code
	}
	for range 3 {
		if got := ask(t.Context(), "evil", "big"); got != http.StatusUnprocessableEntity {
			t.Fatalf("a bomb: %d", got)
		}
	}
	if n := len(b.extracted); n != 1 {
		t.Errorf("it was unpacked %d times", n)
	}
	<-b.extracted
	// One client has a request that takes long, and one that waits: it gets no third, and others do not wait.
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int, 2)
	for range 2 {
		go func() { done <- ask(ctx, "evil", "slow") }()
	}
	<-b.extracted
	for held, waiting := h.Gate.State(); held != 1 || waiting != 1; held, waiting = h.Gate.State() {
		if ctx.Err() != nil {
			t.Fatal("the second does not wait")
		}
	}
	if got := ask(t.Context(), "evil", "small"); got != http.StatusTooManyRequests {
		t.Errorf("a third one of the client: %d", got)
	}
	if got := ask(t.Context(), "other", "small"); got != http.StatusOK {
		t.Errorf("one of another client: %d", got)
	}
	close(b.release)
	for range 2 {
		if got := <-done; got != http.StatusOK {
			t.Errorf("the slow ones: %d", got)
		}
	}
	cancel()
}

// slowWriter is a client that does not read until it may.
type slowWriter struct {
	*httptest.ResponseRecorder
	began chan struct{}
	may   chan struct{}
}

func (s *slowWriter) Write(p []byte) (int, error) {
	close(s.began)
	<-s.may
	return s.ResponseRecorder.Write(p)
}

func TestASlowReaderOfAMemberTakesNobodysPlace(t *testing.T) {
	t.Parallel()
	files, err := spool.New(t.TempDir(), spool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := bombs{make(chan string, 100), make(chan struct{})}
	h := &Members{Archive: b, Spool: files, Gate: access.NewGate(access.Limits{Places: 1})}
	slow := &slowWriter{httptest.NewRecorder(), make(chan struct{}), make(chan struct{})}
	done := make(chan error, 1)
	go func() { done <- h.Member(slow, httptest.NewRequest("GET", "/", nil), "v_0", "small") }()
	<-slow.began
	rec := httptest.NewRecorder()
	if err := h.Member(rec, httptest.NewRequest("GET", "/", nil), "v_0", "small"); err != nil || rec.Body.String() != "a,b" {
		t.Errorf("beside a slow reader: %q, %v", rec.Body, err)
	}
	close(slow.may)
	if err := <-done; err != nil || slow.Body.String() != "a,b" {
		t.Errorf("the slow reader: %q, %v", slow.Body, err)
	}
}

func TestAMemberThatStatesToBeTooLargeIsNotUnpacked(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	w, err := z.CreateRaw(&zip.FileHeader{Name: "big.csv", Method: zip.Deflate, UncompressedSize64: 3 << 30, CompressedSize64: 5})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("junk!")); err != nil { // unpacking it would be another error
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	err = unpack.Extract(t.Context(), bytes.NewReader(packed.Bytes()), int64(packed.Len()), "application/zip", "big.csv", unpack.Limits{},
		io.Discard)
	if why := WhyLost(archive.Member{Member: inspect.Member{Path: "big.csv"}}, err); err == nil ||
		why != `"big.csv" unpacks to more than the limits allow; the version itself can be downloaded` {
		t.Errorf("%v: %s", err, why)
	}
}
