package csvprofile

import (
	"io"
	"testing"
)

// A database keeps rows without values, and texts that would be notes or headings in a sheet.
func TestAllRowsOfRecordsCount(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"Apple", "1", "2.5"}, {"", "", ""}, {"Some words", "", ""}, {"Pear", "2", "3.5"}, {"", "", ""},
		{"Source: a ministry", "", ""}, {"* a note", "", ""}, {"", "", ""}}
	var delivered int
	for _, o := range []Options{{}, {Each: func([][]byte) error { delivered++; return nil }}} {
		at := 0
		next := func() ([]string, error) {
			if at == len(rows) {
				return nil, io.EOF
			}
			at++
			return rows[at-1], nil
		}
		p, err := ReadRecords(t.Context(), "", []string{"name", "x", "y"}, next, o)
		if err != nil || p.Rows != 8 || p.Blank != 0 || p.Dialect.Footer != 0 || len(p.Notes) != 0 || len(p.Sections) != 0 {
			t.Errorf("%d rows, %d blank, footer %d, notes %q, sections %v, %v", p.Rows, p.Blank, p.Dialect.Footer, p.Notes, p.Sections, err)
		}
		if o.Each == nil && (p.Columns[0].Nulls != 3 || p.Columns[1].Nulls != 6) {
			t.Errorf("nulls: %d and %d", p.Columns[0].Nulls, p.Columns[1].Nulls)
		}
	}
	if delivered != 8 {
		t.Errorf("%d rows delivered", delivered)
	}
}
