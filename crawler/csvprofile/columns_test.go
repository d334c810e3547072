package csvprofile

import (
	"bytes"
	"slices"
	"testing"
)

// BenchmarkColumns folds the columns of a table one by one: what a cell costs once it is split off.
func BenchmarkColumns(b *testing.B) {
	data := openData(4 << 20)
	rows := NewRows(bytes.NewReader(data), Dialect{Delimiter: ",", QuoteChar: `"`})
	rows.Next()
	names := copyCells(rows.Cells())
	columns := make([][][]byte, len(names))
	for rows.Next() {
		for i, c := range rows.Cells() {
			columns[i] = append(columns[i], append(make([]byte, 0, 64), c...))
		}
	}
	for i, name := range names {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				memory := maxUnique
				c := newColumn(&memory)
				for cells := range slices.Chunk(columns[i], runLen) {
					c.addAll(run{append([][]byte(nil), cells...), 1})
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(columns[i])), "ns/cell")
		})
	}
}
