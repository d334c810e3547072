package crawler

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/testdata/cputime"
)

// archiveSizes returns the numbers of files at which the growth of the cost of a file is measured. ODARCHIVE_FILES sets
// others, separated by commas, in ascending order.
func archiveSizes(b *testing.B) (sizes []int) {
	b.Helper()
	list := os.Getenv("ODARCHIVE_FILES")
	if list == "" {
		list = "1000,4000"
	}
	for _, s := range strings.Split(list, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 2 || len(sizes) > 0 && n <= sizes[len(sizes)-1] {
			b.Fatalf("ODARCHIVE_FILES=%s: want ascending numbers", list)
		}
		sizes = append(sizes, n)
	}
	return sizes
}

// BenchmarkGrowth crawls distinct tables of 50 KB and 8 columns until the archive holds so many, and reports for each
// size what a new file costs in processor time, while the archive grows from half that size to it: so that what happens
// rarely, such as compactions, has its share. Making the tables is not counted. Each cost is also reported in multiples
// of compressing such a file with gzip -6, and of the cost at the first size. Run it once: -benchtime 1x. With
// ODARCHIVE_PROFILE=PREFIX, each size is profiled into the file PREFIX and the size.
func BenchmarkGrowth(b *testing.B) {
	const size = 50_000
	sizes := archiveSizes(b)
	web := newBenchWeb(b, hostsInBench(), sizes[len(sizes)-1], size, false)
	web.handle = serveDistinct(size)
	n := durableNode(b)
	crawl := func(from, to int) time.Duration {
		b.Helper()
		seeds := make([]catalog.Seed, 0, to-from)
		for i := from; i < to; i++ {
			seeds = append(seeds,
				catalog.Seed{URL: web.urls[i], Portal: "http://portal.example/", Dataset: fmt.Sprintf("http://portal.example/d/%d", i/3),
					Format: "CSV", Title: fmt.Sprintf("Table %d", i)})
			if len(seeds) == 1000 || i == to-1 {
				if _, err := n.Add(b.Context(), seeds); err != nil {
					b.Fatal(err)
				}
				seeds = seeds[:0]
			}
		}
		return cputime.Of(func() {
			summary, err := n.Run(b.Context(), RunOptions{Once: true})
			if err != nil || summary.Outcomes[catalog.Archived] != to-from {
				b.Fatalf("%+v, %v; want %d files", summary, err, to-from)
			}
		})
	}
	made := cputime.Of(func() {
		for i := range 200 {
			distinctTable(uint64(1_000_000+i), size)
		}
	}) / 200
	have := 0
	var first time.Duration
	for _, at := range sizes {
		if half := at / 2; half > have {
			crawl(have, half)
			have = half
		}
		stop := profile(b, at)
		gzip := web.gzipTime(b)
		runtime.GC()
		cost := crawl(have, at)/time.Duration(at-have) - made
		stop()
		gzip = (gzip + web.gzipTime(b)) / 2
		if have = at; first == 0 {
			first = cost
		}
		b.ReportMetric(float64(cost.Microseconds()), fmt.Sprintf("cpu-µs/file@%d", at))
		b.ReportMetric(float64(cost)/float64(gzip), fmt.Sprintf("gzips/file@%d", at))
		b.ReportMetric(float64(cost)/float64(first), fmt.Sprintf("x@%d", at))
		b.Logf("%d files: %v a file, %.2f gzips, %.2f times the first", at, cost, float64(cost)/float64(gzip), float64(cost)/float64(first))
	}
}

// profile starts the profile of one size, if one is wanted, and returns what ends it.
func profile(b *testing.B, size int) (stop func()) {
	b.Helper()
	prefix := os.Getenv("ODARCHIVE_PROFILE")
	if prefix == "" {
		return func() {}
	}
	out, err := os.Create(prefix + strconv.Itoa(size))
	if err == nil {
		err = pprof.StartCPUProfile(out)
	}
	if err != nil {
		b.Fatal(err)
	}
	return func() {
		pprof.StopCPUProfile()
		if err := out.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
