package csvprofile

import (
	"io"
	"slices"
	"strings"
	"testing"
)

// TestWhatIsAroundATableIsNoted checks the notes of texts, and of the same rows as a sheet.
func TestWhatIsAroundATableIsNoted(t *testing.T) {
	t.Parallel()
	const table = "name,people,area\nVienna,1900000,414\nGraz,290000,127\nLinz,205000,96\n"
	for _, test := range []struct {
		what, text string
		want       []string
	}{
		{"nothing", table, nil},
		{"title", "Towns  of Austria\n\n" + table, []string{"Towns of Austria"}},
		{"title and source", "Towns of Austria\n\n" + table + "Source: the towns,,\n", []string{"Towns of Austria", "Source: the towns"}},
		{"a rule", "Towns\n-----\n\n" + table, []string{"Towns"}},
		{"long", strings.Repeat("ö", 1000) + "\n\n" + table, []string{strings.Repeat("ö", maxNote)}},
	} {
		p, err := Read(t.Context(), strings.NewReader(test.text), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(p.Notes, test.want) {
			t.Errorf("%s: %q, want %q", test.what, p.Notes, test.want)
		}
		lines := strings.Split(strings.TrimSuffix(test.text, "\n"), "\n")
		sheet, err := ReadRows(t.Context(), "s", nil, func() ([]string, error) {
			if len(lines) == 0 {
				return nil, io.EOF
			}
			row := strings.Split(lines[0], ",")
			lines = lines[1:]
			return row, nil
		}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(sheet.Notes, p.Notes) {
			t.Errorf("%s: a sheet has %q, a text %q", test.what, sheet.Notes, p.Notes)
		}
		if p.Rows != 3 {
			t.Errorf("%s: %d rows", test.what, p.Rows)
		}
	}
	comments := "# made by\n# a program\n" + table
	p, err := Read(t.Context(), strings.NewReader(comments), Options{})
	if err != nil || !slices.Equal(p.Notes, []string{"made by", "a program"}) {
		t.Errorf("%q, %v", p.Notes, err)
	}
	many := &Profile{}
	for i := range 100 {
		many.note([]string{strings.Repeat("x", i+1)})
	}
	if len(many.Notes) != maxNotes {
		t.Errorf("%d notes", len(many.Notes))
	}
}
