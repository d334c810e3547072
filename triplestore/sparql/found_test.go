package sparql_test

import (
	"strings"
	"testing"

	"odarchive/triplestore/naive"
	"odarchive/triplestore/term"
)

// TestWhatTheGeneratorFoundOnce runs queries that the engine once answered wrongly, cut down to what matters.
func TestWhatTheGeneratorFoundOnce(t *testing.T) {
	t.Parallel()
	q := func(s, p, o string) term.Quad { return term.Quad{S: keyOf(s), P: keyOf(p), O: keyOf(o)} }
	data := []term.Quad{
		q("<x:a>", "<x:p>", "1"), q("<x:a>", "<x:q>", "<x:b>"), q("<x:b>", "<x:q>", "<x:c>"), q("_:n0", "<x:p>", "2"),
		q("_:n0", "<x:r>", "<x:a>"),
		q("<x:c>", "<x:r>", "<x:c>"), q("<x:d>", "<x:p>", "<x:a>"), q("<x:b>", "<x:r>", `"b"@en`),
		{S: keyOf("<x:d>"), P: keyOf("<x:q>"), O: keyOf("<x:b>"), G: keyOf("<g:2>")},
	}
	for about, text := range map[string]string{
		"a key that nothing binds": "SELECT ?b (COUNT(*) AS ?n) { ?a <x:p> ?c } GROUP BY ?b",
		"a key that nothing binds, with VALUES": `SELECT ?a (COUNT(*) AS ?n) { ?b <x:p> ?c } GROUP BY ?a VALUES (?a ?b) { ("a" 1) (2 ` +
			`UNDEF) }`,
		"a filter and a join with UNDEF": `SELECT * { { ?a ?d ?b FILTER (isBlank(?a)) } VALUES ?a { UNDEF "b"@de } }`,
		"a filter and trailing VALUES with UNDEF": `SELECT DISTINCT * { ?a ?d ?b . ?c <x:q>+ ?e FILTER (isBlank(?a)) } VALUES ?a { UNDEF ` +
			`"b"@de }`,
		"a filter over an OPTIONAL and a join": "SELECT * { OPTIONAL { ?a <x:q> <x:none> } FILTER (COALESCE(?b, ?a) != ?a) ?a <x:q> " +
			"?b . ?b <x:q> ?d }",
		"a filter that a joined pattern can see": "SELECT * { FILTER (?a NOT IN (?b, 2)) { ?b <x:r> ?c } UNION { ?c <x:r> ?d } OPTIONAL " +
			"{ ?a <x:q> ?b } { ?a <x:p> ?e } }",
		"a path of length zero in no graph": "SELECT * { GRAPH <x:a> { <x:a> <x:q>* ?b } }",
		"no steps in another graph":         "SELECT * { ?a <x:p> ?c FILTER NOT EXISTS { GRAPH <g:2> { ?c (<x:q>?)+ ?d } } }",
		"no steps to another graph":         "SELECT * { ?a <x:p> ?c FILTER EXISTS { GRAPH <g:2> { ?d <x:q>*|<x:r> ?c } } }",
		"no steps from what is nowhere": `SELECT * { ?a <x:q> ?b VALUES ?c { <x:a> "nowhere" } BIND(EXISTS { ?c <x:q>* ?d } AS ` +
			`?e) }`,
		"no steps from a predicate":             "SELECT * { ?a ?c ?b FILTER EXISTS { ?c <x:q>* ?d } }",
		"no steps within one graph":             "SELECT * { ?a <x:p> ?b FILTER EXISTS { ?a <x:q>* ?d . ?d <x:r> ?e } }",
		"a subquery in no graph":                "SELECT * { GRAPH <x:a> { SELECT (COUNT(*) AS ?n) { ?s ?p ?o } } }",
		"solutions counted beside a blank node": "SELECT (COUNT(DISTINCT *) AS ?n) { [] <x:q> ?b }",
		"MINUS of a subquery that binds nothing": "SELECT * { ?a <x:q> ?c MINUS { <x:b> <x:r> ?b OPTIONAL { SELECT ?a { ?d <x:p> ?e } } " +
			"} }",
		"computed texts": "SELECT * { ?a <x:q> ?b . ?c <x:r> ?d FILTER (STR(?b) = STR(?d)) }",
		"computed texts and a variable": "SELECT * { ?a <x:p> ?b . ?c ?e ?d FILTER (?d = LCASE(?b) && ?a != ?c) OPTIONAL { ?d " +
			"<x:q> ?f } }",
		"computed numbers": "SELECT * { ?a <x:p> ?b . ?c <x:r> ?d . ?e <x:q> ?f FILTER (STRLEN(STR(?b)) = " +
			"STRLEN(?d)) FILTER (STRLEN(STR(?f)) = STRLEN(STR(?a))) }",
		"computed IRIs in a group of graphs": "SELECT * { GRAPH ?g { ?a <x:q> ?b } ?c <x:q> ?d FILTER (IRI(STR(?d)) = ?b) MINUS { " +
			"?c <x:p> ?e } }",
		"a computed text of two variables": "SELECT * { ?a <x:p> ?b . ?c <x:r> ?d . ?e <x:q> ?f FILTER (CONCAT(STR(?a), STR(?f)) " +
			"= CONCAT(STR(?c), STR(?d))) }",
		"values in no graph": "SELECT * { GRAPH <x:a> { VALUES ?x { 1 } } }",
	} {
		want, err := fromOracle(data, text)
		if err != nil {
			t.Fatalf("%s: %v", about, err)
		}
		for _, way := range ways {
			ds := term.Dataset(naive.New(data...).Snapshot())
			if way.orders != nil {
				ds = ordered{ds, way.orders}
			}
			got, explained, err := fromEngine(ds, text, way.plan, way.batch)
			if diff := same(got, want); err != nil || diff != "" {
				t.Errorf("%s, %s: %s\n%v\n%s\n%s", about, way.name, text, err, diff, explained)
			}
		}
	}
}

// The engine and the oracle once agreed on a wrong answer: they took the variables of blank nodes and paths for
// variables of the query.
func TestSolutionsAreCountedByTheirVariables(t *testing.T) {
	t.Parallel()
	ds := naive.New(
		term.Quad{S: keyOf("<x:a>"), P: keyOf("<x:p>"), O: keyOf("<x:b>")},
		term.Quad{S: keyOf("<x:b>"), P: keyOf("<x:p>"), O: keyOf("<x:c>")},
		term.Quad{S: keyOf("<x:b>"), P: keyOf("<x:label>"), O: keyOf(`"same"`)},
		term.Quad{S: keyOf("<x:c>"), P: keyOf("<x:label>"), O: keyOf(`"same"`)}).Snapshot()
	for pattern, n := range map[string]string{
		"[] <x:label> ?l":                                           "1",
		"<x:a> <x:p>+/<x:label> ?l":                                 "1",
		"?x <x:label> ?l":                                           "2",
		"{ SELECT ?l { ?x <x:label> ?l } }":                         "1",
		"{ SELECT ?x ?l { ?x <x:label> ?l } }":                      "2",
		"_:a <x:p> ?y . ?y <x:label> ?l FILTER EXISTS { ?y ?p ?o }": "2",
	} {
		got, explained, err := fromEngine(ds, "SELECT (COUNT(DISTINCT *) AS ?n) { "+pattern+" }", ways[0].plan, 0)
		if err != nil || len(got) != 1 || !strings.Contains(got[0], `integer\x00`+n+`"`) {
			t.Errorf("%s: %q, %v; want %s\n%s", pattern, got, err, n, explained)
		}
	}
}
