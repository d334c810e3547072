package archive

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/testdata/cputime"
	"odarchive/triplestore/kv"
)

func TestChangeStatsFollowEveryCommit(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	same := func(limit int) {
		t.Helper()
		got, err := a.ChangeStats(t.Context(), limit)
		if err != nil {
			t.Fatal(err)
		}
		want, err := New(a.mint, a.db, a.triples, a.content).ChangeStats(t.Context(), limit) // decodes all
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("held: %+v\nread: %+v, %v", got, want, err)
		}
	}
	same(0)
	random := rand.New(rand.NewPCG(3, 1))
	for i := range 40 {
		url := fmt.Sprintf("http://host%d.example/a.csv", random.IntN(7))
		register(t, a, catalog.Seed{URL: url, Portal: fmt.Sprintf("http://portal%d.example/", random.IntN(3))})
		visit(t, a, url, fmt.Sprintf("a,b\n%d,%d\n", i, random.IntN(5)), day.Add(time.Duration(i)*time.Minute))
		if i%3 == 0 {
			same(i % 4)
		}
	}
	same(0)
}

func TestChangeStatsAreReadWhileOthersCommit(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	var running sync.WaitGroup
	for w := range 2 {
		url := fmt.Sprintf("http://host%d.example/a.csv", w)
		register(t, a, catalog.Seed{URL: url})
		running.Go(func() {
			for i := range 15 {
				visit(t, a, url, fmt.Sprintf("a,b\n%d,1\n", i), day.Add(time.Duration(i)*time.Minute))
			}
		})
		running.Go(func() {
			for range 30 {
				if _, err := a.ChangeStats(t.Context(), 10); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	s, err := a.ChangeStats(t.Context(), 0)
	if err != nil || len(s.Hosts) != 2 || s.Hosts[0].Changes.Versions != 14 || s.Hosts[1].Changes.Versions != 14 {
		t.Errorf("%+v, %v", s.Hosts, err)
	}
}

// BenchmarkChangeStats asks for the changes of 100,000 hosts: the first time and with each held list thrown away, which is
// decoding them all, and again behind no, one and a hundred commits.
func BenchmarkChangeStats(b *testing.B) {
	const hosts = 100_000
	a := peopled(b, 1000)
	for from := 0; from < hosts; from += 5000 {
		err := a.db.Update(b.Context(), func(txn *kv.Txn) error {
			for i := from; i < from+5000; i++ {
				n := tally{Resources: i, Versions: 2 * i, Visits: 3 * i, Bytes: int64(i), Outcomes: map[catalog.Outcome]int{catalog.Archived: i, catalog.Unchanged: i}}
				n.Changes = Changes{Versions: i * 7919 % 100_003, RowsAdded: int64(i), BytesChanged: int64(i) * 100}
				if err := (tables{txn: txn}).set(key(tableCount, countHost, fmt.Sprintf("data%d.example", i)), n); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	for _, c := range []struct {
		name    string
		between func()
	}{
		{"baseline all decoded", func() { a.changeLists.lists = nil }},
		{"held", func() {}},
		{"one commit between", func() { a.changeLists.noteCommit([]counted{{countHost, "data7.example"}}) }},
		{"hundred commits between", func() {
			for i := range 100 {
				a.changeLists.noteCommit([]counted{{countHost, fmt.Sprintf("data%d.example", i*991)}})
			}
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			spent := cputime.Used()
			for b.Loop() {
				c.between()
				if s, err := a.ChangeStats(b.Context(), 100); err != nil || len(s.Hosts) != 100 {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((cputime.Used()-spent).Microseconds())/1000/float64(b.N), "cpu-ms/op")
		})
	}
}
