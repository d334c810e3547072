package triplestore_test

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"testing"
	"time"

	"odarchive/testdata/cputime"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
)

// BENCHMARKS.md describes the benchmarks and their results. $ODARCHIVE_BENCH_TRIPLES sets the size of the data.

func benchTriples(b *testing.B) int {
	if s := os.Getenv("ODARCHIVE_BENCH_TRIPLES"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			b.Fatal(err)
		}
		return n
	}
	return 200_000
}

// archiveData is a triplestore.QuadReader of the triples of an imagined archive: portals, their datasets and resources,
// the crawls of each resource, and the tables found in it.
type archiveData struct {
	rnd     *rand.Rand
	left    int
	pending []term.Quad
	portal  int
	dataset int
}

func newArchiveData(n int) *archiveData {
	return &archiveData{rnd: rand.New(rand.NewPCG(1, 1)), left: n}
}

func (a *archiveData) Read() (term.Quad, error) {
	if a.left == 0 {
		return term.Quad{}, io.EOF
	}
	for len(a.pending) == 0 {
		a.nextDataset()
	}
	a.left--
	q := a.pending[0]
	a.pending = a.pending[1:]
	return q, nil
}

const (
	dct, dcat, prov, csvw = "http://purl.org/dc/terms/", "http://www.w3.org/ns/dcat#", "http://www.w3.org/ns/prov#",
		"http://www.w3.org/ns/csvw#"
	xsdNS   = "http://www.w3.org/2001/XMLSchema#"
	rdfType = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
)

var benchWords = []string{"haushalt", "verkehr", "budget", "luftqualität", "schulen", "bevölkerung", "transport", "registre", "eaux",
	"statistik", "wahlen", "parks"}

func (a *archiveData) hex(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(a.rnd.Uint32())
	}
	return fmt.Sprintf("%x", b)
}

func (a *archiveData) nextDataset() {
	add := func(s, p string, o term.Key) {
		a.pending = append(a.pending, term.Quad{S: term.IRI(s), P: term.IRI(p), O: o})
	}
	word := func() string { return benchWords[a.rnd.IntN(len(benchWords))] }
	num := func(n int) term.Key { return term.Typed(strconv.Itoa(n), xsdNS+"integer") }
	at := func(t time.Time) term.Key {
		return term.Typed(t.UTC().Format("2006-01-02T15:04:05.000Z"), xsdNS+"dateTime")
	}
	if a.dataset%20 == 0 {
		a.portal++
	}
	a.dataset++
	portal := fmt.Sprintf("https://opendata-%03d.example.net", a.portal)
	dataset := portal + "/dataset/" + a.hex(8)
	add(portal, dcat+"dataset", term.IRI(dataset))
	add(dataset, rdfType, term.IRI(dcat+"Dataset"))
	add(dataset, dct+"title", term.String(fmt.Sprintf("%s %s %d", word(), word(), 2000+a.rnd.IntN(25))))
	for range 1 + a.rnd.IntN(3) {
		add(dataset, dcat+"keyword", term.Lang(word(), "de"))
	}
	for d := range 1 + a.rnd.IntN(3) {
		file := fmt.Sprintf("%s-%s.csv", word(), a.hex(4))
		url := fmt.Sprintf("https://files%04d.example.com/%s/%s", a.rnd.IntN(3000), a.hex(2), file)
		add(dataset, dcat+"distribution", term.IRI(fmt.Sprintf("%s#%d", dataset, d)))
		add(fmt.Sprintf("%s#%d", dataset, d), dcat+"accessURL", term.IRI(url))
		add(url, rdfType, term.IRI(dcat+"Distribution"))
		add(url, dcat+"mediaType", term.String("text/csv"))
		add(url, dct+"title", term.String(file))
		start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(a.rnd.Int64N(int64(8 * 365 * 24 * time.Hour))))
		id := a.hex(12)
		for v := range 1 + a.rnd.IntN(8) {
			start = start.Add(7 * 24 * time.Hour).Add(time.Duration(a.rnd.IntN(1e9)))
			crawl := "https://archive.example.org/crawl/" + a.hex(12)
			version := fmt.Sprintf("https://archive.example.org/get/file/id/%s_%d", id, v)
			add(crawl, rdfType, term.IRI(prov+"Activity"))
			add(crawl, prov+"startedAtTime", at(start))
			add(crawl, prov+"endedAtTime", at(start.Add(time.Duration(a.rnd.IntN(20e9)))))
			add(crawl, prov+"used", term.IRI(url))
			add(crawl, "https://archive.example.org/ns#status", num(200))
			add(url, dct+"hasVersion", term.IRI(version))
			add(version, dct+"identifier", term.String(fmt.Sprintf("%x", md5.Sum([]byte(version)))))
			add(version, dct+"issued", at(start))
			add(version, dcat+"byteSize", num(a.rnd.IntN(5_000_000)))
			add(version, dcat+"mediaType", term.String("text/csv"))
			add(version, prov+"wasGeneratedBy", term.IRI(crawl))
			if v > 0 {
				continue
			}
			table := term.Blank("t" + a.hex(8))
			a.pending = append(a.pending, term.Quad{S: table, P: term.IRI(csvw + "url"), O: term.IRI(version)})
			for col := range 1 + a.rnd.IntN(12) {
				column := fmt.Sprintf("%s#%d", version, col+1)
				a.pending = append(a.pending, term.Quad{S: table, P: term.IRI(csvw + "column"), O: term.IRI(column)})
				add(column, csvw+"name", term.String(word()))
				add(column, csvw+"datatype", term.IRI(xsdNS+"string"))
			}
		}
	}
}

// ntriples returns the data as N-Triples.
func ntriples(b *testing.B, n int) []byte {
	b.Helper()
	var buf bytes.Buffer
	w := rdfio.NewWriter(&buf, rdfio.NTriples(), nil)
	data := newArchiveData(n)
	for {
		q, err := data.Read()
		if err == io.EOF {
			break
		}
		if err := w.Write(q); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return buf.Bytes()
}

// plain is the baseline: a store on the same database with one key per triple and order, and one per term and
// direction. It finds known terms in a map and writes in batches.
type plain struct {
	db   *kv.DB
	ids  map[term.Key]uint64
	next uint64
}

const plainSPO, plainPOS, plainOSP, plainTerm, plainID = 0, 1, 2, 3, 4

func (p *plain) id(batch *kv.Batch, k term.Key) (uint64, error) {
	if id, ok := p.ids[k]; ok {
		return id, nil
	}
	p.next++
	p.ids[k] = p.next
	id := binary.BigEndian.AppendUint64([]byte{plainID}, p.next)
	if err := batch.Set(kv.SpaceTest, append([]byte{plainTerm}, k...), id[1:]); err != nil {
		return 0, err
	}
	return p.next, batch.Set(kv.SpaceTest, id, []byte(k))
}

func plainKey(order byte, a, b, c uint64) []byte {
	k := binary.BigEndian.AppendUint64([]byte{order}, a)
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(k, b), c)
}

func (p *plain) load(r triplestore.QuadReader) error {
	batch := p.db.Batch()
	for {
		q, err := r.Read()
		if errors.Is(err, io.EOF) {
			return batch.Flush()
		}
		if err != nil {
			return err
		}
		var id [3]uint64
		for i, k := range [3]term.Key{q.S, q.P, q.O} {
			if id[i], err = p.id(batch, k); err != nil {
				return err
			}
		}
		for _, key := range [3][]byte{plainKey(plainSPO, id[0], id[1], id[2]), plainKey(plainPOS, id[1], id[2], id[0]),
			plainKey(plainOSP, id[2], id[0], id[1])} {
			if err := batch.Set(kv.SpaceTest, key, nil); err != nil {
				return err
			}
		}
	}
}

func onDisk(b *testing.B, dir string) *kv.DB {
	b.Helper()
	db, err := kv.Open(dir, kv.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	return db
}

// dirBytes returns the total length of the tables in a directory.
func dirBytes(b *testing.B, dir string) (n int64) {
	b.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".sst" {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// peak samples the memory of the process while f runs: what the Go runtime has obtained from the operating system.
func peak(f func()) uint64 {
	debug.FreeOSMemory()
	done := make(chan struct{})
	var most uint64
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.Sys-m.HeapReleased)
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	})
	f()
	close(done)
	wg.Wait()
	return most
}

func BenchmarkLoad(b *testing.B) {
	n := benchTriples(b)
	data := ntriples(b, n)
	read := func() triplestore.QuadReader {
		return rdfio.NewReader(bytes.NewReader(data), rdfio.NTriples(), rdfio.Options{})
	}
	var ours, base float64       // triples per second
	var oursCPU, baseCPU float64 // and per second of processor time
	b.Run("store", func(b *testing.B) {
		var cpu time.Duration
		for b.Loop() {
			b.StopTimer()
			dir := b.TempDir()
			db := onDisk(b, dir)
			s := open(b, db, triplestore.Options{KeepChanges: 1})
			before := cputime.Used()
			b.StartTimer()
			if _, err := s.Load(b.Context(), read()); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			cpu += cputime.Used() - before
			sizes(b, db, n)
			s.Close()
			db.Close()
			b.StartTimer()
		}
		ours = float64(n) * float64(b.N) / b.Elapsed().Seconds()
		oursCPU = float64(n) * float64(b.N) / cpu.Seconds()
		b.ReportMetric(ours, "triples/s")
		b.ReportMetric(oursCPU, "triples/cpu-s")
	})
	b.Run("baseline", func(b *testing.B) {
		var cpu time.Duration
		for b.Loop() {
			b.StopTimer()
			dir := b.TempDir()
			db := onDisk(b, dir)
			before := cputime.Used()
			b.StartTimer()
			if err := (&plain{db: db, ids: map[term.Key]uint64{}}).load(read()); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			cpu += cputime.Used() - before
			db.Close()
			b.ReportMetric(float64(dirBytes(b, dir))/float64(n), "bytes/triple")
			b.StartTimer()
		}
		base = float64(n) * float64(b.N) / b.Elapsed().Seconds()
		baseCPU = float64(n) * float64(b.N) / cpu.Seconds()
		b.ReportMetric(base, "triples/s")
		b.ReportMetric(baseCPU, "triples/cpu-s")
		if ours > 0 {
			b.ReportMetric(ours/base, "x-faster")
			b.ReportMetric(oursCPU/baseCPU, "x-less-cpu")
		}
	})
}

// sizes reports the size of what is stored.
func sizes(b *testing.B, db *kv.DB, n int) {
	count := func(space kv.Space, prefix string) (bytes float64) {
		db.View(func(tx *kv.Txn) error {
			return tx.Scan(space, []byte(prefix), nil, func(k, v []byte) (bool, error) {
				bytes += float64(len(k) + len(v))
				return true, nil
			})
		})
		return bytes
	}
	s := open(b, db, triplestore.Options{})
	defer s.Close()
	sn := s.Snapshot()
	defer sn.Release()
	st, err := sn.Stats(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(count(kv.SpaceTripleIndex, "")/float64(st.Quads), "index-B/triple")
	b.ReportMetric(count(kv.SpaceDict, "")/float64(st.Terms), "dict-B/term")
	b.ReportMetric(float64(st.Terms)/float64(st.Quads), "terms/triple")
}

// loaded returns a store on disk with the data, opened with default options.
func loaded(b *testing.B, n int) *triplestore.Store {
	b.Helper()
	s := open(b, onDisk(b, b.TempDir()), triplestore.Options{KeepChanges: 1})
	if _, err := s.Load(b.Context(), newArchiveData(n)); err != nil {
		b.Fatal(err)
	}
	return s
}

func loadedPlain(b *testing.B, n int) *plain {
	b.Helper()
	p := &plain{db: onDisk(b, b.TempDir()), ids: map[term.Key]uint64{}}
	if err := p.load(newArchiveData(n)); err != nil {
		b.Fatal(err)
	}
	return p
}

// BenchmarkScan reads whole orders and adds up the ids. Nothing is cached, except in "cached".
func BenchmarkScan(b *testing.B) {
	n := benchTriples(b)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var ours float64
	scan := func(b *testing.B, s *triplestore.Store, o term.Order) {
		sn := s.Snapshot()
		defer sn.Release()
		rows := 0
		var sum term.ID
		cpu := cputime.Used()
		for b.Loop() {
			c := sn.Scan(term.Pattern{G: term.DefaultGraph}, o)
			for {
				batch, err := c.Next()
				if err != nil {
					b.Fatal(err)
				}
				if len(batch) == 0 {
					break
				}
				for i := range batch {
					sum += batch[i].S + batch[i].O
				}
				rows += len(batch)
			}
			c.Close()
		}
		if sum == 0 {
			b.Fatal("no ids")
		}
		cpu = cputime.Used() - cpu
		ours = float64(rows) / cpu.Seconds()
		b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mtriples/s")
		b.ReportMetric(ours/1e6, "Mtriples/cpu-s")
	}
	for _, o := range []term.Order{term.OSP, term.POS, term.PSO, term.SPO} {
		b.Run(o.String(), func(b *testing.B) {
			s := open(b, onDisk(b, b.TempDir()), triplestore.Options{KeepChanges: 1, CacheBytes: 1})
			if _, err := s.Load(b.Context(), newArchiveData(n)); err != nil {
				b.Fatal(err)
			}
			scan(b, s, o)
		})
	}
	uncached := ours
	b.Run("cached", func(b *testing.B) { scan(b, loaded(b, n), term.SPO) })
	ours = uncached
	b.Run("baseline", func(b *testing.B) {
		p := loadedPlain(b, n)
		rows := 0
		sum := uint64(0)
		cpu := cputime.Used()
		for b.Loop() {
			p.db.View(func(tx *kv.Txn) error {
				return tx.Scan(kv.SpaceTest, []byte{plainSPO}, nil, func(k, _ []byte) (bool, error) {
					sum += binary.BigEndian.Uint64(k[1:]) + binary.BigEndian.Uint64(k[17:])
					rows++
					return true, nil
				})
			})
		}
		if sum == 0 {
			b.Fatal("no ids")
		}
		cpu = cputime.Used() - cpu
		base := float64(rows) / cpu.Seconds()
		b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mtriples/s")
		b.ReportMetric(base/1e6, "Mtriples/cpu-s")
		b.ReportMetric(ours/base, "x-less-cpu")
	})
}

// subjects returns some versions of the data, as keys.
func subjects(b *testing.B, n int) (keys []term.Key) {
	data := newArchiveData(n)
	for i := 0; ; i++ {
		q, err := data.Read()
		if err == io.EOF {
			return keys
		}
		if i%97 == 0 {
			keys = append(keys, q.S)
		}
	}
}

// BenchmarkLookup finds all triples of a subject given as a term.
func BenchmarkLookup(b *testing.B) {
	n := benchTriples(b)
	keys := subjects(b, n)
	var ours float64
	b.Run("store", func(b *testing.B) {
		s := loaded(b, n)
		sn := s.Snapshot()
		defer sn.Release()
		look := func(i int) {
			id, ok, err := sn.Lookup(keys[i%len(keys)])
			if err != nil || !ok {
				b.Fatal(ok, err)
			}
			c := sn.Scan(term.Pattern{S: id, G: term.DefaultGraph}, term.SPO)
			rows, err := c.Next()
			if err != nil || len(rows) == 0 {
				b.Fatal(err)
			}
			c.Close()
		}
		for i := range keys {
			look(i) // warm
		}
		i := 0
		cpu := cputime.Used()
		for b.Loop() {
			look(i)
			i++
		}
		ours = (cputime.Used() - cpu).Seconds() / float64(b.N)
		b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*1e6, "µs/lookup")
		b.ReportMetric(ours*1e6, "cpu-µs/lookup")
	})
	b.Run("baseline", func(b *testing.B) {
		p := loadedPlain(b, n)
		i := 0
		cpu := cputime.Used()
		for b.Loop() {
			p.db.View(func(tx *kv.Txn) error {
				v, ok, err := tx.Get(kv.SpaceTest, append([]byte{plainTerm}, keys[i%len(keys)]...))
				if err != nil || !ok {
					b.Fatal(ok, err)
				}
				return tx.Scan(kv.SpaceTest, append([]byte{plainSPO}, v...), nil, func(k, _ []byte) (bool, error) { return true, nil })
			})
			i++
		}
		base := (cputime.Used() - cpu).Seconds() / float64(b.N)
		b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*1e6, "µs/lookup")
		b.ReportMetric(base*1e6, "cpu-µs/lookup")
		b.ReportMetric(base/ours, "x-less-cpu")
	})
}

// BenchmarkKeys translates the ids of all subjects into terms, in id order and in random order.
func BenchmarkKeys(b *testing.B) {
	s := loaded(b, benchTriples(b))
	sn := s.Snapshot()
	defer sn.Release()
	var ids []term.ID
	for _, k := range subjects(b, benchTriples(b)) {
		id, _, err := sn.Lookup(k)
		if err != nil {
			b.Fatal(err)
		}
		ids = append(ids, id)
	}
	keys := make([]term.Key, len(ids))
	for b.Loop() {
		if err := sn.Keys(ids, keys); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/float64(len(ids))*1e6, "µs/term")
}

// BenchmarkCommit commits a hundred triples of an archive at a time, fsync included.
func BenchmarkCommit(b *testing.B) {
	const size = 100
	n := benchTriples(b)
	var ours float64
	b.Run("store", func(b *testing.B) {
		s := loaded(b, n)
		data := newArchiveData(1 << 30)
		data.rnd = rand.New(rand.NewPCG(2, 2))
		cpu := cputime.Used()
		for b.Loop() {
			if err := s.Update(context.Background(), func(tx *triplestore.Txn) error {
				for range size {
					q, _ := data.Read()
					if err := tx.Insert(q); err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
				b.Fatal(err)
			}
		}
		ours = (cputime.Used() - cpu).Seconds() / float64(b.N)
		b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*1e3, "ms/commit")
		b.ReportMetric(ours*1e3, "cpu-ms/commit")
	})
	b.Run("baseline", func(b *testing.B) {
		p := loadedPlain(b, n)
		data := newArchiveData(1 << 30)
		data.rnd = rand.New(rand.NewPCG(2, 2))
		cpu := cputime.Used()
		for b.Loop() {
			part := &limited{data, size}
			if err := p.load(part); err != nil {
				b.Fatal(err)
			}
		}
		base := (cputime.Used() - cpu).Seconds() / float64(b.N)
		b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*1e3, "ms/commit")
		b.ReportMetric(base*1e3, "cpu-ms/commit")
		b.ReportMetric(base/ours, "x-less-cpu")
	})
}

type limited struct {
	r triplestore.QuadReader
	n int
}

func (l *limited) Read() (term.Quad, error) {
	if l.n == 0 {
		return term.Quad{}, io.EOF
	}
	l.n--
	return l.r.Read()
}

// BenchmarkSmallCommits commits all the data, ten triples at a time, from sixteen writers, merges included, and reports
// the size on disk. With -v it logs rate, processor time and file sizes after every tenth.
func BenchmarkSmallCommits(b *testing.B) {
	n := benchTriples(b)
	for b.Loop() {
		b.StopTimer()
		dir := b.TempDir()
		db := onDisk(b, dir)
		s := open(b, db, triplestore.Options{KeepChanges: 16 << 20})
		data := newArchiveData(n)
		var mu sync.Mutex // guards data, commits, last, lastCPU
		commits, last, lastCPU := 0, time.Now(), cputime.Used()
		next := func() (batch []term.Quad) {
			mu.Lock()
			defer mu.Unlock()
			if commits++; commits%(n/100) == 0 {
				b.Logf("%d commits: %.0f a second, %.0f µs of processor time each, files of %d MB", commits,
					float64(n/100)/time.Since(last).Seconds(), (cputime.Used()-lastCPU).Seconds()*1e6/float64(n/100), dirBytes(b, dir)>>20)
				last, lastCPU = time.Now(), cputime.Used()
			}
			for range 10 {
				q, err := data.Read()
				if err != nil {
					break
				}
				batch = append(batch, q)
			}
			return batch
		}
		b.StartTimer()
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				for batch := next(); len(batch) > 0; batch = next() {
					err := s.Update(context.Background(), func(tx *triplestore.Txn) error {
						for _, q := range batch {
							if err := tx.Insert(q); err != nil {
								return err
							}
						}
						return nil
					})
					if err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		if err := s.Merge(context.Background()); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		s.Close()
		sizes(b, db, n)
		b.ReportMetric(float64(dirBytes(b, dir))/float64(n), "files-B/triple")
		db.Close()
		b.ReportMetric(float64(dirBytes(b, dir))/float64(n), "closed-files-B/triple")
		b.StartTimer()
	}
	b.ReportMetric(float64(n)/10*float64(b.N)/b.Elapsed().Seconds(), "commits/s")
}

// BenchmarkLoadMemoryAndOpen loads once, reports the memory used, and measures opening the store again.
func BenchmarkLoadMemoryAndOpen(b *testing.B) {
	n := benchTriples(b)
	dir := b.TempDir()
	db := onDisk(b, dir)
	s := open(b, db, triplestore.Options{KeepChanges: 1})
	start := time.Now()
	memory := peak(func() {
		if _, err := s.Load(b.Context(), newArchiveData(n)); err != nil {
			b.Fatal(err)
		}
	})
	took := time.Since(start)
	s.Close()
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		db, err := kv.Open(dir, kv.Options{})
		if err != nil {
			b.Fatal(err)
		}
		s, err := triplestore.Open(db, triplestore.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		s.Close()
		db.Close()
		b.StartTimer()
	}
	b.ReportMetric(float64(memory)/(1<<20), "load-MiB")
	b.ReportMetric(float64(n)/took.Seconds(), "load-triples/s")
	b.ReportMetric(float64(dirBytes(b, dir))/float64(n), "disk-B/triple")
}
