package frontier

import (
	"os"
	"strconv"
	"testing"
	"time"

	"odarchive/testdata/cputime"
	"odarchive/triplestore/kv"
)

// BenchmarkPass reads the records of all URLs once, as the daily plan does: by due time, and for comparison by key, as
// it did before. ODARCHIVE_SCALE and ODARCHIVE_SCALE_DIR are as in BenchmarkVisits.
func BenchmarkPass(b *testing.B) {
	many := 1_000_000
	if n, err := strconv.Atoi(os.Getenv("ODARCHIVE_SCALE")); err == nil {
		many = n
	}
	for _, n := range []int{100_000, many} {
		db, err := kv.Open(filled(b, n), kv.Options{NoSync: true})
		if err != nil {
			b.Fatal(err)
		}
		f := open(b, db, &clock{noon}, Options{})
		for name, pass := range map[string]func(func(*URL) error) error{
			"due": func(fn func(*URL) error) error { return f.EachByDue(b.Context(), time.Time{}, time.Time{}, fn) },
			"key": func(fn func(*URL) error) error { return f.Each(Filter{}, "", 0, fn) },
		} {
			b.Run(name+"/"+strconv.Itoa(n), func(b *testing.B) {
				used := cputime.Of(func() {
					for b.Loop() {
						seen := 0
						if err := pass(func(*URL) error { seen++; return nil }); err != nil || seen != n {
							b.Fatalf("%d of %d URLs, %v", seen, n, err)
						}
					}
				})
				b.ReportMetric(float64(used.Nanoseconds())/float64(b.N)/float64(n)/1000, "cpu-µs/url")
			})
		}
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
