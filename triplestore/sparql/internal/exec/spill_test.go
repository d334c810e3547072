package exec_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"odarchive/triplestore/sparql/internal/exec"
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// answer returns the rows of a query as texts, in their order, and the most memory that it held.
func answer(t testing.TB, text string, ds term.Dataset, o exec.Options) ([]string, int64) {
	t.Helper()
	p, err := plan.OptimiseQuery(parse(t, text), ds, plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := exec.Run(context.Background(), p, ds, o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out []string
	for {
		b, err := r.Next()
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if b == nil {
			return out, r.Memory()
		}
		rows := make([]string, b.Len)
		keys := make([]term.Key, b.Len)
		for _, col := range b.Cols {
			if col == nil {
				continue
			}
			if err := r.Keys(col[:b.Len], keys); err != nil {
				t.Fatal(err)
			}
			for i, k := range keys {
				rows[i] += string(k) + " "
			}
		}
		out = append(out, rows...)
	}
}

func TestWhatDoesNotFitIntoMemoryIsKeptInFiles(t *testing.T) {
	t.Parallel()
	ds := graph(30, 5)
	dir := t.TempDir()
	for _, c := range []struct {
		text    string
		ordered bool
		limit   int64
	}{
		{"SELECT ?a ?c ?d ?f { ?a ?b ?c . ?d ?e ?f } ORDER BY ?f DESC(?a)", true, 1 << 20},
		{"SELECT ?a ?c ?d ?f { ?a ?b ?c . ?d ?e ?f } ORDER BY DESC(STRLEN(STR(?f))) ?c", true, 1 << 20},
		{"SELECT ?a ?c ?d ?f { ?a ?b ?c . ?d ?e ?f } ORDER BY STR(?f) LIMIT 9000", true, 1 << 20},
		{"SELECT ?a ?c { ?a ?b ?c . ?d ?e ?f } ORDER BY (?f = ?x) ?c", true, 1 << 20},
		{"SELECT DISTINCT ?a ?c ?d ?f { ?a ?b ?c . ?d ?e ?f } ORDER BY ?c", true, 1 << 20},
		{"SELECT DISTINCT ?a ?c ?d ?f { { ?a ?b ?c . ?d ?e ?f } UNION { ?d ?b ?c . ?a ?e ?f } }", true, 1 << 20},
		{"SELECT ?a ?c ?d ?f (COUNT(*) AS ?n) (MIN(?b) AS ?m) (GROUP_CONCAT(STR(?e)) AS ?g) { ?a ?b ?c . ?d ?e ?f } GROUP BY ?a ?c ?d ?f",
			false, 4 << 20},
		{"SELECT (COUNT(DISTINCT *) AS ?n) { ?a ?b ?c . ?d ?e ?f }", false, 1 << 20},
		{"SELECT ?a (COUNT(DISTINCT CONCAT(STR(?c), STR(?f))) AS ?n) { ?a ?b ?c . ?d ?e ?f } GROUP BY ?a", false, 1 << 20},
		{"SELECT (COUNT(DISTINCT CONCAT(STR(?a), STR(?c), STR(?f))) AS ?n) { ?a ?b ?c . ?d ?e ?f }", false, 1 << 20},
		{"SELECT (SUM(DISTINCT 100 * STRLEN(STR(?a)) + ?c * 1000 + ?f) AS ?n) (COUNT(DISTINCT ?d) AS ?k) { ?a ?b ?c . ?d ?e ?f }", false,
			1 << 20},
		{"SELECT ?a ?x (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } ?a ?b ?c } GROUP BY ?a ?x", false, 1 << 20},
	} {
		want, held := answer(t, c.text, ds, exec.Options{})
		space := exec.NewSpill(dir, 1<<30)
		pool := exec.NewPool(c.limit)
		got, part := answer(t, c.text, ds, exec.Options{Memory: c.limit, Pool: pool, Spill: space})
		if !c.ordered {
			slices.Sort(want)
			slices.Sort(got)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d rows, want %d; or another order", c.text, len(got), len(want))
		}
		if len(want) > 1000 && held <= c.limit || part > c.limit {
			t.Errorf("%s: held %d bytes, and %d with a limit of %d", c.text, held, part, c.limit)
		}
		if space.Used() != 0 || pool.Used() != 0 {
			t.Errorf("%s: %d bytes of files and %d of memory are left", c.text, space.Used(), pool.Used())
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("files are left: %v, %v", left, err)
	}
}

func TestARandomOrderIsKeptInFiles(t *testing.T) {
	t.Parallel()
	rows, _ := answer(t, "SELECT ?a ?c ?d ?f { ?a ?b ?c . ?d ?e ?f } ORDER BY RAND()", graph(30, 5),
		exec.Options{Memory: 1 << 20, Spill: exec.NewSpill(t.TempDir(), 1<<30)})
	if want := 180 * 180; len(rows) != want || slices.IsSorted(rows) {
		t.Errorf("%d rows, want %d in another order", len(rows), want)
	}
}

func TestTemporaryFilesHaveALimit(t *testing.T) {
	t.Parallel()
	space := exec.NewSpill(t.TempDir(), 200<<10)
	for _, text := range []string{
		"SELECT * { ?a ?b ?c . ?d ?e ?f } ORDER BY RAND()", "SELECT DISTINCT * { ?a ?b ?c . ?d ?e ?f }",
		"SELECT ?a ?c ?d ?f { ?a ?b ?c . ?d ?e ?f } GROUP BY ?a ?c ?d ?f",
	} {
		_, _, err := drain(context.Background(), t, text, graph(30, 5), exec.Options{Memory: 1 << 20, Spill: space})
		if limit := (*exec.LimitError)(nil); !errors.As(err, &limit) || !limit.Disk {
			t.Errorf("%s: %v, want the limit of temporary files", text, err)
		}
	}
	if space.Used() != 0 {
		t.Errorf("%d bytes are left", space.Used())
	}
}

func TestWithoutRoomForTemporaryFilesAQueryEndsWithTheReason(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	space := exec.NewSpill(filepath.Join(file, "tmp"), 1<<30)
	for _, text := range []string{
		"SELECT * { ?a ?b ?c . ?d ?e ?f } ORDER BY RAND()", "SELECT DISTINCT * { ?a ?b ?c . ?d ?e ?f }",
		"SELECT ?a ?c ?d ?f { ?a ?b ?c . ?d ?e ?f } GROUP BY ?a ?c ?d ?f",
	} {
		_, _, err := drain(context.Background(), t, text, graph(30, 5), exec.Options{Memory: 1 << 20, Spill: space})
		if !errors.Is(err, exec.ErrTemp) || strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v, want that temporary files cannot be used", text, err)
		}
	}
	if space.Used() != 0 {
		t.Errorf("%d bytes are left", space.Used())
	}
}

func TestQueriesShareThePool(t *testing.T) {
	t.Parallel()
	ds := graph(30, 5)
	pool := exec.NewPool(3 << 20)
	text := "SELECT * { ?a ?b ?c . ?d ?e ?f } ORDER BY ?c ?f"
	p, err := plan.OptimiseQuery(parse(t, text), ds, plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var open []*exec.Rows
	var failed error
	for range 10 {
		r, err := exec.Run(context.Background(), p, ds, exec.Options{Pool: pool})
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, r)
		if _, failed = r.Next(); failed != nil {
			break
		}
	}
	limit := (*exec.LimitError)(nil)
	if !errors.As(failed, &limit) || !limit.Shared {
		t.Errorf("ten queries ended with %v, want the common limit", failed)
	}
	for _, r := range open {
		r.Close()
	}
	if pool.Used() != 0 {
		t.Errorf("%d bytes are left", pool.Used())
	}
	if r, err := exec.Run(context.Background(), p, ds, exec.Options{Pool: exec.NewPool(64 << 20)}); err != nil {
		t.Fatal(err)
	} else if b, err := r.Next(); b == nil || err != nil {
		t.Error(fmt.Errorf("alone: %w", err))
	} else {
		r.Close()
	}
}

func TestJoinsWhoseRightSideIsLargeUseFiles(t *testing.T) {
	t.Parallel()
	ds := graph(45, 5)
	const big = "{ SELECT DISTINCT ?a ?c ?d ?f { ?a ?b ?c . ?d ?e ?f } }"
	for _, text := range []string{
		"SELECT (COUNT(*) AS ?n) (SUM(?c + ?f) AS ?m) { " + big + " ?a ?p ?o }",
		"SELECT (COUNT(*) AS ?n) (COUNT(?f) AS ?m) { ?a ?p ?o OPTIONAL " + big + " }",
		"SELECT (COUNT(*) AS ?n) (COUNT(?f) AS ?m) { ?a ?p ?o OPTIONAL { " + big + " FILTER (?o != ?f) } }",
		"SELECT (COUNT(*) AS ?n) { ?a ?p ?o MINUS " + big + " }",
	} {
		for workers, limit := range map[int]int64{0: 2 << 20, 4: 8 << 20} { // several processors have their output in memory
			o := plan.Options{Join: "hash", Workers: workers, ParallelFrom: 1}
			if workers == 0 {
				o.ParallelFrom = 1e15
			}
			p, err := plan.OptimiseQuery(parse(t, text), ds, o)
			if err != nil {
				t.Fatal(err)
			}
			run := func(o exec.Options) (string, int64) {
				o.Workers = exec.NewWorkers(workers)
				r, err := exec.Run(context.Background(), p, ds, o)
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				b, err := r.Next()
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				return fmt.Sprint(b.Len, b.Cols), r.Memory()
			}
			want, held := run(exec.Options{})
			space, pool := exec.NewSpill(t.TempDir(), 1<<30), exec.NewPool(limit)
			got, part := run(exec.Options{Memory: limit, Pool: pool, Spill: space})
			if got != want || part > limit || held <= limit && workers == 0 {
				t.Errorf("%s: got %s with %d bytes, want %s (%d bytes)", text, got, part, want, held)
			}
			if space.Used() != 0 || pool.Used() != 0 {
				t.Errorf("%s: %d bytes of files and %d of memory are left", text, space.Used(), pool.Used())
			}
			if p, err = plan.OptimiseQuery(parse(t, text), ds, plan.Options{Join: "hash"}); err != nil {
				t.Fatal(err)
			}
			r, err := exec.Run(context.Background(), p, ds, exec.Options{Memory: limit, Spill: exec.NewSpill(t.TempDir(), 100<<10)})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Next(); !errors.Is(err, exec.ErrMemory) {
				t.Errorf("%s: %v, want the limit of files", text, err)
			}
			r.Close()
		}
	}
}
