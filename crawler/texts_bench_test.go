package crawler

import (
	"testing"

	"odarchive/crawler/catalog"
	"odarchive/testdata/cputime"
	"odarchive/triplestore/kv"
)

// BenchmarkTextsOfAVisit measures what indexing descriptions and values again, as for the archive of an older program,
// takes of the processor time of first visits. The search index is made again without them, and what is left is to
// index them. A crawl does not read the profiles again, which is more than half of it.
func BenchmarkTextsOfAVisit(b *testing.B) {
	const files, size = 1500, 50_000
	for range b.N {
		web, n := newBenchWeb(b, 50, files, size, true), durableNode(b)
		seeds := make([]catalog.Seed, files)
		for i := range seeds {
			seeds[i] = catalog.Seed{URL: web.urls[i], Portal: "http://portal.example/", Dataset: "http://portal.example/d/" + web.urls[i],
				DatasetTitle: "A dataset", Format: "CSV"}
		}
		if _, err := n.Add(b.Context(), seeds); err != nil {
			b.Fatal(err)
		}
		all := cputime.Of(func() {
			if summary, err := n.Run(b.Context(), RunOptions{Once: true}); err != nil || summary.Outcomes[catalog.Archived] != files {
				b.Fatalf("%+v, %v", summary, err)
			}
		})
		a := n.Pipeline.Archive
		if err := a.DB().DropSpace(kv.SpaceSearch); err != nil {
			b.Fatal(err)
		}
		if _, err := a.BuildSearch(b.Context()); err != nil {
			b.Fatal(err)
		}
		before := a.DB().Sizes().Log
		texts := cputime.Of(func() {
			if err := n.Pipeline.IndexAll(b.Context()); err != nil {
				b.Fatal(err)
			}
		})
		if left, err := a.Untexted(b.Context()); err != nil || left.Waiting != 0 {
			b.Fatalf("%+v, %v", left, err)
		}
		b.ReportMetric(100*float64(texts)/float64(all), "%-of-a-visit")
		b.ReportMetric(float64(texts.Microseconds())/files, "cpu-µs/file")
		b.ReportMetric(float64(a.DB().Sizes().Log-before)/files, "log-bytes/file")
	}
}
