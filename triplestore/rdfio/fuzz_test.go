package rdfio_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
)

// fuzzLimits are small, so that the fuzzer reaches them.
var fuzzLimits = rdfio.Limits{Token: 4096, Depth: 20, Prefixes: 10, Document: 1 << 16}

// seeds adds a few documents and, if they exist, those of the W3C suites.
func seeds(f *testing.F, s rdfio.Syntax, own ...string) {
	for _, doc := range own {
		f.Add([]byte(doc))
	}
	for _, q := range [][]term.Quad{sample(s.Quads), archiveQuads(30)} {
		f.Add(encode(f, s, q))
	}
	root := os.Getenv("ODARCHIVE_SHARED")
	for _, ext := range s.Extensions {
		files, _ := filepath.Glob(filepath.Join(root, "data", "w3c", "rdf", "rdf1[12]", "*", "*"+ext))
		more, _ := filepath.Glob(filepath.Join(root, "data", "w3c", "rdf", "rdf1[12]", "*", "*", "*"+ext))
		for _, file := range append(files, more...) {
			if doc, err := os.ReadFile(file); root != "" && err == nil && len(doc) < 4096 {
				f.Add(doc)
			}
		}
	}
}

// fuzz checks the promises of a reader: it ends, it does not panic, its errors have a position, what it reads is RDF
// that can be written and read again, and reading in small pieces makes no difference.
func fuzz(f *testing.F, s rdfio.Syntax) {
	f.Fuzz(func(t *testing.T, doc []byte) {
		o := rdfio.Options{Base: "http://base.example/dir/doc", File: "doc", Limits: fuzzLimits, BlankPrefix: "b", RDF12: true,
			LongTags: true}
		quads, err := readAll(rdfio.NewReader(bytes.NewReader(doc), s, o))
		var at *rdfio.Error
		if err != nil && (!errors.As(err, &at) || at.Line < 1 || at.Col < 1 || at.File != "doc" ||
			at.Line > bytes.Count(doc, []byte("\n"))+2) {
			t.Errorf("an error without a place: %v", err)
		}
		if len(quads) > 8*len(doc)+8 {
			t.Errorf("%d statements from %d bytes", len(quads), len(doc))
		}
		pieces, err2 := readAll(rdfio.NewReader(&slowReader{doc}, s, o))
		if len(pieces) != len(quads) || (err == nil) != (err2 == nil) {
			t.Errorf("in pieces: %d statements (%v), at once: %d (%v)", len(pieces), err2, len(quads), err)
		}
		var b bytes.Buffer
		w := rdfio.NewWriter(&b, rdfio.NQuads(), nil)
		for _, q := range quads {
			if err := w.Write(q); err != nil {
				t.Errorf("cannot be written: %v", err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		back, err := readAll(rdfio.NewReader(&b, rdfio.NQuads(), rdfio.Options{RDF12: true, LongTags: true}))
		if err != nil || len(back) != len(quads) {
			t.Errorf("read again: %d of %d, %v", len(back), len(quads), err)
		}
		r := rdfio.NewReader(bytes.NewReader(doc), s, o)
		for n := 0; ; {
			_, err := r.Read()
			if err == io.EOF || err != nil && !r.Skip() {
				break
			}
			if n++; n > 2*len(doc)+100 {
				t.Fatal("skipping does not end")
			}
		}
	})
}

// slowReader returns one to seven bytes at a time.
type slowReader struct{ rest []byte }

func (r *slowReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 1+len(r.rest)%7)], r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func FuzzNTriples(f *testing.F) {
	seeds(f, rdfio.NTriples(), "<a:b> <c:d> \"\\u00e9\\n\"@en-x . # c\r<a:b> <c:d> _:x.\r\n\xEF\xBB\xBF")
	fuzz(f, rdfio.NTriples())
}

func FuzzNQuads(f *testing.F) {
	seeds(f, rdfio.NQuads(), "<a:b> <c:d> \"x\"^^<\\u0061:b> _:g-1 .", "<a:b> <c:d> <<( _:x <a:b> \"x\"@en--rtl )>> .")
	fuzz(f, rdfio.NQuads())
}

func FuzzTurtle(f *testing.F) {
	seeds(f, rdfio.Turtle(), "@prefix a: <b#> . a:b a:c [ a:d ( 1 -2.5 .3e4 \"\"\"x\"y\"\"\"@en ) ] , 'z'^^a:t ; a <> .",
		"<a:b> <c:d> <e:f> ~ _:r {| <g:h> 1 ; a <i:j> {| <k:l> 2 |} |} . << << <a:b> a [] >> a <<( <a:b> a 1 )>> ~ >> a 2 . VERSION '1.2'")
	fuzz(f, rdfio.Turtle())
}

func FuzzTriG(f *testing.F) {
	seeds(f, rdfio.TriG(), "PREFIX a: <b#> { a:b a a:c } GRAPH [] { a:b a:c true . } a:g { } [] a a:x .")
	fuzz(f, rdfio.TriG())
}

func FuzzRDFXML(f *testing.F) {
	seeds(f, rdfio.RDFXML(),
		`<!DOCTYPE r [<!ENTITY a "x"><!ENTITY b "&a;&#65;">]><r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" `+
			`xmlns:e="e:"><e:A r:ID="x"><e:p r:parseType="Literal"><b c="&b;">&amp;<![CDATA[<]]></b><!--c--><?p i?></e:p><r:li `+
			`r:parseType="Collection"><e:B/></r:li></e:A></r:RDF>`)
	fuzz(f, rdfio.RDFXML())
}

func FuzzTriX(f *testing.F) { seeds(f, rdfio.TriX()); fuzz(f, rdfio.TriX()) }

func FuzzRDFJSON(f *testing.F) {
	seeds(f, rdfio.RDFJSON(), `{"_:a":{"p:q":[{"value":"\ud83d\ude00","type":"literal","lang":"en"}]}}`)
	fuzz(f, rdfio.RDFJSON())
}

func FuzzJSONLD(f *testing.F) {
	seeds(f, rdfio.JSONLD(),
		`{"@context":{"@vocab":"v:","k":{"@type":"@json"},"l":{"@container":"@list"},"r":{"@reverse":"v:r"}},"k":{"b":[1,2.5e3]},"l":[1,[`+
			`true]],"r":{"@id":"_:x"},"@included":[{"@id":"a"}]}`)
	fuzz(f, rdfio.JSONLD())
}

func FuzzDetect(f *testing.F) {
	for _, s := range rdfio.Syntaxes() {
		f.Add(encode(f, s, sample(s.Quads)), "x"+s.Extensions[0], s.MediaType)
	}
	f.Fuzz(func(t *testing.T, head []byte, name, declared string) {
		if s, ok := rdfio.Detect(head, name, declared); ok == s.IsZero() {
			t.Errorf("%q, %v", s, ok)
		}
	})
}

func FuzzDecompress(f *testing.F) {
	for _, ext := range []string{".gz", ".zst", ".xz", ".bz2"} {
		f.Add(compressed(f, ext, []byte(strings.Repeat("hello ", 100))))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := rdfio.Decompression{Max: 1 << 20}.Open(bytes.NewReader(data), "x.nt.gz")
		if err != nil {
			return
		}
		defer r.Close()
		began := time.Now()
		n, _ := io.Copy(io.Discard, r)
		if n > 1<<20 || time.Since(began) > 10*time.Second {
			t.Errorf("%d bytes in %v", n, time.Since(began))
		}
	})
}
