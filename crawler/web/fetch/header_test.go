package fetch

import (
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"odarchive/crawler/address"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestRetryAfterInBothForms(t *testing.T) {
	t.Parallel()
	for v, want := range map[string]time.Duration{
		"": 0, "120": 2 * time.Minute, " 5 ": 5 * time.Second, "0": 0, "-5": 0, "soon": 0, "1.5": 0,
		"Sat, 21 Nov 2026 12:01:00 GMT": time.Minute, "Saturday, 21-Nov-26 12:01:00 GMT": time.Minute, "Fri, 20 Nov 2026 12:00:00 GMT": 0,
		"999999999999999999999999": longestRetryAfter, "86401": longestRetryAfter, "Sat, 21 Nov 2099 12:01:00 GMT": longestRetryAfter,
	} {
		if got := RetryAfter(v, noon); got != want {
			t.Errorf("%q: %v, want %v", v, got, want)
		}
	}
}

func TestFileNamesAreSafe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ disposition, url, want string }{
		{"", "http://a.example/x/data.csv?y=z", "data.csv"},
		{"", "http://a.example/x%20y.csv", "x y.csv"},
		{"", "http://a.example/", ""},
		{"", "http://a.example/x%2F..%2Fetc", "etc"},
		{`attachment; filename="b.csv"`, "http://a.example/download", "b.csv"},
		{`attachment; filename*=UTF-8''%C3%BC.csv; filename="u.csv"`, "http://a.example/download", "ü.csv"},
		{`attachment; filename=a b.csv`, "http://a.example/download", "a b.csv"},
		{`attachment; filename="../../etc/passwd"`, "http://a.example/download", "passwd"},
		{`attachment; filename="C:\temp\x.csv"`, "http://a.example/download", "x.csv"},
		{`attachment; filename=".."`, "http://a.example/download", "download"},
		{"attachment; filename=\"a\x00\u202eb.csv\"", "http://a.example/download", "ab.csv"},
		{`attachment; filename="` + strings.Repeat("ü", 300) + `.csv"`, "http://a.example/download", strings.Repeat("ü", 98) + ".csv"},
		{`inline`, "http://a.example/x.csv", "x.csv"},
	} {
		u, err := address.Parse(c.url)
		if err != nil {
			t.Fatal(err)
		}
		if got := fileName(c.disposition, u); got != c.want {
			t.Errorf("%q, %s: %q, want %q", c.disposition, c.url, got, c.want)
		}
	}
}

func FuzzHeaders(f *testing.F) {
	f.Add(`attachment; filename="x.csv"`, "120", "a=b; Path=/", "gzip")
	f.Add("filename=\xff..", "Sat, 21 Nov 2026 12:01:00 GMT", "=;;=", "br, gzip")
	u, err := address.Parse("http://a.example/x")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, disposition, retry, cookie, encoding string) {
		name := fileName(disposition, u)
		if len(name) > maxName || strings.ContainsAny(name, "/\\\x00\r\n") || !utf8.ValidString(name) || name == "." || name == ".." {
			t.Errorf("%q gives the name %q", disposition, name)
		}
		if d := RetryAfter(retry, noon); d < 0 || d > longestRetryAfter {
			t.Errorf("%q gives %v", retry, d)
		}
		jar := cookies{}
		jar.set(u, http.Header{"Set-Cookie": {cookie, cookie}})
		if line := jar.header(u); len(line) > 2*maxCookieBytes || strings.ContainsAny(line, "\r\n") {
			t.Errorf("%q gives the cookies %q", cookie, line)
		}
		_, _, _ = decoder(strings.NewReader("x"), http.Header{"Content-Encoding": {encoding}})
	})
}

func TestAUsedUpLimitOfRequestsIsAWishToRest(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	for _, c := range []struct {
		remaining, reset string
		want             time.Duration
	}{
		{"0", "30", 30 * time.Second}, {"0;w=60", "30;w=60", 30 * time.Second}, {"0", "1800000045", 45 * time.Second},
		{"0", "1799999999", 0}, {"0", "999999", time.Hour},
		{"5", "30", 0}, {"", "30", 0}, {"0", "", 0}, {"none", "soon", 0}, {"0", "99999999999999999999", 0},
		{"0", "9223372036854775807", time.Hour}, {"-1", "30", 0},
	} {
		for _, prefix := range []string{"RateLimit-", "X-RateLimit-"} {
			h := http.Header{}
			h.Set(prefix+"Remaining", c.remaining)
			h.Set(prefix+"Reset", c.reset)
			if got := restWanted(h, now); got != c.want {
				t.Errorf("%s%s, reset %s: %v, want %v", prefix, c.remaining, c.reset, got, c.want)
			}
		}
	}
}
