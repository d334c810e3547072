package inspect

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"odarchive/crawler/inspect/detect"
	"odarchive/testdata/cputime"
)

// crawledTable returns a CSV of about size bytes, different for each seed.
func crawledTable(seed uint64, size int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	cities := []string{"Vienna", "Graz", "Linz", "Salzburg", "Innsbruck", "Klagenfurt", "Villach", "Wels"}
	notes := []string{"", "ok", "checked by hand", "\"late, but good\""}
	b := []byte("id,date,station,city,temperature,humidity,pressure,note\n")
	for i := 0; len(b) < size; i++ {
		b = fmt.Appendf(b, "%d,2026-%02d-%02d,S%04d,%s,%.1f,%d,%.2f,%s\n", i, 1+r.IntN(12), 1+r.IntN(28), r.IntN(5000),
			cities[r.IntN(len(cities))],
			r.Float64()*40-10, r.IntN(100), 950+r.Float64()*80, notes[r.IntN(len(notes))])
	}
	return b
}

// held is a body in memory, as the crawl's are.
type held struct {
	*bytes.Reader
	data []byte
}

func (h held) Head(n int) ([]byte, error) { return h.data[:min(n, len(h.data))], nil }

// BenchmarkCrawled does with different tables of 50 KB what a crawl does: type, profile, and the profile as JSON.
// gzips/op is the processor time relative to gzip -6 of the same table, which alternates with it.
func BenchmarkCrawled(b *testing.B) {
	bodies := make([][]byte, 200)
	for i := range bodies {
		bodies[i] = crawledTable(uint64(i), 50_000)
	}
	var spent [3]time.Duration
	var compressing time.Duration
	packed := gzip.NewWriter(io.Discard)
	stored, n := 0, 0
	b.ReportAllocs()
	for b.Loop() {
		data := bodies[n%len(bodies)]
		n++
		in := Input{Name: "42.csv", Base: "http://127.0.0.1/42.csv", Size: int64(len(data)), Body: held{bytes.NewReader(data), data}}
		var inside *Inside
		var err error
		spent[0] += cputime.Of(func() {
			in.Found, err = detect.File(b.Context(), detect.Input{Name: in.Name, Declared: "text/csv", Size: in.Size, Body: in.Body})
		})
		if err != nil || in.Found.Type != "text/csv" {
			b.Fatal(in.Found, err)
		}
		spent[1] += cputime.Of(func() { inside, err = File(b.Context(), in, Limits{}) })
		if err != nil || len(inside.Tables) != 1 {
			b.Fatal(inside, err)
		}
		spent[2] += cputime.Of(func() {
			var text []byte
			text, err = json.Marshal(inside)
			stored += len(text)
		})
		compressing += cputime.Of(func() {
			packed.Reset(io.Discard)
			packed.Write(data)
			packed.Close()
		})
	}
	for i, what := range []string{"detect", "inspect", "json"} {
		b.ReportMetric(float64(spent[i])/float64(compressing), what+"-gzips/op")
	}
	b.ReportMetric(float64(spent[0]+spent[1]+spent[2])/float64(compressing), "gzips/op")
	b.ReportMetric(float64(stored)/float64(n), "json-B/op")
}
