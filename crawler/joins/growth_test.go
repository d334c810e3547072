package joins

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"odarchive/crawler/csvprofile"
	"odarchive/testdata/cputime"
	"odarchive/triplestore/kv"
)

// hashed is the sketch of a column whose values are known by numbers.
func hashed(values []uint64) csvprofile.Sketch {
	s := make(csvprofile.Sketch, len(values))
	for i, v := range values {
		v = (v ^ v>>31) * 0x9e3779b97f4a7c15
		v = (v ^ v>>29) * 0xbf58476d1ce4e5b9
		s[i] = uint32((v ^ v>>32) * 0x94d049bb133111eb >> 32)
	}
	slices.Sort(s)
	s = slices.Compact(s)
	return s[:min(len(s), csvprofile.SketchSize)]
}

// sample is n values out of the first size of a pool.
func sample(rng *rand.Rand, pool uint64, n, size int) []uint64 {
	values := make([]uint64, n)
	for i := range values {
		values[i] = pool<<32 | uint64(rng.IntN(size))
	}
	return values
}

// whole is the first n values of a pool.
func whole(pool uint64, n int) []uint64 {
	values := make([]uint64, n)
	for i := range values {
		values[i] = pool<<32 | uint64(i)
	}
	return values
}

// worlds are the tables that the growth of the index is measured with, by their numbers.
var worlds = map[string]func(rng *rand.Rand, n int) [][]uint64{
	// A series of tables of one publisher: the same codes, cities and almost the same row numbers, and other stations of the same.
	"one series": func(rng *rand.Rand, n int) [][]uint64 {
		return [][]uint64{whole(1, 400), sample(rng, 2, 1100, 5000), whole(3, 8), append(whole(4, 1040+rng.IntN(20)), uint64(5)<<32|uint64(n))}
	},
	// Ten tables each of ever other series: nine tenths of their keys in common, a fifth of their stations, and the cities; and values of their own.
	"many series": func(rng *rand.Rand, n int) [][]uint64 {
		series := uint64(n%100 + n/1000*100 + 1)
		return [][]uint64{sample(rng, series<<8, 650, 300), sample(rng, series<<8|1, 1100, 5000), whole(series<<8|2, 8), whole(uint64(n+1)<<8|3, 500)}
	},
}

// BenchmarkGrowth tells what a table costs when there are so many in the index, taken in by 200 into a database on disk: its
// processor time, also in times of compressing a table of 50 KB with gzip -6. Run it once: -benchtime 1x.
func BenchmarkGrowth(b *testing.B) {
	for _, world := range []string{"one series", "many series"} {
		b.Run(world, func(b *testing.B) {
			for range b.N {
				growth(b, worlds[world])
			}
		})
	}
}

func growth(b *testing.B, table func(rng *rand.Rand, n int) [][]uint64) {
	const at = 200
	db, err := kv.Open(b.TempDir(), kv.Options{NoSync: true, MinFree: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	rng := rand.New(rand.NewPCG(1, 2))
	var used time.Duration
	last, matches := 0, 0
	for _, size := range sizes() {
		for from := last; from < size; from += at {
			if from == size-size/5 { // the mean over the last fifth, with all that the database does behind
				used = 0
			}
			var batch []Replacement
			for n := from; n < from+at; n++ {
				r := Replacement{New: fmt.Sprintf("%024x_0", rng.Uint64())}
				for c, values := range table(rng, n) {
					s := hashed(values)
					r.Columns = append(r.Columns, Column{Place: Place{Version: r.New, Column: c}, Name: fmt.Sprint("column ", c), Distinct: int64(len(s)), Key: c == 0 || c == 3, Sketch: s})
				}
				batch = append(batch, r)
			}
			used += cputime.Of(func() {
				for _, c := range putAll(b, db, batch...) {
					matches += len(c.After) - len(c.Before)
				}
			})
		}
		last = size
		each := used / time.Duration(size/5)
		b.ReportMetric(float64(each.Microseconds()), fmt.Sprintf("cpu-µs/table@%d", size))
		b.ReportMetric(float64(each)/float64(gzipTime()), fmt.Sprintf("gzips/table@%d", size))
		b.ReportMetric(float64(matches)/float64(size), fmt.Sprintf("matches/table@%d", size))
		b.Logf("%d tables: %d µs, %.1f matches each", size, each.Microseconds(), float64(matches)/float64(size))
	}
}

// sizes of the index at which BenchmarkGrowth looks; ODARCHIVE_TABLES sets another end than 10,000.
func sizes() (all []int) {
	end, err := strconv.Atoi(os.Getenv("ODARCHIVE_TABLES"))
	if err != nil {
		end = 10_000
	}
	for size := 1000; size <= end; size *= 10 {
		all = append(all, size)
	}
	return all
}

// gzipTime is the processor time of compressing a table of 50 KB as gzip -6 does.
func gzipTime() time.Duration {
	rng := rand.New(rand.NewPCG(3, 4))
	var table bytes.Buffer
	for table.Len() < 50_000 {
		fmt.Fprintf(&table, "%d,2026-%02d-%02d,S%04d,%.1f,%d,%.2f\n", table.Len(), 1+rng.IntN(12), 1+rng.IntN(28), rng.IntN(5000), rng.Float64()*40-10, rng.IntN(100), 950+rng.Float64()*80)
	}
	const times = 20
	out := gzip.NewWriter(io.Discard)
	return cputime.Of(func() {
		for range times {
			out.Reset(io.Discard)
			out.Write(table.Bytes())
			out.Close()
		}
	}) / times
}
