package sparql_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"odarchive/triplestore/sparql"
)

// library resolves the names of some documents. It counts those that are open.
type library struct {
	docs map[string]string
	open int
}

type page struct {
	io.Reader
	l *library
}

func (p page) Close() error {
	p.l.open--
	return nil
}

func (l *library) resolve(_ context.Context, iri string) (sparql.Document, bool, error) {
	text, ok := l.docs[iri]
	if !ok {
		return sparql.Document{}, false, nil
	}
	l.open++
	kind := "text/turtle"
	if strings.HasSuffix(iri, ".csv") {
		kind = "text/csv"
	}
	return sparql.Document{Body: page{strings.NewReader(text), l}, Type: kind, IRI: "http://a.example/dir/doc"}, true, nil
}

func TestFromReadsDocuments(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&many, "<x:n%d> <x:next> <x:n%d> . ", i, i+1)
	}
	lib := &library{docs: map[string]string{
		"v:1": `<x:a> <x:p> 1 ; <x:see> <rel> . _:b <x:p> 2 .`, "v:2": `<x:a> <x:p> 1, 3 .`, "v:many": many.String(),
		"v:broken": `<x:a> <x:p> `, "v:table.csv": "a,b",
	}}
	store := filled(t, `<x:a> <x:p> 9 ; <x:in> <v:1> . GRAPH <v:2> { <x:a> <x:p> 7 }`)
	e := sparql.New(sparql.Options{Resolve: lib.resolve})
	for text, want := range map[string]string{
		"SELECT ?v FROM <v:1> { ?s <x:p> ?v }":      "[1 2]",
		"SELECT ?v FROM <v:1> { <x:a> <x:see> ?v }": "[http://a.example/dir/rel]",
		// a graph of the store comes first
		"SELECT ?v FROM <v:1> FROM <v:2> { ?s <x:p> ?v }":                                               "[1 2 7]",
		"SELECT ?v FROM NAMED <v:1> { GRAPH ?v { ?s <x:see> ?o } }":                                     "[v:1]",
		"SELECT ?v FROM <v:unknown> { ?s ?p ?v }":                                                       "[]",
		"SELECT ?v { ?s <x:p> ?v }":                                                                     "[9]",
		"SELECT (COUNT(*) AS ?v) FROM <v:many> { ?a <x:next> ?b . ?b <x:next> ?c }":                     "[4999]",
		"SELECT (COUNT(?x) AS ?v) FROM <v:many> { <x:n4900> <x:next>+ ?x }":                             "[100]",
		"SELECT (COUNT(*) AS ?v) FROM <v:many> { ?a <x:next> ?b FILTER NOT EXISTS { ?b <x:next> ?c } }": "[1]",
	} {
		got := []string{}
		for _, row := range ask(t, e, store.Snapshot(), text, sparql.QueryOptions{}).Rows {
			got = append(got, row[0].Value())
		}
		slices.Sort(got)
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", text, got, want)
		}
	}
	for text, want := range map[string]error{
		"SELECT * FROM <v:broken> { ?s ?p ?o }":    sparql.ErrDocument,
		"SELECT * FROM <v:table.csv> { ?s ?p ?o }": sparql.ErrDocument,
	} {
		if _, err := e.Query(t.Context(), store.Snapshot(), text, sparql.QueryOptions{}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
	if _, err := e.Query(t.Context(), store.Snapshot(), "ASK FROM <v:many> { ?s ?p ?o }",
		sparql.QueryOptions{Memory: 1 << 20}); !errors.Is(err, sparql.ErrMemory) {
		t.Errorf("a document beyond the memory of a query: %v", err)
	}
	if lib.open != 0 {
		t.Errorf("%d documents were left open", lib.open)
	}
}

// The console of the original archive began with FROM <https://archiver.ai.wu.ac.at/graph>, the only graph that it had
// (github.com/websi96/datasetarchiver, Sparql.tsx).
func TestFromMayNameTheDefaultGraph(t *testing.T) {
	t.Parallel()
	store := filled(t, `<x:a> <x:p> 9 . GRAPH <g:1> { <x:a> <x:p> 7 } GRAPH <g:2> { <x:a> <x:p> 9, 8 }`)
	e := sparql.New(sparql.Options{DefaultGraph: []string{"http://archive.example/graph", "http://former.example/graph"}})
	values := func(e *sparql.Engine, text string) string {
		got := []string{}
		for _, row := range ask(t, e, store.Snapshot(), text, sparql.QueryOptions{}).Rows {
			got = append(got, row[0].Value())
		}
		slices.Sort(got)
		return fmt.Sprint(got)
	}
	for text, want := range map[string]string{
		"SELECT ?v FROM <http://archive.example/graph> { ?s <x:p> ?v }":                               "[9]",
		"SELECT ?v FROM <http://former.example/graph> { ?s <x:p> ?v }":                                "[9]",
		"SELECT ?v FROM <http://archive.example/graph> FROM <g:1> { ?s <x:p> ?v }":                    "[7 9]",
		"SELECT ?v FROM <g:2> FROM <http://archive.example/graph> { ?s <x:p> ?v }":                    "[8 9]",
		"SELECT ?v FROM <http://archive.example/graph> { GRAPH ?g { ?s <x:p> ?v } }":                  "[]",
		"SELECT ?v FROM <http://archive.example/graph> FROM NAMED <g:1> { GRAPH ?g { ?s <x:p> ?v } }": "[7]",
		"SELECT ?v FROM <http://third.example/graph> { ?s <x:p> ?v }":                                 "[]",
		"SELECT ?v FROM <> { ?s <x:p> ?v }":                                                           "[]",
	} {
		if got := values(e, text); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
	if got := values(sparql.New(sparql.Options{}), "SELECT ?v FROM <http://archive.example/graph> { ?s <x:p> ?v }"); got != "[]" {
		t.Errorf("an engine without the option answers %s", got)
	}
}
