// Package sourcetest tests readers of tables: it collects rows, and damages files.
package sourcetest

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// Table is a table with its rows.
type Table struct {
	*csvprofile.Profile
	Cells [][]string
}

// Column returns the cells of a column, nil if there is none of the name. Rows from before the column was known have an
// empty one.
func (t Table) Column(name string) []string {
	for i, c := range t.Columns {
		if c.Name == name {
			var cells []string
			for _, row := range t.Cells {
				cell := ""
				if i < len(row) {
					cell = row[i]
				}
				cells = append(cells, cell)
			}
			return cells
		}
	}
	return nil
}

// Read reads the tables of a file twice, as a profile and row by row, and fails the test if the two disagree.
func Read(t *testing.T, read source.Reader, in source.Input) []Table {
	t.Helper()
	profiles, err := read(t.Context(), in, source.Options{}.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	tables := make([]Table, len(profiles))
	for i, p := range profiles {
		tables[i].Profile = p
	}
	begun := map[int]bool{} // by table: it has the columns of the profile
	o := source.Options{Begin: func(table int, name string, columns []string, more bool) error {
		if table < len(tables) {
			begun[table] = len(tables[table].Cells) == 0 && tables[table].HasColumns(columns, more) &&
				(name == "" || name == tables[table].Name)
		}
		return nil
	}, Each: func(table int, cells [][]byte) error {
		if table >= len(tables) { // of a table without a profile
			t.Errorf("a row of table %d of %d", table, len(tables))
			return nil
		}
		row := make([]string, len(cells))
		for i, c := range cells {
			row[i] = string(c)
		}
		tables[table].Cells = append(tables[table].Cells, row)
		return nil
	}}
	again, err := read(t.Context(), in, o.WithDefaults())
	if err != nil || len(again) != len(profiles) {
		t.Fatalf("%d tables row by row, %d profiles: %v", len(again), len(profiles), err)
	}
	for i, table := range tables {
		if table.Rows > 0 && !begun[i] {
			t.Errorf("table %d, %q, does not begin once, with the name and columns of its profile", i, table.Name)
		}
		if int64(len(table.Cells)) != table.Rows {
			t.Errorf("%s: %d rows, but its profile has %d", table.Name, len(table.Cells), table.Rows)
		}
	}
	return tables
}

// Input returns a file in memory.
func Input(mediaType string, data []byte) source.Input {
	return source.Input{Type: mediaType, Size: int64(len(data)), Body: bytes.NewReader(data)}
}

// File returns the content of a file, unpacked if its name ends in ".gz".
func File(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err == nil && strings.HasSuffix(name, ".gz") {
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
			data, err = io.ReadAll(z)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Harm reads a file cut off at 40 places, and with one of 200 bits changed. The reader must neither panic nor take
// long.
func Harm(t *testing.T, read source.Reader, in source.Input) {
	t.Helper()
	data := make([]byte, in.Size)
	if _, err := in.Body.ReadAt(data, 0); err != nil && in.Size > 0 && err != io.EOF {
		t.Fatal(err)
	}
	try := func(what string, data []byte) {
		defer func() {
			if x := recover(); x != nil {
				t.Fatalf("%s: %v", what, x)
			}
		}()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		in := in
		in.Size, in.Body = int64(len(data)), bytes.NewReader(data)
		read(ctx, in, source.Options{MaxRows: 10_000, MaxTables: 50}.WithDefaults())
		if ctx.Err() != nil {
			t.Fatalf("%s: it does not end", what)
		}
	}
	for i := range 40 {
		try("cut off", data[:len(data)*i/40])
	}
	random := rand.New(rand.NewPCG(1, uint64(len(data))))
	for i := range 200 {
		bad := bytes.Clone(data)
		at := random.IntN(len(bad))
		if i < 100 { // half of them in the beginning, where counts and sizes are
			at = random.IntN(min(len(bad), 200))
		}
		bad[at] ^= 1 << random.IntN(8)
		try("a bit changed", bad)
	}
}
