package csvprofile

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"odarchive/testdata/cputime"
)

// openData returns a table of about size bytes as open data portals have them: a key, codes, names, dates, numbers,
// coordinates, and some quoted texts.
func openData(size int) []byte {
	rng := rand.New(rand.NewPCG(7, 7))
	places := []string{"Wien", "Graz", "Linz", "Salzburg", "Innsbruck", "Klagenfurt", "Villach", "Wels", "Sankt Pölten", "Dornbirn",
		"Wiener Neustadt", "Steyr"}
	kinds := []string{"Baum", "Strauch", "Hecke", "Wiese"}
	var b bytes.Buffer
	b.WriteString("id,district,place,kind,planted,height,trunk,lat,lon,active,remark\n")
	for i := 0; b.Len() < size; i++ {
		remark := ""
		if i%7 == 0 {
			remark = `"near the ""old"" bridge, on the left"`
		}
		fmt.Fprintf(&b, "%d,%d,%s,%s,%04d-%02d-%02d,%.1f,%d,%.6f,%.6f,%v,%s\n", 100000+i, 1+rng.IntN(23), places[rng.IntN(len(places))],
			kinds[rng.IntN(len(kinds))],
			1950+rng.IntN(70), 1+rng.IntN(12), 1+rng.IntN(28), 1+rng.Float64()*30, 10+rng.IntN(300), 48.1+rng.Float64()/5,
			16.2+rng.Float64()/5, rng.IntN(2) == 0, remark)
	}
	return b.Bytes()
}

// textData returns a table of about size bytes that is mostly words: names, addresses, links, times, sentences, with
// decimal commas among them.
func textData(size int) []byte {
	rng := rand.New(rand.NewPCG(8, 8))
	words := strings.Fields(
		"Verein Amt Schule Gemeinde Wasser Strom Verkehr Bericht Garten Haus Kirche Museum Bahnhof Platz Weg nahe dem alten neuen und " +
			"der die das Bezirk Wien Graz")
	some := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(words[rng.IntN(len(words))] + " ")
		}
		return b.String()
	}
	var b bytes.Buffer
	b.WriteString("organisation,address,link,changed,amount,description\n")
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "%s,%sstraße %d,https://data.example.org/dataset/%06x,2024-%02d-%02dT%02d:%02d:00Z,\"%d,%02d\",\"%s, %s\"\n",
			some(2), words[rng.IntN(len(words))], rng.IntN(200),
			rng.IntN(1<<24), 1+rng.IntN(12), 1+rng.IntN(28), rng.IntN(24), rng.IntN(60), rng.IntN(100000), rng.IntN(100), some(8), some(5))
	}
	return b.Bytes()
}

func BenchmarkProfile(b *testing.B) {
	data := openData(32 << 20)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(context.Background(), bytes.NewReader(data), Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRows(b *testing.B) {
	data := openData(32 << 20)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		r := NewRows(bytes.NewReader(data), Dialect{Delimiter: ",", QuoteChar: `"`})
		for r.Next() {
		}
	}
}

// BenchmarkEncodingCSV is the baseline: the standard library reading the same table and doing nothing with it.
func BenchmarkEncodingCSV(b *testing.B) {
	data := openData(32 << 20)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		r := csv.NewReader(bytes.NewReader(data))
		r.ReuseRecord = true
		for {
			if _, err := r.Read(); err != nil {
				if !errors.Is(err, io.EOF) {
					b.Fatal(err)
				}
				break
			}
		}
	}
}

// BenchmarkSmall profiles a table of 50 KB, the typical file of a crawl. Finding the dialect, and the start and end of
// each column, take longer than the cells. Detection calls Shape. gzips/op is the processor time relative to gzip -6 of
// the same table, which alternates with it.
func BenchmarkSmall(b *testing.B) {
	data := openData(50_000)
	packed := gzip.NewWriter(io.Discard)
	inGzips := func(b *testing.B, f func()) {
		b.ReportAllocs()
		var spent, compressing time.Duration
		for b.Loop() {
			spent += cputime.Of(f)
			compressing += cputime.Of(func() {
				packed.Reset(io.Discard)
				if _, err := packed.Write(data); err != nil {
					b.Fatal(err)
				}
				packed.Close()
			})
		}
		b.ReportMetric(float64(spent)/float64(compressing), "gzips/op")
		b.ReportMetric(float64(spent.Microseconds())/float64(b.N), "cpu-µs/op")
	}
	b.Run("Profile", func(b *testing.B) {
		inGzips(b, func() {
			if _, err := Read(context.Background(), bytes.NewReader(data), Options{}); err != nil {
				b.Fatal(err)
			}
		})
	})
	b.Run("Shape", func(b *testing.B) {
		inGzips(b, func() { Shape(data, true) })
	})
	b.Run("EncodingCSV", func(b *testing.B) {
		inGzips(b, func() {
			if _, err := csv.NewReader(bytes.NewReader(data)).ReadAll(); err != nil {
				b.Fatal(err)
			}
		})
	})
}
