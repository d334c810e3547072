package archive

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/archive/content"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/testdata/cputime"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
)

// peopled returns an archive on disk with n resources, as after a harvest of portals, without triples and search index.
func peopled(b *testing.B, n int) *Archive {
	db, err := kv.Open(b.TempDir(), kv.Options{NoSync: true, MinFree: -1})
	if err != nil {
		b.Fatal(err)
	}
	triples, err := triplestore.Open(db, triplestore.Options{})
	if err != nil {
		b.Fatal(err)
	}
	bytes, err := content.Open(b.TempDir(), db, content.Options{NoSync: true, MinFree: -1})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { bytes.Close(); triples.Close(); db.Close() })
	a := New(ns.Mint{Base: "http://archive.example/"}, db, triples, bytes)
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(words string) string { f := strings.Fields(words); return f[random.IntN(len(f))] }
	hosts, portals := map[string]int{}, map[string]int{}
	for from := 0; from < n; from += 2000 {
		err := db.Update(b.Context(), func(txn *kv.Txn) error {
			t := records.Txn{Txn: txn}
			for i := from; i < min(from+2000, n); i++ {
				host := fmt.Sprintf("data%d.example", int(random.ExpFloat64()*float64(n)/400))
				raw := fmt.Sprintf("http://%s/%s/%08x/%s_%d.csv", host, pick("dataset files export"), random.Uint32(),
					pick("air water trees budget"), i)
				u, err := address.Parse(raw)
				if err != nil {
					return err
				}
				r := newRecord(ns.ResourceID(u.Key()), raw, u, day)
				r.Title = pick("air water trees budget traffic schools") + " " + pick("quality stations statistics measurements plan") +
					fmt.Sprintf(" %d district %d", 1990+i%35, i%97)
				r.Format, r.MediaType = "CSV", pick("text/csv text/csv application/json application/pdf")
				addSource(&r.Resource,
					catalog.Source{Portal: fmt.Sprintf("http://portal%d.example/", i%150),
						Dataset:      fmt.Sprintf("http://portal%d.example/dataset/%d", i%150, i/3),
						DatasetTitle: "Open data of district " + fmt.Sprint(i%97)})
				r.Versions, r.Size, r.Changed = 1+i%4, int64(random.IntN(1<<20)), day.Add(time.Duration(random.IntN(1e6))*time.Second)
				r.Outcome = catalog.Unchanged
				if err := t.SaveResource(records.Resource{}, r); err != nil {
					return err
				}
				hosts[r.Host]++
				portals[r.Portals[0]]++
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	err = db.Update(b.Context(), func(txn *kv.Txn) error {
		u := a.tallies.Begin(txn)
		for host, n := range hosts {
			for range n {
				if err := u.AddResource(host); err != nil {
					return err
				}
			}
		}
		for portal, n := range portals {
			if _, err := u.SetPortalTitle(portal, "Portal "+portal); err != nil {
				return err
			}
			if err := u.AddToPortal(portal, catalog.Resource{Versions: 2 * n}); err != nil {
				return err
			}
		}
		return u.Write()
	})
	if err != nil {
		b.Fatal(err)
	}
	return a
}

// BenchmarkSearch searches for the first page with facets: of everything, of a common word, of two words and of a rare
// one. The baseline decodes every record, as a search without an index does.
func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{50_000, 500_000} {
		if testing.Short() && n > 50_000 {
			continue
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			a := peopled(b, n)
			start := cputime.Used()
			if _, err := a.BuildSearch(b.Context()); err != nil {
				b.Fatal(err)
			}
			made := cputime.Used()
			if err := a.LoadSearch(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.Logf("processor time: index made in %v, facts read in %v", made-start, cputime.Used()-made)
			for name, s := range map[string]catalog.Search{
				"all": {}, "common": {Text: "air"}, "two": {Text: "air quality"}, "rare": {Text: "budget_4711"},
				"facet": {Portal: "http://portal7.example/"},
				"title": {Sort: "title"}, "letters": {Text: "da"},
			} {
				s.Facets = true
				b.Run(name, func(b *testing.B) {
					spent := cputime.Used()
					for b.Loop() {
						if _, err := a.Search(b.Context(), s); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64((cputime.Used()-spent).Microseconds())/1000/float64(b.N), "cpu-ms/op")
				})
			}
			for name, f := range map[string]func() error{
				"stats":  func() error { _, err := a.Stats(b.Context()); return err },
				"hosts":  func() error { _, err := a.Hosts(b.Context(), 100); return err },
				"change": func() error { _, err := a.ChangeStats(b.Context(), 100); return err },
				"baseline every record": func() error {
					return a.Resources(context.Background(), "", func(catalog.Resource) bool { return true })
				},
			} {
				b.Run(name, func(b *testing.B) {
					spent := cputime.Used()
					for b.Loop() {
						if err := f(); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64((cputime.Used()-spent).Microseconds())/1000/float64(b.N), "cpu-ms/op")
				})
			}
		})
	}
}
