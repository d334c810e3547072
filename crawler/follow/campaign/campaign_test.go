package campaign

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"odarchive/crawler/follow/links"
	"odarchive/crawler/follow/relevance"
	"odarchive/crawler/follow/software"
)

func TestAScopeAllowsWhatItNames(t *testing.T) {
	t.Parallel()
	seeds := []string{"https://data.example.co.uk/void", "http://127.0.0.1:8080/x"}
	for scope, cases := range map[string]map[string]bool{
		"host": {"https://data.example.co.uk/other": true, "http://data.example.co.uk/": true, "https://www.example.co.uk/": false,
			"http://127.0.0.1:8080/": true,
			"http://127.0.0.1:8081/": false, "https://data.example.co.uk.evil.example/": false,
			"https://data.example.co.uk@evil.example/": false},
		"domain": {"https://www.example.co.uk/": true, "https://other.co.uk/": false,
			"http://127.0.0.1:9/": true, "http://127.0.0.2/": false},
		"prefix:https://p.example/data": {"https://p.example/data/1": true, "https://p.example/": false,
			"https://P.EXAMPLE/data": true, "https://p.example/x/../data/": true, "https://p.example.evil/data": false},
		"prefix:https://p.example":            {"https://p.example/x": true, "https://p.example.evil/": false},
		"pattern:^https://[ab]\\.example/\\d": {"https://a.example/1": true, "https://c.example/1": false, "https://a.example/x": false},
	} {
		s, err := newScope(Document{Seeds: seeds, Scope: []string{scope}})
		if err != nil {
			t.Fatal(err)
		}
		for url, want := range cases {
			if got := s.allows(url); got != want {
				t.Errorf("%s allows %s: %v", scope, url, got)
			}
		}
		for _, never := range []string{"", "file:///etc/passwd", "mailto:a@data.example.co.uk", "https:///x", "http://[::1"} {
			if s.allows(never) {
				t.Errorf("%s allows %q", scope, never)
			}
		}
	}
}

func TestDocumentsThatAreMalformedAreNamed(t *testing.T) {
	t.Parallel()
	good := Document{Name: "a", Seeds: []string{"http://user:secret@a.example/"}}
	d, err := good.Normalise()
	if err != nil || d.Depth != defaultDepth || d.Max != defaultMax || d.Seeds[0] != "http://a.example/" || good.Seeds[0] == d.Seeds[0] {
		t.Errorf("%+v, %v", d, err)
	}
	for what, change := range map[string]func(*Document){
		"name":    func(d *Document) { d.Name = "../x" },
		"seeds":   func(d *Document) { d.Seeds = nil },
		"seed":    func(d *Document) { d.Seeds = []string{"nowhere"} },
		"scope":   func(d *Document) { d.Scope = []string{"planet"} },
		"pattern": func(d *Document) { d.Scope = []string{"pattern:("} },
		"prefix":  func(d *Document) { d.Scope = []string{"prefix:/x"} },
		"depth":   func(d *Document) { d.Depth = -1 },
		"accept":  func(d *Document) { d.Accept = "a\nb" },
		"follow":  func(d *Document) { d.Follow = []links.Kind{"everything"} },
		"every":   func(d *Document) { d.Every = "often" },
		"rules":   func(d *Document) { d.Rules = "x" },
		"weights": func(d *Document) { d.Weights = &relevance.Weights{Title: 1000} },
		"entity":  func(d *Document) { d.Entities = []string{"--"} },
		"document": func(d *Document) {
			d.Seeds = strings.Fields(strings.Repeat("http://a.example/"+strings.Repeat("x", 1000)+" ", 900))
		},
	} {
		bad := good
		change(&bad)
		if _, err := bad.Normalise(); !errors.Is(err, ErrBad) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestTheRecordOfAURLIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	m := member{url: "http://a.example/x", kind: links.SeeAlso, from: "0123456789abcdef01234567", depth: 3, round: 2, edition: 1, tries: 1,
		cut: true, score: -1.25, base: 0.125, text: "Bäume (CSV)"}
	b := m.encode()
	if got, err := decodeMember(b); err != nil || got != m {
		t.Errorf("%+v, %v", got, err)
	}
	for i := range b {
		if _, err := decodeMember(b[:i]); err == nil {
			t.Errorf("%d of %d bytes are a record", i, len(b))
		}
	}
}

func TestRecordsOfTheFirstVersionAreRead(t *testing.T) {
	t.Parallel()
	old := []byte{1, 3, 2, 1, 1, 1, 2, 'u', 'v', 1, 'k', 1, 'f'}
	want := member{url: "uv", kind: "k", from: "f", depth: 3, round: 2, edition: 1, tries: 1, cut: true}
	if got, err := decodeMember(old); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestSitesKeepTheirBestPages(t *testing.T) {
	t.Parallel()
	var s Site
	for i := range 20 {
		s.add(seenPage{url: fmt.Sprintf("http://a.example/%d", i), level: software.Item, score: relevance.Score{Value: float64(i % 7)},
			site: software.Site{Seen: 1}})
	}
	s.add(seenPage{url: "http://a.example/6", score: relevance.Score{Value: 9}, site: software.Site{Seen: 1}})
	if len(s.Best) != maxBest || s.Best[0].URL != "http://a.example/6" || s.Best[0].Score != 9 || s.Best[1].Score != 6 ||
		s.Software.Seen != 21 || s.Score.Pages != 21 {
		t.Errorf("%+v", s)
	}
}

func TestPortalsAreRecognisedByTheirPages(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]string{
		"http://p.example/": "http://p.example/", "http://p.example/en/dataset/trees?x=1": "http://p.example/en/",
		"http://p.example/data/organization/": "http://p.example/data/",
	} {
		if got, ok := portalOf("CKAN 2.10.4", page); !ok || got != want {
			t.Errorf("%s: %q", page, got)
		}
	}
	if got, ok := portalOf("WordPress 6", "http://p.example/"); ok {
		t.Error(got)
	}
}

func FuzzMember(f *testing.F) {
	f.Add(member{url: "http://a.example/x", depth: 1}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := decodeMember(b); err == nil {
			if again, err := decodeMember(m.encode()); err != nil || fmt.Sprint(again) != fmt.Sprint(m) {
				t.Errorf("%+v, %+v, %v", m, again, err)
			}
		}
	})
}
