package archive

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/archive/content"
	"odarchive/crawler/archive/transparency"
	"odarchive/crawler/catalog"
	"odarchive/testdata/cputime"
	"odarchive/triplestore/kv"
)

// BenchmarkLeafOfAVersion compares, in turns, the processor time of storing a new version, from its bytes to the end of
// its transaction, with that of its leaf in the transparency log: of a transaction with a leaf, less one with a single
// record. A real visit costs more than storing, since it also fetches and examines the file.
func BenchmarkLeafOfAVersion(b *testing.B) {
	const rounds, each = 8, 250
	for range b.N {
		a := peopled(b, 0)
		var stored, leaf, single time.Duration
		update := func(f func(*kv.Txn) error) {
			if err := a.db.Update(b.Context(), f); err != nil {
				b.Fatal(err)
			}
		}
		for round := range rounds {
			var seeds []catalog.Seed
			for i := range each {
				seeds = append(seeds, catalog.Seed{URL: fmt.Sprintf("http://data%d.example/files/table-%d.csv", i%20, round*each+i)})
			}
			if _, err := a.Register(b.Context(), day, Listing{Seeds: seeds}, nil); err != nil {
				b.Fatal(err)
			}
			at := day.Add(time.Duration(round) * time.Hour)
			stored += cputime.Of(func() {
				for i, s := range seeds {
					ref, err := a.Bytes().Put(b.Context(), strings.NewReader(fmt.Sprintf("a,b\n%d,%d\n", round, i)), content.PutOptions{})
					if err != nil {
						b.Fatal(err)
					}
					act := catalog.Activity{URL: s.URL, Start: at, End: at.Add(time.Second), Outcome: catalog.Archived, Status: 200}
					if _, err := a.Commit(b.Context(), Visit{Activity: act, Kept: &Kept{Ref: ref, Type: "text/csv", FileName: "a.csv"}},
						nil); err != nil {
						b.Fatal(err)
					}
				}
			})
			single += cputime.Of(func() {
				for i := range each {
					update(func(txn *kv.Txn) error { return txn.Set(kv.SpaceTransparency, []byte{'z', byte(i)}, nil) })
				}
			})
			leaf += cputime.Of(func() {
				for i := range each {
					l := transparency.Leaf{At: at, N: i, SHA256: [32]byte{byte(round), byte(i)},
						Identity: transparency.Identity(seeds[i].URL, [32]byte{1})}
					update(func(txn *kv.Txn) error {
						_, err := transparency.Txn{Txn: txn}.Append(fmt.Sprint(round, "_", i), l)
						return err
					})
				}
			})
		}
		b.ReportMetric(float64(stored.Microseconds())/(rounds*each), "cpu-µs/version")
		b.ReportMetric(float64((leaf-single).Microseconds())/(rounds*each), "cpu-µs/leaf")
		b.ReportMetric(100*float64(leaf-single)/float64(stored), "%-of-storing")
	}
}
