package search

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/testdata/cputime"
)

// BenchmarkAnswer counts, narrows and sorts a first page with facets: the part of a search whose cost grows with the
// archive.
func BenchmarkAnswer(b *testing.B) {
	for _, n := range []int{50_000, 500_000, 1_000_000} {
		f := &facts{}
		random := rand.New(rand.NewPCG(1, 2))
		for doc := range n {
			f.set(uint32(doc),
				row{Changed: time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC).Add(time.Duration(random.IntN(1e6)) * time.Second),
					Versions: random.IntN(9), Size: int64(random.IntN(1 << 20)), Outcome: catalog.Unchanged,
					Type:    []string{"text/csv", "application/json"}[doc%2],
					Host:    fmt.Sprint("data", int(random.ExpFloat64()*2000), ".example"),
					Title:   fmt.Sprint("district statistics ", random.IntN(n)),
					Portals: []string{fmt.Sprint("http://portal", doc%150, ".example/")}})
		}
		for name, s := range map[string]catalog.Search{"all": {}, "title": {Sort: "title"}, "portal": {Portal: "http://portal7.example/"}} {
			s.Facets, s.Limit = true, defaultPage
			b.Run(fmt.Sprint(n, "/", name), func(b *testing.B) {
				spent := cputime.Used()
				for b.Loop() {
					if found, _ := f.answer(question{Search: s}); found.Total == 0 {
						b.Fatal("nothing found")
					}
				}
				b.ReportMetric(float64((cputime.Used()-spent).Microseconds())/1000/float64(b.N), "cpu-ms/op")
			})
		}
	}
}
