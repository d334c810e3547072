// Package sourcetest has the suite that every reader of tables passes (Conform), and reads tables for tests.
package sourcetest

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/detect"
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

// Lines returns the rows as lines of cells separated by bars.
func (t Table) Lines() []string {
	lines := make([]string, len(t.Cells))
	for i, row := range t.Cells {
		lines[i] = strings.Join(row, "|")
	}
	return lines
}

// Read reads the tables of a file twice, as a profile and row by row, and fails the test if the two disagree.
func Read(t testing.TB, read source.Reader, in source.Input) []Table {
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

// Open returns a file, unpacked if its name ends in ".gz", with the others beside it, and its media type as detected.
func Open(t testing.TB, name string) (in source.Input, mediaType string) {
	t.Helper()
	in = Input("", File(t, name))
	base := strings.TrimSuffix(name, ".gz")
	found, err := detect.File(t.Context(), detect.Input{Name: filepath.Base(base), Size: in.Size, Body: in.Body})
	if err != nil {
		t.Fatal(err)
	}
	in.Type, in.Charset = found.Type, found.Charset
	in.Beside = func(extension string) (io.ReaderAt, int64, bool) {
		data, err := os.ReadFile(strings.TrimSuffix(base, filepath.Ext(base)) + extension)
		return bytes.NewReader(data), int64(len(data)), err == nil
	}
	return in, found.Type
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
