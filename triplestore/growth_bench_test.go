package triplestore_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"odarchive/testdata/cputime"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
)

// growthData returns the triples of the file $ODARCHIVE_BENCH_FILE, or else generated ones.
func growthData(b *testing.B, n int) triplestore.QuadReader {
	b.Helper()
	name := os.Getenv("ODARCHIVE_BENCH_FILE")
	if name == "" {
		return newArchiveData(n)
	}
	f, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	return rdfio.NewReader(bufio.NewReaderSize(f, 1<<20), rdfio.NTriples(), rdfio.Options{File: name})
}

// growthSteps is the number of steps in which BenchmarkGrowth loads its data.
const growthSteps = 16

// sampled passes quads on and keeps some of their subjects, spread over all that it has passed on.
type sampled struct {
	limited
	rnd  *rand.Rand
	seen int
	keys []term.Key
}

const samples = 1000

func (s *sampled) Read() (term.Quad, error) {
	q, err := s.limited.Read()
	if err != nil {
		return q, err
	}
	s.seen++
	if len(s.keys) < samples {
		s.keys = append(s.keys, q.S)
	} else if i := s.rnd.IntN(s.seen); i < samples {
		s.keys[i] = q.S
	}
	return q, nil
}

// BenchmarkGrowth loads the data in sixteen steps, one Load each, and after some of them closes, opens and asks. It
// logs a line a step, with -v, and reports the rate of the last step and the costs of asking then as ratios to the
// first's.
func BenchmarkGrowth(b *testing.B) {
	n := benchTriples(b)
	for b.Loop() {
		dir := b.TempDir()
		data := &sampled{limited: limited{growthData(b, n), 0}, rnd: rand.New(rand.NewPCG(3, 3))}
		var first growthFigures
		for step := 1; step <= growthSteps; step++ {
			data.n = n / growthSteps
			f := grow(b, dir, data, step == 1 || step&(step-1) == 0)
			b.Logf("%9d triples: %s", step*(n/growthSteps), f)
			if step == 1 {
				first = f
			}
			if step == growthSteps {
				b.ReportMetric(first.load.Seconds()/f.load.Seconds(), "rate-of-first")
				b.ReportMetric(f.point/first.point, "point-x")
				b.ReportMetric(f.first/first.first, "first-point-x")
				b.ReportMetric(f.star/first.star, "star-x")
				b.ReportMetric(f.openCPU.Seconds(), "open-cpu-s")
			}
		}
	}
}

type growthFigures struct {
	load, loadWall, close, open, openCPU time.Duration
	first, point, star                   float64 // µs of processor time; first is point with cold caches
	files                                int64
	asked                                bool
}

func (f growthFigures) String() string {
	s := fmt.Sprintf("load %.2f s cpu %.2f s wall, close %.2f s, %d MB", f.load.Seconds(), f.loadWall.Seconds(), f.close.Seconds(),
		f.files>>20)
	if f.asked {
		s += fmt.Sprintf("; open %.0f ms (%.0f cpu), point %.2f µs (%.0f the first time), star %.2f µs",
			f.open.Seconds()*1e3, f.openCPU.Seconds()*1e3, f.point, f.first, f.star)
	}
	return s
}

func grow(b *testing.B, dir string, data *sampled, ask bool) (f growthFigures) {
	begin := func() (*kv.DB, *triplestore.Store) {
		db, err := kv.Open(dir, kv.Options{})
		if err != nil {
			b.Fatal(err)
		}
		s, err := triplestore.Open(db, triplestore.Options{})
		if err != nil {
			b.Fatal(err)
		}
		return db, s
	}
	end := func(db *kv.DB, s *triplestore.Store) {
		if err := errors.Join(s.Close(), db.Close()); err != nil {
			b.Fatal(err)
		}
	}
	db, s := begin()
	start, cpu := time.Now(), cputime.Used()
	if _, err := s.Load(b.Context(), data); err != nil {
		b.Fatal(err)
	}
	f.loadWall = time.Since(start)
	start = time.Now()
	end(db, s)
	f.close = time.Since(start)
	f.load = cputime.Used() - cpu
	filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if info, err := d.Info(); err == nil {
			f.files += info.Size()
		}
		return nil
	})
	if !ask {
		return f
	}
	f.asked = true
	time.Sleep(4 * time.Second) // tables must rest before an opening lists them as verified
	end(begin())
	start, cpu = time.Now(), cputime.Used()
	db, s = begin()
	f.open, f.openCPU = time.Since(start), cputime.Used()-cpu
	defer end(db, s)
	sn := s.Snapshot()
	defer sn.Release()
	f.first = costOf(b, data, 1, func(k term.Key) { askPoint(b, sn, k) })
	f.point = costOf(b, data, 20, func(k term.Key) { askPoint(b, sn, k) })
	f.star = costOf(b, data, 20, func(k term.Key) { askStar(b, sn, k) })
	return f
}

// costOf returns the processor time of a question, in µs, of questions about all samples, asked a number of times.
func costOf(b *testing.B, data *sampled, times int, ask func(term.Key)) float64 {
	cost := cputime.Of(func() {
		for range times {
			for _, k := range data.keys {
				ask(k)
			}
		}
	})
	return cost.Seconds() * 1e6 / float64(times*len(data.keys))
}

// askPoint reads the triples of a subject.
func askPoint(b *testing.B, sn *triplestore.Snapshot, k term.Key) []term.IDQuad {
	id, ok, err := sn.Lookup(k)
	if err != nil || !ok {
		b.Fatal(ok, err)
	}
	c := sn.Scan(term.Pattern{S: id, G: term.DefaultGraph}, term.SPO)
	defer c.Close()
	rows, err := c.Next()
	if err != nil || len(rows) == 0 {
		b.Fatal(err)
	}
	return rows
}

// askStar reads the triples of a subject, the terms of their objects, and what links to the subject.
func askStar(b *testing.B, sn *triplestore.Snapshot, k term.Key) {
	rows := askPoint(b, sn, k)
	rows = rows[:min(len(rows), 20)]
	ids := make([]term.ID, len(rows))
	for i, q := range rows {
		ids[i] = q.O
	}
	if err := sn.Keys(ids, make([]term.Key, len(ids))); err != nil {
		b.Fatal(err)
	}
	c := sn.Scan(term.Pattern{O: rows[0].S, G: term.DefaultGraph}, term.OSP)
	defer c.Close()
	if _, err := c.Next(); err != nil && !errors.Is(err, io.EOF) {
		b.Fatal(err)
	}
}

// BenchmarkGrowthOne loads data of several sizes, each in one Load into an empty store.
func BenchmarkGrowthOne(b *testing.B) {
	n := benchTriples(b)
	for b.Loop() {
		var first float64
		for _, size := range []int{n / 16, n / 4, n} {
			data := &sampled{limited: limited{growthData(b, n), size}, rnd: rand.New(rand.NewPCG(3, 3))}
			f := grow(b, b.TempDir(), data, true)
			rate := float64(size) / f.load.Seconds()
			b.Logf("%9d triples: %.0f a cpu second; %s", size, rate, f)
			if first == 0 {
				first = rate
			}
			b.ReportMetric(rate/first, "rate-of-first")
		}
	}
}
