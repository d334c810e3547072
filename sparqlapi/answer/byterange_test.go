package answer_test

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"odarchive/sparqlapi/answer"
)

var (
	content  = []byte("0123456789abcdefghijklmnopqrstuvwxyz")
	modified = time.Date(2026, 11, 22, 5, 0, 0, 0, time.UTC)
)

func ask(method string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/", nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "text/csv")
	w.Header().Set("ETag", `"tag"`)
	answer.ServeRanges(w, r, modified, bytes.NewReader(content))
	return w
}

// parts returns the parts of an answer as "range: bytes" lines.
func parts(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	kind, params, err := mime.ParseMediaType(w.Header().Get("Content-Type"))
	if err != nil || kind != "multipart/byteranges" || w.Header().Get("Content-Length") != fmt.Sprint(w.Body.Len()) {
		t.Fatalf("%v, %d bytes: %v", w.Header(), w.Body.Len(), err)
	}
	var list []string
	read := multipart.NewReader(w.Body, params["boundary"])
	for {
		p, err := read.NextPart()
		if err == io.EOF {
			return strings.Join(list, "\n")
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(p)
		if err != nil || p.Header.Get("Content-Type") != "text/csv" {
			t.Fatalf("%v %v", p.Header, err)
		}
		list = append(list, p.Header.Get("Content-Range")+": "+string(body))
	}
}

func TestAFewRangesComeAsParts(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"bytes=0-1,4-5":            "bytes 0-1/36: 01\nbytes 4-5/36: 45",
		"bytes=-3, 0-0":            "bytes 33-35/36: xyz\nbytes 0-0/36: 0",
		"bytes=30-,0-2,,10-11,":    "bytes 30-35/36: uvwxyz\nbytes 0-2/36: 012\nbytes 10-11/36: ab",
		"bytes=0-3,4-99,1000-2000": "bytes 0-3/36: 0123\nbytes 4-35/36: 456789abcdefghijklmnopqrstuvwxyz",
	} {
		w := ask("GET", "Range", header)
		if got := parts(t, w); w.Code != 206 || got != want || w.Header().Get("ETag") != `"tag"` || w.Header().Get("Content-Range") != "" {
			t.Errorf("%s: %d %v\n%s\nwant\n%s", header, w.Code, w.Header(), got, want)
		}
	}
}

func TestConditionsHoldForSeveralRangesToo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, value string
		status      int
	}{
		{"If-Range", `"tag"`, 206}, {"If-Range", `"other"`, 200}, {"If-Range", `W/"tag"`, 200},
		{"If-Range", modified.Format(http.TimeFormat), 206}, {"If-Range", modified.Add(time.Second).Format(http.TimeFormat), 200},
		{"If-None-Match", `"tag"`, 304}, {"If-Match", `"other"`, 412}, {"If-Modified-Since", modified.Format(http.TimeFormat), 304},
	} {
		w := ask("GET", "Range", "bytes=0-1,4-5", c.name, c.value)
		if w.Code != c.status || c.status == 200 && !bytes.Equal(w.Body.Bytes(), content) || c.status == 304 && w.Body.Len() > 0 {
			t.Errorf("%s %s: %d %v %q", c.name, c.value, w.Code, w.Header(), w.Body)
		}
		if strings.HasPrefix(w.Header().Get("Content-Type"), "multipart") != (c.status == 206) {
			t.Errorf("%s %s: %v", c.name, c.value, w.Header())
		}
	}
}

func TestOtherRangesAreAnsweredAsTheyAlwaysWere(t *testing.T) {
	t.Parallel()
	many := "bytes=0-0"
	for i := 1; i <= answer.MaxRanges; i++ {
		many += fmt.Sprintf(",%d-%d", 2*i, 2*i)
	}
	for header, want := range map[string]int{
		"": 200, "bytes=3-4": 206, "bytes=99-": 416,
		"bytes=99-,100-200": 416, "bytes=3-4,99-": 206, // one of them is satisfiable
		"bytes=0-5,5-9": 200, "bytes=0-,0-": 200, "bytes=0-,-1": 200, "bytes=5-9,0-35": 200, // the same bytes twice
		many: 200, "bytes=0-1" + strings.Repeat(",", 100_000): 200, "bytes=" + strings.Repeat("0-,", 50_000): 200,
		"bytes=,": 200, "bytes=a-b,0-1": 200, "bytes=5-4,0-1": 200, "bytes=0-1,-": 200, "lines=0-1,3-4": 200, "bytes=+1-2,3-4": 200,
		"bytes=0-1,99999999999999999999-": 200,
	} {
		w := ask("GET", "Range", header)
		if w.Code != want || want == 200 && !bytes.Equal(w.Body.Bytes(), content) ||
			strings.HasPrefix(w.Header().Get("Content-Type"), "multipart") {
			t.Errorf("%.60s: %d %v", header, w.Code, w.Header())
		}
		if want == 416 && w.Header().Get("Content-Range") != "bytes */36" {
			t.Errorf("%s: %v", header, w.Header())
		}
	}
	if w := ask("HEAD", "Range", "bytes=0-1,4-5"); w.Code != 200 || w.Header().Get("Content-Length") != "36" {
		t.Errorf("HEAD: %d %v", w.Code, w.Header())
	}
}

func FuzzRange(f *testing.F) {
	for _, s := range []string{"bytes=0-1,4-5", "bytes=-3,0-0", "bytes=0-,0-", "bytes=,1-", "bytes=9-8,0-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, header string) {
		w := ask("GET", "Range", header)
		if w.Body.Len() > len(content)+answer.MaxRanges*200 {
			t.Errorf("%q: %d bytes of %d", header, w.Body.Len(), len(content))
		}
		if strings.HasPrefix(w.Header().Get("Content-Type"), "multipart") {
			parts(t, w)
		}
	})
}
