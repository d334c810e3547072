package links

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"odarchive/crawler/inspect/detect"
	"odarchive/triplestore/hdt"
	"odarchive/triplestore/term"
)

// read reads a document as a crawl does: with its type recognised.
func read(t testing.TB, name, contentType, body string, h http.Header, o Options) *Document {
	t.Helper()
	size := int64(len(body))
	found, err := detect.File(t.Context(), detect.Input{Name: name, Declared: contentType, Size: size, Body: strings.NewReader(body)})
	if err != nil {
		t.Fatal(err)
	}
	if h == nil {
		h = http.Header{}
	}
	h.Set("Content-Type", contentType)
	d, err := Read(t.Context(),
		Input{URL: "http://a.example/dir/" + name, Name: name, Found: found, Header: h, Size: size, Body: strings.NewReader(body)}, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// told returns the links of a document as "kind URL", in order.
func told(d *Document) string {
	var b strings.Builder
	for _, l := range d.Links {
		fmt.Fprintf(&b, "%s %s\n", l.Kind, l.URL)
	}
	return b.String()
}

const turtle = `@prefix void: <http://rdfs.org/ns/void#> . @prefix dcat: <http://www.w3.org/ns/dcat#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
<#it> a void:Dataset ; void:dataDump <http://b.example/all.nt.gz> ; void:sparqlEndpoint <http://c.example/sparql> ;
  dcat:downloadURL "http://d.example/data.ttl" ; rdfs:seeAlso <other#x> ; owl:sameAs <https://e.example/same> ;
  void:vocabulary <urn:x:y>, <mailto:a@b.example> ; rdfs:label "http://not.example/a-link" .
<http://f.example/subject> rdfs:seeAlso <http://b.example/all.nt.gz> .
`

func TestAStatementMakesALinkOfTheKindOfItsPredicate(t *testing.T) {
	t.Parallel()
	want := `data-dump http://b.example/all.nt.gz
endpoint http://c.example/sparql
download http://d.example/data.ttl
see-also http://a.example/dir/other
same-as https://e.example/same
subject http://f.example/subject
`
	d := read(t, "x.ttl", "text/turtle", turtle, nil, Options{Quads: 100})
	if told(d) != want || d.More || d.Statements != 10 || len(d.Quads) != 10 {
		t.Errorf("%d statements, %d kept:\n%s", d.Statements, len(d.Quads), told(d))
	}
	d = read(t, "x.ttl", "text/turtle", turtle, nil, Options{Vocabularies: true})
	if !strings.Contains(told(d), "class http://rdfs.org/ns/void\n") ||
		!strings.Contains(told(d), "predicate http://www.w3.org/ns/dcat\n") || d.Quads != nil {
		t.Errorf("with vocabularies:\n%s", told(d))
	}
}

func TestStatementsThatWereReadHaveTheSameLinks(t *testing.T) {
	t.Parallel()
	d := read(t, "x.ttl", "text/turtle", turtle, nil, Options{Quads: 100})
	all, more := Of("http://a.example/dir/x.ttl", d.Quads, Options{})
	if !slices.Equal(all, d.Links) || more {
		t.Errorf("got %v\nwant %v", all, d.Links)
	}
}

func TestAnArchiveSaysWhatItsMembersSay(t *testing.T) {
	t.Parallel()
	var zipped, packed bytes.Buffer
	z := zip.NewWriter(&zipped)
	for _, name := range []string{"a/readme.txt", "a/data.ttl", "b.csv", "c.nt"} {
		w, _ := z.Create(name)
		text := map[string]string{"a/data.ttl": turtle, "b.csv": "a,b\n1,http://csv.example/\n",
			"c.nt": "_:x <http://p.example/p> <http://g.example/g> .\n"}[name]
		fmt.Fprint(w, text+"")
	}
	z.Close()
	g := gzip.NewWriter(&packed)
	g.Write([]byte(turtle))
	g.Close()
	d := read(t, "x.zip", "application/zip", zipped.String(), nil, Options{Quads: 100})
	if !strings.Contains(told(d), "object http://g.example/g\n") || !strings.Contains(told(d), "endpoint http://c.example/sparql\n") ||
		strings.Contains(told(d), "csv.example") || d.Statements != 11 {
		t.Errorf("a zip, %d statements, %q:\n%s", d.Statements, d.Faults, told(d))
	}
	if d = read(t, "x.ttl.gz", "application/octet-stream", packed.String(), nil, Options{}); d.Statements != 10 || len(d.Links) != 6 {
		t.Errorf("gzip, %d statements, %q:\n%s", d.Statements, d.Faults, told(d))
	}
}

func TestRDFIsFoundByItsNameToo(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	g := gzip.NewWriter(&packed)
	g.Write([]byte(`{"http://a.example/s":{"http://p.example/p":[{"value":"http://b.example/o","type":"uri"}]}}`))
	g.Close()
	d := read(t, "data.rj.gz", "application/gzip", packed.String(), nil, Options{Quads: 10})
	if told(d) != "subject http://a.example/s\nobject http://b.example/o\n" {
		t.Errorf("%q\n%s", d.Faults, told(d))
	}
}

func TestHDTFilesAreRead(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	w := hdt.NewWriter(hdt.WriterOptions{TempDir: t.TempDir()})
	if err := w.Write(term.Quad{S: term.IRI("http://a.example/s"), P: term.IRI("http://www.w3.org/2000/01/rdf-schema#seeAlso"),
		O: term.IRI("http://b.example/o")}); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(t.Context(), &file); err != nil {
		t.Fatal(err)
	}
	d := read(t, "data.hdt", "application/octet-stream", file.String(), nil, Options{Quads: 10})
	if told(d) != "subject http://a.example/s\nsee-also http://b.example/o\n" || len(d.Quads) != 1 {
		t.Errorf("%q\n%s", d.Faults, told(d))
	}
	if d = read(t, "data.hdt", "application/vnd.hdt", file.String()[:file.Len()/2], nil, Options{}); len(d.Faults) != 1 {
		t.Errorf("half a file: %q", d.Faults)
	}
}

func TestAPageHasAnchorsAlternatesAndStatements(t *testing.T) {
	t.Parallel()
	page := `<!DOCTYPE html><html><head><base href="http://a.example/base/"><meta name="generator" content="ckan 2.10.4">
<link rel="stylesheet" href="style.css"><link rel="alternate" type="text/turtle" href="it.ttl"><link rel="meta" href="/about">
<script type="application/ld+json">{"@context":{"@vocab":"https://schema.org/","contentUrl":{"@type":"@id"}},"@id":"#d","contentUrl":"/file.csv"}</script></head>
<body><div class="list wide"><a href="next#top">Next  <b>page</b></a><a rel="nofollow" href="trap">no</a><a href="javascript:x()">x</a><a href="#here">y</a></div>
<p about="#x" property="http://p.example/p" resource="http://r.example/r"></p></body></html>`
	d := read(t, "x", "text/html", page,
		http.Header{
			"Link": {
				`</a.css>; rel="stylesheet", <meta.rdf>; rel=describedby; type="application/rdf+xml", <other>; rel="alternate"; ` +
					`anchor="http://z.example/"`}}, Options{Quads: 10})
	want := `described-by http://a.example/dir/meta.rdf
subject http://a.example/base/
download http://a.example/file.csv
object http://r.example/r
alternate http://a.example/base/it.ttl
described-by http://a.example/about
anchor http://a.example/base/next
`
	if told(d) != want || d.Generator != "ckan 2.10.4" || len(d.Quads) != 2 {
		t.Errorf("%q, %v, %q:\n%s", d.Generator, d.Quads, d.Faults, told(d))
	}
	if last := d.Links[len(d.Links)-1]; last.Text != "Next page" || last.Path != "body/div.list/a" {
		t.Errorf("%+v", last)
	}
}

func TestFeedsAndSitemapsListEntries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, want string }{
		"atom": {
			`<feed xmlns="http://www.w3.org/2005/Atom"><link rel="self" href="http://a.example/feed"/><entry><link href="e1"/><content ` +
				`src="http://b.example/1.csv"/></entry></feed>`, "entry http://a.example/dir/e1\nentry http://b.example/1.csv\n"},
		"rss": {
			`<rss version="2.0"><channel><link>http://a.example/</link><item><link> http://b.example/1 </link><guid>not a ` +
				`link</guid><enclosure url="http://b.example/1.mp3"/></item></channel></rss>`,
			"entry http://a.example/\nentry http://b.example/1\nentry http://b.example/1.mp3\n"},
		"sitemap": {
			`<?xml version="1.0"?><urlset ` +
				`xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://a.example/one</loc></url></urlset>`,
			"entry http://a.example/one\n"},
		"xml": {`<?xml version="1.0"?><catalogue><link>http://a.example/one</link></catalogue>`, ""},
	} {
		if d := read(t, name+".xml", "application/xml", c.body, nil, Options{}); told(d) != c.want {
			t.Errorf("%s: %q\n%s", name, d.Faults, told(d))
		}
	}
}

func TestHostileDocumentsAreBounded(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&many, "<http://a.example/%d> <http://p.example/> <http://b.example/%d> .\n", i, i)
	}
	d := read(t, "x.nt", "application/n-triples", many.String(), nil, Options{Quads: 1000})
	if len(d.Links) != MaxLinks || !d.More || d.Statements != 200_000 || d.Quads != nil {
		t.Errorf("many statements: %d links, more %v, %d statements, %d kept", len(d.Links), d.More, d.Statements, len(d.Quads))
	}
	long := "http://a.example/" + strings.Repeat("x", 1<<20)
	d = read(t, "x.nt", "application/n-triples", "<"+long+"> <http://p.example/> <http://b.example/> .\n", nil, Options{})
	if told(d) != "object http://b.example/\n" {
		t.Errorf("a URL of 1 MB: %d links", len(d.Links))
	}
	d = read(t, "x.html", "text/html", "<html><body>"+strings.Repeat("<div><a href='/x'>", 5000)+"</body></html>",
		http.Header{"Link": {strings.Repeat("<a>; rel=alternate, ", 50_000)}}, Options{})
	if len(d.Links) > 2 {
		t.Errorf("nested elements: %d links", len(d.Links))
	}
	for _, broken := range []string{"<http://a.example/> <http://p.example/> <http://b.example/> .\n<http://a.example/x> <http://p",
		"<http://a.example/x> <http://p.example/> <http://b.example/> .\nnonsense\n<http://a.example/x> <http://p.example/> " +
			"<http://c.example/> .\n"} {
		if d := read(t, "x.nt", "application/n-triples", broken, nil, Options{}); len(d.Faults) != 1 {
			t.Errorf("%q: %q", broken, d.Faults)
		}
	}
}

func TestManyStatementsAskForLeave(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range ManyQuads + 10 {
		fmt.Fprintf(&b, "_:x <http://p.example/> \"%d\" .\n", i)
	}
	asked := 0
	o := Options{Quads: 1_000_000, BlankPrefix: "g1", Many: func(context.Context) error { asked++; return nil }}
	d := read(t, "x.nt", "application/n-triples", b.String(), nil, o)
	if asked != 1 || len(d.Quads) != ManyQuads+10 || d.Quads[0].S != term.Blank("g1f1.x") {
		t.Errorf("asked %d times, %d statements, %v", asked, len(d.Quads), d.Quads[0])
	}
	no := errors.New("no room")
	o.Many = func(context.Context) error { return no }
	in := Input{URL: "http://a.example/x", Found: detect.Detection{Type: "application/n-triples"}, Size: int64(b.Len()),
		Body: strings.NewReader(b.String())}
	if _, err := Read(t.Context(), in, o); !errors.Is(err, no) {
		t.Errorf("got %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("text/turtle", turtle, `<x>; rel="alternate"`)
	f.Add("text/html", "<a href=x>y</a><link rel=alternate href=z>", `<x>; rel=meta;;=`)
	f.Add("application/xml", "<rss><link>http://a.example/</link>", "")
	f.Fuzz(func(t *testing.T, mediaType, body, header string) {
		in := Input{URL: "http://a.example/d", Name: "d", Found: detect.Detection{Type: mediaType}, Header: http.Header{"Link": {header}},
			Size: int64(len(body)), Body: strings.NewReader(body)}
		d, err := Read(t.Context(), in, Options{Quads: 100, Vocabularies: true, BlankPrefix: "b"})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range d.Links {
			if l.URL == "" || strings.Contains(l.URL, "#") || !fetchable(l.URL) {
				t.Errorf("%q is a link", l.URL)
			}
		}
	})
}
