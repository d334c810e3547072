package tallies

import (
	"fmt"
	"testing"

	"odarchive/crawler/catalog"
	"odarchive/testdata/cputime"
	"odarchive/triplestore/kv"
)

// BenchmarkChangeStats computes the changes of 100,000 hosts: without a cached list, which decodes all tallies, and
// with one after no, one and a hundred commits.
func BenchmarkChangeStats(b *testing.B) {
	const hosts = 100_000
	db, err := kv.Open(b.TempDir(), kv.Options{NoSync: true, MinFree: -1})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	s := New(db)
	for from := 0; from < hosts; from += 5000 {
		err := db.Update(b.Context(), func(txn *kv.Txn) error {
			u := s.Begin(txn)
			for i := from; i < from+5000; i++ {
				n := Tally{Resources: i, Versions: 2 * i, Visits: 3 * i, Bytes: int64(i),
					Outcomes: map[catalog.Outcome]int{catalog.Archived: i, catalog.Unchanged: i}}
				n.Changes = Changes{Versions: i * 7919 % 100_003, RowsAdded: int64(i), BytesChanged: int64(i) * 100}
				if err := u.change([]tallyID{{ByHost, fmt.Sprintf("data%d.example", i)}}, func(t *Tally) { *t = n }); err != nil {
					return err
				}
			}
			return u.Write()
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	for _, c := range []struct {
		name    string
		between func()
	}{
		{"baseline all decoded", func() { s.lists.lists = nil }},
		{"held", func() {}},
		{"one commit between", func() { s.lists.noteChanged([]tallyID{{ByHost, "data7.example"}}) }},
		{"hundred commits between", func() {
			for i := range 100 {
				s.lists.noteChanged([]tallyID{{ByHost, fmt.Sprintf("data%d.example", i*991)}})
			}
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			spent := cputime.Used()
			for b.Loop() {
				c.between()
				if stats, err := s.ChangeStats(b.Context(), 100); err != nil || len(stats.Hosts) != 100 {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((cputime.Used()-spent).Microseconds())/1000/float64(b.N), "cpu-ms/op")
		})
	}
}
