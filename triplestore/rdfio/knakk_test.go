package rdfio_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/knakk/rdf"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/sparql/conformance"
	"odarchive/triplestore/term"
)

// queryIRI is an IRI that knakk/rdf reads, but writes as an invalid name in Turtle.
const queryIRI = "http://example.org/a/b?c=d&e=f"

// randomQuads returns statements with terms that are hard to write and that knakk/rdf can read.
func randomQuads(rnd *rand.Rand, n int, more ...string) []term.Quad {
	pick := func(list []string) string { return list[rnd.IntN(len(list))] }
	iris := append(more, "http://example.org/", "http://example.org/a#b", "urn:x:y", "http://example.org/é", "http://example.org/%41",
		"http://example.org/p_1-2")
	pieces := []string{"a", " ", "ü", "日本", "😀", "\"", "\\", "\t", "&", "<", ">", "'", "{", "# no comment", "@en", "^^", "."}
	node := func() term.Key {
		if rnd.IntN(3) == 0 {
			return term.Blank(fmt.Sprintf("b%d", rnd.IntN(5)))
		}
		return term.IRI(pick(iris))
	}
	text := func() string {
		var b strings.Builder
		for range rnd.IntN(6) {
			b.WriteString(pick(pieces))
		}
		return b.String()
	}
	var quads []term.Quad
	for len(quads) < n {
		q := term.Quad{S: node(), P: term.IRI("http://example.org/vocabulary#" + pick([]string{"p", "q", "r_1"}))}
		switch rnd.IntN(6) {
		case 0, 1:
			q.O = node()
		case 2:
			q.O = term.String(text())
		case 3:
			q.O = term.Lang(text(), pick([]string{"en", "de-at"}))
		case 4:
			q.O = term.Typed(text(), "http://example.org/datatype")
		case 5:
			q.O = term.Typed(fmt.Sprint(rnd.IntN(1000)), "http://www.w3.org/2001/XMLSchema#integer")
		}
		if !slices.Contains(quads, q) {
			quads = append(quads, q)
		}
	}
	return quads
}

// beyondKnakkXML reports whether knakk/rdf misreads q in RDF/XML: it applies a language to the literals that follow,
// and takes urn: for a prefix.
func beyondKnakkXML(q term.Quad) bool {
	const urn = term.Key("<urn:x:y")
	return q.O.Lang() != "" || q.S == urn || q.O == urn
}

// beyondKnakkTurtle reports whether q contains quotes or backslashes, which knakk/rdf does not always escape in Turtle.
func beyondKnakkTurtle(q term.Quad) bool { return strings.ContainsAny(q.O.Value(), `\"`) }

// TestKnakkReadsWhatIsWritten compares this package with an implementation that shares no code with it, in both
// directions. The parsers of knakk/rdf only get documents that this package wrote, since others may crash the process.
func TestKnakkReadsWhatIsWritten(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		quads := randomQuads(rand.New(rand.NewPCG(seed, 7)), 20, queryIRI)
		for s, f := range map[string]rdf.Format{"nt": rdf.NTriples, "ttl": rdf.Turtle, "rdf": rdf.RDFXML} {
			syntax, _ := rdfio.ByName(s)
			quads := quads
			if f == rdf.RDFXML {
				quads = slices.DeleteFunc(slices.Clone(quads), beyondKnakkXML)
			}
			doc := encode(t, syntax, quads)
			d := rdf.NewTripleDecoder(bytes.NewReader(doc), f)
			var got []term.Quad
			for {
				tr, err := d.Decode()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatalf("seed %d, %s: knakk/rdf: %v\n%s", seed, syntax, err, doc)
				}
				got = append(got, term.Quad{S: term.Of(tr.Subj), P: term.Of(tr.Pred), O: term.Of(tr.Obj)})
			}
			if !conformance.Isomorphic(got, quads) {
				t.Fatalf("seed %d, %s: knakk/rdf read\n%sinstead of\n%s", seed, syntax, nquads(t, got), nquads(t, quads))
			}
		}
	}
}

func TestWhatKnakkWritesIsRead(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		quads := randomQuads(rand.New(rand.NewPCG(seed, 8)), 20)
		for s, f := range map[string]rdf.Format{"nt": rdf.NTriples, "ttl": rdf.Turtle} {
			syntax, _ := rdfio.ByName(s)
			quads := quads
			if f == rdf.Turtle {
				quads = slices.DeleteFunc(slices.Clone(quads), beyondKnakkTurtle)
			}
			var doc bytes.Buffer
			e := rdf.NewTripleEncoder(&doc, f)
			for _, q := range quads {
				if err := e.Encode(knakkTriple(t, q)); err != nil {
					t.Fatal(err)
				}
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			got, err := parse(syntax, doc.String())
			if err != nil || !conformance.Isomorphic(got, quads) {
				t.Errorf("seed %d, %s: read\n%s%v from\n%s", seed, syntax, nquads(t, got), err, doc.String())
			}
		}
	}
}

// TestEverySyntaxKeepsEveryTerm writes random statements in each syntax and reads them back.
func TestEverySyntaxKeepsEveryTerm(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		quads := randomQuads(rnd, 20, queryIRI)
		for i := range quads {
			if rnd.IntN(4) == 0 && quads[i].O.Kind() == term.KindLiteral {
				quads[i].O = term.String(strings.Repeat("line\r\n\u0085\u2028", rnd.IntN(3)) + quads[i].O.Value() + "\n")
			}
		}
		if failure := again(t, quads); failure != "" {
			t.Fatalf("seed %d: %s", seed, failure)
		}
	}
}
