package rdfio_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odarchive/testdata/shared"

	"odarchive/triplestore/rdfio"
)

func TestDetectBelievesTheBytesFirst(t *testing.T) {
	t.Parallel()
	const (
		nt  = "<http://a/s> <http://a/p> \"o\" .\n"
		nq  = "<http://a/s> <http://a/p> \"o\" <http://a/g> .\n"
		xml = `<?xml version="1.0"?><!-- c --><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description`
	)
	for _, c := range []struct{ name, head, file, declared, want string }{
		{"triples on lines", nt, "", "", "N-Triples"},
		{"triples cut off in a line", nt + "<http://a/s> <htt", "", "", "N-Triples"},
		{"quads on lines", nt + nq, "", "", "N-Quads"},
		{"lines that are said to be Turtle", nt, "x.ttl", "", "Turtle"},
		{"quads that are said to be triples", nq, "x.nt", "application/n-triples", "N-Quads"},
		{"a comment, then triples", "# hello\n" + nt, "", "", "N-Triples"},
		{"Turtle by its prefixes", "@prefix ex: <http://a/> .\nex:a ex:b", "", "", "Turtle"},
		{"Turtle as SPARQL writes it", "PREFIX ex: <http://a/>\nex:a ex:b", "", "", "Turtle"},
		{"Turtle that is said to be N3", "@prefix ex: <http://a/> .\nex:a ex:b 1 .", "x.n3", "", "N3"},
		{"Turtle that is said to be HTML", "@prefix ex: <http://a/> .\n", "", "text/html", "Turtle"},
		{"Turtle that begins with [", "[ a <http://a/b> ] .\n[] a <http://a/c> .", "", "", "Turtle"},
		{"relative IRIs", "<#a> a <#b> ; <#c> <d> .\n", "", "", "Turtle"},
		{"TriG with a named graph", "@prefix ex: <http://a/> .\nex:g { ex:a ex:b ex:c }", "", "", "TriG"},
		{"TriG cut off in the head of a graph", "@prefix ex: <http://a/> .\nGRAPH ex:g {\n", "", "", "TriG"},
		{"TriG's default graph", "{ <http://a/s> <http://a/p> <http://a/o> , <http://a/o2> }", "x.trig", "", "TriG"},
		{"RDF/XML", xml, "", "", "RDF/XML"},
		{"RDF/XML that is said to be XML", xml, "x.xml", "text/xml", "RDF/XML"},
		{"RDF/XML with another root", `<v:Thing xmlns:v="http://v/">`, "x.rdf", "", "RDF/XML"},
		{
			"RDF/XML in UTF-16",
			"\xFF\xFE" + strings.Join(strings.Split(`<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#">`, ""), "\x00") + "\x00",
			"", "", "RDF/XML"},
		{"TriX", `<TriX xmlns="http://www.w3.org/2004/03/trix/trix-1/">`, "", "", "TriX"},
		{"JSON-LD", `{"name": "x", "@context": {}}`, "", "", "JSON-LD"},
		{"JSON-LD in a list", `[{"@id": "http://a/"`, "", "application/json", "JSON-LD"},
		{"RDF/JSON", `{"http://a/s": {"http://a/p": [{"type": "literal", "value": "x"}, {"ty`, "", "", "RDF/JSON"},
		{"JSON that is said to be JSON-LD", `{"a": 1}`, "x.jsonld", "", "JSON-LD"},
		{"an empty file with a name", "", "x.nt.gz", "", "N-Triples"},
		{"nothing but comments, with a type", "# nothing\n", "", "text/turtle; charset=utf-8", "Turtle"},
		{"a byte order mark", "\xEF\xBB\xBF@prefix a: <b:> .", "", "", "Turtle"},

		{"an empty file", "", "", "", ""},
		{"a web page", "<!DOCTYPE html><html><body>", "x.rdf", "", ""},
		{"a web page instead of Turtle", "<html><head>", "x.ttl", "text/turtle", ""},
		{"an SVG", `<svg xmlns="http://www.w3.org/2000/svg">`, "", "", ""},
		{"JSON", `{"a": [1, 2]}`, "", "application/json", ""},
		{"CSV", "a,b,c\n1,2,3\n", "x.ttl", "", ""},
		{"prose", "This is no RDF. Not at all.", "", "", ""},
		{"binary", "\x00\x01\x02\xFF\xFE", "", "", ""},
	} {
		got, ok := rdfio.Detect([]byte(c.head), c.file, c.declared)
		if got.Name != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, %v; want %q", c.name, got.Name, ok, c.want)
		}
	}
}

func TestDetectKnowsTheFilesOfTheW3CSuites(t *testing.T) {
	t.Parallel()
	for _, suite := range []string{"rdf-n-triples", "rdf-n-quads", "rdf-turtle", "rdf-trig", "rdf-xml"} {
		dir := shared.Data(t, "w3c", "rdf", "rdf11", suite)
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			want, ok := rdfio.ByExtension(file)
			if !ok || strings.Contains(file, "bad") {
				continue
			}
			if strings.HasSuffix(file, "test-38.nt") {
				continue // has a surrogate pair, which is not N-Triples
			}
			head, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := rdfio.Detect(head, file, "")
			if !ok || got.Quads != want.Quads && !got.Is(rdfio.TriG()) && !got.Is(rdfio.NQuads()) {
				t.Errorf("%s: %q", filepath.Base(file), got.Name)
			}
		}
	}
}

func TestSyntaxesAreFoundByNameTypeAndExtension(t *testing.T) {
	t.Parallel()
	for _, s := range rdfio.Syntaxes() {
		for _, mt := range append([]string{s.MediaType, strings.ToUpper(s.MediaType), s.MediaType + "; charset=utf-8"}, s.Aliases...) {
			if got, ok := rdfio.ByMediaType(mt); !ok || !got.Is(s) {
				t.Errorf("ByMediaType(%q) = %s", mt, got)
			}
		}
		for _, ext := range s.Extensions {
			for _, name := range []string{"x" + ext, "/a.b/x.y" + strings.ToUpper(ext) + ".gz", "x" + ext + ".zst",
				"http://h/x" + ext + ".bz2", "x" + ext + ".XZ"} {
				if got, ok := rdfio.ByExtension(name); !ok || !got.Is(s) {
					t.Errorf("ByExtension(%q) = %s", name, got)
				}
			}
			if got, ok := rdfio.ByName(ext[1:]); !ok || !got.Is(s) {
				t.Errorf("ByName(%q) = %s", ext[1:], got)
			}
		}
		if got, ok := rdfio.ByName(strings.ToLower(strings.ReplaceAll(s.Name, "/", ""))); !ok || !got.Is(s) {
			t.Errorf("ByName(%q) = %s", s.Name, got)
		}
	}
	for _, name := range []string{"", "x", ".gz", "x.csv", "x.nt.zip", "ttl"} {
		if got, ok := rdfio.ByExtension(name); ok {
			t.Errorf("ByExtension(%q) = %s", name, got)
		}
	}
	if got, ok := rdfio.ByMediaType(""); ok {
		t.Errorf("no type is %s", got)
	}
}
