package joins

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/testdata/cputime"
	"odarchive/triplestore/kv"
)

// hashed returns the sketch of a column whose values are numbers.
func hashed(values []uint64) csvprofile.Sketch {
	s := make(csvprofile.Sketch, len(values))
	for i, v := range values {
		v = (v ^ v>>31) * 0x9e3779b97f4a7c15
		v = (v ^ v>>29) * 0xbf58476d1ce4e5b9
		s[i] = uint32((v ^ v>>32) * 0x94d049bb133111eb >> 32)
	}
	slices.Sort(s)
	s = slices.Compact(s)
	return s[:min(len(s), csvprofile.SketchSize)].Reduced()
}

// sample returns n of the first size values of a pool.
func sample(rng *rand.Rand, pool uint64, n, size int) []uint64 {
	values := make([]uint64, n)
	for i := range values {
		values[i] = pool<<32 | uint64(rng.IntN(size))
	}
	return values
}

// whole returns the first n values of a pool.
func whole(pool uint64, n int) []uint64 {
	values := make([]uint64, n)
	for i := range values {
		values[i] = pool<<32 | uint64(i)
	}
	return values
}

// worlds are the tables with which the growth of the index is measured, by their numbers.
var worlds = map[string]func(rng *rand.Rand, n int) [][]uint64{
	// A series of one publisher: the same codes and cities, almost the same row numbers, and some of the same stations.
	"one series": func(rng *rand.Rand, n int) [][]uint64 {
		return [][]uint64{whole(1, 400), sample(rng, 2, 1100, 5000), whole(3, 8),
			append(whole(4, 1040+rng.IntN(20)), uint64(5)<<32|uint64(n))}
	},
	// The tables of the pipeline's benchmark (distinctTable): codes that are the same in one of 11,492 tables, names
	// and stations of families of twenty, and counts that any two tables share a few of.
	"pipeline": func(rng *rand.Rand, n int) [][]uint64 {
		const rows = 700
		family := uint64(n / 20)
		columns := make([][]uint64, 4)
		for c := range columns {
			columns[c] = make([]uint64, rows)
		}
		for i := range uint64(rows) {
			columns[0][i] = 1<<56 | uint64(n%676)<<32 | (i*17 + uint64(n)*31%997)
			columns[1][i] = 2<<56 | family<<32 | uint64(rng.IntN(4000))
			columns[2][i] = 3<<56 | (family*100 + uint64(rng.IntN(900)))
			columns[3][i] = 4<<56 | uint64(rng.IntN(90_000))
		}
		return columns
	},
	// Series of ten tables: nine tenths of their keys, a fifth of their stations and the cities are common, other
	// values are not.
	"many series": func(rng *rand.Rand, n int) [][]uint64 {
		series := uint64(n%100 + n/1000*100 + 1)
		return [][]uint64{sample(rng, series<<8, 650, 300), sample(rng, series<<8|1, 1100, 5000), whole(series<<8|2, 8),
			whole(uint64(n+1)<<8|3, 500)}
	},
}

// BenchmarkGrowth reports the cost of a table in an index of some size, in a database on disk that has the sketches,
// too, for updates of 200 tables, five in a pass: its processor time, also in multiples of compressing a table of 50 KB
// with gzip -6; how many matches a table has and their average score; and how many older tables the matches of a new
// one change. Tables come in a random order between one half of a size and the whole, as they do when hosts are
// crawled. Run it once: -benchtime 1x. For many series it also reports the cost in an index with the postings of
// another hundred thousand tables.
func BenchmarkGrowth(b *testing.B) {
	for _, world := range []string{"one series", "many series", "pipeline"} {
		b.Run(world, func(b *testing.B) {
			for range b.N {
				g := newGrowth(b, worlds[world])
				for _, size := range sizes() {
					g.to(size)
				}
				if world == "many series" {
					g.fill(100_000, 400)
					g.to(g.tables + 2000)
				}
			}
		})
	}
}

type growth struct {
	b               *testing.B
	db              *kv.DB
	txn             *kv.Txn // that reads now
	rng             *rand.Rand
	table           func(rng *rand.Rand, n int) [][]uint64
	tables, matches int
	order           []int   // numbers of the next tables
	score           float64 // of all matches
	changed         int     // versions that were there and whose matches changed
	filler          string
}

func newGrowth(b *testing.B, table func(rng *rand.Rand, n int) [][]uint64) *growth {
	db, err := kv.Open(b.TempDir(), kv.Options{NoSync: true, MinFree: -1})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	return &growth{b: b, db: db, rng: rand.New(rand.NewPCG(1, 2)), table: table}
}

// to adds tables until the index has n, a thousand in each pass and 200 in each update, and reports the cost of each of
// the last ones.
func (g *growth) to(size int) {
	const inPass, at = 1000, 200
	measured := max(2000, size/4)
	var used time.Duration
	counted := 0
	for g.tables < size {
		counts := size-g.tables <= measured
		if counts && counted == 0 {
			g.changed = 0
		}
		var some []Replacement
		for len(some) < min(inPass, size-g.tables) {
			r := Replacement{New: fmt.Sprintf("%024x_0", g.rng.Uint64())}
			for c, values := range g.table(g.rng, g.next(g.tables+len(some), size)) {
				s := hashed(values)
				r.Columns = append(r.Columns,
					Column{Place: Place{Version: r.New, Column: c}, Name: fmt.Sprint("column ", c), Distinct: int64(len(s)), Key: c == 0 ||
						c == 3, Sketch: s})
			}
			some = append(some, r)
		}
		g.tables += len(some)
		spent := cputime.Of(func() { g.add(some, at) })
		if counts {
			used += spent
			counted += len(some)
		}
	}
	each := float64(used) / float64(counted)
	g.b.ReportMetric(each/float64(gzipTime()), fmt.Sprintf("gzips/table@%d%s", size, g.filler))
	g.b.ReportMetric(float64(g.matches)/float64(size), fmt.Sprintf("matches/table@%d%s", size, g.filler))
	g.b.ReportMetric(g.score/float64(g.matches), fmt.Sprintf("score@%d%s", size, g.filler))
	g.b.ReportMetric(float64(g.changed)/float64(counted), fmt.Sprintf("changes/table@%d%s", size, g.filler))
	g.b.Logf("%d%s tables: %.0f µs each", size, g.filler, each/1000)
}

// next returns the number of the table to add next, when so many are there: each once, in a random order.
func (g *growth) next(tables, size int) int {
	if len(g.order) == 0 {
		if half := size / 2; tables < half {
			size = half
		}
		for n := tables; n < size; n++ {
			g.order = append(g.order, n)
		}
		g.rng.Shuffle(len(g.order), func(i, j int) { g.order[i], g.order[j] = g.order[j], g.order[i] })
	}
	n := g.order[0]
	g.order = g.order[1:]
	return n
}

// samples writes the sketches of tables to the database, and returns what reads those of all tables from there. Like
// package joining, it remembers those of some tables.
func (g *growth) samples(some []Replacement) Samples {
	batch := g.db.Batch()
	for _, r := range some {
		var all []byte
		for i := range r.Columns {
			r.Columns[i].At = i
			packed := r.Columns[i].Sketch.AppendPacked(nil)
			all = append(binary.AppendUvarint(all, uint64(len(packed))), packed...)
		}
		if err := batch.Set(kv.SpaceArchive, []byte(r.New), all); err != nil {
			g.b.Fatal(err)
		}
	}
	if err := batch.Flush(); err != nil {
		g.b.Fatal(err)
	}
	known, size := map[string][]byte{}, 0
	return func(version string, at int) (csvprofile.Sketch, error) {
		all, ok := known[version]
		if !ok {
			var err error
			if all, _, err = g.txn.Get(kv.SpaceArchive, []byte(version)); err != nil {
				return nil, err
			}
			if size > 4<<20 {
				clear(known)
				size = 0
			}
			known[version] = all
			size += len(all)
		}
		for {
			n, w := binary.Uvarint(all)
			if at--; at < 0 {
				return csvprofile.UnpackSketch(all[w : w+int(n)])
			}
			all = all[w+int(n):]
		}
	}
}

// add adds tables in one pass.
func (g *growth) add(some []Replacement, at int) {
	pass, samples := NewPass(), g.samples(some)
	if err := g.db.ViewAscending(func(txn *kv.Txn) error { g.txn = txn; return pass.Read(txn, samples, some) }); err != nil {
		g.b.Fatal(err)
	}
	for part := range slices.Chunk(some, at) {
		var u *Update
		err := g.db.View(func(txn *kv.Txn) (err error) {
			g.txn = txn
			u, err = pass.Prepare(txn, samples, part)
			return err
		})
		if err == nil {
			err = g.db.Update(g.b.Context(), u.Write)
		}
		if err != nil {
			g.b.Fatal(err)
		}
		u.Committed()
		for _, c := range u.Changes {
			g.matches += len(c.After) - len(c.Before)
			for _, m := range c.Before {
				g.score -= m.score()
			}
			for _, m := range c.After {
				g.score += m.score()
			}
			if len(c.Before) > 0 {
				g.changed++
			}
		}
	}
}

// fill adds the sets of so many other tables, one for each, and files each under so many hashes. Few of the tables that
// are measured share hashes with them, by chance.
func (g *growth) fill(tables, filed int) {
	batch := g.db.Batch()
	put := func(key, val []byte) {
		if err := batch.Set(kv.SpaceJoins, key, val); err != nil {
			g.b.Fatal(err)
		}
	}
	numbered := func(i int) number { return numberOf(number(1<<20+i), filed) }
	for i := range tables {
		put(nkey(tableSet, uint32(numbered(i))), encodeSet(&set{filed: filed, reach: math.MaxUint32}))
	}
	const at = maxPairs / 2
	parts := tables * filed / at
	for part := range parts {
		width := uint64(1<<32) / uint64(parts)
		array := make([]pair, at)
		for i := range array {
			array[i] = pair{uint32(uint64(part)*width+uint64(i)*width/at) &^ (1<<coarse - 1), numbered(g.rng.IntN(tables))}
		}
		slices.SortFunc(array, comparePairs)
		put(arrayKey(uint32(uint64(part+1)*width-1), 1), appendPairs(nil, slices.Compact(array)))
	}
	if err := batch.Flush(); err != nil {
		g.b.Fatal(err)
	}
	g.filler = fmt.Sprintf("+%d", tables)
}

// sizes returns the sizes of the index that BenchmarkGrowth measures, up to ODARCHIVE_TABLES, or 10,000.
func sizes() (all []int) {
	end, err := strconv.Atoi(os.Getenv("ODARCHIVE_TABLES"))
	if err != nil {
		end = 10_000
	}
	for _, size := range []int{1000, 10_000, 30_000, 100_000} {
		if size <= end {
			all = append(all, size)
		}
	}
	return all
}

// gzipTime returns the processor time of compressing a table of 50 KB as gzip -6 does.
func gzipTime() time.Duration {
	rng := rand.New(rand.NewPCG(3, 4))
	var table bytes.Buffer
	for table.Len() < 50_000 {
		fmt.Fprintf(&table, "%d,2026-%02d-%02d,S%04d,%.1f,%d,%.2f\n", table.Len(), 1+rng.IntN(12), 1+rng.IntN(28), rng.IntN(5000),
			rng.Float64()*40-10, rng.IntN(100), 950+rng.Float64()*80)
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
