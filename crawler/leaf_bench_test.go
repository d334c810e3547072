package crawler

import (
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"testing"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/archive/transparency"
	"odarchive/crawler/catalog"
	"odarchive/testdata/cputime"
	"odarchive/triplestore/kv"
)

// BenchmarkLeafOfAVisit measures what the transparency log takes of the processor time of a visit that brings a new
// version. Visits are made in batches, in turns as they are and with a hundred more leaves in the transaction, so that
// a leaf is seen a hundred times as well as it would be by leaving it out. The files have 1 KB: the larger ones are,
// the less a leaf is of a visit. The server of the files is in the same process.
func BenchmarkLeafOfAVisit(b *testing.B) {
	const rounds, batch, more, size = 10, 150, 100, 1000
	for range b.N {
		web, n := newBenchWeb(b, 50, 2*(rounds+1)*batch, size, true), durableNode(b)
		next := 0
		crawl := func() time.Duration {
			seeds := make([]catalog.Seed, batch)
			for i := range seeds {
				seeds[i] = catalog.Seed{URL: web.urls[next], Portal: "http://portal.example/", Format: "CSV"}
				next++
			}
			if _, err := n.Add(b.Context(), seeds); err != nil {
				b.Fatal(err)
			}
			runtime.GC()
			return cputime.Of(func() {
				if summary, err := n.Run(b.Context(), RunOptions{Once: true}); err != nil || summary.Outcomes[catalog.Archived] != batch {
					b.Fatalf("%+v, %v", summary, err)
				}
			})
		}
		pair := func(extraFirst bool) (plain, extra time.Duration) {
			for _, with := range []bool{extraFirst, !extraFirst} {
				if n.Pipeline.inTxn = nil; with {
					n.Pipeline.inTxn = moreLeaves(more)
					extra = crawl()
				} else {
					plain = crawl()
				}
			}
			return plain, extra
		}
		pair(false) // the first visits of hosts
		var shares []float64
		var all time.Duration
		for round := range rounds {
			plain, extra := pair(round%2 == 1)
			shares = append(shares, 100*(float64(extra)/float64(plain)-1)/more)
			all += plain
		}
		slices.Sort(shares)
		b.ReportMetric((shares[rounds/2-1]+shares[rounds/2])/2, "%-of-a-visit")
		b.ReportMetric(shares[rounds/4], "%-lower-quartile")
		b.ReportMetric(shares[rounds*3/4], "%-upper-quartile")
		b.ReportMetric(float64(all.Microseconds())/(rounds*batch), "cpu-µs/visit")
	}
}

// moreLeaves appends leaves to a transaction, with all that a visit does for one. A transaction writes the log's state
// once for all its leaves, so as many bytes are written again for each.
func moreLeaves(n int) func(archive.Txn, catalog.Activity) error {
	head := http.Header{"Content-Type": {"text/csv"}, "Etag": {`"8c4-59f2"`}, "Date": {"Sat, 21 Nov 2026 06:00:00 GMT"},
		"Server": {"nginx"}}
	return func(txn archive.Txn, act catalog.Activity) error {
		leaves := transparency.Txn{Txn: txn.KV()}
		for i := range n {
			v := catalog.Version{URL: act.URL, At: act.Start, Digests: catalog.Digests{SHA256: [32]byte{byte(i)}}}
			received := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\n%v\r\n", head)
			index, err := leaves.AppendRecorded(act.Version, transparency.LeafOf(v, transparency.HeadDigest(received), 0))
			if err != nil {
				return err
			}
			state := make([]byte, 220) // about the mean
			for at := range state {
				state[at] = byte(index*31 + int64(at)*7)
			}
			if err := leaves.Set(kv.SpaceTransparency, []byte{'z', byte(i)}, state); err != nil {
				return err
			}
		}
		return nil
	}
}
