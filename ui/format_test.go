package ui

import (
	"strings"
	"testing"
	"time"

	"odarchive/ns"
	"odarchive/triplestore/term"
)

func TestFiguresReadAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 KB", 9949: "9.9 KB", 9951: "10 KB", 999_499: "999 KB",
		999_501: "1.0 MB", 123_456_789: "123 MB", 5e15: "5.0 PB"} {
		if got := humanBytes(n); got != want {
			t.Errorf("humanBytes(%d) = %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1\u202f000", 1234567: "1\u202f234\u202f567", -4200: "−4\u202f200"} {
		if got := humanCount(n); got != want {
			t.Errorf("humanCount(%d) = %q, want %q", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{5 * time.Millisecond: "5 ms", 40 * time.Second: "40 s", 12 * time.Minute: "12 min",
		3 * time.Hour: "3 h", 24 * 5 * time.Hour: "5 days"} {
		if got := Span(d); got != want {
			t.Errorf("Span(%s) = %q, want %q", d, got, want)
		}
	}
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	if got := string(ago(now, now.Add(-90*time.Minute))); !strings.Contains(got, "2 h ago") ||
		!strings.Contains(got, `datetime="2026-11-21T10:30:00Z"`) {
		t.Error(got)
	}
	if got := string(ago(now, now.Add(time.Hour))); !strings.Contains(got, "in 60 min") {
		t.Error(got)
	}
}

func TestStrangersAddressesAreLinksOnlyWhereSafe(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{"http://a.example/": "http://a.example/", "ftp://a.example/x": "ftp://a.example/x",
		"javascript:alert(1)": "", "data:text/html,x": "", "//a.example": "", "\x00": ""} {
		if got := string(linkTo(address)); got != want {
			t.Errorf("linkTo(%q) = %q, want %q", address, got, want)
		}
	}
	if got := iriText("http://a.example/x> } DROP ALL # \"é"); got != "http://a.example/x%3E%20%7D%20DROP%20ALL%20#%20%22é" {
		t.Errorf("iriText let %q through", got)
	}
}

func TestTermsFoldAndLeadToTheirPages(t *testing.T) {
	t.Parallel()
	u := &UI{mint: ns.Mint{Base: "http://archive.example/"}}
	for key, want := range map[term.Key]node{
		term.IRI("http://www.w3.org/ns/dcat#Dataset"): {Text: "dcat:Dataset", Full: "http://www.w3.org/ns/dcat#Dataset",
			Href: "/describe?iri=http%3A%2F%2Fwww.w3.org%2Fns%2Fdcat%23Dataset"},
		term.IRI("http://archive.example/activity/x"): {Text: "/activity/x", Full: "http://archive.example/activity/x",
			Href: "/activity/x"},
		term.IRI("urn:x"):        {Text: "urn:x", Full: "urn:x"},
		term.Lang("hallo", "de"): {Text: "hallo", Full: "hallo", Note: "de"},
		term.Typed("1", "http://www.w3.org/2001/XMLSchema#byte"): {Text: "1", Full: "1", Note: "xsd:byte"},
		term.Blank("b"): {Text: "_:b", Full: "_:b"},
	} {
		if got := u.node(key); got != want {
			t.Errorf("node(%q) = %+v, want %+v", key, got, want)
		}
	}
}

func FuzzPreviewNeverPanics(f *testing.F) {
	f.Add("text/csv", "a,b\n1,2\n")
	f.Add("application/json", `{"a":[1,2,{"b":null}]}`)
	f.Add("text/html", "<script>")
	f.Fuzz(func(t *testing.T, mediaType, content string) {
		text, ok := decode([]byte(content), "")
		if !ok {
			return
		}
		if p := textPreview(mediaType, text, false); p.Kind != "text" {
			t.Errorf("kind %q", p.Kind)
		}
	})
}

func TestMeansAreReadWithoutCountingDigits(t *testing.T) {
	t.Parallel()
	for f, want := range map[float64]string{
		0: "0", 5675000: "5\u202f675\u202f000", 34.15: "34.15", 23.3874: "23.387", -0.5: "−0.5", 0.00012: "0.0001", 102.5: "102.5",
		10144: "10\u202f144", 1.5e20: "1.5e+20", 2e-9: "2e-09",
	} {
		if got := decimal(f); got != want {
			t.Errorf("%v: %q, want %q", f, got, want)
		}
	}
}
