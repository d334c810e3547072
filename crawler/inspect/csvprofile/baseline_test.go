package csvprofile

import (
	"bytes"
	"context"
	"encoding/csv"
	"io"
	"slices"
	"testing"
	"time"

	"odarchive/testdata/cputime"
)

// BenchmarkAgainstEncodingCSV alternates Read, Rows and encoding/csv over the same table and reports processor time,
// including the garbage collector's: MB/s of each, and the ratios to encoding/csv, each the median of the rounds. On a
// busy machine the ratios say more than the speeds.
func BenchmarkAgainstEncodingCSV(b *testing.B) {
	for _, table := range []struct {
		name string
		data []byte
	}{{"numbers", openData(16 << 20)}, {"texts", textData(16 << 20)}} {
		b.Run(table.name, func(b *testing.B) {
			median := map[string][]float64{}
			for b.Loop() {
				read := cputime.Of(func() {
					if _, err := Read(context.Background(), bytes.NewReader(table.data), Options{}); err != nil {
						b.Fatal(err)
					}
				})
				rows := cputime.Of(func() {
					for r := NewRows(bytes.NewReader(table.data), Dialect{Delimiter: ",", QuoteChar: `"`}); r.Next(); {
					}
				})
				std := cputime.Of(func() {
					r := csv.NewReader(bytes.NewReader(table.data))
					r.ReuseRecord = true
					for {
						if _, err := r.Read(); err == io.EOF {
							return
						} else if err != nil {
							b.Fatal(err)
						}
					}
				})
				speed := func(d time.Duration) float64 { return float64(len(table.data)) / 1e6 / d.Seconds() }
				for name, x := range map[string]float64{"Read-MB/s": speed(read), "Rows-MB/s": speed(rows), "csv-MB/s": speed(std),
					"Read/csv": speed(read) / speed(std), "Rows/csv": speed(rows) / speed(std)} {
					median[name] = append(median[name], x)
				}
			}
			for name, xs := range median {
				slices.Sort(xs)
				b.ReportMetric(xs[len(xs)/2], name)
			}
		})
	}
}
