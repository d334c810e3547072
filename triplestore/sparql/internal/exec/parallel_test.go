package exec_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"odarchive/triplestore/naive"
	"odarchive/triplestore/sparql/internal/exec"
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// everywhere makes every plan parallel that can be.
var everywhere = plan.Options{Workers: 3, ParallelFrom: 1e-9}

// rowsOf runs a query and returns its rows in order.
func rowsOf(ctx context.Context, t *testing.T, ds term.Dataset, text string, o plan.Options, e exec.Options) (out []string, printed string,
	err error) {
	t.Helper()
	p, err := plan.OptimiseQuery(parse(t, text), ds, o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := exec.Run(ctx, p, ds, e)
	if err != nil {
		return nil, "", err
	}
	defer r.Close()
	for {
		b, err := r.Next()
		if b == nil || err != nil {
			return out, p.Explain(r.Trace()), err
		}
		for i := range b.Len {
			var row []string
			for c, ids := range b.Cols {
				key := []term.Key{""}
				switch {
				case len(b.Keys) > 0 && b.Keys[c] != nil:
					key[0] = b.Keys[c][i]
				case ids != nil:
					if err := r.Keys(ids[i:i+1], key); err != nil {
						return nil, "", err
					}
				}
				row = append(row, string(key[0]))
			}
			out = append(out, strings.Join(row, " "))
		}
	}
}

func TestSeveralProcessorsGiveTheSameRowsInTheSameOrder(t *testing.T) {
	t.Parallel()
	ds := graph(40, 3)
	parallel := 0
	for name, text := range operators {
		want, _, err := rowsOf(t.Context(), t, ds, text, plan.Options{}, exec.Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		for _, size := range []int{0, 7} {
			got, printed, err := rowsOf(t.Context(), t, ds, text, everywhere,
				exec.Options{BatchSize: size, Trace: true, Workers: exec.NewWorkers(4)})
			if err != nil {
				t.Fatal(name, err)
			}
			if strings.Contains(printed, "Parallel 3") {
				parallel++
			}
			if strings.Contains(printed, "Bind") || strings.Contains(printed, "Lateral") { // their order depends on the batches
				slices.Sort(got)
				slices.Sort(want)
			}
			if len(got) != len(want) || !strings.Contains(text, "LIMIT") && !slices.Equal(got, want) {
				t.Errorf("%s: got %d rows, want %d\n%s", name, len(got), len(want), printed)
			}
		}
	}
	if parallel < len(operators) {
		t.Errorf("%d plans were parallel", parallel)
	}
}

const filtered = `SELECT ?a ?l { ?a <http://label> ?l . ?a <http://link> ?b . ?b <http://label> ?m FILTER REGEX(CONCAT(?l, ?m), "1") }`

func TestAQueryThatIsClosedEarlyLeavesNoHelperBehind(t *testing.T) {
	t.Parallel()
	ds := graph(2000, 3)
	p, err := plan.OptimiseQuery(parse(t, filtered), ds, everywhere)
	if err != nil {
		t.Fatal(err)
	}
	workers := exec.NewWorkers(8)
	for range 50 {
		synctest.Test(t, func(t *testing.T) { // it fails where a goroutine stays behind
			r, err := exec.Run(t.Context(), p, ds, exec.Options{BatchSize: 16, Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			for range 5 {
				if _, err := r.Next(); err != nil {
					t.Fatal(err)
				}
			}
			r.Close()
			r.Close()
			if n := exec.Busy(workers); n != 0 {
				t.Fatalf("%d workers are taken by nobody", n)
			}
		})
	}
}

func TestAQueryWhoseClientLeavesEndsWithItsHelpers(t *testing.T) {
	t.Parallel()
	ds := graph(2000, 3)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	gone := errors.New("gone")
	p, err := plan.OptimiseQuery(parse(t, filtered), ds, everywhere)
	if err != nil {
		t.Fatal(err)
	}
	r, err := exec.Run(ctx, p, ds, exec.Options{BatchSize: 16, Workers: exec.NewWorkers(8)})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i := 0; ; i++ {
		if i == 5 {
			cancel(gone)
		}
		b, err := r.Next()
		if errors.Is(err, gone) {
			return
		}
		if b == nil || err != nil {
			t.Fatalf("batch %d: %v", i, err)
		}
	}
}

// broken is a dataset whose terms cannot be read after some time.
type broken struct {
	term.Dataset
	mu    sync.Mutex
	left  int
	panic bool
}

var errBroken = errors.New("broken")

func (b *broken) Keys(ids []term.ID, keys []term.Key) error {
	b.mu.Lock()
	b.left--
	fails := b.left < 0
	b.mu.Unlock()
	if fails && b.panic {
		panic(errBroken)
	}
	if fails {
		return errBroken
	}
	return b.Dataset.Keys(ids, keys)
}

func TestErrorsAndPanicsOfHelpersAreTheQuerys(t *testing.T) {
	t.Parallel()
	ds := graph(2000, 3)
	for left := range 20 {
		_, _, err := rowsOf(t.Context(), t, &broken{Dataset: ds, left: 3 * left}, filtered, everywhere,
			exec.Options{BatchSize: 16, Workers: exec.NewWorkers(8)})
		if !errors.Is(err, errBroken) {
			t.Errorf("after %d: got %v", left, err)
		}
		func() {
			defer func() {
				if v := recover(); !strings.Contains(fmt.Sprint(v), "broken") {
					t.Errorf("after %d: got %v", left, v)
				}
			}()
			rowsOf(t.Context(), t, &broken{Dataset: ds, left: 3 * left, panic: true}, filtered, everywhere,
				exec.Options{BatchSize: 16, Workers: exec.NewWorkers(8)})
		}()
	}
}

func TestHelpersShareTheMemoryOfTheirQuery(t *testing.T) {
	t.Parallel()
	ds := graph(2000, 3)
	_, _, err := rowsOf(t.Context(), t, ds, "SELECT * { ?a <http://link> ?b . ?c <http://link> ?d FILTER(STR(?a) < STR(?d)) } ORDER BY ?a",
		everywhere,
		exec.Options{Memory: 4 << 20, Workers: exec.NewWorkers(8)})
	if !errors.Is(err, exec.ErrMemory) {
		t.Errorf("got %v", err)
	}
}

func TestSmallQueriesAndFewRowsAreLeftToOneProcessor(t *testing.T) {
	t.Parallel()
	ds := graph(300, 3)
	for _, text := range []string{filtered, filtered + " LIMIT 10", "ASK { ?a <http://label> ?l FILTER REGEX(?l, '1') }"} {
		p, err := plan.OptimiseQuery(parse(t, text), ds, plan.Options{Workers: 4})
		if err != nil {
			t.Fatal(err)
		}
		if s := p.Explain(nil); strings.Contains(s, "Parallel") {
			t.Errorf("%s\n%s", text, s)
		}
	}
}

func TestBlankNodesAndRandomNumbersAreMadeByOneProcessor(t *testing.T) {
	t.Parallel()
	ds := graph(300, 3)
	for _, f := range []string{"RAND()", "UUID()", "STRUUID()", "BNODE()", "BNODE(STR(?l))", "IF(?l IN (STR(RAND())), 1, 2)"} {
		text := "SELECT ?x (COUNT(*) AS ?n) { ?a <http://label> ?l BIND(" + f + " AS ?x) } GROUP BY ?x"
		p, err := plan.OptimiseQuery(parse(t, text), ds, everywhere)
		if err != nil {
			t.Fatal(err)
		}
		if s := p.Explain(nil); strings.Contains(s, "Parallel") {
			t.Errorf("%s\n%s", f, s)
		}
	}
}

// Run with -race: a helper starts at any time, beside the query's goroutine.
func TestHelpersStartWhileTheirRowsAreComputedWith(t *testing.T) {
	t.Parallel()
	ds := graph(400, 3)
	const text = `SELECT ?x (SUM(STRLEN(?l) + STRLEN(?m)) AS ?n)
		{ ?a <http://label> ?l . ?a <http://link> ?b . ?b <http://label> ?m BIND(STRLEN(?m) AS ?x) FILTER(REGEX(?l, ".")) } GROUP BY ?x`
	for range 20 {
		_, printed, err := rowsOf(t.Context(), t, ds, text, everywhere, exec.Options{BatchSize: 8, Workers: exec.NewWorkers(4)})
		if err != nil || !strings.Contains(printed, "Parallel 3") {
			t.Fatal(err, printed)
		}
	}
}

// slowStart returns its quads one by one, with time in between.
type slowStart struct {
	term.Dataset
	delay time.Duration
}

func (s slowStart) Scan(p term.Pattern, o term.Order) term.Cursor {
	return &slowCursor{s.Dataset.Scan(p, o), s.delay, nil}
}

type slowCursor struct {
	term.Cursor
	delay time.Duration
	pend  []term.IDQuad
}

func (c *slowCursor) Next() ([]term.IDQuad, error) {
	time.Sleep(c.delay)
	if len(c.pend) == 0 {
		var err error
		if c.pend, err = c.Cursor.Next(); err != nil || len(c.pend) == 0 {
			return nil, err
		}
	}
	q := c.pend[:1]
	c.pend = c.pend[1:]
	return q, nil
}

func (c *slowCursor) SeekGE(x term.IDQuad) {
	c.pend = nil
	c.Cursor.SeekGE(x)
}

func TestASlowSourceIsNotWaitedForUntilAPortionIsFull(t *testing.T) {
	t.Parallel()
	var quads []term.Quad
	for i := range 200 {
		quads = append(quads, term.Quad{S: term.IRI(fmt.Sprintf("http://node/%d", i)), P: term.IRI("http://label"),
			O: term.String(fmt.Sprint(i))})
	}
	ds := slowStart{naive.New(quads...).Snapshot(), 2 * time.Millisecond}
	p, err := plan.OptimiseQuery(parse(t, `SELECT * { ?a <http://label> ?l FILTER REGEX(?l, ".") }`), ds, everywhere)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		r, err := exec.Run(t.Context(), p, ds, exec.Options{Workers: exec.NewWorkers(2)})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if b, err := r.Next(); err != nil || b.Len > 10 {
			t.Errorf("the first batch has %d rows, %v", b.Len, err)
		}
	})
}
