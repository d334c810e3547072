package sparql_test

import (
	"fmt"
	"strings"
	"testing"

	"odarchive/triplestore/naive"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/sparql/internal/syntax"
	"odarchive/triplestore/term"
)

func BenchmarkParseInsertData(b *testing.B) {
	var t strings.Builder
	t.WriteString("INSERT DATA {\n")
	for i := range 10_000 {
		fmt.Fprintf(&t, "<http://example.org/s%d> <http://example.org/p%d> %d .\n", i, i%20, i)
	}
	t.WriteString("}")
	text := t.String()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := syntax.ParseUpdate(text, "http://example.org/base", syntax.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkModify(b *testing.B) {
	var quads []term.Quad
	for i := range 10_000 {
		quads = append(quads, term.Quad{S: keyOf(fmt.Sprintf("<x:s%d>", i)), P: keyOf("<x:p>"), O: keyOf(fmt.Sprint(i))})
	}
	store := naive.New(quads...)
	e := sparql.New(sparql.Options{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := apply(b, e, store, "DELETE { ?s <x:p> ?o } INSERT { ?s <x:p> ?o } WHERE { ?s <x:p> ?o }"); err != nil {
			b.Fatal(err)
		}
	}
}
