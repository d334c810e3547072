package sparql_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"odarchive/triplestore/naive"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/sparql/internal/exec"
	"odarchive/triplestore/sparql/internal/oracle"
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/sparql/internal/syntax"
	"odarchive/triplestore/term"
)

// ways are plans that must give the same answer.
var ways = []struct {
	name   string
	plan   plan.Options
	orders []term.Order // that the dataset serves; nil: all
	batch  int
	change bool // the data result from an update of other data
}{
	{name: "as the planner likes"},
	{name: "three index orders", orders: []term.Order{term.SPO, term.POS, term.OSP}},
	{name: "hash joins", plan: plan.Options{Join: "hash"}},
	{name: "merge joins", plan: plan.Options{Join: "merge"}},
	{name: "bind joins", plan: plan.Options{Join: "bind"}},
	{name: "as written", plan: plan.Options{NoReorder: true}},
	{name: "small batches", batch: 2},
	{name: "parallel", plan: plan.Options{Workers: 3, ParallelFrom: 1e-9}, batch: 1},
	{name: "parallel hash joins", plan: plan.Options{Join: "hash", Workers: 4, ParallelFrom: 1e-9}, batch: 3},
	{name: "parallel over changes", plan: plan.Options{Workers: 3, ParallelFrom: 1e-9}, batch: 1, change: true},
}

// TestTheEngineAgreesWithTheOracle runs generated queries over generated data, in every way, and compares the rows with
// those of the naive evaluator. ODARCHIVE_SEED repeats one case (its number is printed where one fails);
// ODARCHIVE_CASES runs more of them.
func TestTheEngineAgreesWithTheOracle(t *testing.T) {
	t.Parallel()
	cases, first := 200, uint64(1)
	if s := os.Getenv("ODARCHIVE_CASES"); s != "" {
		cases, _ = strconv.Atoi(s)
		first = uint64(time.Now().UnixNano())
	}
	if s := os.Getenv("ODARCHIVE_SEED"); s != "" {
		first, _ = strconv.ParseUint(s, 10, 64)
		cases = 1
	}
	compared, rows, failures := 0, 0, 0
	for seed := first; seed < first+uint64(cases) && failures < 60; seed++ {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 7))}
		data := g.data()
		text, whole, sliced := g.query()
		want, err := fromOracle(data, whole)
		if errors.Is(err, oracle.ErrTooMuch) || isSyntax(err) {
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: %s: %v", seed, whole, err)
		}
		compared++
		rows += len(want)
		for i, way := range ways {
			ds := term.Dataset(naive.New(data...).Snapshot())
			if way.orders != nil {
				ds = ordered{ds, way.orders}
			}
			if way.change {
				if ds, err = changed(data); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
			got, explained, err := fromEngine(ds, text, ways[i].plan, way.batch)
			diff := ""
			switch {
			case err != nil:
				diff = err.Error()
			case sliced:
				diff = part(got, want, text)
			default:
				diff = same(got, want)
			}
			if diff != "" {
				failures++
				t.Errorf("seed %d, %s: %s\n%s\n%s\nplan:\n%s\ndata:\n%s", seed, way.name, text, diff, algebraOf(text), explained,
					show(data))
				break
			}
		}
	}
	t.Logf("%d of %d queries compared, %d rows", compared, cases, rows)
	if cases > 1 && compared < cases/2 {
		t.Errorf("only %d of %d generated queries could be compared", compared, cases)
	}
}

// changed returns the dataset as the result of an update: every second quad is inserted, and one is removed.
func changed(data []term.Quad) (term.Dataset, error) {
	surplus := term.Quad{S: term.IRI("http://surplus"), P: term.IRI("http://surplus"), O: term.String("what is too much")}
	below, insert := []term.Quad{surplus}, []term.Quad(nil)
	for i, q := range data {
		if i%2 == 0 {
			below = append(below, q)
		} else {
			insert = append(insert, q)
		}
	}
	return sparql.Changed(naive.New(below...).Snapshot(), insert, []term.Quad{surplus})
}

func isSyntax(err error) bool {
	var e *syntax.Error
	return errors.As(err, &e)
}

func translate(text string) (*algebra.Query, error) {
	tree, err := syntax.ParseQuery(text, "", syntax.Options{})
	if err != nil {
		return nil, err
	}
	return algebra.Translate(tree)
}

func algebraOf(text string) string {
	q, err := translate(text)
	if err != nil {
		return err.Error()
	}
	return algebra.SSE(q.Pattern)
}

// fromOracle returns the oracle's rows as text.
func fromOracle(data []term.Quad, text string) ([]string, error) {
	q, err := translate(text)
	if err != nil {
		return nil, err
	}
	o := oracle.Oracle{Quads: data}
	solutions, err := o.Eval(q)
	out := make([]string, len(solutions))
	for i, s := range solutions {
		row := make([]term.Key, len(q.Vars))
		for j, v := range q.Vars {
			row[j] = s[v]
		}
		out[i] = fmt.Sprintf("%q", row)
	}
	return out, err
}

func fromEngine(ds term.Dataset, text string, o plan.Options, batch int) (out []string, explained string, err error) {
	q, err := translate(text)
	if err != nil {
		return nil, "", err
	}
	p, err := plan.OptimiseQuery(q, ds, o)
	if err != nil {
		return nil, "", err
	}
	explained = p.Explain(nil)
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	rows, err := exec.Run(ctx, p, ds, exec.Options{BatchSize: batch, Plan: o, Workers: exec.NewWorkers(o.Workers)})
	if err != nil {
		return nil, explained, err
	}
	defer rows.Close()
	for {
		b, err := rows.Next()
		if err != nil || b == nil {
			return out, explained, err
		}
		keys := make([][]term.Key, len(b.Cols))
		for i, ids := range b.Cols {
			keys[i] = make([]term.Key, b.Len)
			if ids != nil {
				if err := rows.Keys(ids[:b.Len], keys[i]); err != nil {
					return nil, explained, err
				}
			}
		}
		for r := range b.Len {
			row := make([]term.Key, len(keys))
			for c := range keys {
				row[c] = keys[c][r]
			}
			out = append(out, fmt.Sprintf("%q", row))
		}
	}
}

// same compares multisets.
func same(got, want []string) string {
	g, w := slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if slices.Equal(g, w) {
		return ""
	}
	return fmt.Sprintf(" got %d: %s\nwant %d: %s", len(g), strings.Join(g, " "), len(w), strings.Join(w, " "))
}

// part checks the rows of a LIMIT: their number is right, and all are in the whole answer.
func part(got, whole []string, text string) string {
	var limit, offset int
	if _, err := fmt.Sscanf(text[strings.LastIndex(text, "LIMIT"):], "LIMIT %d OFFSET %d", &limit, &offset); err != nil {
		return err.Error()
	}
	if n := min(limit, max(0, len(whole)-offset)); len(got) != n {
		return fmt.Sprintf("got %d rows, want %d of %d", len(got), n, len(whole))
	}
	rest := slices.Clone(whole)
	for _, row := range got {
		i := slices.Index(rest, row)
		if i < 0 {
			return fmt.Sprintf("the row %s is not in the whole answer %s", row, strings.Join(whole, " "))
		}
		rest = slices.Delete(rest, i, i+1)
	}
	return ""
}

func show(data []term.Quad) string {
	var lines []string
	for _, q := range data {
		lines = append(lines, syntax.TermString(q.S)+" "+syntax.TermString(q.P)+" "+syntax.TermString(q.O)+" "+
			strings.TrimPrefix(syntax.TermString(q.G), "UNDEF"))
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n")
}

// ordered is a dataset that serves some orders only.
type ordered struct {
	term.Dataset
	orders []term.Order
}

func (o ordered) Orders() []term.Order { return o.orders }

func (o ordered) Scan(p term.Pattern, order term.Order) term.Cursor {
	if !slices.Contains(o.orders, order) {
		panic(fmt.Sprintf("a scan in order %s, which the dataset does not serve", order))
	}
	return o.Dataset.Scan(p, order)
}
