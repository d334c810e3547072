package rdfio_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/knakk/rdf"
	"github.com/piprate/json-gold/ld"

	"odarchive/testdata/cputime"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
)

// archiveQuads returns statements like those of the archive: resources with versions, dates, digests and sizes,
// titles in three languages, and tables that are blank nodes.
func archiveQuads(n int) []term.Quad {
	const (
		dct  = "http://purl.org/dc/terms/"
		dcat = "http://www.w3.org/ns/dcat#"
		xsd  = "http://www.w3.org/2001/XMLSchema#"
		csvw = "http://www.w3.org/ns/csvw#"
	)
	rnd := rand.New(rand.NewPCG(1, 2))
	typ := term.IRI("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
	var quads []term.Quad
	for i := 0; len(quads) < n; i++ {
		res := term.IRI(fmt.Sprintf("https://data.portal%d.example.org/dataset/%x/resource/%d/table-%d.csv", rnd.IntN(200), rnd.Uint32(), i,
			i))
		version := term.IRI(fmt.Sprintf("http://localhost:8080/api/v1/get/file/id/%024x_%d", i*7919, 0))
		table := term.Blank(fmt.Sprintf("csv%d", i))
		add := func(s term.Key, p string, o term.Key) {
			quads = append(quads, term.Quad{S: s, P: term.IRI(p), O: o})
		}
		add(res, "http://www.w3.org/1999/02/22-rdf-syntax-ns#type", term.IRI(dcat+"Distribution"))
		add(res, dct+"title", term.Lang(fmt.Sprintf("Haushaltsplan der Gemeinde Nr. %d für das Jahr %d", rnd.IntN(5000), 2000+rnd.IntN(26)),
			[]string{"de", "en", "fr"}[i%3]))
		add(res, dcat+"mediaType", term.String("text/csv"))
		add(res, dct+"hasVersion", version)
		add(version, dct+"isVersionOf", res)
		add(version, dct+"identifier", term.String(fmt.Sprintf("%032x", rnd.Uint64())))
		add(version, dct+"issued",
			term.Typed(fmt.Sprintf("2026-%02d-%02dT%02d:%02d:%02dZ", 1+rnd.IntN(12), 1+rnd.IntN(28), rnd.IntN(24), rnd.IntN(60),
				rnd.IntN(60)), xsd+"dateTime"))
		add(version, dcat+"byteSize", term.Typed(fmt.Sprint(rnd.IntN(1<<24)), xsd+"integer"))
		quads = append(quads, term.Quad{S: table, P: typ, O: term.IRI(csvw + "Table")})
		add(table, csvw+"url", version)
		add(table, "https://archiver.ai.wu.ac.at/ns/csvw#rows", term.Typed(fmt.Sprint(rnd.IntN(100000)), xsd+"integer"))
	}
	return quads[:n]
}

var benchPrefixes = map[string]string{
	"dct": "http://purl.org/dc/terms/", "dcat": "http://www.w3.org/ns/dcat#", "xsd": "http://www.w3.org/2001/XMLSchema#",
	"csvw": "http://www.w3.org/ns/csvw#", "v": "http://example.org/vocabulary#", "arc": "https://archiver.ai.wu.ac.at/ns/csvw#",
	"rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
}

func encode(tb testing.TB, s rdfio.Syntax, quads []term.Quad) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := rdfio.NewWriter(&b, s, benchPrefixes)
	for _, q := range quads {
		if err := w.Write(q); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func slug(s rdfio.Syntax) string { return strings.NewReplacer("/", "", "-", "").Replace(s.Name) }

const benchQuads = 100_000

func report(b *testing.B, quads int, before time.Duration) {
	b.Helper()
	n := float64(quads) * float64(b.N)
	b.ReportMetric(n/b.Elapsed().Seconds(), "triples/s")
	b.ReportMetric(n/(cputime.Used()-before).Seconds(), "triples/cpu-s")
}

func BenchmarkRead(b *testing.B) {
	quads := archiveQuads(benchQuads)
	for _, s := range rdfio.Syntaxes() {
		doc := encode(b, s, quads)
		b.Run(slug(s), func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			used := cputime.Used()
			for b.Loop() {
				r := rdfio.NewReader(bytes.NewReader(doc), s, rdfio.Options{})
				n := 0
				for {
					_, err := r.Read()
					if err == io.EOF {
						break
					}
					if err != nil {
						b.Fatal(err)
					}
					n++
				}
				if n != len(quads) {
					b.Fatalf("%d statements, want %d", n, len(quads))
				}
			}
			report(b, len(quads), used)
		})
		if s.Is(rdfio.JSONLD()) {
			b.Run("JSONLD-jsongold", func(b *testing.B) {
				b.SetBytes(int64(len(doc)))
				b.ReportAllocs()
				used := cputime.Used()
				for b.Loop() {
					tree, err := ld.DocumentFromReader(bytes.NewReader(doc))
					if err != nil {
						b.Fatal(err)
					}
					if _, err := ld.NewJsonLdProcessor().ToRDF(tree, ld.NewJsonLdOptions("")); err != nil {
						b.Fatal(err)
					}
				}
				report(b, len(quads), used)
			})
		}
		if f, ok := map[string]rdf.Format{"N-Triples": rdf.NTriples, "Turtle": rdf.Turtle, "RDF/XML": rdf.RDFXML}[s.Name]; ok {
			b.Run(slug(s)+"-knakk", func(b *testing.B) {
				b.SetBytes(int64(len(doc)))
				b.ReportAllocs()
				used := cputime.Used()
				for b.Loop() {
					d := rdf.NewTripleDecoder(bytes.NewReader(doc), f)
					for {
						_, err := d.Decode()
						if err == io.EOF {
							break
						}
						if err != nil {
							b.Fatal(err)
						}
					}
				}
				report(b, len(quads), used)
			})
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	quads := archiveQuads(benchQuads)
	for _, s := range rdfio.Syntaxes() {
		b.Run(slug(s), func(b *testing.B) {
			b.ReportAllocs()
			used := cputime.Used()
			for b.Loop() {
				w := rdfio.NewWriter(io.Discard, s, benchPrefixes)
				for _, q := range quads {
					if err := w.Write(q); err != nil {
						b.Fatal(err)
					}
				}
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
			}
			report(b, len(quads), used)
		})
		if f, ok := map[string]rdf.Format{"N-Triples": rdf.NTriples, "Turtle": rdf.Turtle}[s.Name]; ok {
			triples := make([]rdf.Triple, len(quads))
			for i, q := range quads {
				triples[i] = knakkTriple(b, q)
			}
			b.Run(slug(s)+"-knakk", func(b *testing.B) {
				b.ReportAllocs()
				used := cputime.Used()
				for b.Loop() {
					e := rdf.NewTripleEncoder(io.Discard, f)
					for _, t := range triples {
						if err := e.Encode(t); err != nil {
							b.Fatal(err)
						}
					}
					if err := e.Close(); err != nil {
						b.Fatal(err)
					}
				}
				report(b, len(quads), used)
			})
		}
	}
}

func knakkTriple(tb testing.TB, q term.Quad) rdf.Triple {
	tb.Helper()
	var terms [3]rdf.Term
	for i, k := range [3]term.Key{q.S, q.P, q.O} {
		t, err := k.RDF()
		if err != nil {
			tb.Fatal(err)
		}
		terms[i] = t
	}
	return rdf.Triple{Subj: terms[0].(rdf.Subject), Pred: terms[1].(rdf.Predicate), Obj: terms[2].(rdf.Object)}
}
