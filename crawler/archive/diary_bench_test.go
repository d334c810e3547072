package archive

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/archive/content"
	"odarchive/crawler/catalog"
	"odarchive/testdata/cputime"
	"odarchive/triplestore"
)

// BenchmarkUnchangedVisits visits 300 URLs of one version each fifty times, once a day, and finds nothing new: what the
// database grows by, after it is compacted, and the processor time of a visit's transaction, one at a time.
func BenchmarkUnchangedVisits(b *testing.B) {
	const urls, days = 300, 50
	for range b.N {
		a := peopled(b, 0)
		compacted := func() (tables, triples int64) {
			b.Helper()
			if f, ok := any(a.triples).(interface {
				FoldLog(context.Context) (int, error)
			}); ok {
				if _, err := f.FoldLog(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			err := a.triples.Compact(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			err = a.triples.View(b.Context(), func(sn *triplestore.Snapshot) error {
				n, err := sn.Quads()
				triples = int64(n)
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
			return a.db.Sizes().Tables, triples
		}
		url := func(i int) string { return fmt.Sprintf("http://data%d.example/files/table-%d.csv", i%20, i) }
		commit := func(act catalog.Activity, kept *Kept) {
			b.Helper()
			if _, err := a.Commit(b.Context(), Visit{Activity: act, Kept: kept}, nil); err != nil {
				b.Fatal(err)
			}
		}
		for i := range urls {
			if _, err := a.Register(b.Context(), day, Listing{Seeds: []catalog.Seed{{URL: url(i)}}}, nil); err != nil {
				b.Fatal(err)
			}
			ref, err := a.Bytes().Put(b.Context(), strings.NewReader(fmt.Sprintf("a,b\n1,%d\n", i)), content.PutOptions{})
			if err != nil {
				b.Fatal(err)
			}
			at := day.Add(time.Duration(i) * 150 * time.Millisecond)
			commit(catalog.Activity{URL: url(i), Start: at, End: at.Add(time.Second), Outcome: catalog.Archived, Status: 200},
				&Kept{Ref: ref, Type: "text/csv", FileName: "a.csv"})
		}
		before, triplesBefore := compacted()
		cpu := cputime.Used()
		for d := range days {
			for i := range urls {
				at := day.Add(time.Duration(d+1)*24*time.Hour + time.Duration(i*(100+i*(d+7)%101))*time.Millisecond)
				status := 304
				if (d+i)%10 == 7 { // a crawl asks for the bytes at one visit in ten
					status = 200
				}
				commit(catalog.Activity{URL: url(i), Start: at, End: at.Add(time.Duration(80+i) * time.Millisecond),
					Outcome: catalog.Unchanged, Status: status}, nil)
			}
		}
		spent := cputime.Used() - cpu
		listed, triples := compacted()
		b.ReportMetric(float64(spent.Microseconds())/(urls*days), "cpu-µs/visit")
		b.ReportMetric(float64(triples-triplesBefore)/urls, "triples/URL")
		b.ReportMetric(float64(listed-before)/urls, "B/URL")
		if f, ok := any(a).(interface {
			ForgetVisits(context.Context, time.Time) (int, error)
		}); ok {
			if _, err := f.ForgetVisits(b.Context(), day.Add(10_000*time.Hour)); err != nil {
				b.Fatal(err)
			}
			folded, _ := compacted()
			b.ReportMetric(float64(folded-before)/urls, "B/URL-forgotten")
			b.ReportMetric(float64(listed-folded)/(urls*(days-1)), "B/visit-listed")
		}
	}
}
