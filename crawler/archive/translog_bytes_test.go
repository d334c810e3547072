package archive

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/archive/content"
	"odarchive/crawler/catalog"
	"odarchive/triplestore/kv"
)

// BenchmarkBytesOfALeaf measures what the transparency log takes of a data directory for a version: the tables and the
// state file of an archive with some versions, less those without the log. Both are written anew (kv.DB.Purge).
func BenchmarkBytesOfALeaf(b *testing.B) {
	const versions = 4000
	for range b.N {
		a := peopled(b, 0)
		for i := range versions {
			url := fmt.Sprintf("http://data%d.example/files/table-%d.csv", i%20, i)
			if _, err := a.Register(b.Context(), day, Listing{Seeds: []catalog.Seed{{URL: url}}}, nil); err != nil {
				b.Fatal(err)
			}
			ref, err := a.Bytes().Put(b.Context(), strings.NewReader(fmt.Sprintf("a,b\n%d\n", i)), content.PutOptions{})
			if err != nil {
				b.Fatal(err)
			}
			at := day.Add(time.Duration(i*377) * time.Millisecond)
			head := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\nETag: \"%x\"\r\nDate: %s\r\n\r\n", i*i,
				at.Format(time.RFC1123))
			visit := Visit{
				Activity: catalog.Activity{URL: url, Start: at, End: at.Add(time.Second), Outcome: catalog.Archived, Status: 200},
				Kept: &Kept{Ref: ref, Type: "text/csv", FileName: "a.csv",
					Exchange: &catalog.Exchange{Head: []byte(head), Hops: []catalog.Hop{{URL: url, Status: 200, At: at}}}},
			}
			if _, err := a.Commit(b.Context(), visit, nil); err != nil {
				b.Fatal(err)
			}
		}
		purged := func() kv.Sizes {
			if err := a.db.Purge(b.Context()); err != nil {
				b.Fatal(err)
			}
			return a.db.Sizes()
		}
		with := purged()
		if err := a.db.DropSpace(kv.SpaceTransparency); err != nil {
			b.Fatal(err)
		}
		without := purged()
		b.ReportMetric(float64(with.Tables-without.Tables)/versions, "table-B/version")
		b.ReportMetric(float64(with.Snapshots-without.Snapshots)/versions, "state-B/version")
		b.ReportMetric(float64(without.Tables+without.Snapshots)/versions, "other-B/version")
	}
}
