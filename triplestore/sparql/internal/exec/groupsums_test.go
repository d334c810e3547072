package exec_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"odarchive/triplestore/naive"
	"odarchive/triplestore/sparql/internal/exec"
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// measurements returns n nodes of 20 kinds. kinds of values: 0 integers, 1 decimals and large integers too, 2 doubles,
// too, 3 texts and dates, too.
func measurements(n, kinds int) term.Dataset {
	r := rand.New(rand.NewPCG(uint64(n), uint64(kinds)))
	var quads []term.Quad
	for i := range n {
		s := term.IRI(fmt.Sprintf("http://node/%06d", i))
		quads = append(quads, term.Quad{S: s, P: term.IRI("http://kind"), O: term.IRI(fmt.Sprint("http://kind/", r.IntN(20)))})
		var v term.Key
		switch r.IntN(20 * (kinds + 1)) {
		default:
			v = term.Typed(fmt.Sprint(r.IntN(2000)-1000), "http://www.w3.org/2001/XMLSchema#integer")
		case 20, 21, 22:
			v = term.Typed(fmt.Sprintf("%d.%03d", r.IntN(100), r.IntN(1000)), "http://www.w3.org/2001/XMLSchema#decimal")
		case 23:
			v = term.Typed(fmt.Sprintf("%d%018d", r.IntN(90)+10, r.IntN(1000)), "http://www.w3.org/2001/XMLSchema#integer")
		case 24:
			v = term.Typed("9223372036854775807", "http://www.w3.org/2001/XMLSchema#integer")
		case 40, 41:
			v = term.Typed(fmt.Sprintf("%.3e", r.Float64()), "http://www.w3.org/2001/XMLSchema#double")
		case 60:
			v = term.String(fmt.Sprint("text ", r.IntN(1000)))
		case 61:
			v = term.Typed(fmt.Sprintf("20%02d-01-01", r.IntN(90)+10), "http://www.w3.org/2001/XMLSchema#date")
		}
		if r.IntN(50) > 0 {
			quads = append(quads, term.Quad{S: s, P: term.IRI("http://value"), O: v})
		}
	}
	return naive.New(quads...).Snapshot()
}

var groupQueries = []string{
	"SELECT ?k (COUNT(*) AS ?n) { ?s <http://kind> ?k } GROUP BY ?k",
	"SELECT ?k (COUNT(?v) AS ?n) (MIN(?v) AS ?a) (MAX(?v) AS ?b) { ?s <http://kind> ?k OPTIONAL { ?s <http://value> ?v } } GROUP BY ?k",
	"SELECT ?k (SUM(?v) AS ?n) (AVG(?v) AS ?a) { ?s <http://kind> ?k ; <http://value> ?v } GROUP BY ?k",
	"SELECT ?k (SUM(?v) AS ?n) (AVG(?v) AS ?a) { ?s <http://kind> ?k OPTIONAL { ?s <http://value> ?v } } GROUP BY ?k",
	"SELECT ?k (SUM(?v * 2 + 1) AS ?n) (AVG(ABS(?v)) AS ?a) (COUNT(?v - 1) AS ?c) (MIN(-?v) AS ?m) { ?s <http://kind> ?k ; " +
		"<http://value> ?v } GROUP BY ?k",
	"SELECT (SUM(?v) AS ?n) (COUNT(*) AS ?c) (MAX(STRLEN(STR(?v))) AS ?m) (SAMPLE(?v) AS ?x) (SAMPLE(STR(?v)) AS ?y) { ?s <http://value> " +
		"?v }",
	"SELECT (COUNT(*) AS ?c) { ?s <http://value> ?v FILTER (?v > 10000000) }",
	"SELECT ?f ?k (COUNT(*) AS ?c) (MIN(?s) AS ?m) { ?s <http://kind> ?k ; <http://value> ?v BIND (?v > 0 AS ?f) } GROUP BY ?f ?k",
	// a group a row
	"SELECT ?s (COUNT(*) AS ?c) (SUM(?v) AS ?m) { ?s <http://kind> ?k ; <http://value> ?v } GROUP BY ?s",
	// many groups
	"SELECT ?x (SUM(?v) AS ?m) { ?s <http://kind> ?k ; <http://value> ?v BIND (FLOOR(?v / 8) AS ?x) } GROUP BY ?x",
	// more than expected
	"SELECT ?x (COUNT(*) AS ?c) (MAX(?v) AS ?m) { ?s <http://kind> ?k ; <http://value> ?v BIND (STR(?s) AS ?x) } GROUP BY ?x",
}

// The result is exactly that of one processor: order of groups, sums of doubles, samples.
func TestGroupsOfSeveralProcessorsAreThoseOfOne(t *testing.T) {
	t.Parallel()
	for kinds := range 4 {
		ds := measurements(20_000, kinds)
		for _, text := range groupQueries {
			want, _, err := rowsOf(t.Context(), t, ds, text, plan.Options{}, exec.Options{})
			if err != nil {
				t.Fatal(text, err)
			}
			for _, size := range []int{64, 0} {
				got, printed, err := rowsOf(t.Context(), t, ds, text, everywhere,
					exec.Options{BatchSize: size, Workers: exec.NewWorkers(4)})
				if err != nil {
					t.Fatal(text, err)
				}
				if !strings.Contains(printed, "Parallel") {
					t.Errorf("%s\n%s", text, printed)
				}
				if !slices.Equal(got, want) {
					t.Errorf("values %d, batches of %d: %s\n got %q\nwant %q", kinds, size, text, got[:min(3, len(got))],
						want[:min(3, len(want))])
				}
			}
		}
	}
}

func TestGroupsOfSeveralProcessorsStayWithinTheMemoryOfTheirQuery(t *testing.T) {
	t.Parallel()
	ds := measurements(20_000, 1)
	for _, text := range groupQueries {
		want, _, err := rowsOf(t.Context(), t, ds, text, plan.Options{}, exec.Options{})
		if err != nil {
			t.Fatal(text, err)
		}
		for _, memory := range []int64{1 << 20, 4 << 20} {
			pool := exec.NewPool(64 << 20)
			got, _, err := rowsOf(t.Context(), t, ds, text, everywhere,
				exec.Options{BatchSize: 64, Memory: memory, Pool: pool, Spill: exec.NewSpill(t.TempDir(), 1<<30),
					Workers: exec.NewWorkers(4)})
			slices.Sort(got) // groups that wait in files come last
			slices.Sort(want)
			if errors.Is(err, exec.ErrMemory) {
				if _, _, alone := rowsOf(t.Context(), t, ds, text, plan.Options{},
					exec.Options{BatchSize: 64, Memory: memory, Spill: exec.NewSpill(t.TempDir(), 1<<30)}); alone == nil && memory > 1<<20 {
					t.Errorf("%s: %v; one processor had enough memory", text, err)
				}
			} else if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %d rows, want %d, %v", text, len(got), len(want), err)
			}
			if pool.Used() != 0 {
				t.Errorf("%s: %d bytes are held afterwards", text, pool.Used())
			}
		}
	}
}

func TestAGroupThatIsClosedEarlyLeavesNoHelperBehind(t *testing.T) {
	t.Parallel()
	ds := measurements(5000, 1)
	p, err := plan.OptimiseQuery(parse(t, groupQueries[4]), ds, everywhere)
	if err != nil {
		t.Fatal(err)
	}
	workers := exec.NewWorkers(8)
	for i := range 30 {
		synctest.Test(t, func(t *testing.T) { // it fails where a goroutine stays behind
			pool := exec.NewPool(64 << 20)
			stop := errors.New("stop")
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			r, err := exec.Run(ctx, p, ds, exec.Options{BatchSize: 16, Workers: workers, Pool: pool})
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				for range i * 10 {
					runtime.Gosched()
				}
				cancel(stop)
			}()
			if _, err := r.Next(); err != nil && !errors.Is(err, stop) {
				t.Fatal(err)
			}
			r.Close()
			if n := exec.Busy(workers); n != 0 || pool.Used() != 0 {
				t.Fatalf("%d workers are taken by nobody, %d bytes", n, pool.Used())
			}
		})
	}
}
