package sparql_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"odarchive/triplestore/sparql"
	"odarchive/triplestore/term"
)

func TestUnknownFunctionsAreNoticed(t *testing.T) {
	t.Parallel()
	e := sparql.New(sparql.Options{})
	for text, want := range map[string]string{
		"SELECT * { ?s ?p ?o FILTER (<x:f>(?o)) }":                                             "<x:f>",
		"SELECT (COUNT(<x:f>(?o)) AS ?n) { ?s ?p ?o }":                                         "<x:f>",
		"SELECT * { ?s ?p ?o FILTER NOT EXISTS { ?s ?q ?x FILTER (?x = <x:f>(?o)) } }":         "<x:f>",
		"SELECT * { OPTIONAL { ?s ?p ?o } } ORDER BY <x:f>(?o)":                                "<x:f>",
		"SELECT * { ?s <http://jena.apache.org/text#nothing> 'wien' }":                         "text#nothing",
		"SELECT * { SERVICE <http://a.example/> { ?s ?p ?o FILTER (<x:f>(?o)) } }":             "",
		"SELECT * { ?s ?p ?o FILTER (<http://www.w3.org/2001/XMLSchema#date>(?o) = STR(?p)) }": "",
	} {
		q, err := e.Prepare(text, sparql.QueryOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(q.Warnings(), "\n")
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: warned %q, want %q", text, got, want)
		}
		_, err = e.Prepare(text, sparql.QueryOptions{Strict: true})
		if errors.Is(err, sparql.ErrUnknownFunction) != (want != "") {
			t.Errorf("%s, strict: %v", text, err)
		}
	}
}

// What compares, computes or prints strangely, and what it must be.
func TestAnswersAtTheEdgesOfTheDefinitions(t *testing.T) {
	t.Parallel()
	e := sparql.New(sparql.Options{})
	store := filled(t, `<x:a> <x:p> 3 ; <x:q> 1 . <x:b> <x:p> 5 .`)
	for text, want := range map[string]string{
		"SELECT (MIN(?q) AS ?v) { ?s <x:p> ?p OPTIONAL { ?s <x:q> ?q } }":                    "[]", // unbound sorts first (§18.5.1.5)
		"SELECT (MAX(?q) AS ?v) { ?s <x:p> ?p OPTIONAL { ?s <x:q> ?q } }":                    "[1]",
		"SELECT (MIN(?p) AS ?v) { ?s <x:p> ?p }":                                             "[3]",
		"SELECT (MIN(1 / (?p - 3)) AS ?v) { ?s <x:p> ?p }":                                   "[]",
		"SELECT ?v { ?s <x:p> ?v FILTERsameTerm(?v, 3) }":                                    "[3]",
		"SELECT ?v { ?s <x:p> ?v filterNOT EXISTS { ?s <x:q> ?q } }":                         "[5]",
		`SELECT (IRI(CONCAT("http://a.example:", STR(?q), "x/")) AS ?v) { ?s <x:q> ?q }`:     "[]",
		`SELECT (STR(IRI(CONCAT("http://a.example:", STR(?q), "/"))) AS ?v) { ?s <x:q> ?q }`: "[http://a.example:1/]",
		`SELECT ?v { BIND ("(a)" AS ?x) BIND (REGEX("a", CONCAT(?x, "**")) AS ?v) }`:         "[]",
		`SELECT ?v { BIND ("(a)" AS ?x) BIND (REGEX("aa", CONCAT(?x, "\\1")) AS ?v) }`:       "[true]",
	} {
		var got []string
		for _, row := range ask(t, e, store.Snapshot(), text, sparql.QueryOptions{}).Rows {
			for _, k := range row {
				if k != "" {
					got = append(got, term.Key(k).Value())
				}
			}
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", text, got, want)
		}
	}
}

func TestARegularExpressionThatNeedsTooLongEndsTheQuery(t *testing.T) {
	t.Parallel()
	store := filled(t, `<x:a> <x:p> "`+strings.Repeat("a", 5000)+`b"`)
	r, err := sparql.New(sparql.Options{}).Query(context.Background(), store.Snapshot(),
		`SELECT * { ?s ?p ?o FILTER REGEX(?o, "^((a*)*)*\\1$") }`, sparql.QueryOptions{})
	if err == nil {
		defer r.Close()
		_, err = r.Next()
	}
	if !errors.Is(err, sparql.ErrTimeout) || !strings.Contains(err.Error(), "regular expression") {
		t.Errorf("the query ended with %v", err)
	}
}

func TestPlanningHasALimitOfMemory(t *testing.T) {
	t.Parallel()
	store := filled(t, "<x:a> <x:p> <x:b>")
	var star strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&star, "?s <x:p> ?o%d . ", i)
	}
	_, err := sparql.New(sparql.Options{}).Query(t.Context(), store.Snapshot(), "SELECT * { "+star.String()+" }", sparql.QueryOptions{})
	if !errors.Is(err, sparql.ErrQueryTooLarge) {
		t.Errorf("9,000 patterns: %v, want %v", err, sparql.ErrQueryTooLarge)
	}
}

func TestConstructSendsEachTripleOnce(t *testing.T) {
	t.Parallel()
	var data strings.Builder
	for i := range 300 {
		fmt.Fprintf(&data, "<x:s%d> <x:p> %d . ", i, i)
	}
	store := filled(t, data.String())
	for _, memory := range []int64{0, 2 << 20} { // of the second, most triples are kept in files
		for text, want := range map[string]int{
			"CONSTRUCT { ?a <x:near> ?b } { ?a <x:p> ?x . ?b <x:p> ?y }":                             300 * 300,
			"CONSTRUCT { ?a a <x:T> . ?b a <x:T> } { ?a <x:p> ?x . ?b <x:p> ?y }":                    300,
			"CONSTRUCT { ?a <x:q> _:new . ?a a <x:T> } { ?a <x:p> ?x . <x:s1> ?p ?y }":               600,
			"CONSTRUCT { ?a <x:q> ?b . ?b <x:q> ?a } { ?a <x:p> ?x . ?b <x:p> ?y FILTER (?x < ?y) }": 300 * 299,
		} {
			r, err := sparql.New(sparql.Options{TempDir: t.TempDir()}).Query(t.Context(), store.Snapshot(), text,
				sparql.QueryOptions{Memory: memory})
			if err != nil {
				t.Fatal(err)
			}
			seen := map[term.Quad]bool{}
			n := 0
			for {
				q, err := r.Triple()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				n++
				seen[q] = true
			}
			r.Close()
			if n != want || len(seen) != want {
				t.Errorf("%s: %d triples, %d of them different, want %d", text, n, len(seen), want)
			}
		}
	}
}
