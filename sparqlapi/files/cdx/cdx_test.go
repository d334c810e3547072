package cdx_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/sparqlapi/files/cdx"
)

// captures is an index in memory, in order.
type captures []catalog.Capture

func (list captures) Captures(_ context.Context, prefix, after string, f func(catalog.Capture) (bool, error)) error {
	for _, c := range list {
		if k := c.Key + "\x00"; !strings.HasPrefix(k, prefix) || k < after {
			continue
		}
		if more, err := f(c); err != nil || !more {
			return err
		}
	}
	return nil
}

func index(t testing.TB, versions int, urls ...string) captures {
	var list captures
	for _, u := range urls {
		key, err := address.CDX(u)
		if err != nil {
			t.Fatal(err)
		}
		for n := range versions {
			mediaType := []string{"text/csv", "application/json"}[n%2]
			list = append(list,
				catalog.Capture{Key: key, Status: 200,
					Version: catalog.Version{ID: ns.VersionID(ns.ResourceID(u), n), URL: u, N: n, Type: mediaType,
						Size: int64(100 * n), FileName: "a file.csv", At: time.Date(2024+n, 5, 6, 7, 8, 9, 0, time.UTC)}})
		}
	}
	slices.SortStableFunc(list, func(a, b catalog.Capture) int { return strings.Compare(a.Key+"\x00", b.Key+"\x00") })
	return list
}

func ask(list captures, query string) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	(&cdx.Handler{Archive: list}).ServeHTTP(rec, httptest.NewRequest("GET", "/cdx?"+query, nil))
	return rec
}

var world = []string{"http://data.example/", "http://data.example/a.csv", "https://data.example/a/b.csv?y=1&x=2",
	"http://data.example:8080/p", "http://sub.data.example/s", "http://datax.example/no", "ftp://data.example/z"}

func TestWhatMatches(t *testing.T) {
	t.Parallel()
	list := index(t, 1, world...)
	for query, want := range map[string]string{
		"url=http://data.example/a.csv":                            "a.csv",
		"url=www.data.example/a.csv":                               "a.csv",
		"url=https://DATA.example/a/b.csv%3Fx=2%26y=1":             "a/b.csv?x=2&y=1",
		"url=http://data.example/a&matchType=prefix":               "a.csv a/b.csv?x=2&y=1",
		"url=data.example/a*":                                      "a.csv a/b.csv?x=2&y=1",
		"url=http://data.example/whatever&matchType=host":          " a.csv a/b.csv?x=2&y=1 z",
		"url=data.example&matchType=domain":                        " a.csv a/b.csv?x=2&y=1 z s p",
		"url=*.data.example":                                       " a.csv a/b.csv?x=2&y=1 z s p",
		"url=http://nothing.example/":                              "-",
		"url=data.example&matchType=domain&limit=2":                " a.csv",
		"url=data.example&matchType=domain&filter=original:ftp":    "z",
		"url=data.example&matchType=domain&filter=!=length:0":      "-",
		"url=data.example&matchType=domain&filter=urlkey:.*\\.csv": "a.csv",
	} {
		got := []string{}
		for _, m := range regexp.MustCompile(`(?m)^\S+\)/(\S*) `).FindAllStringSubmatch(ask(list, query).Body.String(), -1) {
			got = append(got, m[1])
		}
		if s := strings.Join(got, " "); s != want && !(want == "-" && len(got) == 0) {
			t.Errorf("%s: %q, want %q", query, s, want)
		}
	}
}

func TestTimesFiltersAndOrders(t *testing.T) {
	t.Parallel()
	list := index(t, 4, "http://data.example/a.csv")
	for query, want := range map[string]string{
		"":                               "2024 2025 2026 2027",
		"&from=2025":                     "2025 2026 2027",
		"&from=2025&to=202605":           "2025 2026",
		"&to=20250506070809":             "2024 2025",
		"&to=20250506070808":             "2024",
		"&limit=2":                       "2024 2025",
		"&limit=-2":                      "2026 2027",
		"&sort=reverse":                  "2027 2026 2025 2024",
		"&sort=reverse&limit=1":          "2027",
		"&sort=closest&closest=20260101": "2026 2025 2027 2024",
		"&closest=2030&limit=1":          "2027",
		"&filter=mimetype:json":          "2025 2027",
		"&filter=!mimetype:json":         "2024 2026",
		"&filter==mime:text/csv&filter=~timestamp:2026": "2026",
		"&collapse=timestamp:3":                         "2024",
		"&collapse=mimetype":                            "2024 2025 2026 2027",
		"&collapse=urlkey":                              "2024",
	} {
		var got []string
		for _, m := range regexp.MustCompile(`\)/a\.csv (\d{4})`).FindAllStringSubmatch(ask(list,
			"url=data.example/a.csv"+query).Body.String(), -1) {
			got = append(got, m[1])
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %s, want %s", query, s, want)
		}
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	list := index(t, 2, "http://data.example/a.csv")
	body := func(query, contentType string) string {
		t.Helper()
		rec := ask(list, "url=data.example/a.csv"+query)
		if got := rec.Header().Get("Content-Type"); got != contentType || rec.Code != 200 {
			t.Errorf("%s: %d %s, want %s", query, rec.Code, got, contentType)
		}
		return rec.Body.String()
	}
	line, _, _ := strings.Cut(body("", "text/x-cdxj; charset=utf-8"), "\n")
	head, object, _ := strings.Cut(line, " {")
	var fields map[string]string
	if err := json.Unmarshal([]byte("{"+object), &fields); err != nil || head != "example,data)/a.csv 20240506070809" ||
		fields["url"] != "http://data.example/a.csv" || fields["mime"] != "text/csv" || fields["status"] != "200" {
		t.Errorf("CDXJ: %s (%v)", line, err)
	}
	if got := body("&output=text&limit=1", "text/plain; charset=utf-8"); !strings.HasPrefix(got,
		"example,data)/a.csv 20240506070809 http://data.example/a.csv text/csv 200 sha256:") || !strings.HasSuffix(got, " 0\n") {
		t.Errorf("text: %s", got)
	}
	if got := body("&fl=timestamp,filename", "text/plain; charset=utf-8"); got != "20240506070809 a+file.csv\n20250506070809 a+file.csv\n" {
		t.Errorf("fl: %s", got)
	}
	var table [][]string
	if err := json.Unmarshal([]byte(body("&output=json&fl=timestamp,statuscode", "application/json")), &table); err != nil ||
		fmt.Sprint(table) != "[[timestamp statuscode] [20240506070809 200] [20250506070809 200]]" {
		t.Errorf("table: %v, %v", table, err)
	}
	if got := body("&output=json&from=2030", "application/json"); strings.TrimSpace(got) != "[]" {
		t.Errorf("an empty table: %q", got)
	}
	for l := range strings.Lines(body("&output=jsonl", "application/x-ndjson")) {
		if err := json.Unmarshal([]byte(l), &fields); err != nil {
			t.Errorf("line %s: %v", l, err)
		}
	}
}

func TestAResumeKeyGoesOnBehindTheLastLine(t *testing.T) {
	t.Parallel()
	list := index(t, 5, world...)
	whole := ask(list, "url=*.data.example&fl=urlkey,timestamp").Body.String()
	for _, limit := range []int{1, 3, 7, 100} {
		got, resume := "", ""
		for range 100 {
			body := ask(list, fmt.Sprintf("url=*.data.example&fl=urlkey,timestamp&limit=%d&showResumeKey=true&resumeKey=%s", limit,
				url.QueryEscape(resume))).Body.String()
			lines, next, more := strings.Cut(body, "\n\n")
			if got += lines; more {
				got += "\n"
			}
			if resume = strings.TrimSpace(next); resume == "" {
				break
			}
		}
		if got != whole {
			t.Errorf("by %d:\n%s\nwant\n%s", limit, got, whole)
		}
	}
}

func TestPagesTogetherAreTheWhole(t *testing.T) {
	t.Parallel()
	var urls []string
	for i := range 1300 {
		urls = append(urls, fmt.Sprintf("http://data.example/%04d.csv", i))
	}
	list := index(t, 2, urls...) // 2,600 captures
	for _, extra := range []string{"", "&filter=mimetype:json", "&from=2025"} {
		whole := ask(list, "url=*.data.example&fl=urlkey,timestamp"+extra).Body.String()
		got := ""
		for page := range 3 {
			got += ask(list, fmt.Sprintf("url=*.data.example&fl=urlkey,timestamp&pageSize=1&page=%d%s", page, extra)).Body.String()
		}
		if got != whole || strings.Count(got, "\n") < 1300 {
			t.Errorf("%s: %d lines in pages, %d in one", extra, strings.Count(got, "\n"), strings.Count(whole, "\n"))
		}
	}
	for query, want := range map[string]string{
		"url=*.data.example&showNumPages=true":                        "1",
		"url=*.data.example&showNumPages=true&pageSize=1":             "3",
		"url=*.data.example&showNumPages=true&pageSize=2&output=json": `{"blocks":3,"pageSize":2,"pages":2}`,
		"url=nothing.example&showNumPages=true":                       "0",
		"url=nothing.example&page=0&output=json":                      "[]",
	} {
		if rec := ask(list, query); rec.Code != 200 || strings.TrimSpace(rec.Body.String()) != want {
			t.Errorf("%s: %d %s, want %s", query, rec.Code, rec.Body, want)
		}
	}
	for query, want := range map[string]string{ // clients such as cdx_toolkit ask for pages until the answer is 400
		"url=*.data.example&page=3&pageSize=1":                 "page=3 is past the last page, which is 2",
		"url=*.data.example&page=1":                            "page=1 is past the last page, which is 0",
		"url=*.data.example&page=1000000&output=json":          "which is 0",
		"url=*.data.example&page=3&pageSize=1&from=2025":       "which is 2",
		"url=*.data.example&page=3&pageSize=1&limit=1":         "which is 2",
		"url=*.data.example&page=3&pageSize=1&collapse=digest": "which is 2",
		"url=nothing.example&page=1":                           "which is 0",
	} {
		if rec := ask(list, query); rec.Code != 400 || !strings.Contains(rec.Body.String(), want) {
			t.Errorf("%s: %d %s, want %s", query, rec.Code, rec.Body, want)
		}
	}
	if n := strings.Count(ask(list, "url=*.data.example&page=0&pageSize=1&limit=10&showResumeKey=true&output=text").Body.String(),
		"\n"); n != 10 {
		t.Errorf("ten lines of a page are %d", n)
	}
}

func TestBadParametersAreNamed(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"": "url=", "url=http://": "", "url=a.example&matchType=x": "matchType", "url=a.example&from=yesterday": "yesterday",
		"url=a.example&to=123456789012345": "timestamp", "url=a.example&limit=many": "many",
		"url=a.example&output=xml": "xml", "url=a.example&fl=nonsense": "nonsense", "url=a.example&filter=x": "filter",
		"url=a.example&filter=mime:(": "mime", "url=a.example&collapse=timestamp:x": "collapse",
		"url=a.example&sort=up": "sort", "url=a.example&sort=closest": "closest", "url=*.a.example&sort=reverse": "exact",
		"url=a.example&resumeKey=x": "resumeKey",
		"url=a.example&page=-1":     "page", "url=a.example&page=x": "page", "url=a.example&pageSize=0": "pageSize",
		"url=a.example&pageSize=101": "pageSize", "url=a.example&page=1&limit=-3": "page",
	} {
		rec := ask(nil, query)
		if rec.Code != http.StatusBadRequest || !strings.Contains(rec.Body.String(), want) {
			t.Errorf("%s: %d %s", query, rec.Code, rec.Body)
		}
	}
}

func FuzzRequest(f *testing.F) {
	list := index(f, 2, world...)
	for _, s := range []string{"url=*.data.example&output=json&fl=timestamp", "url=a*&filter=!~mime:x&collapse=digest:3&limit=-1",
		"url=data.example&closest=2024&resumeKey=a+b+c", "url=*.data.example&page=1&pageSize=1&showNumPages=true&output=json"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, query string) {
		r := httptest.NewRequest("GET", "/cdx", nil)
		r.URL.RawQuery = query
		rec := httptest.NewRecorder()
		(&cdx.Handler{Archive: list}).ServeHTTP(rec, r)
		if rec.Code != 200 && rec.Code != 400 {
			t.Fatalf("%q: %d %s", query, rec.Code, rec.Body)
		}
	})
}
