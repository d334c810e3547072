package scrape

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
	"odarchive/vocab"

	"golang.org/x/net/html"
)

var update = flag.Bool("update", false, "rewrite the Turtle of testdata")

// The directories of testdata are made-up sites: rules.toml, and pages whose first line is a comment with their
// address. Beside each page is the Turtle that it gives, with the links to follow as comments.
func TestThreeSitesBecomeTriples(t *testing.T) {
	t.Parallel()
	sites, err := filepath.Glob("testdata/*/rules.toml")
	if err != nil || len(sites) != 3 {
		t.Fatalf("%q, %v", sites, err)
	}
	for _, file := range sites {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		rules, err := Read(text)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		again, err := rules.TOML()
		if err != nil {
			t.Fatal(err)
		}
		if rules, err = Read(again); err != nil {
			t.Fatalf("%s, written again: %v\n%s", file, err, again)
		}
		pages, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*.html"))
		if err != nil || len(pages) < 2 {
			t.Fatalf("%q, %v", pages, err)
		}
		for _, page := range pages {
			body, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			address := strings.TrimSuffix(strings.TrimPrefix(strings.SplitN(string(body), "\n", 2)[0], "<!-- "), " -->")
			result, err := rules.ApplyTo(t.Context(), strings.NewReader(string(body)), "text/html", address)
			if err != nil || !result.Matched || result.More {
				t.Fatalf("%s: %+v, %v", page, result, err)
			}
			golden := strings.TrimSuffix(page, ".html") + ".ttl"
			got := turtle(t, result)
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil || got != string(want) {
				t.Errorf("%s (%v):\n%s", golden, err, got)
			}
		}
	}
}

func turtle(t *testing.T, r Result) string {
	t.Helper()
	var b strings.Builder
	out := rdfio.NewWriter(&b, rdfio.Turtle(), vocab.Prefixes())
	for _, q := range r.Quads {
		if err := out.Write(q); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	for _, l := range r.Links {
		b.WriteString("# follow " + l + "\n")
	}
	return b.String()
}

func TestRulesThatCannotWorkAreRefusedByName(t *testing.T) {
	t.Parallel()
	for rules, want := range map[string]string{
		``:                                      "[[page]]",
		`x = 1`:                                 `"x"`,
		"[[page]]":                              "url is missing",
		"[[page]]\nurl = '('":                   "url:",
		"[[page]]\nurl = 'a'\neach = 'p['":      `each = "p["`,
		"[[page]]\nurl = 'a'\nsubject = '{1}'":  "{1}",
		"[[page]]\nurl = 'a'\nsubject = '{url'": "brace",
		"[[page]]\nurl = 'a'\nsubject = 'x{n}'": "absolute",
		"[[page]]\nurl = 'a'\ntype = ['x:Y']":   "x:Y",
		"[[page]]\nurl = 'a'\n[[page.value]]\npredicate = 'dct:title'\nmatch = '['":             "match:",
		"[[page]]\nurl = 'a'\n[[page.value]]\npredicate = 'dct:title'\nreplace = '$1'":          "replace needs match",
		"[[page]]\nurl = 'a'\n[[page.value]]\npredicate = 'dct:title'\niri = true\nlang = 'de'": "only one",
		"[[page]]\nurl = 'a'\n[[page.value]]\npredicate = 'title'":                              `"title"`,
		"[[page]]\nurl = 'a'\n[[page.value]]\npredicate = 'dct:title'\nselektor = 'p'":          "selektor",
		"[[page]]\nurl = 'a'\nfollow = ['::']":                                                  "follow",
		"[[page]]\nurl = 'a'\nfollow = ['a b c d e f g']":                                       "steps",
		"[[page]]\nurl = 'a'\nfollow = ['a ~ b ~ c']":                                           "steps",
		"[[page]]\nurl = 'a'\nfollow = ['a:has(b c):has(d e) f g']":                             "steps",
		"# x\n[[page]]\nurl = 'a'\n[[page]]\nurl = '('":                                         "line 4: page 2",
		"[[page]]\nurl = 'a'\n[[page.value]]\npredicate = 'a b'":                                "line 3: ",
		"[[page]]\nurl = 'a'\n\neech = 'p'":                                                     "line 4: ",
		"[[page]]\nurl =":                                                                       "line 2: ",
	} {
		if r, err := Read([]byte(rules)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n%+v, %v; want %q", rules, r, err, want)
		}
	}
}

func TestTheRulesOfSquirrelAreConverted(t *testing.T) {
	t.Parallel()
	rules, notes, err := ReadSquirrel([]byte(`file_descriptor:
  check:
    domain: opendata.example
    ignore-request: true
  search-page:
    regex: results/search
    resources:
      javascript:
        id: more
      "$uri":
        "http://v.example/dataset#link": .hits h4 a
        "http://v.example/dataset#pagination": .pages li:eq(1) a
  detail:
    regex: /details/
    resources:
      "http://schema.org/downloadUrl":
        - .files a:contains(CSV)
        - "b["
      "http://www.w3.org/2000/01/rdf-schema#label": h1
`))
	if err != nil || len(rules.Page) != 2 || len(notes) != 2 || !strings.Contains(notes[0], "javascript") ||
		!strings.Contains(notes[1], "b[") {
		t.Fatalf("%+v, %q, %v", rules, notes, err)
	}
	search, err := rules.ApplyTo(t.Context(),
		strings.NewReader(
			`<div class=hits><h4><a href="../details/1">One</a></h4></div><ul class=pages><li><a href="?p=1">1</a><li><a `+
				`href="?p=2">2</a></ul>`), "text/html; charset=utf-8", "https://www.opendata.example/results/search?q=x")
	if err != nil || !slices.Equal(search.Links,
		[]string{"https://www.opendata.example/details/1", "https://www.opendata.example/results/search?p=2"}) || len(search.Quads) != 2 {
		t.Errorf("%+v, %v", search, err)
	}
	detail, err := rules.ApplyTo(t.Context(),
		strings.NewReader(`<h1>Trees</h1><p class=files><a href="/f/trees.csv">as CSV</a> <a href="/f/trees.pdf">as PDF</a>`), "text/html",
		"http://opendata.example:8080/details/1")
	want := []term.Quad{
		{S: term.IRI("http://opendata.example:8080/details/1"), P: term.IRI("http://schema.org/downloadUrl"),
			O: term.IRI("http://opendata.example:8080/f/trees.csv")},
		{S: term.IRI("http://opendata.example:8080/details/1"), P: term.IRI("http://www.w3.org/2000/01/rdf-schema#label"),
			O: term.String("Trees")},
	}
	if err != nil || !slices.Equal(detail.Quads, want) {
		t.Errorf("%+v, %v", detail, err)
	}
	for _, other := range []string{"http://opendata.example.evil.example/details/1", "http://a.example/?http://opendata.example/details/1",
		"http://opendata.example/"} {
		if r, err := rules.ApplyTo(t.Context(), strings.NewReader("<h1>x</h1>"), "text/html", other); err != nil || r.Matched {
			t.Errorf("%s: %+v, %v", other, r, err)
		}
	}
	for _, bad := range []string{"", "a: [", "a: 1", "file_descriptor: 1", "file_descriptor:\n p:\n  regex: '('\n", "a: &a [*a]"} {
		if r, _, err := ReadSquirrel([]byte(bad)); err == nil {
			t.Errorf("%q: %+v", bad, r)
		}
	}
}

func TestSelectorsThatTakeLongAreToldFromOthers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"a": 0, " a > b + c, d ": 0, "#x .y a": 2, "a[title='b c']:contains(\"d e\") f": 1, "a ~ b": 3, "a[x~=y]": 0,
		"li:nth-child(2n + 1) a:not( b )": 1, "p:has( a b )": 2, `a\ b`: 0,
	} {
		if got := effort(text); got != want {
			t.Errorf("%s: %d", text, got)
		}
	}
}

func TestWhatTakesLongEnds(t *testing.T) {
	t.Parallel()
	rules, err := Read([]byte("[[page]]\nurl = '.'\neach = 'div'\n[[page.value]]\npredicate = 'dct:title'\nselect = 'b'"))
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Repeat("<div>", 100) + strings.Repeat("<i></i>", 100_000)
	doc, err := html.Parse(strings.NewReader(strings.Repeat("<div></div>", 10) + page + strings.Repeat("<div>", 90)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if r, err := rules.Apply(ctx, doc, "http://a.example/"); err != nil || !r.Matched {
		t.Errorf("%+v, %v", r, err)
	}
	cancel()
	if _, err := rules.Apply(ctx, doc, "http://a.example/"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	deep, err := html.Parse(strings.NewReader(strings.Repeat("<div>", maxDepth+1)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rules.Apply(t.Context(), deep, "http://a.example/"); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	s := &scraping{ctx: t.Context(), work: maxWork - 5}
	if s.all(doc, anyLink, maxLinks); !s.result.More {
		t.Error("work has no end")
	}
}

func TestAHostilePageIsBounded(t *testing.T) {
	t.Parallel()
	rules, err := Read([]byte(
		"[[page]]\nurl = '.'\neach = 'p, x'\nfollow = ['a']\n[[page.value]]\npredicate = 'dct:title'\n[[page.value]]\npredicate = " +
			"'dct:source'\nselect = 'a'\niri = true"))
	if err != nil {
		t.Fatal(err)
	}
	apply := func(page string) (Result, error) {
		return rules.ApplyTo(t.Context(), strings.NewReader(page), "text/html", "http://a.example/")
	}
	if r, err := apply(strings.Repeat("<p>x", maxThings+1)); err != nil || !r.More || len(r.Quads) != 1 {
		t.Errorf("many things: %d quads, more %v, %v", len(r.Quads), r.More, err)
	}
	if r, err := apply("<p>" + strings.Repeat("<a href='data:x'>", 3) +
		`<a href="javascript:x()"><a href=":"><a href="http://b.example/a b|c?<d>"><a href="ftp://c.example/">`); err != nil ||
		!slices.Equal(r.Links, []string{"http://b.example/a%20b%7Cc?%3Cd%3E"}) || len(r.Quads) != 2 {
		t.Errorf("links: %+v, %v", r, err)
	}
	if r, err := apply("<p>a\x00\x01\xffb" + strings.Repeat("y", 3*maxText)); err != nil || !r.More || len(r.Quads) != 1 ||
		len(r.Quads[0].O) > maxText+10 || strings.ContainsAny(string(r.Quads[0].O), "\x00\x01") {
		t.Errorf("a long text: %d quads, %v", len(r.Quads), err)
	}
	if _, err := apply(strings.Repeat("<b>", maxNodes+1)); err == nil {
		t.Error("a page of too many elements")
	}
	if _, err := rules.ApplyTo(t.Context(), strings.NewReader("<p>"+strings.Repeat(" ", MaxPage)), "text/html",
		"http://a.example/"); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a long page: %v", err)
	}
}

// FuzzApply feeds rules and pages to the package, which must not panic, and must write only terms that are RDF.
func FuzzApply(f *testing.F) {
	f.Add(
		"[[page]]\nurl = '.'\nsubject = '{url}#{n}'\neach = 'p'\n[[page.value]]\npredicate = 'dct:title'\nmatch = '(.)'\nreplace = '$1$1'",
		"<p>a b", "http://a.example/")
	f.Add("[[page]]\nurl = '(.+)'\nlink = 'a'\nfollow = ['a']\n[[page.value]]\npredicate = 'dct:title'\nauto = true",
		"<base href=//x><p><a href='%'>a b", "http://a.example/{}")
	f.Fuzz(func(t *testing.T, rules, page, address string) {
		r, err := Read([]byte(rules))
		if err != nil {
			return
		}
		result, err := r.ApplyTo(t.Context(), strings.NewReader(page), "text/html", address)
		if err != nil {
			return
		}
		out := rdfio.NewWriter(&strings.Builder{}, rdfio.NTriples(), nil)
		for _, q := range result.Quads {
			if err := out.Write(q); err != nil {
				t.Errorf("%v: %v", q, err)
			}
		}
	})
}

// FuzzReadSquirrel feeds YAML to ReadSquirrel.
func FuzzReadSquirrel(f *testing.F) {
	f.Add("file_descriptor:\n check:\n  domain: a.example\n p:\n  regex: x\n  resources:\n   \"http://v.example/p\": a:eq(0)\n")
	f.Fuzz(func(t *testing.T, text string) {
		if r, _, err := ReadSquirrel([]byte(text)); err == nil {
			if _, err := r.TOML(); err != nil {
				t.Error(err)
			}
		}
	})
}
