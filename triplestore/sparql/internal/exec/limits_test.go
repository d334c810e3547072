package exec_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"odarchive/triplestore/naive"
	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/sparql/internal/exec"
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/sparql/internal/syntax"
	"odarchive/triplestore/term"
)

// graph of n nodes, each linked to the following ones.
func graph(n, links int) *naive.Dataset {
	var quads []term.Quad
	node := func(i int) term.Key { return term.IRI(fmt.Sprintf("http://node/%d", i%n)) }
	for i := range n {
		for l := 1; l <= links; l++ {
			quads = append(quads, term.Quad{S: node(i), P: term.IRI("http://link"), O: node(i + l*l)})
		}
		quads = append(quads, term.Quad{S: node(i), P: term.IRI("http://label"), O: term.String(fmt.Sprintf("the label of node %d", i))})
	}
	return naive.New(quads...).Snapshot()
}

func parse(t testing.TB, text string) *algebra.Query {
	t.Helper()
	tree, err := syntax.ParseQuery(text, "", syntax.Options{MaxBytes: 16 << 20, MaxPatterns: 100000})
	if err != nil {
		t.Fatal(err)
	}
	q, err := algebra.Translate(tree)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// drain reads a query to its end and returns the number of rows, the maximum memory and the error.
func drain(ctx context.Context, t testing.TB, text string, ds term.Dataset, o exec.Options) (rows int, memory int64, err error) {
	t.Helper()
	p, err := plan.OptimiseQuery(parse(t, text), ds, plan.Options{})
	if err != nil {
		return 0, 0, err
	}
	r, err := exec.Run(ctx, p, ds, o)
	if err != nil {
		return 0, 0, err
	}
	defer r.Close()
	for {
		b, err := r.Next()
		if b == nil || err != nil {
			return rows, r.Memory(), err
		}
		rows += b.Len
	}
}

func TestQueriesThatAreTooMuchEndWithTheNameOfALimit(t *testing.T) {
	t.Parallel()
	ds := graph(100, 5)
	var union strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&union, "%s { ?s ?p%d ?o . ?x ?q%d ?y }", map[bool]string{true: "UNION"}[i > 0], i, i)
	}
	const memory, rows = 2 << 20, 50000
	for _, c := range []struct {
		name, query string
		want        error // nil: whichever comes first
	}{
		{"a cartesian product of everything", "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }", exec.ErrRows},
		{"counting a cartesian product", "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }", exec.ErrTimeout},
		{"sorting a cartesian product", "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i } ORDER BY ?c ?f", exec.ErrMemory},
		{"distinct rows of a cartesian product", "SELECT DISTINCT ?a ?d ?g { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }", nil},
		{"groups of a cartesian product", "SELECT ?a ?d ?g (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i } GROUP BY ?a ?d ?g",
			exec.ErrMemory},
		{"one long string", "SELECT (GROUP_CONCAT(?c) AS ?x) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }", exec.ErrMemory},
		{"computed terms", "SELECT (CONCAT(STR(?c), STR(?f), STR(?i)) AS ?x) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }", nil},
		{"every path", "SELECT * { ?a (<http://link>|<http://label>)* ?b . ?c <http://link>+ ?d }", nil},
		{"all ways of a path",
			"SELECT (COUNT(*) AS ?n) { ?a " +
				"(<http://link>/<http://link>/<http://link>/<http://link>/<http://link>/<http://link>/<http://link>/<http://link>) ?b }",
			exec.ErrTimeout},
		{"a thousand unions", "SELECT * {" + union.String() + "}", exec.ErrRows},
		{"OPTIONAL over everything", "SELECT * { ?a ?b ?c OPTIONAL { ?d ?e ?f FILTER(?c != ?f) } OPTIONAL { ?g ?h ?i FILTER(?i > ?f) } }",
			nil},
		{"MINUS that compares everything",
			"SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i MINUS { ?a ?b ?c . ?x <http://none> ?y } }", exec.ErrTimeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := exec.Options{Memory: memory, MaxRows: rows, Timeout: 30 * time.Second}
			if c.want == exec.ErrTimeout {
				o.Timeout = 100 * time.Millisecond
				o.Memory = 0
			}
			n, held, err := drain(context.Background(), t, c.query, ds, o)
			var limit *exec.LimitError
			if !errors.As(err, &limit) || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("got %d rows, %v, want the limit of %v", n, err, c.want)
			}
			if o.Memory > 0 && held > o.Memory+1<<20 {
				t.Errorf("held %d bytes with a limit of %d", held, o.Memory)
			}
		})
	}
}

func TestACancelledQueryStops(t *testing.T) {
	t.Parallel()
	ds := graph(200, 5)
	gone := errors.New("the client is gone")
	for _, query := range []string{
		"SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }",
		"SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }",
		"SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i FILTER(?c = ?f && ?f = ?i) ?j ?k ?l }",
		"SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i FILTER NOT EXISTS { ?a ?x ?y . ?d ?z ?y . ?g ?w ?v FILTER(?v = ?y) } " +
			"?j ?k ?l }",
		"SELECT (COUNT(*) AS ?n) { ?a <http://link>* ?b . ?c <http://link>* ?d . ?e <http://link>* ?f }",
	} {
		ctx, cancel := context.WithCancelCause(context.Background())
		p, err := plan.OptimiseQuery(parse(t, query), ds, plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := exec.Run(ctx, p, ds, exec.Options{Memory: 1 << 40})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		go func() {
			for {
				if b, err := r.Next(); b == nil || err != nil {
					ended <- err
					return
				}
			}
		}()
		cancel(gone)
		if err := <-ended; !errors.Is(err, gone) {
			t.Errorf("%s: got %v", query, err)
		}
		r.Close()
	}
}

func TestTheFirstRowsLeaveAtOnceAndMemoryStaysFlat(t *testing.T) {
	t.Parallel()
	ds := graph(300, 6)
	for _, query := range []string{
		"SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }",
		"SELECT ?a ?c { ?a <http://link> ?b . ?b <http://link> ?c . ?x ?y ?z }",
		"SELECT * { ?a ?b ?c . ?d ?e ?f OPTIONAL { ?a <http://none> ?x } FILTER(?c != ?f) }",
		"SELECT * { ?x ?y ?z . { ?a ?b ?c } UNION { ?d ?e ?f } }",
	} {
		p, err := plan.OptimiseQuery(parse(t, query), ds, plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := exec.Run(context.Background(), p, ds, exec.Options{})
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for rows < 50000 {
			b, err := r.Next()
			if b == nil || err != nil {
				t.Fatalf("%s: ended after %d rows: %v", query, rows, err)
			}
			rows += b.Len
		}
		if r.Memory() > 1<<20 {
			t.Errorf("%s: holds %d bytes\n%s", query, r.Memory(), p.Explain(nil))
		}
		r.Close()
	}
}

func TestVeryLargeQueriesArePlanned(t *testing.T) {
	t.Parallel()
	ds := graph(20, 2)
	chain := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "?v%d <http://link> ?v%d . ", i, i+1)
		}
		return b.String()
	}
	values := "SELECT * { VALUES ?a {" + strings.Repeat("<http://node/1> <http://elsewhere> ", 20000) + "} ?a <http://label> ?l }"
	nested := strings.Repeat("?a <http://link> ?b OPTIONAL { ", 60) + "?a <http://link> ?b" + strings.Repeat(" }", 60)
	absent := strings.Repeat("?a <http://link> ?b FILTER NOT EXISTS { ?b <http://none> ?c . ", 60) + "?a <http://link> ?b" +
		strings.Repeat(" }", 60)
	unions := strings.Repeat("{ ?a <http://link> ?b } UNION { <http://node/1> <http://link> ?a . ", 60) + "?a <http://none> ?b" +
		strings.Repeat(" }", 60)
	for name, c := range map[string]struct {
		query string
		rows  int
	}{
		"a long chain":   {"SELECT ?v0 { <http://node/1> <http://link> ?v0 . " + chain(400) + " FILTER(?v1 = <http://nowhere>) }", 0},
		"many values":    {values, 20000},
		"nested options": {"SELECT (COUNT(*) AS ?n) { " + nested + " }", 1},
		"nested absence": {"SELECT (COUNT(*) AS ?n) { " + absent + " }", 1},
		"nested unions":  {"SELECT (COUNT(*) AS ?n) { <http://node/1> <http://link> ?b . " + unions + " }", 1},
	} {
		n, _, err := drain(context.Background(), t, c.query, ds, exec.Options{Timeout: 20 * time.Second})
		if err != nil || n != c.rows {
			t.Errorf("%s: got %d rows, %v, want %d", name, n, err, c.rows)
		}
	}
}
