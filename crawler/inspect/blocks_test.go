package inspect

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"odarchive/crawler/inspect/csvprofile"

	"github.com/xuri/excelize/v2"
)

// TestTablesBelowOneAnotherInASheet reads a workbook whose first sheet has two tables, and the rows of records that
// were written when a sheet had one table only.
func TestTablesBelowOneAnotherInASheet(t *testing.T) {
	t.Parallel()
	book := excelize.NewFile()
	for sheet, rows := range map[string][][]any{
		"Sheet1": {{"name", "a", "b"}, {"Vienna", 1, 2}, {"Graz", 3, 4}, {"Linz", 5, 6}, nil, {"Areas"}, {"country", "people", "area"},
			{"Austria", 9, 84}, {"Italy", 59, 301}},
		"Last": {{"x", "y"}, {"u", 1}, {"v", 2}},
	} {
		if _, err := book.NewSheet(sheet); err != nil {
			t.Fatal(err)
		}
		for i, row := range rows {
			if err := book.SetSheetRow(sheet, fmt.Sprintf("A%d", i+1), &row); err != nil {
				t.Fatal(err)
			}
		}
	}
	var b bytes.Buffer
	if err := book.Write(&b); err != nil {
		t.Fatal(err)
	}
	in := Input{Name: "a.xlsx", Size: int64(b.Len()), Body: bytes.NewReader(b.Bytes())}
	in.Found.Type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	inside, err := File(t.Context(), in, Limits{TempDir: t.TempDir()})
	if err != nil || len(inside.Tables) != 3 {
		t.Fatalf("%+v, %v", inside, err)
	}
	read := func(index int, p *csvprofile.Profile) string {
		rows, err := rowsOf(t.Context(), in, "", in.Found.Type, "", index, p, 100)
		if errors.Is(err, ErrOtherTables) {
			return "other tables"
		} else if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, row := range rows {
			all = append(all, strings.Join(row, " "))
		}
		return p.Name + ": " + strings.Join(all, "; ")
	}
	for i, want := range []string{"Sheet1: Vienna 1 2; Graz 3 4; Linz 5 6", "Sheet1 (2): Austria 9 84; Italy 59 301", "Last: u 1; v 2"} {
		if got := read(i, inside.Tables[i]); got != want {
			t.Errorf("table %d: %s, want %s", i, got, want)
		}
	}
	// The second sheet was the second table, and the first one had all rows.
	if got := read(1, inside.Tables[2]); got != "Last: u 1; v 2" {
		t.Error(got)
	}
	former := *inside.Tables[0]
	former.Rows = 7
	if got := read(0, &former); got != "other tables" {
		t.Error(got)
	}
}
