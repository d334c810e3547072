package files

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/detect"
	"odarchive/crawler/web/spool"
	"odarchive/ns"
	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"

	"github.com/go-chi/chi/v5"
)

// archives has the bytes and the contents of versions, by id.
type archives struct {
	bytes  map[string][]byte
	inside map[string]*inspect.Inside
}

func (a *archives) Member(_ context.Context, id, path string) (archive.Member, error) {
	in := a.inside[id]
	if in == nil {
		return archive.Member{}, fmt.Errorf("version %s: %w", id, archive.ErrNotFound)
	}
	m := archive.Member{Version: catalog.Version{ID: id, Type: "application/zip", FileName: "a.zip", At: time.Unix(1e9, 0)}}
	for _, m.Member = range in.Members {
		if m.Path == path {
			m.Listed = true
			return m, nil
		}
	}
	m.Member = inspect.Member{Path: path, Size: -1}
	return m, nil
}

func (a *archives) Extract(ctx context.Context, m archive.Member, dst io.Writer) error {
	body := a.bytes[m.Version.ID]
	return inspect.Extract(ctx,
		inspect.Input{Found: detect.Detection{Type: m.Version.Type}, Name: m.Version.FileName, Size: int64(len(body)),
			Body: bytes.NewReader(body)}, m.Path, inspect.Limits{}, dst)
}

func zipped(t *testing.T, nameAndBody ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(nameAndBody); i += 2 {
		f, err := w.Create(nameAndBody[i])
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(f, nameAndBody[i+1])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const aVersion = "0123456789abcdef01234567_0"

// membersOf serves the members of one zip. get requests the member at a path.
func membersOf(t *testing.T, body string) (get func(path string, header ...string) (*http.Response, string), paths []string) {
	t.Helper()
	in, err := inspect.File(t.Context(),
		inspect.Input{Found: detect.Detection{Type: "application/zip"}, Name: "a.zip", Size: int64(len(body)),
			Body: strings.NewReader(body)}, inspect.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range in.Members {
		paths = append(paths, m.Path)
	}
	files, err := spool.New(t.TempDir(), spool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a := &archives{map[string][]byte{aVersion: []byte(body)}, map[string]*inspect.Inside{aVersion: in}}
	h := &Members{Archive: a, Spool: files, Gate: access.NewGate(access.Limits{Places: 1})}
	r := chi.NewRouter()
	r.Use(problem.Use(problem.Options{Table: problem.Table{{Err: archive.ErrNotFound, Status: 404}}}), target.Escaped)
	r.Handle("/api/v1/get/file/id/{id}/member/*", problem.Handler(func(w http.ResponseWriter, r *http.Request) error {
		return h.Member(w, r, target.Value(r, "id"), target.Value(r, "*"))
	}))
	server := httptest.NewServer(r)
	t.Cleanup(func() {
		server.Close()
		if memory, disk := files.Usage(); memory != 0 || disk != 0 {
			t.Errorf("%d bytes of memory and %d of disk are still taken", memory, disk)
		}
	})
	mint := ns.Mint{Base: server.URL + "/"}
	return func(path string, header ...string) (*http.Response, string) {
		t.Helper()
		req, err := http.NewRequest("GET", mint.Member(aVersion, path), nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(header); i += 2 {
			if header[i] == "method" {
				req.Method = header[i+1]
				continue
			}
			req.Header.Set(header[i], header[i+1])
		}
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res, string(text)
	}, paths
}

func TestEveryMembersIRIGivesItsBytes(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"data/two columns.csv":        "id,name\n1,Ada\n",
		"100%/a#b?c=d&e.txt":          "odd name",
		"Größe;x.csv":                 "ä;ö\n1;2\n",
		"_/_/etc/passwd":              "path tricks",
		"page.html":                   "<html><script>alert(1)</script></html>",
		"inner.zip/deep/er.zip/x.txt": "two levels down",
	}
	get, paths := membersOf(t, zipped(t,
		"data/two columns.csv", want["data/two columns.csv"], "100%/a#b?c=d&e.txt", "odd name", "Größe;x.csv", want["Größe;x.csv"],
		"../../etc/passwd", "path tricks", "page.html", want["page.html"],
		"inner.zip", zipped(t, "deep/er.zip", zipped(t, "x.txt", "two levels down"))))
	found := 0
	for _, path := range paths {
		res, body := get(path)
		if res.StatusCode != 200 || res.ContentLength != int64(len(body)) {
			t.Errorf("%s: %s, Content-Length %d, %d bytes", path, res.Status, res.ContentLength, len(body))
		}
		if text, ok := want[path]; ok {
			found++
			if body != text {
				t.Errorf("%s: %q, want %q", path, body, text)
			}
		}
		if h := res.Header; h.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.HasPrefix(h.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%s: unsafe headers %v", path, h)
		}
		head, none := get(path, "method", "HEAD")
		if head.StatusCode != 200 || none != "" || head.ContentLength != int64(len(body)) ||
			head.Header.Get("ETag") != res.Header.Get("ETag") {
			t.Errorf("HEAD %s: %s, %d bytes, %v", path, head.Status, head.ContentLength, head.Header)
		}
	}
	if found != len(want) || len(paths) != len(want)+2 {
		t.Errorf("members are listed as %q", paths)
	}
	res, _ := get("page.html")
	if !strings.HasPrefix(res.Header.Get("Content-Disposition"), "attachment") ||
		!strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") {
		t.Errorf("a page inside an archive: %v", res.Header)
	}
}

func TestMembersTakeRangesAndConditions(t *testing.T) {
	t.Parallel()
	get, _ := membersOf(t, zipped(t, "a.txt", "0123456789"))
	res, body := get("a.txt", "Range", "bytes=2-4")
	if res.StatusCode != 206 || body != "234" {
		t.Errorf("a range: %s %q", res.Status, body)
	}
	if res, body := get("a.txt", "If-None-Match", res.Header.Get("ETag")); res.StatusCode != 304 || body != "" {
		t.Errorf("the same again: %s %q", res.Status, body)
	}
}

func TestMembersThatCannotBeHadAreProblems(t *testing.T) {
	t.Parallel()
	raw := []byte(zipped(t, "good.txt", strings.Repeat("good ", 100), "bad.txt", strings.Repeat("bad and worse ", 100)))
	at := bytes.LastIndex(raw[:len(raw)/2+60], []byte("bad.txt")) + 20
	for i := range 8 {
		raw[at+i] ^= 0xff
	}
	get, _ := membersOf(t, string(raw))
	for path, want := range map[string]int{"good.txt": 200, "bad.txt": 422, "none.txt": 404, "../good.txt": 404, "good.txt/x": 404} {
		res, body := get(path)
		if res.StatusCode != want || want != 200 && res.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %s %s %s", path, res.Status, res.Header.Get("Content-Type"), body)
		}
	}
}
