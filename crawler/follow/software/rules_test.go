package software

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"odarchive/testdata/cputime"
)

func TestAnOperatorsRulesComeFirst(t *testing.T) {
	t.Parallel()
	h, err := New(Options{Rules: `
[[software]]
name = "Our CMS"
signs = [{where = "css", match = "div.our-cms", weight = 80}]
strip = ["view"]

[[software.page]]
level = "file"
match = '^/dl/\d+$'
file = 0.9
why = "our downloads"

[[software]]
name = "Drupal"

[[software.page]]
level = "list"
match = '^/node/\d+$'
`})
	if err != nil {
		t.Fatal(err)
	}
	root, _ := html.Parse(strings.NewReader(`<body><div class="x our-cms"></div></body>`))
	var site Site
	page := &Page{URL: host + "/x", Root: root}
	h.See(&site, page)
	if site.Software() != "Our CMS" {
		t.Errorf("%+v", site)
	}
	if hint := h.Link(&site, page, Link{URL: host + "/dl/17?view=3"}); hint.File != 0.9 || hint.URL != host+"/dl/17" ||
		hint.Why != "our downloads" {
		t.Errorf("%+v", hint)
	}
	drupal := Site{Systems: []System{{Name: "Drupal", Weight: Sure}}}
	if hint := h.Link(&drupal, page, Link{URL: host + "/node/5"}); hint.Level != List {
		t.Errorf("an operator's rule for Drupal: %+v", hint)
	}
	if hint := h.Link(&drupal, page, Link{URL: host + "/media/5/download"}); hint.File == 0 {
		t.Errorf("the built-in rules for Drupal are gone: %+v", hint)
	}
}

func TestFaultsOfRulesAreNamedWithTheirLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rules, want string }{
		{"[[software]]\nname = 'A'\nsigns = [{where = 'smell', match = 'x', weight = 1}]",
			`line 1: software "A": the sign "smell": expected generator`},
		{"[[software]]\nname = 'A'\nsigns = [{where = 'css', match = 'a b', weight = 1}]", "is not a selector of one element"},
		{"[[software]]\nname = 'A'\nsigns = [{where = 'title', match = '(', weight = 1}]", "missing closing )"},
		{"[[software]]\nsigns = [{where = 'title', match = 'x', weight = 1}]", "the name is missing"},
		{"[[software]]\nname = 'A'\n\n[[software.page]]\nlevel = 'list'\nmatch = 'x'\n\n[[software.page]]\nlevel = 'lost'\nmatch = 'x'",
			`line 8: software "A", page 2: the level "lost"`},
		{"[[software]]\nname = 'A'\n[[software.page]]\nlevel = 'list'", "line 3: software \"A\", page 1: one of match, segment, param"},
		{"[[software]]\nname = 'A'\n[[software.page]]\nlevel = 'list'\nmatch = '/Forms/'", "without capital letters"},
		{"[[software]]\nname = 'A'\n[[software.page]]\nlevel = 'list'\nparam = ['Page']", "without capital letters"},
		{"[[software]]\nname = 'A'\n[[software.page]]\nlevel = 'list'\nsegment = ['a/b']", "write a part between two"},
		{"[[software]]\nname = 'A'\n[[software.page]]\nlevel = 'file'\nmatch = 'x'\nfile = 2.0", "expected at most 1"},
		{"[[software]]\nname = 'A'\n[[software.page]]\nlevel = 'file'\nmach = 'x'", `line 5: there is no setting "software.page.mach"`},
		{"[[software]\nname", "line 2: expected"},
		{strings.Repeat("#", maxRules+1), "longer than"},
	} {
		_, err := New(Options{Rules: c.rules})
		if !errors.Is(err, ErrBad) || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%.80q: %v; want %q", c.rules, err, c.want)
		}
	}
}

func TestAddressesWithoutSessionsAndOrders(t *testing.T) {
	t.Parallel()
	h := helper(t)
	for in, want := range map[string]string{
		"/a?PHPSESSID=0123456789abcdef":     "/a",
		"/a?id=3&sid=0123456789abcdef&x=1":  "/a?id=3&x=1",
		"/a?sid=17":                         "/a?sid=17", // not a session
		"/a;jsessionid=0A1B?x=1":            "/a?x=1",
		"/a;JSESSIONID=0A1B/b":              "/a/b",
		"/a?utm_source=x&utm_medium=y#part": "/a#part",
		"/a?sort=title&order=asc&page=2":    "/a?page=2",
		"/a?q=%C3%A4&sort=x":                "/a?q=%C3%A4",
		"/a?":                               "/a?",
		"/a":                                "/a",
	} {
		if hint := h.Link(&Site{}, &Page{}, Link{URL: host + in}); hint.URL != host+want {
			t.Errorf("%s is %s, want %s", in, strings.TrimPrefix(hint.URL, host), want)
		}
	}
}

func TestFormatsThatAnchorsAndAddressesName(t *testing.T) {
	t.Parallel()
	h := helper(t)
	for _, c := range []struct {
		address, text, mediaType string
		format                   string
		data, document           bool
	}{
		{"/x/a.csv", "", "", "csv", true, false},
		{"/x/a.CSV?v=1", "", "", "csv", true, false},
		{"/x/a.geojson.gz", "", "", "geojson", true, false},
		{"/x/a.pdf", "CSV", "", "pdf", false, true},
		{"/x?format=xlsx", "", "", "xlsx", true, false},
		{"/x/17", "Trees (CSV, 12 kB)", "", "csv", true, false},
		{"/x/17", "Bäume [XLSX]", "", "xlsx", true, false},
		{"/x/17", "Report (PDF, 3 MB)", "", "pdf", false, true},
		{"/x/17", "trees.ods", "", "ods", true, false},
		{"/x/17", "", "text/csv; charset=utf-8", "csv", true, false},
		{"/x/17", "Why we publish all of our many tables in the format that is called CSV, and what it is good for in the end", "", "",
			false, false},
		{"/x/17", "News", "", "", false, false},
		{"/x/17", "", "text/html", "", false, false},
	} {
		hint := h.Link(&Site{}, &Page{}, Link{URL: host + c.address, Text: c.text, Type: c.mediaType})
		if hint.Format != c.format || hint.File >= 0.5 != c.data || hint.Document != c.document {
			t.Errorf("%s %q %s: %+v", c.address, c.text, c.mediaType, hint)
		}
	}
}

func TestHostilePagesAreBounded(t *testing.T) {
	t.Parallel()
	h := helper(t)
	header := http.Header{"Link": {strings.Repeat("<x>; ", 1<<16)}}
	for range 5000 {
		header.Add("Set-Cookie", "a=b")
	}
	for name, body := range map[string]string{
		"deep":       strings.Repeat("<div>", 20_000) + `<a href="/a">a</a>`,
		"wide":       strings.Repeat(`<p class="a b c"><a href=/a>a</a>`, 50_000),
		"many paths": manyPaths(),
		"classes":    `<body class="` + strings.Repeat("single ", 100_000) + `">`,
		"generators": strings.Repeat(`<meta name=generator content="WordPress 6">`, 20_000),
		"long":       `<meta name=generator content="` + strings.Repeat("TYPO3", 1<<18) + `">`,
	} {
		root, err := html.Parse(strings.NewReader(body))
		if err != nil && name != "deep" {
			t.Fatal(name, err)
		}
		var site Site
		page := &Page{URL: host + "/" + strings.Repeat("a/", 1<<16) + "?" + strings.Repeat("a=b&", 1<<16), Header: header, Root: root}
		h.See(&site, page)
		h.Link(&site, page, Link{URL: page.URL, Text: strings.Repeat("CSV ", 1<<16), Path: strings.Repeat("div/", 1<<12)})
		for _, s := range site.Systems {
			if len(s.Because) > maxSigns || len(fmt.Sprint(s)) > 4000 {
				t.Errorf("%s: %d signs", name, len(s.Because))
			}
		}
	}
}

func manyPaths() string {
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, `<div class=c%d><a href=/%d>x</a></div>`, i, i)
	}
	return b.String()
}

func FuzzRules(f *testing.F) {
	f.Add(builtin[:2000], "/node/5?page=2")
	f.Add("[[software]]\nname = 'A'\n[[software.page]]\nlevel = 'list'\nmatch = '^/(a|bc)+$'\nparam = ['*x=1']", "/a?ax=1")
	f.Fuzz(func(t *testing.T, rules, address string) {
		h, err := New(Options{Rules: rules})
		if err != nil {
			return
		}
		h.Link(&Site{Systems: []System{{Name: "A", Weight: Sure}}}, &Page{}, Link{URL: address})
	})
}

// FuzzPatterns tests that the look for required texts refuses no address that the expression matches.
func FuzzPatterns(f *testing.F) {
	h := helper(f)
	for _, set := range append([]*ruleset{h.always}, h.of["Liferay"], h.of["ArcGIS Server"]) {
		for _, r := range set.rules {
			if r.Match != "" {
				f.Add(r.Match, "/documents/1/2/a.csv/x?cur=2&f=json")
			}
		}
	}
	f.Fuzz(func(t *testing.T, text, address string) {
		p, err := newPattern(text)
		if err != nil {
			return
		}
		if got, want := p.matches(address), p.re.MatchString(address); got != want {
			t.Errorf("%q on %q: %v, want %v (required %q)", text, address, got, want, p.required)
		}
	})
}

func FuzzPages(f *testing.F) {
	h := helper(f)
	for _, one := range fixtures(f) {
		for _, p := range one.pages {
			f.Add(p.body, host+p.path, "Set-Cookie: fe_typo_user=1")
		}
	}
	f.Fuzz(func(t *testing.T, body, address, field string) {
		root, err := html.Parse(strings.NewReader(body))
		if err != nil {
			return
		}
		name, value, _ := strings.Cut(field, ":")
		site := Site{Systems: []System{{Name: "Drupal", Weight: Sure}}}
		page := &Page{URL: address, Header: http.Header{http.CanonicalHeaderKey(name): {value}}, Root: root}
		h.See(&site, page)
		hint := h.Link(&site, page, Link{URL: address, Text: body, Path: address, Rel: field})
		if again := h.Link(&site, page, Link{URL: hint.URL}); again.URL != hint.URL {
			t.Errorf("%q becomes %q, and that %q", address, hint.URL, again.URL)
		}
		if hint.File < 0 || hint.File > 1 || hint.Boost < -1 || hint.Boost > 1 {
			t.Errorf("%+v", hint)
		}
	})
}

func BenchmarkLink(b *testing.B) {
	h := helper(b)
	for _, f := range fixtures(b) {
		var site Site
		page := f.pages[0].page(b)
		h.See(&site, page)
		b.Run(strings.TrimSuffix(f.name, ".txtar"), func(b *testing.B) {
			b.ReportAllocs()
			cpu, n := cputime.Used(), 0
			for b.Loop() {
				l := f.links[n%len(f.links)]
				h.Link(&site, page, Link{URL: host + l.address, Text: l.text, Path: "body/div.page/main/div.region/ul.list/li.item/a"})
				n++
			}
			b.ReportMetric(float64((cputime.Used()-cpu).Nanoseconds())/1000/float64(n), "cpu-µs/link")
		})
	}
}

func BenchmarkSee(b *testing.B) {
	h := helper(b)
	f := fixtures(b)[0]
	page := f.pages[0].page(b)
	b.ReportAllocs()
	for b.Loop() {
		page.marks = nil
		h.See(&Site{}, page)
	}
}

func TestTheExampleOfTheReadmeIsReadable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```toml\n")
	example, _, ok := strings.Cut(rest, "```")
	h, err := New(Options{Rules: example})
	if !ok || err != nil {
		t.Fatalf("%v in\n%s", err, example)
	}
	site := Site{Systems: []System{{Name: "City CMS", Weight: Sure}}}
	if hint := h.Link(&site, &Page{}, Link{URL: host + "/dl/5?view=3"}); hint.File != 0.9 || hint.URL != host+"/dl/5" {
		t.Errorf("%+v", hint)
	}
}
