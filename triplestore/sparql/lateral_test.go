package sparql_test

import (
	"fmt"
	"slices"
	"testing"

	"odarchive/triplestore/sparql"
)

// LATERAL means what it does in Jena and Oxigraph, whose tests ask for these cases.
func TestLateral(t *testing.T) {
	t.Parallel()
	store := filled(t,
		`<x:s1> a <x:T> ; <x:p> 11, 12, 13 . <x:s2> a <x:T> ; <x:p> 21, 22, 23 . <x:s3> a <x:T> . GRAPH <x:G> { <x:s2> <x:q> 5 }`)
	const top = "{ SELECT ?s ?o { ?s <x:p> ?o } ORDER BY ?o LIMIT 2 }"
	for text, want := range map[string][]string{
		"SELECT ?s ?o { ?s a <x:T> LATERAL " + top + " }": {
			"s1 11", "s1 12", "s2 21", "s2 22"},
		"SELECT ?s ?o { ?s a <x:T> OPTIONAL { LATERAL " + top + " } }": {
			"s1 11", "s1 12", "s2", "s3"},
		"SELECT ?s ?o { ?s a <x:T> LATERAL { OPTIONAL " + top + " } }": {
			"s1 11", "s1 12", "s2 21", "s2 22", "s3"},
		"SELECT ?s ?o { ?s a <x:T> LATERAL { { SELECT ?s (MAX(?x) AS ?o) { ?s <x:p> ?x } GROUP BY ?s } } }": {
			"s1 13", "s2 23"},
		"SELECT ?s ?o { ?s a <x:T> LATERAL { ?s <x:p> ?o FILTER (?o > 12) } }": {
			"s1 13", "s2 21", "s2 22", "s2 23"},
		"SELECT ?s ?o { VALUES ?s { <x:s> } LATERAL { VALUES ?o { 1 } FILTER (BOUND(?s) && EXISTS { FILTER (BOUND(?s)) }) } }": {
			"s 1"},
		"SELECT ?s ?o { VALUES ?s { <x:s> } LATERAL { GRAPH <x:G> { FILTER (BOUND(?s)) VALUES ?o { 1 } } } }": {
			"s 1"},
		"SELECT ?s ?o { VALUES ?s { <x:s> } LATERAL { OPTIONAL { FILTER (BOUND(?s)) VALUES ?o { 1 } } } }": {
			"s 1"},
		"SELECT ?s ?o { VALUES ?s { <x:s> } LATERAL { { FILTER (BOUND(?s)) } { VALUES ?o { 1 } } } }": {
			"s 1"},
		"SELECT ?s ?o { VALUES ?s { <x:s1> <x:s2> } LATERAL { BIND (STRLEN(STR(?s)) AS ?o) } }": {
			"s1 4", "s2 4"},
		// ?s of the subquery is another
		"SELECT ?s ?o { ?s a <x:T> LATERAL { { SELECT ?o { ?s <x:p> ?o } ORDER BY DESC(?o) LIMIT 1 } } }": {"s1 23", "s2 23", "s3 23"},
		"SELECT ?s ?o { ?s a <x:T> LATERAL { ?s <x:p> ?x LATERAL { SELECT ?x (MAX(?x + 1) AS ?o) { } GROUP BY ?x } FILTER (?x = 11) } }": {
			"s1 12"},
		"SELECT ?s ?o { ?s a <x:T> LATERAL { GRAPH ?g { ?s <x:q> ?o } } }": {
			"s2 5"},
		// Both sides of a MINUS see the left row.
		"SELECT ?s ?o { ?s <x:p> ?v LATERAL { ?s a ?o MINUS { ?z <x:p> ?w FILTER (?w = ?v + 10) } } }": {"s2 x:T",
			"s2 x:T", "s2 x:T"},
		"SELECT ?s ?o { ?s a <x:T> LATERAL { ?s <x:p> ?o MINUS { SELECT ?o { ?s <x:p> ?o } ORDER BY ?o LIMIT 1 } } }": {"s1 12", "s1 13",
			"s2 21", "s2 22", "s2 23"},
		"SELECT ?s ?o { ?s a <x:T> LATERAL { ?s <x:p> ?o MINUS { SELECT ?s ?o { ?s <x:p> ?o } ORDER BY ?o LIMIT 1 } } }": {"s1 12", "s1 13",
			"s2 22", "s2 23"},
		// <x:q> is in <x:G>
		"SELECT ?s ?o { ?s a <x:T> LATERAL { VALUES ?o { 7 } MINUS { ?z <x:q> ?y } } }":      {"s1 7", "s2 7", "s3 7"},
		"SELECT ?s ?o { ?s a <x:T> LATERAL { VALUES ?o { 7 } MINUS { ?z <x:p> 11 } } }":      nil,
		"SELECT ?s ?o { { } LATERAL { VALUES ?o { 7 } MINUS { ?z <x:p> 11 } } ?s <x:p> 11 }": {"s1 7"},
	} {
		var got []string
		for _, row := range ask(t, sparql.New(sparql.Options{}), store.Snapshot(), text, sparql.QueryOptions{}).Rows {
			line := row[0].Value()[2:]
			if row[1] != "" {
				line += " " + row[1].Value()
			}
			got = append(got, line)
		}
		slices.Sort(got)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s:\n got %v\nwant %v", text, got, want)
		}
	}
}
