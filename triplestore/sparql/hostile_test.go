package sparql_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"odarchive/triplestore/sparql"
)

// TestHostileQueriesEndWithAnAnswerOrALimit sends queries that are made to be expensive. Each must end, at most a
// little after its deadline, with an answer or an error that names the limit.
func TestHostileQueriesEndWithAnAnswerOrALimit(t *testing.T) {
	t.Parallel()
	var data strings.Builder
	for i := range 60 {
		fmt.Fprintf(&data, "<x:s%d> <x:p> <x:s%d>, <x:s%d>, %d . ", i, (i+1)%60, (i*7)%60, i)
	}
	store := filled(t, data.String())
	many := strings.Repeat
	numbered := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for about, text := range map[string]string{
		"a product of everything":             "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o }",
		"a counted product":                   "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o }",
		"a sorted product":                    "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i } ORDER BY RAND() ?c",
		"a thousand unions":                   "SELECT * { { ?s ?p 0 }" + numbered(999, " UNION { ?s ?p %d }") + " }",
		"a thousand nested-looking optionals": "SELECT * { ?s ?p ?o " + numbered(1000, "OPTIONAL { ?s <x:p> ?o%d } ") + "}",
		"two hundred levels of OPTIONAL":      "SELECT * { ?s ?p ?o " + many("OPTIONAL { ?s ?p ?o ", 200) + many("}", 201),
		"two hundred levels of subqueries":    many("SELECT * { ", 1) + many("{ SELECT * { ", 120) + "?s ?p ?o" + many("} }", 120) + "}",
		"two hundred levels of EXISTS":        "SELECT * { ?s ?p ?o " + many("FILTER EXISTS { ?s ?p ?o ", 120) + many("}", 121),
		"a thousand MINUS":                    "SELECT * { ?s ?p ?o " + numbered(1000, "MINUS { ?s <x:q> %d } ") + "}",
		"a thousand patterns in a chain":      "SELECT * { ?v0 <x:p> ?v1 . " + numbered(1000, "?v1 <x:p> ?w%d . ") + "}",
		"a thousand patterns without a link":  "SELECT (COUNT(*) AS ?n) { " + numbered(1000, "?a%d <x:p> 7 . ") + "}",
		"a thousand BINDs":                    "SELECT * { ?s ?p ?o " + numbered(1000, "BIND (1 AS ?b%d) ") + "}",
		"a thousand FILTERs":                  "SELECT * { ?s ?p ?o " + numbered(1000, "FILTER (?o != %d) ") + "}",
		"ten thousand alternatives":           "SELECT * { ?s ?p ?o FILTER (?o = 0" + numbered(10_000, " || ?o = %d") + ") }",
		"ten thousand values, twice": "SELECT * { VALUES ?a { " + numbered(10_000, "%d ") + "} VALUES ?b { " + numbered(10_000,
			"%d ") + "} }",
		"a star of stars": "SELECT (COUNT(*) AS ?n) { ?a (((<x:p>*)*)*)* ?b . ?c ((<x:p>|^<x:p>)+)+ ?d }",
		"an explosion of paths": "SELECT (COUNT(*) AS ?n) { ?a " + strings.TrimSuffix(many("(<x:p>|^<x:p>|!<x:q>)/", 30),
			"/") + " ?b }",
		"a long sequence of stars":          "SELECT * { <x:s0> " + strings.TrimSuffix(many("<x:p>*/", 200), "/") + " ?b }",
		"a thousand alternatives of a path": "SELECT * { ?a <x:p>" + numbered(1000, "|<x:q%d>") + " ?b }",
		"a thousand groups": "SELECT ?a ?c ?e (COUNT(*) AS ?n) (GROUP_CONCAT(?b) AS ?g) { ?a ?b ?c . ?d ?e ?f . ?g1 " +
			"?h ?i } GROUP BY ?a ?c ?e",
		"a string that grows": "SELECT (" + many("CONCAT(", 60) + "\"xxxxxxxxxx\"" + many(", ?o, ?o, ?o)", 60) +
			" AS ?r) { ?s ?p ?o }",
		"a string that doubles":                  "SELECT * { BIND (\"xxxxxxxxxxxxxxxx\" AS ?v0) " + doubling(60) + "}",
		"a regular expression made to backtrack": "SELECT * { ?s ?p ?o FILTER REGEX(STR(?s), \"^(([a-z:])+.)+[A-Z]([a-z])+$\") }",
		"a huge repetition":                      "SELECT * { ?s ?p ?o FILTER REGEX(STR(?s), \"((a{1000}){1000}){1000}\") }",
		"huge numbers":                           "SELECT (" + many("9999999999 * ", 1000) + "?o AS ?r) { ?s ?p ?o }",
		"a description of everything, often":     "DESCRIBE ?a ?c ?d ?f { ?a ?b ?c . ?d ?e ?f }",
		"a template of a thousand triples": "CONSTRUCT { " + numbered(1000, "?a <x:p%d> ?d . ") +
			"} { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }",
		"an offset beyond the end": "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l } OFFSET 9223372036854775807",
	} {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			e := sparql.New(sparql.Options{Timeout: 400 * time.Millisecond, Memory: 64 << 20, MaxRows: 100_000})
			began := time.Now()
			r, err := e.Query(t.Context(), store.Snapshot(), text, sparql.QueryOptions{})
			if err == nil {
				_, err = collect(r)
			}
			var limit *sparql.LimitError
			var wrong *sparql.SyntaxError
			if err != nil && !errors.As(err, &limit) && !errors.Is(err, sparql.ErrQueryTooLarge) && !errors.As(err, &wrong) {
				t.Errorf("got %v, want an answer or a limit", err)
			}
			t.Logf("%s: %s: %.200v", about, time.Since(began).Round(time.Millisecond), err)
		})
	}
}

// doubling is a chain of BINDs, each twice as long as the one before.
func doubling(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "BIND (CONCAT(?v%d, ?v%d) AS ?v%d) ", i, i, i+1)
	}
	return b.String()
}
