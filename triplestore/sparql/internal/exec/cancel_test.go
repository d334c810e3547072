package exec_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"odarchive/triplestore/sparql/internal/exec"
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// clock is a context that notices each look at it, and a dataset that counts what is asked of it in between. Its time
// is work: so it measures, the same on every machine, how long a query runs after its client has left.
type clock struct {
	context.Context
	term.Dataset
	looks        int
	quads, terms int // since the last look
	most         [2]int
	cancel       context.CancelFunc
	cancelAt     int // the look at which the client leaves; 0: never
	afterwards   [2]int
	hasLeft      bool
}

func newClock(ds term.Dataset, cancelAt int) *clock {
	c := &clock{Dataset: ds, cancelAt: cancelAt}
	c.Context, c.cancel = context.WithCancel(context.Background())
	return c
}

func (c *clock) Done() <-chan struct{} {
	c.looks++
	c.most = [2]int{max(c.most[0], c.quads), max(c.most[1], c.terms)}
	c.quads, c.terms = 0, 0
	if c.looks == c.cancelAt {
		c.cancel()
		c.hasLeft = true
	}
	return c.Context.Done()
}

func (c *clock) Value(key any) any { return nil } // else a derived context would not ask this one

func (c *clock) Keys(ids []term.ID, keys []term.Key) error {
	c.terms += len(ids)
	if c.hasLeft {
		c.afterwards[1] += len(ids)
	}
	return c.Dataset.Keys(ids, keys)
}

func (c *clock) Scan(p term.Pattern, o term.Order) term.Cursor {
	return &clockCursor{Cursor: c.Dataset.Scan(p, o), c: c}
}

// clockCursor returns batches of at most some thousand quads, as the store's cursors do.
type clockCursor struct {
	term.Cursor
	c    *clock
	pend []term.IDQuad
}

func (k *clockCursor) Next() ([]term.IDQuad, error) {
	if len(k.pend) == 0 {
		quads, err := k.Cursor.Next()
		if err != nil {
			return nil, err
		}
		k.pend = quads
	}
	quads := k.pend[:min(len(k.pend), 1024)]
	k.pend = k.pend[len(quads):]
	k.c.quads += len(quads)
	if k.c.hasLeft {
		k.c.afterwards[0] += len(quads)
	}
	return quads, nil
}

func (k *clockCursor) SeekGE(x term.IDQuad) {
	k.pend = nil
	k.Cursor.SeekGE(x)
}

// values are a hundred rows.
var values = strings.Repeat("(1 2) ", 100)

// operators has a query for each operator, with much to do for it.
var operators = map[string]string{
	"scan":                "SELECT * { ?a ?b ?c }",
	"filter":              `SELECT * { ?a ?b ?c FILTER REGEX(STR(?c), "^(a|b)+c*d$") }`,
	"cartesian product":   "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d <http://label> ?f }",
	"product with filter": "SELECT * { ?a <http://label> ?c . ?d <http://label> ?f FILTER (STRLEN(?c) + STRLEN(?f) < 3) }",
	"merge join":          "SELECT (COUNT(*) AS ?n) { ?a <http://link> ?b ; <http://link> ?c ; <http://label> ?d }",
	"hash join": "SELECT * { { SELECT ?a (COUNT(*) AS ?n) { ?a ?p ?o } GROUP BY ?a } { SELECT ?a (MAX(?o) AS ?m) { ?a " +
		"<http://label> ?o } GROUP BY ?a } }",
	"bind join": "SELECT * { ?a <http://link> <http://node/7> . ?a <http://link> ?b . ?b <http://link> ?c . ?c <http://link> " +
		"?d . ?d <http://label> ?l }",
	"optional":             "SELECT * { ?a <http://link> ?b OPTIONAL { ?b <http://link> ?c FILTER (?a != ?c) } }",
	"minus":                "SELECT * { ?a <http://link> ?b MINUS { ?b <http://link> ?a } }",
	"not exists":           "SELECT * { ?a <http://link> ?b FILTER NOT EXISTS { ?b <http://link> ?c . ?c <http://link> ?a } }",
	"correlated exists":    "SELECT * { ?a <http://label> ?b FILTER EXISTS { ?c <http://label> ?d FILTER (?d > ?b) } }",
	"sort by text":         "SELECT * { ?a <http://label> ?l VALUES (?i ?j) { " + values + " } } ORDER BY ?l",
	"sort by expression":   "SELECT * { ?a <http://label> ?l VALUES (?i ?j) { " + values + " } } ORDER BY STRLEN(?l) ?i",
	"top rows":             "SELECT * { ?a ?b ?c . ?d <http://label> ?l } ORDER BY DESC(?l) LIMIT 10",
	"distinct":             "SELECT DISTINCT ?a ?d { ?a <http://link> ?b . ?c <http://label> ?d }",
	"group":                "SELECT ?b (GROUP_CONCAT(?l) AS ?t) (MIN(?l) AS ?m) { ?a <http://link> ?b ; <http://label> ?l } GROUP BY ?b",
	"count distinct":       "SELECT (COUNT(DISTINCT ?x) AS ?n) { ?a <http://link> ?b . ?b <http://link> ?x . ?c <http://label> ?d }",
	"computed columns":     `SELECT (CONCAT(?l, "x", STR(?b)) AS ?x) { ?a <http://link> ?b ; <http://label> ?l }`,
	"path, repeated":       "SELECT (COUNT(*) AS ?n) { ?a <http://link> <http://node/7> . ?a <http://link>* ?b }",
	"path, from one node":  "SELECT * { <http://node/1> (<http://link>|^<http://link>)+ ?b }",
	"path of many ways":    "SELECT (COUNT(*) AS ?n) { ?a (<http://link>/<http://link>/<http://link>) ?b }",
	"path, any but":        "SELECT (COUNT(*) AS ?n) { ?a <http://link> <http://node/7> . ?a (!<http://label>)+ ?b }",
	"union":                "SELECT * { { ?a ?b ?c } UNION { ?a <http://link> ?c } UNION { ?d <http://label> ?e } }",
	"subquery with limit":  "SELECT * { ?a <http://label> ?l { SELECT ?a { ?a <http://link> ?b } ORDER BY ?b LIMIT 1000 } }",
	"statistics":           "SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p",
	"first of every value": "SELECT DISTINCT ?a { ?a ?p ?o }",
}

// start runs a query over a clock to its end.
func start(t *testing.T, c *clock, text string) (rows int, err error) {
	t.Helper()
	p, err := plan.OptimiseQuery(parse(t, text), c.Dataset, plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := exec.Run(c, p, c, exec.Options{Memory: 1 << 40})
	if err != nil {
		return 0, err
	}
	defer r.Close()
	for {
		b, err := r.Next()
		if b == nil || err != nil {
			return rows, err
		}
		rows += b.Len
		if err := r.Keys(b.Cols[0][:0], nil); err != nil {
			return rows, err
		}
	}
}

// A quad takes some ten nanoseconds and a term a microsecond, so that these are below 100 ms by far.
const mostQuads, mostTerms = 16 << 10, 16 << 10

func TestEveryOperatorLooksWhetherItsClientHasLeft(t *testing.T) {
	t.Parallel()
	ds := graph(300, 3)
	for name, text := range operators {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClock(ds, 0)
			rows, err := start(t, c, text)
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			if c.most[0] > mostQuads || c.most[1] > mostTerms || rows/(64<<10) > c.looks {
				t.Errorf("%d quads or %d terms between two of %d looks, for %d rows", c.most[0], c.most[1], c.looks, rows)
			}
			if c.looks < 2 {
				t.Skip("only where the answer takes a while")
			}
			all := c.looks
			for _, at := range []int{2, all / 2, all} {
				c := newClock(ds, max(1, at))
				if _, err := start(t, c, text); !errors.Is(err, context.Canceled) && at < all {
					t.Errorf("left at look %d of %d: got %v", at, all, err)
				}
				if c.afterwards[0] > mostQuads || c.afterwards[1] > mostTerms {
					t.Errorf("left at look %d of %d: then %d quads and %d terms more", at, all, c.afterwards[0], c.afterwards[1])
				}
			}
		})
	}
}

// Work that reads nothing: without looks in between, a client that leaves would not be noticed for minutes.
func TestLongWorkOverFewQuadsLooksToo(t *testing.T) {
	t.Parallel()
	ds := graph(600, 1)
	for name, c := range map[string]struct {
		text  string
		looks int
	}{
		"optional over a product": {
			"SELECT (COUNT(*) AS ?n) { ?a <http://label> ?b OPTIONAL { ?c <http://label> ?d FILTER (STRLEN(?d) > 5 * STRLEN(?b)) } }",
			600 * 600 / 4096},
		"long texts": {
			`SELECT (STRLEN(?z) AS ?n) { ?a <http://label> ?b BIND(REPLACE(CONCAT(STR(?a), ?b), ".", "$0$0$0") AS ?z) }`, 600},
		"paths of many ways": {"SELECT (COUNT(*) AS ?n) { ?a (!<x:y>/^!<x:y>) ?b }", 100},
	} {
		clock := newClock(ds, 0)
		if _, err := start(t, clock, c.text); err != nil {
			t.Fatal(name, err)
		}
		if clock.looks < c.looks {
			t.Errorf("%s: %d looks, want %d", name, clock.looks, c.looks)
		}
	}
}
