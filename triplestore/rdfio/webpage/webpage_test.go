package webpage_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"odarchive/testdata/shared"

	"odarchive/triplestore/naive"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/rdfio/webpage"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/term"
)

func nquads(t testing.TB, quads []term.Quad) string {
	t.Helper()
	var b strings.Builder
	w := rdfio.NewWriter(&b, rdfio.NTriples(), nil)
	for _, q := range quads {
		if err := w.Write(q); err != nil {
			t.Error(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// rdfaExceptions are tests that this package does not pass on purpose, by number.
var rdfaExceptions = map[string]string{}

// TestRDFaSuite runs the HTML5 tests of RDFa 1.1 from their manifest: each evaluates a SPARQL query on the statements
// found.
func TestRDFaSuite(t *testing.T) {
	t.Parallel()
	root := shared.Data(t, "rdfweb", "rdfa", "test-suite")
	b, err := os.ReadFile(filepath.Join(root, "manifest.jsonld"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Tests []struct {
			Num, Description string
			Versions         []string
			HostLanguages    []string
			ExpectedResults  bool
		} `json:"@graph"`
	}
	if err := json.Unmarshal(b, &manifest); err != nil {
		t.Fatal(err)
	}
	engine, passed, ran := sparql.New(sparql.Options{}), 0, 0
	for _, test := range manifest.Tests {
		file := filepath.Join(root, "test-cases", "rdfa1.1", "html5", test.Num+".html")
		query, err := os.ReadFile(strings.TrimSuffix(file, ".html") + ".sparql")
		page, err2 := os.ReadFile(file)
		if err != nil || err2 != nil || !slices.Contains(test.HostLanguages, "html5") || !slices.Contains(test.Versions, "rdfa1.1") {
			continue
		}
		ran++
		address := "http://rdfa.info/test-suite/test-cases/rdfa1.1/html5/" + test.Num + ".html"
		found, err := webpage.Read(strings.NewReader(string(page)), webpage.Options{Base: address})
		if err != nil {
			t.Errorf("%s: %v", test.Num, err)
			continue
		}
		res, err := engine.Query(t.Context(), naive.New(found.RDFa...).Snapshot(), string(query), sparql.QueryOptions{Base: address})
		if err != nil {
			t.Errorf("%s: query: %v\n%s", test.Num, err, query)
			continue
		}
		ok := res.Boolean() == test.ExpectedResults
		res.Close()
		reason, listed := rdfaExceptions[test.Num]
		switch {
		case ok && listed:
			t.Errorf("%s passes and is listed as an exception (%s)", test.Num, reason)
		case !ok && !listed:
			t.Errorf("%s (%s):\n%s\nfound\n%swanted (%v)\n%s", test.Num, test.Description, page, nquads(t, found.RDFa),
				test.ExpectedResults, query)
		case ok:
			passed++
		}
	}
	t.Logf("%d of %d", passed, ran)
	if ran < 50 {
		t.Errorf("only %d tests found", ran)
	}
}

// shape returns a graph as text, with blank nodes numbered in the order of the sorted statements.
func shape(quads []term.Quad) string {
	var lines []string
	for _, q := range quads {
		for _, k := range []*term.Key{&q.S, &q.O} {
			if k.Kind() == term.KindBlank {
				*k = "_"
			}
		}
		lines = append(lines, fmt.Sprintf("%q %q %q", q.S, q.P, q.O))
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n") + "\n"
}

func readRDF(t *testing.T, file, base string) []term.Quad {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, _ := rdfio.ByExtension(file)
	var quads []term.Quad
	for q, err := range rdfio.NewReader(f, s, rdfio.Options{File: path.Base(file), Base: base}).All() {
		if err != nil {
			t.Fatal(err)
		}
		quads = append(quads, q)
	}
	return quads
}

func TestMicrodataExamples(t *testing.T) {
	t.Parallel()
	dir := shared.Data(t, "rdfweb", "rdf-microdata", "spec", "test-files")
	for _, name := range []string{"example2", "example3"} {
		b, err := os.ReadFile(filepath.Join(dir, name+".html"))
		if err != nil {
			t.Fatal(err)
		}
		const base = "http://example.com/"
		page, err := webpage.Read(strings.NewReader(string(b)), webpage.Options{Base: base})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := shape(page.Microdata), shape(readRDF(t, filepath.Join(dir, name+".ttl"), base)); got != want {
			t.Errorf("%s: got\n%swant\n%s", name, got, want)
		}
	}
}

const everything = `<!DOCTYPE html><html lang="en"><head><base href="/dir/page">
<script type="application/ld+json">{"@context": {"@vocab": "http://schema.org/"}, "@type": "Dataset", "name": "A"}</script>
<script type="application/ld+json; charset=utf-8">{broken</script>
<script>not("JSON-LD")</script></head>
<body><div itemscope itemtype="http://schema.org/Dataset"><span itemprop="name" lang="de">B</span>
<a itemprop="url" href="x y">x</a><time itemprop="dateModified" datetime="2026-11-21"></time>
<div itemprop="distribution" itemscope itemtype="http://schema.org/DataDownload"><link itemprop="contentUrl" href="data.csv"></div></div>
<p vocab="http://schema.org/" typeof="Dataset"><b property="name">C</b></p></body></html>`

func TestAllKindsAreFoundInOnePage(t *testing.T) {
	t.Parallel()
	page, err := webpage.Read(strings.NewReader(everything), webpage.Options{Base: "http://example.org/", BlankPrefix: "p."})
	if err != nil {
		t.Fatal(err)
	}
	const want = `_:p.j1.g-1 <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://schema.org/Dataset> .
_:p.j1.g-1 <http://schema.org/name> "A" .
_:p.m-1 <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://schema.org/Dataset> .
_:p.m-1 <http://schema.org/name> "B"@de .
_:p.m-1 <http://schema.org/url> <http://example.org/dir/x%20y> .
_:p.m-1 <http://schema.org/dateModified> "2026-11-21"^^<http://www.w3.org/2001/XMLSchema#date> .
_:p.m-2 <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://schema.org/DataDownload> .
_:p.m-2 <http://schema.org/contentUrl> <http://example.org/dir/data.csv> .
_:p.m-1 <http://schema.org/distribution> _:p.m-2 .
<http://example.org/dir/page> <http://www.w3.org/ns/rdfa#usesVocabulary> <http://schema.org/> .
_:p.a-3 <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://schema.org/Dataset> .
_:p.a-3 <http://schema.org/name> "C"@en .
`
	if got := nquads(t, page.All()); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if len(page.Faults) != 1 || !strings.Contains(page.Faults[0].Error(), "script 2:1:2: ") {
		t.Errorf("faults: %v", page.Faults)
	}
}

func TestPatternsMayCopyPatterns(t *testing.T) {
	t.Parallel()
	const page = `<body vocab="u:"><p resource="u:x"><link property="rdfa:copy" href="u:a"></p>
<p resource="u:a" typeof="rdfa:Pattern"><link property="rdfa:copy" href="u:b"></p>
<p resource="u:b" typeof="rdfa:Pattern"><link property="rdfa:copy" href="u:a"><i property="p">v</i></p>`
	got, err := webpage.Read(strings.NewReader(page), webpage.Options{Base: "http://example.org/"})
	if err != nil {
		t.Fatal(err)
	}
	if s := nquads(t, got.RDFa); !strings.Contains(s, `<u:x> <u:p> "v" .`) || strings.Contains(s, "copy") ||
		strings.Contains(s, "Pattern") {
		t.Errorf("got\n%s", s)
	}
}

func TestPagesThatAskForTooMuchAreRefused(t *testing.T) {
	t.Parallel()
	lim := rdfio.Limits{Document: 100_000, Depth: 100}
	for name, c := range map[string]struct {
		page string
		lim  rdfio.Limits
	}{
		"large":                {strings.Repeat("x", 200_000), lim},
		"deep":                 {strings.Repeat("<div>", 200), lim},
		"text again and again": {strings.Repeat("<div property='p:q'>", 90) + strings.Repeat("x", 4<<20), rdfio.Limits{}},
	} {
		if _, err := webpage.Read(strings.NewReader(c.page), webpage.Options{Base: "http://example.org/", Limits: c.lim}); !errors.Is(err,
			rdfio.ErrLimit) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestItemsThatReferToEachOtherEnd(t *testing.T) {
	t.Parallel()
	page, err := webpage.Read(
		strings.NewReader(
			`<div itemscope id=a itemref=b></div><div id=b itemprop="u:p" itemscope itemref=b><i id=c itemprop="u:q" itemscope `+
				`itemref="b a">x</i></div>`),
		webpage.Options{Base: "http://example.org/"})
	if err != nil || len(page.Microdata) == 0 {
		t.Errorf("%v, %v", page, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(everything))
	for _, c := range microformats {
		f.Add([]byte(c.page))
	}
	f.Add(
		[]byte(
			`<html prefix="a: http://a/"><p about="[a:b]" rel="a:c" inlist><i resource="_:x" rev="a:d" typeof="a:T" property="a:e" ` +
				`datatype="rdf:XMLLiteral"><b>`))
	files, _ := filepath.Glob(filepath.Join(os.Getenv("ODARCHIVE_SHARED"), "data", "rdfweb", "*", "*", "*", "*", "*.html"))
	for _, file := range files {
		if b, err := os.ReadFile(file); err == nil && len(b) < 4096 {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		page, err := webpage.Read(strings.NewReader(string(b)),
			webpage.Options{Base: "http://example.org/", Limits: rdfio.Limits{Document: 1 << 16, Depth: 100, Token: 1 << 12}})
		if err != nil {
			return
		}
		w := rdfio.NewWriter(&strings.Builder{}, rdfio.NQuads(), nil)
		for _, q := range page.All() {
			if err := w.Write(q); err != nil {
				t.Errorf("cannot be written: %v", err)
			}
		}
	})
}
