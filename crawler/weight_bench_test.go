package crawler

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/testdata/cputime"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
)

// distinctTable returns a CSV of about size bytes with 8 columns, as portals publish them. No two seeds have the same
// codes, and tables of twenty seeds share many of their names and stations.
func distinctTable(seed uint64, size int) []byte {
	r := rand.New(rand.NewPCG(seed, 7))
	family := seed / 20
	words := []string{"North", "Upper", "Lower", "Old", "New", "Saint", "Great", "Little", "West", "East"}
	ends := []string{"field", "brook", "ham", "bridge", "ford", "wood", "market", "mill"}
	kinds := []string{"residential", "commercial", "public", "agricultural", "industrial", "forest"}
	b := make([]byte, 0, size+200)
	b = append(b, "code,name,station,kind,opened,visitors,share,area\n"...)
	for i := 0; len(b) < size; i++ {
		place := r.IntN(4000)
		b = fmt.Appendf(b, "%c%c-%06d,%s %s%s %d,ST%05d,%s,%d-%02d-%02d,%d,%.2f,%.1f\n", 'A'+seed%26, 'A'+seed/26%26,
			uint64(i)*17+seed*31%997,
			words[place%10], strings.ToLower(words[place/10%10]), ends[place/100%8], family*7+uint64(place)/8,
			family*100+uint64(r.IntN(900)), kinds[r.IntN(6)],
			1990+r.IntN(35), 1+r.IntN(12), 1+r.IntN(28), r.IntN(90_000), r.Float64(), r.ExpFloat64()*300)
	}
	return b
}

// serveDistinct serves the distinct tables under the paths of their numbers.
func serveDistinct(size int) http.HandlerFunc {
	return func(out http.ResponseWriter, r *http.Request) {
		n, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/"), ".csv"), 10, 64)
		if err != nil {
			http.NotFound(out, r)
			return
		}
		out.Header().Set("Content-Type", "text/csv")
		out.Header().Set("Last-Modified", "Mon, 02 Nov 2026 06:00:00 GMT")
		out.Header().Set("ETag", fmt.Sprintf("\"%x-%x\"", n*2654435761, size))
		out.Header().Set("Cache-Control", "public, max-age=3600")
		out.Write(distinctTable(n, size))
	}
}

// spaces are the keyspaces that an archive's description is in, each with whether the first byte of a key tells tables
// apart.
var spaces = map[kv.Space]bool{
	kv.SpaceMeta: false, kv.SpaceTripleMeta: false, kv.SpaceTripleIndex: true, kv.SpaceDict: true, kv.SpaceTripleLog: false,
	kv.SpaceContent: false, kv.SpaceContentRefs: false,
	kv.SpaceFrontier: true, kv.SpaceQueue: true, kv.SpaceHosts: true, kv.SpaceDue: true, kv.SpaceArchive: true, kv.SpaceArchiveIdx: true,
	kv.SpaceSearch: true,
	kv.SpaceJoins:  true, kv.SpaceEvents: true, kv.SpacePoliteness: false, kv.SpaceHarvest: true,
}

// weigh returns the bytes of keys and values by kind of key.
func weigh(b *testing.B, db *kv.DB) map[string]int {
	kinds := map[string]int{}
	err := db.View(func(txn *kv.Txn) error {
		for space, byTable := range spaces {
			err := txn.Scan(space, nil, nil, func(k, v []byte) (bool, error) {
				kind := space.String()
				if byTable && len(k) > 0 && k[0] >= 'a' && k[0] <= 'z' {
					kind += " " + string(k[:1])
				}
				kinds[kind] += 1 + len(k) + len(v)
				return true, nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return kinds
}

// BenchmarkWeight crawls distinct tables of 50 KB and 8 columns, and reports what a version takes in the database, by
// kind of key and in files before and after compacting in a process of its own, as the command compact does it, and its
// processor time. Run it with -benchtime 2000x.
func BenchmarkWeight(b *testing.B) {
	const size = 50_000
	web := newBenchWeb(b, hostsInBench(), b.N, size, false)
	web.handle = serveDistinct(size)
	n := durableNode(b)
	seeds := make([]catalog.Seed, len(web.urls))
	for i, u := range web.urls {
		seeds[i] = catalog.Seed{URL: u, Portal: "http://portal.example/", Dataset: fmt.Sprintf("http://portal.example/d/%d", i/3),
			Format: "CSV", Title: fmt.Sprintf("Table %d", i)}
	}
	if _, err := n.Add(b.Context(), seeds); err != nil {
		b.Fatal(err)
	}
	gzip := web.gzipTime(b)
	runtime.GC()
	cpu := cputime.Used()
	b.ResetTimer()
	summary, err := n.Run(b.Context(), RunOptions{Once: true})
	b.StopTimer()
	if err != nil || summary.Outcomes[catalog.Archived] != b.N {
		b.Fatalf("%+v, %v", summary, err)
	}
	spent := cputime.Used() - cpu
	b.ReportMetric(float64(spent.Microseconds())/float64(b.N), "cpu-µs/file")
	b.ReportMetric(float64(spent)/float64(b.N)/float64((gzip+web.gzipTime(b))/2), "gzips/file")
	db := n.Pipeline.Archive.DB()
	before := db.Sizes()
	start := time.Now()
	if err := errors.Join(n.triples.Close(), db.Close()); err != nil {
		b.Fatal(err)
	}
	dir := filepath.Dir(db.Dir())
	child := exec.CommandContext(b.Context(), os.Args[0], "-test.run", "^TestCompactADirectory$")
	child.Env = append(os.Environ(), compactVariable+"="+dir)
	if out, err := child.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	took := time.Since(start).Round(time.Millisecond)
	db, err = kv.Open(dir, kv.Options{ReadOnly: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	after := db.Sizes()
	each := func(n int64) float64 { return float64(n) / float64(b.N) }
	b.ReportMetric(each(before.Tables), "B/version-before")
	b.ReportMetric(each(after.Tables), "B/version-tables")
	b.ReportMetric(each(after.Log+after.Snapshots), "B/version-log+states")
	kinds := weigh(b, db)
	total := 0
	var lines strings.Builder
	for _, kind := range slices.SortedFunc(maps.Keys(kinds), func(x, y string) int { return cmp.Compare(kinds[y], kinds[x]) }) {
		total += kinds[kind]
		fmt.Fprintf(&lines, "%-16s %8.0f\n", kind, each(int64(kinds[kind])))
	}
	b.ReportMetric(each(int64(total)), "B/version-keys+values")
	b.Logf("compacted in %v; bytes of keys and values a version, by kind of key, of %d versions:\n%s", took, b.N, lines.String())
}

// compactVariable names the directory that TestCompactADirectory compacts.
const compactVariable = "ODARCHIVE_COMPACT"

// TestCompactADirectory is the process that BenchmarkWeight starts: the tables that a process has compressed first
// decide how it compresses all others.
func TestCompactADirectory(t *testing.T) {
	dir := os.Getenv(compactVariable)
	if dir == "" {
		t.Skip("only as a child of BenchmarkWeight, with " + compactVariable)
	}
	db, err := kv.Open(dir, kv.Options{Dense: os.Getenv("ODARCHIVE_DENSE") != "no"})
	if err != nil {
		t.Fatal(err)
	}
	triples, err := triplestore.Open(db, triplestore.Options{})
	if err != nil {
		t.Fatal(errors.Join(err, db.Close()))
	}
	_, err = triples.Sweep(t.Context())
	if err == nil {
		err = db.Compact()
	}
	if err := errors.Join(err, triples.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
}
