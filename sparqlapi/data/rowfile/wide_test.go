package rowfile

import (
	"fmt"
	"io"
	"runtime"
	"testing"
)

// A table with very many columns is written in a memory that does not grow with its rows.
func TestWideTablesAreWrittenInBoundedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	const columns, rows = 10_000, 300
	fields := make([]Field, columns)
	row := make([]Value, columns)
	for i := range fields {
		fields[i].Name = fmt.Sprintf("column %d", i)
		row[i].Text = "some text"
		if i%2 == 0 {
			fields[i].Kind = Float
		}
	}
	for _, f := range Formats() {
		w, err := f.Open(io.Discard, fields)
		if err != nil {
			t.Fatal(err)
		}
		var most uint64
		for i := range rows {
			if err := w.Write(row); err != nil {
				t.Fatal(err)
			}
			if i%50 == 49 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d MB", f.Name, most>>20)
		if most > 400<<20 {
			t.Errorf("%s: %d MB are held", f.Name, most>>20)
		}
	}
}
