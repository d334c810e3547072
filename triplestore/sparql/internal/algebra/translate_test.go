package algebra_test

import (
	"strings"
	"testing"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/sparql/internal/syntax"
)

func sse(t *testing.T, text string) string {
	t.Helper()
	q, err := syntax.ParseQuery("PREFIX : <x:> "+text, "", syntax.Options{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	a, err := algebra.Translate(q)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return strings.NewReplacer("( ", "(", " )", ")").Replace(strings.Join(strings.Fields(algebra.SSE(a.Pattern)), " "))
}

// TestTheExamplesOfTheSpecification are those of SPARQL 1.1 §18.2.3, and one for each rule of §18.2.2 to §18.2.5.
func TestTheExamplesOfTheSpecification(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"ASK { ?s ?p ?o }", "(bgp (triple ?s ?p ?o))"},
		{"ASK { ?s :p1 ?v1 ; :p2 ?v2 }", "(bgp (triple ?s <x:p1> ?v1) (triple ?s <x:p2> ?v2))"},
		{"ASK { { ?s :p1 ?v1 } UNION { ?s :p2 ?v2 } }", "(union (bgp (triple ?s <x:p1> ?v1)) (bgp (triple ?s <x:p2> ?v2)))"},
		{"ASK { { ?s :p1 ?v1 } UNION { ?s :p2 ?v2 } UNION { ?s :p3 ?v3 } }",
			"(union (union (bgp (triple ?s <x:p1> ?v1)) (bgp (triple ?s <x:p2> ?v2))) (bgp (triple ?s <x:p3> ?v3)))"},
		{"ASK { ?s :p1 ?v1 OPTIONAL { ?s :p2 ?v2 } }", "(leftjoin (bgp (triple ?s <x:p1> ?v1)) (bgp (triple ?s <x:p2> ?v2)))"},
		{"ASK { ?s :p1 ?v1 OPTIONAL { ?s :p2 ?v2 } OPTIONAL { ?s :p3 ?v3 } }",
			"(leftjoin (leftjoin (bgp (triple ?s <x:p1> ?v1)) (bgp (triple ?s <x:p2> ?v2))) (bgp (triple ?s <x:p3> ?v3)))"},
		{"ASK { ?s :p1 ?v1 OPTIONAL { ?s :p2 ?v2 FILTER (?v1 < 3) } }",
			"(leftjoin (bgp (triple ?s <x:p1> ?v1)) (bgp (triple ?s <x:p2> ?v2)) (< ?v1 3))"},
		{"ASK { ?s :p1 ?v1 OPTIONAL { { ?s :p2 ?v2 FILTER (?v1 < 3) } } }",
			"(leftjoin (bgp (triple ?s <x:p1> ?v1)) (filter (< ?v1 3) (bgp (triple ?s <x:p2> ?v2))))"},
		{"ASK { { ?s :p1 ?v1 } UNION { ?s :p2 ?v2 } OPTIONAL { ?s :p3 ?v3 } }",
			"(leftjoin (union (bgp (triple ?s <x:p1> ?v1)) (bgp (triple ?s <x:p2> ?v2))) (bgp (triple ?s <x:p3> ?v3)))"},
		{"ASK { ?s :p1 ?v1 FILTER (?v1 < 3) OPTIONAL { ?s :p2 ?v2 } }",
			"(filter (< ?v1 3) (leftjoin (bgp (triple ?s <x:p1> ?v1)) (bgp (triple ?s <x:p2> ?v2))))"},
		{"ASK { ?s :p ?v . BIND (2 * ?v AS ?v2) ?s :p1 ?v2 }",
			"(join (extend ((?v2 (* 2 ?v))) (bgp (triple ?s <x:p> ?v))) (bgp (triple ?s <x:p1> ?v2)))"},
		{"ASK { ?s :p ?v . { BIND (2 * ?v AS ?v2) } ?s :p1 ?v2 }",
			"(join (join (bgp (triple ?s <x:p> ?v)) (extend ((?v2 (* 2 ?v))) (table unit))) (bgp (triple ?s <x:p1> ?v2)))"},
		{"ASK { ?s :p ?v MINUS { ?s :p1 ?v2 } }", "(minus (bgp (triple ?s <x:p> ?v)) (bgp (triple ?s <x:p1> ?v2)))"},
		{"ASK { ?s :p ?o . { SELECT DISTINCT ?o { ?o ?p ?z } } }",
			"(join (bgp (triple ?s <x:p> ?o)) (distinct (project (?o) (bgp (triple ?o ?p ?z)))))"},
		{"ASK { ?s :p 1 FILTER (?s != :a) ?s :q 2 }", "(filter (!= ?s <x:a>) (bgp (triple ?s <x:p> 1) (triple ?s <x:q> 2)))"},
		{"ASK { [] :p _:x . _:x :q [] }", "(bgp (triple ?.b0.1 <x:p> ?.bx) (triple ?.bx <x:q> ?.b0.2))"},
		{"ASK { GRAPH ?g { ?s :p ?o } }", "(graph ?g (bgp (triple ?s <x:p> ?o)))"},
		{"ASK { ?s :p/^:q ?o }", "(bgp (triple ?s <x:p> ?.p1) (triple ?o <x:q> ?.p1))"},
		{"ASK { ?s :p/:q* ?o }", "(join (bgp (triple ?s <x:p> ?.p1)) (path ?.p1 (path* <x:q>) ?o))"},
		{"ASK { ?s ^(:p/:q) ?o }", "(bgp (triple ?o <x:p> ?.p1) (triple ?.p1 <x:q> ?s))"},
		{"ASK { ?s (:p|^:q)?/!(:r|^:t) ?o }",
			"(join (path ?s (path? (alt <x:p> (reverse <x:q>))) ?.p1) (path ?.p1 (notoneof <x:r> (rev <x:t>)) ?o))"},
		{"SELECT * { VALUES (?a ?b) { (1 UNDEF) } }", "(project (?a ?b) (table (vars ?a ?b) (row (?a 1))))"},
		{"SELECT (?a + 1 AS ?b) { ?s :p ?a } ORDER BY DESC(?a) ?s LIMIT 3 OFFSET 2",
			"(slice 2 3 (project (?b) (order ((desc ?a) (asc ?s)) (extend ((?b (+ ?a 1))) (bgp (triple ?s <x:p> ?a))))))"},
		{"SELECT ?s (SUM(?o) / COUNT(*) AS ?avg) { ?s :p ?o } GROUP BY ?s HAVING (SUM(?o) > 1)",
			"(project (?s ?avg) (extend ((?avg (/ ?.a0 ?.a1))) (filter (> ?.a0 1) (group (?s) ((?.a0 (sum ?o)) (?.a1 (count))) (bgp " +
				"(triple ?s <x:p> ?o))))))"},
		{"SELECT ?k { ?s :p ?o } GROUP BY (STR(?o) AS ?k) STRLEN(?s) ORDER BY ?o COUNT(DISTINCT ?o)",
			"(project (?k) (order ((asc ?.a0) (asc ?.a1)) (group (?k ?.g0) ((?.a0 (sample ?o)) (?.a1 (count distinct ?o))) (extend " +
				"((?.g0 (strlen ?s))) (extend ((?k (str ?o))) (bgp (triple ?s <x:p> ?o)))))))"},
		{"SELECT ?s { ?s :p ?o FILTER NOT EXISTS { ?s :q ?o } } VALUES ?s { :a }",
			"(project (?s) (join (filter (notexists (bgp (triple ?s <x:q> ?o))) (bgp (triple ?s <x:p> ?o))) (table (vars ?s) (row (?s " +
				"<x:a>)))))"},
		{"SELECT * { SERVICE SILENT ?e { ?s :p ?o } }", "(project (?e ?s ?o) (service silent ?e (bgp (triple ?s <x:p> ?o))))"},
		{"SELECT * { ?s :p <<( ?a :q 1 )>> }", "(project (?s ?a) (bgp (triple ?s <x:p> <<( ?a <x:q> 1 )>>)))"},
	} {
		want := strings.NewReplacer("( ", "(", " )", ")").Replace(c.want)
		if got := sse(t, c.text); got != want {
			t.Errorf("%s\n got %s\nwant %s", c.text, got, want)
		}
	}
}

func TestUpdatesAreTranslated(t *testing.T) {
	t.Parallel()
	_, err := syntax.ParseUpdate(`PREFIX : <x:> DELETE WHERE { ?s :p ?o GRAPH ?g { ?s :q _:b } } ; INSERT DATA { :a :b <<( :c :d _:e )>> }`,
		"", syntax.Options{})
	if err == nil {
		t.Fatal("a blank node in DELETE WHERE was read")
	}
	u, err := syntax.ParseUpdate(
		`PREFIX : <x:> DELETE WHERE { ?s :p ?o GRAPH ?g { ?s :q 1 } ?s :r 2 } ; INSERT DATA { GRAPH :g { :a :b <<( :c :d _:e )>> } }`, "",
		syntax.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ops, err := algebra.TranslateUpdate(u)
	if err != nil || len(ops) != 2 {
		t.Fatalf("%d operations, %v", len(ops), err)
	}
	m := ops[0].(algebra.Modify)
	got := strings.Join(strings.Fields(algebra.SSE(m.Where)), " ")
	want := "(join (join (bgp (triple ?s <x:p> ?o)) (graph ?g (bgp (triple ?s <x:q> 1)))) (bgp (triple ?s <x:r> 2)))"
	if len(m.Delete) != 3 || m.Delete[1].Graph.Var != "g" || got != want {
		t.Errorf("got %v\n%s\nwant %s", m.Delete, got, want)
	}
	d := ops[1].(algebra.InsertData)
	if len(d.Quads) != 1 || d.Quads[0].G.Value() != "x:g" || syntax.TermString(d.Quads[0].O) != "<<( <x:c> <x:d> _:e )>>" {
		t.Errorf("got %v", d.Quads)
	}
}

func TestEqualAggregatesAreComputedOnceAndChanceEachTime(t *testing.T) {
	t.Parallel()
	got := sse(t, "SELECT (SUM(?o) + SUM(?o) AS ?a) (SUM(RAND()) + SUM(RAND()) AS ?b) { ?s ?p ?o }")
	if strings.Count(got, "(sum ?o)") != 1 || strings.Count(got, "(sum (rand))") != 2 {
		t.Errorf("got %s", got)
	}
}
