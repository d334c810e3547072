package files

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/archive/content"
	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
	"odarchive/triplestore/kv"

	"github.com/go-chi/chi/v5"
)

type fixture struct {
	store    *content.Store
	dir      string
	versions map[string]catalog.Version
	latest   map[string]string
	server   *httptest.Server
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{dir: t.TempDir(), versions: map[string]catalog.Version{}, latest: map[string]string{}}
	if f.store, err = content.Open(f.dir, db, content.Options{MinFree: -1, NoSync: true}); err != nil {
		t.Fatal(err)
	}
	h := &FileHandler{Archive: f, Contents: f.store, IRI: func(id string) string { return "http://base.example/" + id },
		Links: func(_ context.Context, h http.Header, v catalog.Version) error {
			h.Set("Memento-Datetime", v.At.Format(http.TimeFormat))
			return nil
		}}
	r := chi.NewRouter()
	r.Use(problem.Use(problem.Options{Table: problem.Table{{Err: archive.ErrNotFound, Status: 404}}}), target.Escaped)
	for _, root := range []string{"", "/api/v1"} {
		r.Handle(root+"/get/file/id/{id}", problem.Handler(func(w http.ResponseWriter, r *http.Request) error {
			return h.Version(w, r, target.Value(r, "id"))
		}))
		r.Handle(root+"/get/file/*", problem.Handler(h.Latest))
	}
	f.server = httptest.NewServer(r)
	t.Cleanup(func() { f.server.Close(); f.store.Close(); db.Close() })
	return f
}

func (f *fixture) add(t *testing.T, v catalog.Version, data []byte) {
	t.Helper()
	ref, err := f.store.Put(t.Context(), bytes.NewReader(data), content.PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	v.Digests, v.Size, v.At = catalog.Digests{SHA256: ref.SHA256, MD5: ref.MD5}, ref.Size, time.Date(2026, 11, 21, 6, 0, v.N, 0, time.UTC)
	f.versions[v.ID] = v
	f.latest[v.URL] = v.ID
}

func (f *fixture) Version(_ context.Context, id string) (catalog.Version, error) {
	if id == "broken" {
		return catalog.Version{}, errors.New("the disk is on fire")
	}
	if v, ok := f.versions[id]; ok {
		return v, nil
	}
	return catalog.Version{}, fmt.Errorf("version %s: %w", id, archive.ErrNotFound)
}

func (f *fixture) Latest(ctx context.Context, url string) (catalog.Version, error) {
	return f.Version(ctx, f.latest[url])
}

func (f *fixture) get(t *testing.T, method, path string, header ...string) (*http.Response, []byte, error) {
	t.Helper()
	req, _ := http.NewRequest(method, f.server.URL+path, nil)
	req.Header.Set("Accept-Encoding", "identity")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return &http.Response{}, nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res, body, err
}

var text = bytes.Repeat([]byte("id;name\n1;Grüße\n"), 20_000)

func sampleFile(t *testing.T) *fixture {
	f := newFixture(t)
	f.add(t, catalog.Version{ID: "a_0", URL: "http://a.example/x.csv", Type: "text/csv", Charset: "utf-8", FileName: "x.csv"}, text)
	f.add(t, catalog.Version{ID: "a_1", URL: "http://a.example/x.csv", N: 1, Type: "text/csv", FileName: "Bäume 1.csv"},
		append(slices.Clone(text), "2;b\n"...))
	f.add(t, catalog.Version{ID: "h_0", URL: "http://a.example/evil", Type: "text/html", FileName: "x\"\r\nSet-Cookie: a=b\u202egnp.html"},
		[]byte("<script>alert(1)</script>"))
	f.add(t, catalog.Version{ID: "e_0", URL: "http://a.example/empty", Type: "not a type\r\n"}, nil)
	return f
}

func TestAVersionIsSentWithItsOwnTypeAndSafeHeaders(t *testing.T) {
	t.Parallel()
	f := sampleFile(t)
	res, body, err := f.get(t, "GET", "/api/v1/get/file/id/a_0")
	if err != nil || res.StatusCode != 200 || !bytes.Equal(body, text) || res.ContentLength != int64(len(text)) {
		t.Fatalf("%d, %d bytes, %v", res.StatusCode, len(body), err)
	}
	v := f.versions["a_0"]
	for name, want := range map[string]string{
		"Content-Type": "text/csv; charset=utf-8", "ETag": fmt.Sprintf(`"%x"`, v.Digests.SHA256), "X-Content-Type-Options": "nosniff",
		"Last-Modified": "Sat, 21 Nov 2026 06:00:00 GMT", "Memento-Datetime": "Sat, 21 Nov 2026 06:00:00 GMT", "Accept-Ranges": "bytes",
		"Content-Disposition": `inline; filename=x.csv`, "Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding",
	} {
		if got := res.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if !strings.HasPrefix(res.Header.Get("Content-Security-Policy"), "sandbox;") {
		t.Errorf("policy %q", res.Header.Get("Content-Security-Policy"))
	}
	res, _, _ = f.get(t, "GET", "/get/file/id/h_0")
	if d := res.Header.Get("Content-Disposition"); !strings.HasPrefix(d, "attachment") || res.Header.Get("Set-Cookie") != "" ||
		strings.Contains(d, "%E2%80%AE") {
		t.Errorf("a page is offered as %q", d)
	}
	res, body, _ = f.get(t, "GET", "/get/file/id/e_0")
	if res.StatusCode != 200 || len(body) != 0 || res.Header.Get("Content-Type") != "application/octet-stream" ||
		!strings.Contains(res.Header.Get("Content-Disposition"), "e_0") {
		t.Errorf("an empty file: %d %v", res.StatusCode, res.Header)
	}
}

func TestSeveralPartsOfAVersionComeInOneAnswer(t *testing.T) {
	t.Parallel()
	f := sampleFile(t)
	for _, coding := range []string{"identity", "gzip"} { // a client would decode the parts of a gzip stream as one
		res, body, err := f.get(t, "GET", "/get/file/id/a_0", "Accept-Encoding", coding, "Range", "bytes=0-9,-20")
		_, params, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
		if err != nil || res.StatusCode != 206 || res.ContentLength != int64(len(body)) || res.Header.Get("Content-Encoding") != "" {
			t.Fatalf("%s: %d %v %v", coding, res.StatusCode, res.Header, err)
		}
		parts := multipart.NewReader(bytes.NewReader(body), params["boundary"])
		for _, want := range [][]byte{text[:10], text[len(text)-20:]} {
			part, err := parts.NextPart()
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(part); err != nil || !bytes.Equal(got, want) ||
				part.Header.Get("Content-Type") != "text/csv; charset=utf-8" {
				t.Errorf("%s, %v: %q, %v", coding, part.Header, got, err)
			}
		}
	}
}

func TestPartsAndConditions(t *testing.T) {
	t.Parallel()
	f := sampleFile(t)
	whole, _, _ := f.get(t, "GET", "/get/file/id/a_0")
	tag := whole.Header.Get("ETag")
	for _, c := range []struct {
		method string
		header []string
		status int
		want   []byte
	}{
		{"GET", []string{"Range", "bytes=100-199"}, 206, text[100:200]},
		{"GET", []string{"Range", "bytes=-7"}, 206, text[len(text)-7:]},
		{"GET", []string{"Range", "bytes=70000-", "If-Range", tag}, 206, text[70000:]},
		{"GET", []string{"Range", "bytes=70000-", "If-Range", `"x"`}, 200, text},
		{"GET", []string{"Range", "bytes=0-5,5-9"}, 200, text},
		{"GET", []string{"If-None-Match", tag}, 304, nil},
		{"GET", []string{"If-Modified-Since", "Sat, 21 Nov 2026 07:00:00 GMT"}, 304, nil},
		{"HEAD", nil, 200, nil},
	} {
		res, body, err := f.get(t, c.method, "/get/file/id/a_0", c.header...)
		if err != nil || res.StatusCode != c.status || !bytes.Equal(body, c.want) {
			t.Errorf("%s %v: %d, %d bytes, %v", c.method, c.header, res.StatusCode, len(body), err)
		}
	}
	if res, _, _ := f.get(t, "GET", "/get/file/id/a_0", "Range", "bytes=99999999-"); res.StatusCode != 416 {
		t.Errorf("beyond the end: %d", res.StatusCode)
	}
}

func TestGzipIsPassedThroughWithATagOfItsOwn(t *testing.T) {
	t.Parallel()
	f := sampleFile(t)
	plain, _, _ := f.get(t, "GET", "/get/file/id/a_0")
	res, body, err := f.get(t, "GET", "/get/file/id/a_0", "Accept-Encoding", "br, gzip;q=0.8")
	if err != nil || res.StatusCode != 200 || res.Header.Get("Content-Encoding") != "gzip" || res.ContentLength != int64(len(body)) ||
		len(body) > len(text)/3 {
		t.Fatalf("%d %v, %d bytes, %v", res.StatusCode, res.Header, len(body), err)
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(z); err != nil || !bytes.Equal(got, text) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if res.Header.Get("ETag") == plain.Header.Get("ETag") {
		t.Error("both codings have the same tag")
	}
	part, rest, _ := f.get(t, "GET", "/get/file/id/a_0", "Accept-Encoding", "gzip", "Range", "bytes=5-", "If-Range", res.Header.Get("ETag"))
	if part.StatusCode != 206 || !bytes.Equal(rest, body[5:]) {
		t.Errorf("resumed: %d, %d bytes of %d", part.StatusCode, len(rest), len(body)-5)
	}
	head, _, _ := f.get(t, "HEAD", "/get/file/id/a_0", "Accept-Encoding", "gzip")
	if head.ContentLength != int64(len(body)) {
		t.Errorf("HEAD says %d", head.ContentLength)
	}
	if res, _, _ := f.get(t, "GET", "/get/file/id/a_0", "Accept-Encoding", "gzip;q=0"); res.Header.Get("Content-Encoding") != "" {
		t.Error("gzip was forbidden")
	}
	for _, id := range []string{"e_0", "h_0"} {
		_, body, _ := f.get(t, "GET", "/get/file/id/"+id, "Accept-Encoding", "gzip")
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(z); err != nil || int64(len(got)) != f.versions[id].Size {
			t.Errorf("%s: %d bytes, %v", id, len(got), err)
		}
	}
}

func TestTheLatestVersionOfAnAddress(t *testing.T) {
	t.Parallel()
	f := sampleFile(t)
	for _, path := range []string{"/get/file/http://a.example/x.csv", "/api/v1/get/file/http%3A%2F%2Fa.example%2Fx.csv"} {
		res, body, err := f.get(t, "GET", path)
		if err != nil || res.StatusCode != 200 || !bytes.HasSuffix(body, []byte("2;b\n")) ||
			res.Header.Get("Content-Location") != "http://base.example/a_1" || res.Header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: %d %v", path, res.StatusCode, res.Header)
		}
	}
}

func TestWhatIsNotThereIsAProblem(t *testing.T) {
	t.Parallel()
	f := sampleFile(t)
	lost := f.versions["h_0"]
	if err := f.store.Forget(t.Context(), lost.Digests.SHA256); err != nil {
		t.Fatal(err)
	}
	for path, status := range map[string]int{
		"/get/file/id/none_0": 404, "/get/file/http://a.example/other": 404, "/get/file/nothing": 400, "/get/file/id/broken": 500,
		"/get/file/id/h_0": 410,
	} {
		res, body, _ := f.get(t, "GET", path)
		if res.StatusCode != status || res.Header.Get("Content-Type") != problem.ContentType || res.Header.Get("Memento-Datetime") != "" {
			t.Errorf("%s: %d %s", path, res.StatusCode, body)
		}
	}
}

func TestDamagedBytesAreNeverSentAsAWhole(t *testing.T) {
	t.Parallel()
	f := sampleFile(t)
	packs, _ := filepath.Glob(filepath.Join(f.dir, "*.open"))
	if len(packs) != 1 {
		t.Fatal(packs)
	}
	data, _ := os.ReadFile(packs[0])
	data[200] ^= 1 // in the first segment of a_0
	if err := os.WriteFile(packs[0], data, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, coding := range []string{"identity", "gzip"} {
		res, body, err := f.get(t, "GET", "/get/file/id/a_0", "Accept-Encoding", coding)
		if err == nil && res.StatusCode == 200 {
			t.Errorf("%s: %d bytes of %d without an error", coding, len(body), res.ContentLength)
		}
	}
}
