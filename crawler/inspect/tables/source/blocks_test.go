package source

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"odarchive/crawler/inspect/csvprofile"
)

// sheetOf returns the rows of a text: one a line, cells separated by commas.
func sheetOf(text string) func() ([]string, error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	return func() ([]string, error) {
		if len(lines) == 0 {
			return nil, io.EOF
		}
		row := strings.Split(lines[0], ",")
		lines = lines[1:]
		return row, nil
	}
}

const first = "name,a,b\nVienna,1,2\nGraz,3,4\nLinz,5,6\n"

func TestTablesBelowOneAnother(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ what, text, want string }{
		{"two tables", first + ",,\ncountry,people,area\nAustria,9,84\nItaly,59,301\n", "s: name a b 3, s (2): country people area 2"},
		{"with a title, several blank rows, and a note",
			first + ",,\n,,\nAreas of countries,,\n,,\ncountry,people,area\nAustria,9,84\nItaly,59,301\n",
			"s: name a b 3, s (2): country people area 2"},
		{"three tables", first + "\nx,y\nu,1\nv,2\nw,3\n\np,q\nr,3\ns,4\n", "s: name a b 3, s (2): x y 3, s (3): p q 2"},
		{"years", first + "\nstate,2001,2002\nTyrol,1,2\nStyria,2,3\n", "s: name a b 3, s (2): state 2001 2002 2"},
		{"a blank row in a table", first + "\nGraz,7,8\nWels,9,10\nSteyr,9,10\n", "s: name a b 6"},
		{"sections", first + "\nNorth,,\nWels,9,10\nSteyr,9,10\n", "s: name a b 6"},
		{"the same names again", first + "\nname,a,b\nWels,9,10\nSteyr,9,10\n", "s: name a b 6"},
		{"a row without numbers", first + "\nWels,n/a,n/a\nSteyr,n/a,n/a\nLinz,n/a,n/a\n", "s: name a b 6"},
		{"a table without numbers", "name,a\nx,y\nu,v\nw,z\n\np,q\nr,3\ns,4\n", "s: name a 6"},
		{"names and one row", first + "\nx,y\nu,1\n", "s: name a b 5"},
		{"cells without a name", first + "\nx,y\nu,1,5\nv,2,5\nw,3,5\n", "s: name a b 7"},
		{"notes below", first + "\nSource: somebody,,\nSee also,another,\n", "s: name a b 5"},
		{"no rows", "", ""},
	} {
		found, whole, err := Sheet(t.Context(), "s", sheetOf(test.text), nil, Options{}.WithDefaults())
		if err != nil || !whole {
			t.Fatal(test.what, whole, err)
		}
		var got []string
		for _, p := range found {
			var names []string
			for _, c := range p.Columns {
				names = append(names, c.Name)
			}
			got = append(got, fmt.Sprintf("%s: %s %d", p.Name, strings.Join(names, " "), p.Rows))
		}
		if s := strings.Join(got, ", "); s != test.want {
			t.Errorf("%s: %s, want %s", test.what, s, test.want)
		}
	}
}

// TestBlocksKeepEveryRow checks that no row is lost or repeated, whatever is in the sheet, but for the blank ones
// between tables.
func TestBlocksKeepEveryRow(t *testing.T) {
	t.Parallel()
	text := first + "\n\nWels,1,3\n\np,q\nr,3\ns,4\nt,5\n\n\n\nq,p\nr,3\ns,4\n\nend,\n"
	var got []string
	blocks := NewBlocks(sheetOf(text))
	tables := 0
	for ; blocks.Next(); tables++ {
		for {
			row, err := blocks.Row()
			if errors.Is(err, io.EOF) {
				break
			}
			if filled(row) > 0 {
				got = append(got, strings.Join(row, ","))
			}
		}
		if _, err := blocks.Row(); !errors.Is(err, io.EOF) {
			t.Fatal("a table goes on behind its end")
		}
	}
	want := slices.DeleteFunc(strings.Split(text, "\n"), func(s string) bool { return strings.Trim(s, ",") == "" })
	if !slices.Equal(got, want) || tables != 3 {
		t.Errorf("%d tables\n%q\n%q", tables, got, want)
	}
}

// TestAFaultEndsASheet checks that the tables before a fault are kept, the limit of tables, and the indexes that rows
// get.
func TestAFaultEndsASheet(t *testing.T) {
	t.Parallel()
	next := sheetOf(first + "\nx,y\nu,1\nv,2\n\n")
	found, whole, err := Sheet(t.Context(), "s", func() ([]string, error) {
		row, err := next()
		if errors.Is(err, io.EOF) {
			err = errors.New("broken")
		}
		return row, err
	}, nil, Options{}.WithDefaults())
	if err == nil || whole || len(found) != 1 || found[0].Rows != 3 {
		t.Error(whole, err, found)
	}
	second := first + "\nx,y\nu,1\nv,2\nw,3\n"
	o := Options{MaxTables: 1}.WithDefaults()
	if found, _, err = Sheet(t.Context(), "s", sheetOf(second), nil, o); err != nil || len(found) != 1 || found[0].Rows != 3 {
		t.Error(err, found)
	}
	indexes := ""
	o = Options{Each: func(table int, _ [][]byte) error { indexes += fmt.Sprint(table); return nil }}.WithDefaults()
	if _, _, err = Sheet(t.Context(), "s", sheetOf(second), []*csvprofile.Profile{{}}, o); err != nil || indexes != "111222" {
		t.Error(err, indexes)
	}
}
