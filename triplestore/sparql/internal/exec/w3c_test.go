package exec_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"odarchive/testdata/shared"
	"odarchive/triplestore/naive"
	"odarchive/triplestore/sparql/conformance"
	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/sparql/internal/exec"
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/sparql/internal/syntax"
	"odarchive/triplestore/term"
)

// TestW3CEvaluation runs the SELECT and ASK tests of the W3C suites with every join method and tiny batches: whatever
// the plan, the answer is the one the suite wants.
func TestW3CEvaluation(t *testing.T) {
	t.Parallel()
	root := shared.Data(t, "w3c", "sparql")
	for _, manifest := range []string{"sparql10/manifest.ttl", "sparql11/manifest-all.ttl", "sparql12/manifest.ttl"} {
		tests, err := conformance.Load(filepath.Join(root, manifest))
		if err != nil {
			t.Fatal(err)
		}
		for _, way := range ways {
			t.Run(filepath.Dir(manifest)+" "+way.name, func(t *testing.T) {
				t.Parallel()
				ran := 0
				for _, x := range tests {
					if x.Kind != "QueryEvaluationTest" || x.Regimes || len(x.Services) > 0 || strings.HasSuffix(x.Suite, "/service") ||
						x.Result == "" {
						continue
					}
					got, printed, err := evaluate(&x, way)
					if errors.Is(err, errData) && strings.HasPrefix(manifest, "sparql12") {
						continue // RDF 1.2 syntax is package rdfio's to read, and package sparql's to count
					}
					if err != nil {
						t.Errorf("%s: %v", x.String(), err)
						continue
					}
					if got == nil {
						continue
					}
					want, err := x.Wanted()
					if err != nil {
						t.Errorf("%s: %v", x.String(), err)
						continue
					}
					ran++
					if diff := conformance.Same(got, want, x.CardLax); diff != "" {
						text, _ := x.Text()
						t.Errorf("%s: %s\n%s\n%s", x.String(), diff, text, printed)
					}
				}
				t.Logf("%d tests", ran)
			})
		}
	}
}

// way is a manner of planning and running.
type way struct {
	name string
	plan plan.Options
	exec exec.Options
}

var ways = []way{
	{name: "by cost"},
	{name: "hash", plan: plan.Options{Join: "hash"}, exec: exec.Options{BatchSize: 3}},
	{name: "merge", plan: plan.Options{Join: "merge"}, exec: exec.Options{BatchSize: 2}},
	{name: "bind", plan: plan.Options{Join: "bind"}, exec: exec.Options{BatchSize: 1}},
	{name: "parallel", plan: plan.Options{Workers: 3, ParallelFrom: 1e-9},
		exec: exec.Options{BatchSize: 4, Workers: exec.NewWorkers(1 << 20)}},
	{
		name: "as written", plan: plan.Options{NoReorder: true,
			Without: []string{"constants", "distinct-first", "top-k", "sorted-distinct", "loose-scan", "counts"}},
		exec: exec.Options{BatchSize: 7}},
}

// errData means that a test's data could not be read.
var errData = errors.New("data")

func evaluate(x *conformance.Test, w way) (*conformance.Result, string, error) {
	text, err := x.Text()
	if err != nil {
		return nil, "", err
	}
	tree, err := syntax.ParseQuery(text, x.Request, syntax.Options{})
	if err != nil {
		return nil, "", err
	}
	q, err := algebra.Translate(tree)
	if err != nil || q.Form == algebra.Construct || q.Form == algebra.Describe {
		return nil, "", err
	}
	quads, err := x.Dataset(append(q.From, q.FromNamed...))
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", errData, err)
	}
	ds := naive.New(quads...).Snapshot()
	rows, printed, err := solve(context.Background(), q, ds, w)
	if err != nil {
		return nil, printed, err
	}
	if q.Form == algebra.Ask {
		yes := len(rows) > 0
		return &conformance.Result{Boolean: &yes}, printed, nil
	}
	out := &conformance.Result{Rows: rows, Ordered: strings.Contains(strings.ToUpper(text), "ORDER BY")}
	for _, v := range q.Vars {
		out.Vars = append(out.Vars, string(v))
	}
	return out, printed, nil
}

// solve plans and runs a query and returns its rows as terms.
func solve(ctx context.Context, q *algebra.Query, ds term.Dataset, w way) (rows [][]term.Key, printed string, err error) {
	defer func() {
		if r := recover(); r != nil {
			panic(fmt.Sprintf("%v\n%s", r, printed))
		}
	}()
	p, err := plan.OptimiseQuery(q, ds, w.plan)
	if err != nil {
		return nil, "", err
	}
	printed = p.Explain(nil)
	o := w.exec
	o.Plan = w.plan
	if o.Timeout == 0 {
		o.Timeout = 20 * time.Second
	}
	r, err := exec.Run(ctx, p, ds, o)
	if err != nil {
		return nil, printed, err
	}
	defer r.Close()
	for {
		b, err := r.Next()
		if err != nil {
			return nil, printed, err
		}
		if b == nil {
			return rows, printed, nil
		}
		first := len(rows)
		for range b.Len {
			rows = append(rows, make([]term.Key, len(b.Cols)))
		}
		keys := make([]term.Key, b.Len)
		for c, col := range b.Cols {
			if col == nil {
				continue
			}
			if err := r.Keys(col[:b.Len], keys); err != nil {
				return nil, printed, err
			}
			for i, k := range keys {
				rows[first+i][c] = k
			}
		}
	}
}
