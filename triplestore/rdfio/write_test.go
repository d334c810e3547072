package rdfio_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/sparql/conformance"
	"odarchive/triplestore/term"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// sample returns statements with each kind of term.
func sample(quads bool) []term.Quad {
	const ex = "http://example.org/"
	s, typ := term.IRI(ex+"dataset/1"), term.IRI("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
	p := func(local string) term.Key { return term.IRI("http://purl.org/dc/terms/" + local) }
	xsd := func(lex, local string) term.Key { return term.Typed(lex, "http://www.w3.org/2001/XMLSchema#"+local) }
	out := []term.Quad{
		{S: s, P: p("title"), O: term.Lang("Bäume & Sträucher <Wien>", "de-AT")},
		{S: s, P: p("title"), O: term.Lang("Trees \"and\" shrubs", "en")},
		{S: s, P: typ, O: term.IRI("http://www.w3.org/ns/dcat#Dataset")},
		{S: s, P: p("description"), O: term.String("two\nlines\tand a \\")},
		{S: s, P: p("extent"), O: xsd("42", "integer")},
		{S: s, P: p("extent"), O: xsd("4.20", "decimal")},
		{S: s, P: p("extent"), O: xsd("4.2E1", "double")},
		{S: s, P: p("extent"), O: xsd("042", "integer")},
		{S: s, P: p("extent"), O: xsd("many", "integer")},
		{S: s, P: p("valid"), O: xsd("true", "boolean")},
		{S: s, P: p("issued"), O: xsd("2026-11-21", "date")},
		{S: s, P: p("publisher"), O: term.Blank("org")},
		{S: term.Blank("org"), P: term.IRI("http://xmlns.com/foaf/0.1/name"), O: term.String("")},
		{S: term.Blank("org"), P: term.IRI("http://xmlns.com/foaf/0.1/page"), O: term.IRI("http://example.org/a/../b?c=d&e#f")},
		{S: term.Blank("not a label"), P: p("relation"), O: term.Blank("x-00")},
	}
	if quads {
		out = append(out,
			term.Quad{S: s, P: p("isPartOf"), O: s, G: term.IRI(ex + "graph/1")},
			term.Quad{S: s, P: p("isPartOf"), O: term.Blank("org"), G: term.IRI(ex + "graph/1")},
			term.Quad{S: s, P: p("isPartOf"), O: s, G: term.Blank("g")},
			term.Quad{S: s, P: p("hasPart"), O: s})
	}
	return out
}

var samplePrefixes = map[string]string{
	"dct": "http://purl.org/dc/terms/", "dcat": "http://www.w3.org/ns/dcat#", "unused": "http://unused.example/",
	"xsd": "http://www.w3.org/2001/XMLSchema#", "ex": "http://example.org/dataset/",
}

func TestWritersWriteWhatTheFilesShow(t *testing.T) {
	t.Parallel()
	for _, s := range rdfio.Syntaxes() {
		var b bytes.Buffer
		w := rdfio.NewWriter(&b, s, samplePrefixes)
		for _, q := range sample(s.Quads) {
			if err := w.Write(q); err != nil {
				t.Errorf("%s: %v", s, err)
			}
		}
		if err := w.Close(); err != nil {
			t.Errorf("%s: %v", s, err)
		}
		file := filepath.Join("testdata", "sample"+s.Extensions[0])
		if *update {
			if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Bytes(), want) {
			t.Errorf("%s: got\n%s\nwant\n%s", s, &b, want)
		}
		back, err := parse(s, b.String())
		if err != nil || !conformance.Isomorphic(back, sample(s.Quads)) {
			t.Errorf("%s: read back as\n%s%v", s, nquads(t, back), err)
		}
	}
}
