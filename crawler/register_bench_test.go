package crawler

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"odarchive/crawler/catalog"
	"odarchive/testdata/cputime"
)

// BenchmarkRegister registers URLs as a harvest of portals does, 500 at a time, everything on disk and synced. One
// operation is one URL.
func BenchmarkRegister(b *testing.B) {
	n := durableNode(b)
	random := rand.New(rand.NewPCG(1, 2))
	topics := []string{"air", "water", "trees", "budget", "traffic", "schools"}
	seeds := make([]catalog.Seed, b.N)
	for i := range seeds {
		host := int(random.ExpFloat64() * 1250)
		seeds[i] = catalog.Seed{
			URL:     fmt.Sprintf("http://data%d.example/dataset/%08x/%s_%d.csv", host, random.Uint32(), topics[i%len(topics)], i),
			Portal:  fmt.Sprintf("http://portal%d.example/", host%150),
			Dataset: fmt.Sprintf("http://portal%d.example/dataset/%d", host%150, i/3),
			Title:   fmt.Sprintf("%s of %d", topics[i%len(topics)], 1990+i%35), DatasetTitle: fmt.Sprintf("Open data of district %d", i%97),
			Format: "CSV"}
	}
	runtime.GC()
	cpu := cputime.Used()
	b.ResetTimer()
	if _, err := n.Add(b.Context(), seeds); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	b.ReportMetric(float64((cputime.Used()-cpu).Microseconds())/float64(b.N), "cpu-µs/url")
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapSys)/(1<<20), "heap-MiB")
}
