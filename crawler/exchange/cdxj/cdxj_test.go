package cdxj

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/exchange/warc"
)

// record returns a record with an address and a block.
func record(kind, url, date, contentType, block string) string {
	return fmt.Sprintf(
		"WARC/1.1\r\nWARC-Type: %s\r\nWARC-Record-ID: <urn:x:%s%s%s>\r\nWARC-Date: %s\r\nWARC-Target-URI: %s\r\nContent-Type: "+
			"%s\r\nWARC-Payload-Digest: sha1:X\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
		kind, kind, url, date, date, url, contentType, len(block), block)
}

const page = "HTTP/1.1 200 OK\r\nContent-Type: Text/HTML; charset=x\r\n\r\nhello"

func indexed(t testing.TB, text string) (all []Capture, faults []warc.Fault, unlisted int) {
	t.Helper()
	unlisted, err := Make("f.warc", strings.NewReader(text), func(c Capture) error { all = append(all, c); return nil },
		func(f warc.Fault) { faults = append(faults, f) })
	if err != nil {
		t.Fatal(err)
	}
	return all, faults, unlisted
}

func TestAnIndexListsCapturesWithTheRecordsThatBelongToThem(t *testing.T) {
	t.Parallel()
	parts := []string{
		record("request", "http://a.example/", "2026-01-02T03:04:05Z", "application/http", "GET / HTTP/1.1\r\n\r\n"),
		record("response", "http://a.example/", "2026-01-02T03:04:05.678Z", "application/http; msgtype=response", page),
		record("metadata", "http://a.example/", "2026-01-02T03:04:05Z", "application/warc-fields", "a: b\r\n"),
		record("resource", "ftp://b.example/x y.csv", "2026-01-02", "text/csv", "a,b\n"),
		record("revisit", "http://a.example/", "2027-01-02T03:04:05Z", "application/http", "HTTP/1.1 304 Not Modified\r\n\r\n"),
		record("metadata", "http://other.example/", "2026-01-02T03:04:05Z", "text/plain", "nothing"),
	}
	all, faults, unlisted := indexed(t, strings.Join(parts, ""))
	if len(all) != 3 || len(faults) > 0 || unlisted != 1 {
		t.Fatalf("%+v, %v, %d unlisted", all, faults, unlisted)
	}
	first := int64(len(parts[0]))
	want := fmt.Sprintf(
		`example,a)/ 20260102030405 `+
			`{"url":"http://a.example/","mime":"text/html","status":"200","digest":"sha1:X","length":"%d","offset":"%d","filename":"f.war`+
			`c","with":"0,%d %d,%d"}`,
		len(parts[1]), first, first, int(first)+len(parts[1]), len(parts[2]))
	if line := all[0].Line(); line != want {
		t.Errorf("line\n%s, want\n%s", line, want)
	}
	if all[1].Type != "resource" || all[1].MIME != "text/csv" || all[2].MIME != "warc/revisit" || all[2].Status != 304 {
		t.Errorf("%+v", all[1:])
	}
	for _, c := range all {
		c.At = c.At.Truncate(time.Second)
		if got, err := ParseLine(c.Line()); err != nil || fmt.Sprint(got) != fmt.Sprint(c) {
			t.Errorf("%+v comes back as %+v, %v", c, got, err)
		}
	}
}

func TestAnIndexGoesOnBehindDamage(t *testing.T) {
	t.Parallel()
	sound := record("response", "http://a.example/", "2026-01-02T03:04:05Z", "application/http", page)
	all, faults, _ := indexed(t, strings.Replace(sound, "Content-Length: ", "Content-Length: x", 1)+sound)
	if len(all) != 1 || all[0].Offset != int64(len(sound))+1 || len(faults) != 1 {
		t.Errorf("%+v, %v", all, faults)
	}
}

func TestSortedLinesAreFoundByTheirPrefix(t *testing.T) {
	t.Parallel()
	sorter := &Sorter{Memory: 20_000, Temp: t.TempDir()} // several runs
	defer sorter.Close()
	var want []string
	for i := range 3000 {
		c := Capture{URL: fmt.Sprintf("http://h%d.example/%d", i%7, i*7919%3000), At: time.Unix(int64(1e9+i), 0), Type: "response",
			MIME: "text/csv", File: "f.warc.gz"}
		c.Key = Key(c.URL)
		want = append(want, c.Line())
		if err := sorter.Add(c.Line()); err != nil {
			t.Fatal(err)
		}
	}
	if err := sorter.Add(Meta{File: "f.warc.gz", Size: 7, Unlisted: 2}.Line()); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := sorter.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	slices.Sort(want)
	if lines := strings.Split(strings.TrimSpace(b.String()), "\n"); !slices.Equal(lines[1:], want) {
		t.Fatal("the lines are not in order")
	}
	name := filepath.Join(t.TempDir(), "f.cdxj")
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	x, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if len(x.Metas) != 1 || x.Metas[0].Size != 7 || x.Metas[0].Unlisted != 2 {
		t.Errorf("%+v", x.Metas)
	}
	for _, prefix := range []string{"", "example,h0)/", "example,h3)/12", "example,h6)/2999 ", "example,h6)/", "zzz", "a"} {
		var got, all []string
		for _, line := range want {
			if strings.HasPrefix(line, prefix) {
				all = append(all, line)
			}
		}
		if err := x.Captures(prefix, func(c Capture) error { got = append(got, c.Line()); return nil }); err != nil ||
			!slices.Equal(got, all) {
			t.Errorf("%q: %d captures, want %d, %v", prefix, len(got), len(all), err)
		}
	}
}

func TestFiltersSelectByEveryField(t *testing.T) {
	t.Parallel()
	at := func(s string) time.Time { t, _ := time.Parse(time.RFC3339, s); return t }
	one := Capture{URL: "http://www.a.example:8080/Dir/x.csv?b=1&a=2", Type: "response", MIME: "text/csv", Status: 404,
		At: at("2026-01-31T12:00:00Z")}
	from := func(s string) Filter { a, _, _ := ParseTime(s); return Filter{From: a} }
	to := func(s string) Filter { _, b, _ := ParseTime(s); return Filter{To: b} }
	for i, c := range []struct {
		f    Filter
		want bool
	}{
		{Filter{}, true}, {Filter{URL: []string{one.URL}}, true}, {Filter{URL: []string{"http://a.example:8080/dir/x.csv?a=2&b=1"}}, true},
		{Filter{URL: []string{"http://a.example:8080/dir/*"}}, true}, {Filter{URL: []string{"http://a.example:8080/dir/"}}, false},
		{Filter{Host: []string{"WWW.a.example"}}, true}, {Filter{Host: []string{"www.a.example:8080"}}, true},
		{Filter{Host: []string{"example"}}, false},
		{Filter{Status: []string{"404"}}, true}, {Filter{Status: []string{"4xx"}}, true}, {Filter{Status: []string{"200"}}, false},
		{Filter{Types: []string{"Revisit", "response"}}, true}, {Filter{Types: []string{"request"}}, false},
		{Filter{MIME: []string{"TEXT/csv"}}, true}, {Filter{MIME: []string{"text/*"}}, true}, {Filter{MIME: []string{"text/c"}}, false},
		{Filter{URL: []string{"http://b.example/", one.URL}}, true},
		{Filter{URL: []string{"http://b.example/", "http://c.example/*"}}, false},
		{Filter{MIME: []string{"text/html", "text/csv"}}, true}, {Filter{Host: []string{"b.example", "www.a.example"}}, true},
		{Filter{Status: []string{"200", "4xx"}}, true},
		{Filter{URL: []string{one.URL}, MIME: []string{"text/html"}}, false}, {Filter{Host: []string{"b.example", "c.example"}}, false},
		{from("2026"), true}, {from("2026-01-31T12:00:00Z"), true}, {from("20260131120001"), false}, {to("2026-01"), true},
		{to("2026-01-31"), true}, {to("2026-01-31T12:00:00Z"), true}, {to("2026013111"), false}, {to("2025"), false},
	} {
		f, err := NewFilter(c.f)
		if err != nil || f.Matches(one) != c.want {
			t.Errorf("%d: %+v: %t, %v", i, c.f, f.Matches(one), err)
		}
		if c.want && !f.Candidate(one) || c.want && !strings.HasPrefix(Key(one.URL)+" ", f.Prefix()) {
			t.Errorf("%d: %+v would not be found in an index, prefix %q", i, c.f, f.Prefix())
		}
	}
	for _, bad := range []Filter{{Status: []string{"abc"}}, {Status: []string{"20"}}, {Types: []string{"page"}}} {
		if _, err := NewFilter(bad); err == nil {
			t.Errorf("%+v is a filter", bad)
		}
	}
	if _, _, err := ParseTime("yesterday"); err == nil {
		t.Error("yesterday is a time")
	}
}

func FuzzMake(f *testing.F) {
	f.Add([]byte(record("response", "http://a.example/", "2026-01-02T03:04:05Z", "application/http", page)))
	f.Add([]byte(record("resource", "urn:x:y z", "20", "text/csv", "")))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, err := Make("f", bytes.NewReader(b), func(c Capture) error {
			line := c.Line()
			if strings.Contains(line, "\n") {
				t.Fatalf("%q", line)
			}
			if _, err := ParseLine(line); err != nil && c.At.Year() > 0 && c.At.Year() < 9999 {
				t.Fatalf("%q: %v", line, err)
			}
			return nil
		}, func(warc.Fault) {})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzParseLine(f *testing.F) {
	f.Add(`example,a)/ 20260102030405 {"url":"http://a.example/","offset":"1","length":"2","filename":"f","with":"1,2 3,4"}`)
	f.Fuzz(func(t *testing.T, line string) {
		if c, err := ParseLine(line); err == nil && (c.Offset < 0 || c.Length < 0) {
			t.Fatalf("%+v", c)
		}
	})
}

func TestALineOfCDX11HasElevenFields(t *testing.T) {
	t.Parallel()
	c := Capture{Key: "example,a)/x", URL: "http://a.example/x y", At: time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC), MIME: "text/csv",
		Status: 200,
		Digest: "sha1:ABC", Span: Span{Offset: 7, Length: 8}, File: "a b.warc.gz"}
	if got, want := c.CDX11(), "example,a)/x 20260102030405 http://a.example/x%20y text/csv 200 ABC - - 8 7 a%20b.warc.gz"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	c = Capture{Key: "example,a)/", URL: "http://a.example/", Digest: "sha256:0f", MIME: revisitMIME}
	if got, want := c.CDX11(), "example,a)/ 00010101000000 http://a.example/ warc/revisit - sha256:0f - - 0 0 -"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestFiguresOfOtherProgramsMayBeNumbers(t *testing.T) {
	t.Parallel()
	asText,
		err := ParseLine(
		`example,a)/ 20240101000000 {"url": "http://a.example/", "status": "200", "offset": "784", "length": "2231", "filename": ` +
			`"a.warc.gz"}`)
	if err != nil {
		t.Fatal(err)
	}
	asNumber, err := ParseLine(
		`example,a)/ 20240101000000 {"url": "http://a.example/", "status": 200, "offset": 784, "length": 2231, "filename": "a.warc.gz"}`)
	if err != nil || asNumber.Status != 200 || asNumber.Span != asText.Span {
		t.Errorf("%+v, %v; want %+v", asNumber, err, asText)
	}
	for _, bad := range []string{"1.5", "-1", "{}", "1e3", "null", "true"} {
		if c, err := ParseLine(`example,a)/ 20240101000000 {"url": "http://a.example/", "offset": ` + bad +
			`, "length": 1, "filename": "a"}`); err == nil {
			t.Errorf("%s is %d", bad, c.Offset)
		}
	}
}
