package sparql_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/testdata/cputime"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/sparql"
)

// shapes are the queries of testdata/shapes, which the open benchmark does not have: one or more for each operator of
// the engine. `make bench-sparql QUERIES=…` runs them beside other stores.
func shapes(t testing.TB) map[string]string {
	files, err := filepath.Glob("testdata/shapes/*.rq")
	if err != nil || len(files) == 0 {
		t.Fatal("no queries", err)
	}
	out := map[string]string{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(f), ".rq")] = string(text)
	}
	return out
}

func TestTheQueriesOfTheBenchmarkAreQueries(t *testing.T) {
	t.Parallel()
	for name, text := range shapes(t) {
		if _, err := sparql.New(sparql.Options{}).Prepare(text, sparql.QueryOptions{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.HasPrefix(text, "# ") {
			t.Errorf("%s does not say what it asks", name)
		}
	}
}

// BenchmarkShapes runs each of them to the last term over the N-Triples file that ODARCHIVE_BENCH_FILE names.
func BenchmarkShapes(b *testing.B) {
	name := os.Getenv("ODARCHIVE_BENCH_FILE")
	if name == "" {
		b.Skip("ODARCHIVE_BENCH_FILE names no N-Triples file: see BENCHMARKS.md")
	}
	db, err := kv.Open(b.TempDir(), kv.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	store, err := triplestore.Open(db, triplestore.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	f, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if _, err := store.Load(b.Context(), rdfio.NewReader(bufio.NewReaderSize(f, 1<<20), rdfio.NTriples(), rdfio.Options{})); err != nil {
		b.Fatal(err)
	}
	sn := store.Snapshot()
	defer sn.Release()
	texts := shapes(b)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		for workers := 1; workers <= 2; workers++ {
			b.Run(fmt.Sprintf("%s/%d", name, workers), func(b *testing.B) { runShape(b, sn, texts[name], workers) })
		}
	}
}

// runShape runs a query to its last term on some processors. Besides the mean it reports the best time and the
// processor time: on a machine that others use, too, they say more.
func runShape(b *testing.B, sn *triplestore.Snapshot, text string, workers int) {
	e := sparql.New(sparql.Options{Workers: workers})
	b.ReportAllocs()
	rows, best := 0, time.Hour
	began := cputime.Used()
	for b.Loop() {
		at := time.Now()
		r, err := e.Query(b.Context(), sn, text, sparql.QueryOptions{})
		if err != nil {
			b.Fatal(err)
		}
		for rows = 0; ; rows++ {
			if r.Kind == sparql.Triples {
				_, err = r.Triple()
			} else if r.Kind == sparql.Solutions {
				_, err = r.Next()
			} else {
				err = io.EOF
			}
			if err != nil {
				break
			}
		}
		if r.Close(); !errors.Is(err, io.EOF) {
			b.Fatal(err)
		}
		best = min(best, time.Since(at))
	}
	b.ReportMetric(best.Seconds()*1e3, "best-ms")
	b.ReportMetric(float64(cputime.Used()-began)/1e6/float64(b.N), "cpu-ms/op")
	b.ReportMetric(float64(rows), "rows")
}
