package fetch

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAPartIsTakenOnlyIfItIsTheOneThatWasAskedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		contentRange, body string
		status             int
		more               http.Header
		want               string
	}{
		"right":              {"bytes 10-14/100", "abcde", 206, nil, "abcde of 100"},
		"less":               {"bytes 10-12/100", "abc", 206, nil, "abc of 100"},
		"encoded":            {"bytes 10-14/100", "\x1f\x8bcde", 206, http.Header{"Content-Encoding": {"gzip"}}, "\x1f\x8bcde of 100"},
		"another":            {"bytes 0-4/100", "abcde", 206, nil, "protocol"},
		"more":               {"bytes 10-15/100", "abcdef", 206, nil, "protocol"},
		"of unknown length":  {"bytes 10-14/*", "abcde", 206, nil, "protocol"},
		"behind the end":     {"bytes 10-14/12", "abcde", 206, nil, "protocol"},
		"backwards":          {"bytes 10-9/100", "", 206, nil, "protocol"},
		"huge":               {"bytes 10-99999999999999999999/100", "abcde", 206, nil, "protocol"},
		"several":            {"", "--x\r\n", 206, http.Header{"Content-Type": {"multipart/byteranges; boundary=x"}}, "protocol"},
		"shorter than said":  {"bytes 10-14/100", "abc", 206, nil, "truncated"},
		"longer than said":   {"bytes 10-14/100", "abcdefgh", 206, nil, "truncated"},
		"the whole file":     {"", "abcdefgh", 200, nil, "abcdefgh of 0"},
		"not satisfiable":    {"bytes */5", "", 416, nil, "http-status"},
		"the whole, refused": {"", "abcdefgh", 200, nil, "protocol"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Range") != "bytes=10-14" || r.Header.Get("If-Range") != `"1"` ||
				r.Header.Get("Accept-Encoding") != "identity" {
				t.Errorf("%s: %v", name, r.Header)
			}
			for k, v := range c.more {
				w.Header()[k] = v
			}
			if c.contentRange != "" {
				w.Header().Set("Content-Range", c.contentRange)
			}
			w.WriteHeader(c.status)
			w.(http.Flusher).Flush() // in chunks: the length is not stated
			io.WriteString(w, c.body)
		}))
		f := newFetcher(t, Options{AllowPrivateHosts: true})
		ex, err := f.Fetch(t.Context(),
			Request{URL: server.URL, Part: &Part{From: 10, To: 15, If: `"1"`, Only: strings.HasSuffix(name, "refused")}})
		if err != nil {
			t.Fatal(err)
		}
		got := string(ex.ErrorClass)
		if ex.Body != nil {
			text, _ := io.ReadAll(ex.Body.Open())
			got = string(text) + " of 0"
			if ex.Sent.Total > 0 {
				got = string(text) + " of 100"
			}
		}
		if got != c.want {
			t.Errorf("%s: %q (%s), want %q", name, got, ex.Why, c.want)
		}
		ex.Body.Remove()
		server.Close()
	}
}

func FuzzContentRange(f *testing.F) {
	f.Add("bytes 0-99/1000")
	f.Add("bytes */1000")
	f.Fuzz(func(t *testing.T, field string) {
		if from, to, total, ok := contentRange(field); ok && !(0 <= from && from < to && to <= total) {
			t.Errorf("%q: %d, %d, %d", field, from, to, total)
		}
	})
}
