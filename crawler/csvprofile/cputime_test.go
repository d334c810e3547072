//go:build unix

package csvprofile

import (
	"bytes"
	"context"
	"encoding/csv"
	"io"
	"syscall"
	"testing"
	"time"
)

// BenchmarkAgainstEncodingCSV alternates Read, Rows and encoding/csv over the same tables and reports processor time, of
// the collector too, so that a busy machine tells as much as an idle one: MB/s of each and the ratio to encoding/csv.
func BenchmarkAgainstEncodingCSV(b *testing.B) {
	for _, table := range []struct {
		name string
		data []byte
	}{{"numbers", openData(32 << 20)}, {"texts", textData(32 << 20)}} {
		b.Run(table.name, func(b *testing.B) {
			var read, rows, std time.Duration
			for b.Loop() {
				read += cpuTime(func() {
					if _, err := Read(context.Background(), bytes.NewReader(table.data), Options{}); err != nil {
						b.Fatal(err)
					}
				})
				rows += cpuTime(func() {
					for r := NewRows(bytes.NewReader(table.data), Dialect{Delimiter: ",", QuoteChar: `"`}); r.Next(); {
					}
				})
				std += cpuTime(func() {
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
			}
			speed := func(d time.Duration) float64 { return float64(b.N) * float64(len(table.data)) / 1e6 / d.Seconds() }
			b.ReportMetric(speed(read), "Read-MB/s")
			b.ReportMetric(speed(rows), "Rows-MB/s")
			b.ReportMetric(speed(std), "csv-MB/s")
			b.ReportMetric(speed(read)/speed(std), "Read/csv")
		})
	}
}

// cpuTime is the processor time that f takes in this process.
func cpuTime(f func()) time.Duration {
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			panic(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	f()
	return used() - before
}
