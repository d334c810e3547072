package webgraph

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"odarchive/crawler/exchange/warc"
)

func record(kind, url, contentType, block string) string {
	return fmt.Sprintf(
		"WARC/1.1\r\nWARC-Type: %s\r\nWARC-Record-ID: <urn:x:1>\r\nWARC-Date: 2026-01-02T03:04:05Z\r\nWARC-Target-URI: "+
			"%s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", kind, url, contentType, len(block), block)
}

func edgesOf(t *testing.T, text string, level Level) string {
	t.Helper()
	var lines []string
	err := Edges(strings.NewReader(text), level, func(from, to string) error { lines = append(lines, from+" "+to); return nil },
		func(f warc.Fault) { t.Error(&f) })
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

const page = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=iso-8859-1\r\n\r\n" +
	"<!doctype html><title> A\n title </title><base href='http://www.b.co.uk/dir/'><a href='x y?q=\xe9#f'>to <b>x</b></a><a href='x " +
	"y?q=\xe9'>again</a>" +
	"<!-- <a href='http://hidden.example/'> --><script>'<a href=http://script.example/>'</script><img src=i.png><area " +
	"href='//c.b.co.uk/'><a href='mailto:x@y'>m</a><p>One\n line<p>Two"

func TestLinksOfPagesAndOfTheirDescriptions(t *testing.T) {
	t.Parallel()
	text := record("response", "http://a.example/", "application/http", page) +
		record("response", "http://gone.example/", "application/http", strings.Replace(page, "200 OK", "404 Not Found", 1)) +
		record("response", "http://table.example/", "application/http", strings.Replace(page, "text/html", "text/csv", 1))
	const want = "http://a.example/ http://www.b.co.uk/dir/x%20y?q=%C3%A9\nhttp://a.example/ http://c.b.co.uk/"
	if got := edgesOf(t, text, URL); strings.ReplaceAll(got, "é", "%C3%A9") != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := edgesOf(t, text, Host); got != "a.example www.b.co.uk\na.example c.b.co.uk" {
		t.Error(got)
	}
	if got := edgesOf(t, text, Domain); got != "a.example b.co.uk" {
		t.Error(got)
	}
	wat := `{"Envelope":{"WARC-Header-Metadata":{"WARC-Target-URI":"http://a.example/d/"},"Payload-Metadata":{"HTTP-Response-Metadata":{"` +
		`HTML-Metadata":{"Head":{"Base":"http://b.example/"},"Links":[{"path":"A@/href","url":"x"},{"path":"IMG@/src","url":"y"},{"path":` +
		`"A@/href","url":"javascript:z"}]}}}}}`
	if got := edgesOf(t, record("metadata", "http://a.example/d/", "application/json", wat),
		URL); got != "http://a.example/d/ http://b.example/x" {
		t.Error(got)
	}
}

func TestAPageHasATitleTextAndReferences(t *testing.T) {
	t.Parallel()
	_, html, _ := strings.Cut(page, "\r\n\r\n")
	p, err := ParsePage(strings.NewReader(html), "text/html; charset=iso-8859-1")
	if err != nil || p.Title != "A title" || p.Text != "to x again m\nOne line\nTwo\n" || len(p.Links) != 5 || p.Links[0].Text != "to x" ||
		p.Links[0].URL != "x y?q=é#f" {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestOnlyThreeLevelsAreKnown(t *testing.T) {
	t.Parallel()
	if _, err := ParseLevel("page"); err == nil {
		t.Error("page is a level")
	}
}

func FuzzEdges(f *testing.F) {
	f.Add([]byte(record("response", "http://a.example/", "application/http", page)))
	f.Add([]byte(record("metadata", "http://a.example/", "application/json", `{"Envelope":{}}`)))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, level := range []Level{URL, Host, Domain} {
			err := Edges(bytes.NewReader(b), level, func(from, to string) error {
				if strings.ContainsAny(from+to, " \n\t\r") || from == "" || to == "" {
					t.Fatalf("%q %q", from, to)
				}
				return nil
			}, func(warc.Fault) {})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}
