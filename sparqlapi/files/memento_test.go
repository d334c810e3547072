package files

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"

	"github.com/go-chi/chi/v5"
)

type fakeArchive map[string][]catalog.Version

func (a fakeArchive) Versions(_ context.Context, url string) ([]catalog.Version, error) {
	if list, ok := a[url]; ok {
		return slices.Clone(list), nil
	}
	return nil, fmt.Errorf("resource %s: %w", url, archive.ErrNotFound)
}

var start = time.Date(2026, 11, 1, 12, 0, 0, 500e6, time.UTC)

// mementoWorld has one resource with n versions, a day apart.
func mementoWorld(url string, n int) (*Memento, fakeArchive) {
	a := fakeArchive{}
	for i := range n {
		a[url] = append(a[url],
			catalog.Version{ID: ns.VersionID("0123456789abcdef01234567", i), URL: url, N: i, At: start.AddDate(0, 0, i)})
	}
	return &Memento{Archive: a, Mint: ns.Mint{Base: "http://base.example/"}}, a
}

func get(t *testing.T, m *Memento, path string, header ...string) (*http.Response, string) {
	t.Helper()
	r := httptest.NewRequest("GET", path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	router := chi.NewRouter()
	router.Use(problem.Use(problem.Options{Table: problem.Table{{Err: archive.ErrNotFound, Status: 404}}}), target.Escaped)
	router.NotFound(problem.Handler(func(http.ResponseWriter, *http.Request) error { return problem.New(404, "No route", "") }))
	router.Get("/timegate/*", problem.Handler(m.TimeGate))
	router.Get("/timemap/link/*", problem.Handler(m.TimeMapLink))
	router.Get("/timemap/json/*", problem.Handler(m.TimeMapJSON))
	router.ServeHTTP(w, r)
	body, _ := io.ReadAll(w.Result().Body)
	return w.Result(), string(body)
}

const trees = "http://a.example/trees.csv?x=1"

func TestATimeGateFindsTheVersionThatWasCurrent(t *testing.T) {
	t.Parallel()
	m, _ := mementoWorld(trees, 4)
	for _, c := range []struct {
		accept string
		n      int
	}{
		{"", 3},
		{"Sun, 01 Nov 2026 12:00:00 GMT", 0},
		{"Tue, 03 Nov 2026 11:59:59 GMT", 1},
		{"Tue, 03 Nov 2026 12:00:00 GMT", 2},
		{"Tue, 03 Nov 2026 13:00:00 +0100", 2},
		{"Mon, 01 Jan 2001 00:00:00 GMT", 0},
		{"Fri, 01 Jan 2100 00:00:00 GMT", 3},
	} {
		for _, path := range []string{"/timegate/" + trees, "/timegate/http%3A%2F%2Fa.example%2Ftrees.csv%3Fx%3D1"} {
			res, _ := get(t, m, path, "Accept-Datetime", c.accept)
			want := fmt.Sprintf("http://base.example/api/v1/get/file/id/0123456789abcdef01234567_%d", c.n)
			if res.StatusCode != 302 || res.Header.Get("Location") != want ||
				!strings.Contains(res.Header.Get("Vary"), "accept-datetime") || res.Header.Get("Memento-Datetime") != "" {
				t.Errorf("%s at %q: %d to %s, want %s", path, c.accept, res.StatusCode, res.Header.Get("Location"), want)
			}
			links := strings.Join(res.Header["Link"], ",")
			for _, rel := range []string{`<` + trees + `>; rel="original"`, `rel="timegate"`, `rel="timemap"`, `rel="first`, ` memento"`} {
				if !strings.Contains(links, rel) {
					t.Errorf("no %s in %s", rel, links)
				}
			}
		}
	}
}

func TestRequestsThatCannotBeAnsweredAreProblems(t *testing.T) {
	t.Parallel()
	m, _ := mementoWorld(trees, 2)
	for _, c := range []struct {
		path, accept string
		status       int
	}{
		{"/timegate/http://unknown.example/", "", 404}, {"/timemap/link/http://unknown.example/", "", 404},
		{"/timegate/" + trees, "yesterday", 400},
		{"/timemap/json/nonsense", "", 400}, {"/timemap/other/" + trees, "", 404},
		{"/timemap/link/" + trees + "&odarchive-timemap-from=7", "", 404},
		{"/timemap/link/" + trees + "&odarchive-timemap-from=x", "", 400},
	} {
		if res, body := get(t, m, c.path, "Accept-Datetime", c.accept); res.StatusCode != c.status ||
			res.Header.Get("Content-Type") != problem.ContentType {
			t.Errorf("%s: %d %s", c.path, res.StatusCode, body)
		}
	}
}

func TestTheTimeMapInLinkFormat(t *testing.T) {
	t.Parallel()
	m, _ := mementoWorld(trees, 3)
	res, body := get(t, m, "/timemap/link/"+trees)
	want := `<http://a.example/trees.csv?x=1>; rel="original",
<http://base.example/timemap/link/http://a.example/trees.csv?x=1>; rel="self"; type="application/link-format"; from="Sun, 01 Nov 2026 12:00:00 GMT"; until="Tue, 03 Nov 2026 12:00:00 GMT",
<http://base.example/timegate/http://a.example/trees.csv?x=1>; rel="timegate",
<http://base.example/api/v1/get/file/id/0123456789abcdef01234567_0>; rel="first memento"; datetime="Sun, 01 Nov 2026 12:00:00 GMT",
<http://base.example/api/v1/get/file/id/0123456789abcdef01234567_1>; rel="memento"; datetime="Mon, 02 Nov 2026 12:00:00 GMT",
<http://base.example/api/v1/get/file/id/0123456789abcdef01234567_2>; rel="last memento"; datetime="Tue, 03 Nov 2026 12:00:00 GMT"
`
	if body != want || res.Header.Get("Content-Type") != "application/link-format" {
		t.Errorf("got\n%s\nwant\n%s", body, want)
	}
}

func TestTheTimeMapInJSON(t *testing.T) {
	t.Parallel()
	m, _ := mementoWorld(trees, 3)
	_, body := get(t, m, "/timemap/json/"+trees)
	var got struct {
		Original string `json:"original_uri"`
		TimeGate string `json:"timegate_uri"`
		TimeMap  struct {
			Link string `json:"link_format"`
			JSON string `json:"json_format"`
		} `json:"timemap_uri"`
		Mementos struct {
			List        []jsonMemento
			First, Last jsonMemento
		}
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	if got.Original != trees || len(got.Mementos.List) != 3 || got.Mementos.Last != got.Mementos.List[2] ||
		got.Mementos.First.Datetime != start.Truncate(time.Second) || got.TimeMap.JSON != "http://base.example/timemap/json/"+trees {
		t.Errorf("got %+v", got)
	}
}

func TestALongTimeMapHasPagesThatTogetherListEverything(t *testing.T) {
	t.Parallel()
	m, _ := mementoWorld(trees, 25)
	m.Pages = 10
	next := regexp.MustCompile(`<http://base.example([^>]*)>; rel="timemap next"`)
	seen, pages := 0, 0
	for path := "/timemap/link/" + trees; path != ""; pages++ {
		res, body := get(t, m, path)
		if res.StatusCode != 200 {
			t.Fatalf("%s: %s", path, body)
		}
		seen += strings.Count(body, "memento\"; datetime")
		path = ""
		if found := next.FindStringSubmatch(body); found != nil {
			path = found[1]
		}
	}
	if seen != 25 || pages != 3 {
		t.Errorf("%d mementos on %d pages", seen, pages)
	}
}

func TestAVersionNamesItsNeighbours(t *testing.T) {
	t.Parallel()
	m, a := mementoWorld(trees, 5)
	rels := regexp.MustCompile(`_(\d)>; rel="([^"]*)"`)
	for n, want := range []string{
		"0:first memento 1:next memento 4:last memento",
		"0:first prev memento 1:memento 2:next memento 4:last memento",
		"0:first memento 1:prev memento 2:memento 3:next memento 4:last memento",
		"0:first memento 2:prev memento 3:memento 4:last next memento",
		"0:first memento 3:prev memento 4:last memento",
	} {
		h := http.Header{}
		if err := m.Links(t.Context(), h, a[trees][n]); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, match := range rels.FindAllStringSubmatch(strings.Join(h["Link"], ","), -1) {
			got = append(got, match[1]+":"+match[2])
		}
		if strings.Join(got, " ") != want || h.Get("Memento-Datetime") != start.AddDate(0, 0, n).Format(http.TimeFormat) {
			t.Errorf("version %d: %v, want %s", n, got, want)
		}
	}
}

func TestAStrangersAddressCannotBreakOutOfAHeader(t *testing.T) {
	t.Parallel()
	evil := "http://a.example/x>; rel=\"next\", <http://evil.example/\r\nSet-Cookie: a=b"
	m, a := mementoWorld(evil, 1)
	h := http.Header{}
	if err := m.Links(t.Context(), h, a[evil][0]); err != nil {
		t.Fatal(err)
	}
	for _, v := range h["Link"] {
		if strings.ContainsAny(v, "\r\n") || strings.Count(v, "<") != 1 || strings.Count(v, ">") != 1 {
			t.Errorf("Link: %q", v)
		}
	}
}

func TestAnErrorPageIsNoMemento(t *testing.T) {
	t.Parallel()
	m, a := mementoWorld(trees, 3)
	a[trees][2].ErrorPage = "it says not found"
	if res, _ := get(t, m, "/timegate/"+trees); !strings.HasSuffix(res.Header.Get("Location"), "_1") {
		t.Errorf("the time gate leads to %s", res.Header.Get("Location"))
	}
	for i := range a[trees] {
		a[trees][i].ErrorPage = "it says not found"
	}
	if res, body := get(t, m, "/timemap/link/"+trees); res.StatusCode != 404 {
		t.Errorf("nothing but error pages: %d %s", res.StatusCode, body)
	}
}

func TestTheTimeGateOfAWithdrawnVersionLeadsToWhereThatIsSaid(t *testing.T) {
	t.Parallel()
	m, a := mementoWorld(trees, 4)
	a[trees][0].Withdrawn, a[trees][2].Withdrawn = &catalog.Withdrawal{}, &catalog.Withdrawal{}
	for accept, want := range map[string]string{
		"":                              "_3",
		"Sat, 31 Oct 2026 12:00:00 GMT": "_0",
		"Mon, 02 Nov 2026 12:00:00 GMT": "_1",
		"Tue, 03 Nov 2026 12:00:00 GMT": "_2",
	} {
		res, _ := get(t, m, "/timegate/"+trees, "Accept-Datetime", accept)
		links := strings.Join(res.Header["Link"], ",")
		if !strings.HasSuffix(res.Header.Get("Location"), want) || strings.Contains(links, "_2>") ||
			!strings.Contains(links, `_1>; rel="first`) || !strings.Contains(links, "_3>") {
			t.Errorf("%s leads to %s, with %s", accept, res.Header.Get("Location"), links)
		}
	}
	for i := range a[trees] {
		a[trees][i].Withdrawn = &catalog.Withdrawal{}
	}
	if res, _ := get(t, m, "/timegate/"+trees); !strings.HasSuffix(res.Header.Get("Location"), "_3") {
		t.Errorf("if all are withdrawn, it leads to %s", res.Header.Get("Location"))
	}
}
