package archive

import (
	"fmt"
	"strings"
	"testing"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
)

// TestTablesOfOneNameAreCompared checks which tables of two versions of a workbook are compared. A file is written as
// "name:columns", one character a column.
func TestTablesOfOneNameAreCompared(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ from, to, want string }{
		{"a:xy b:z", "new:q a:xy b:z", "added [q] removed []"},
		{"a:xy b:z", "b:z a:xy", "added [] removed []"},
		{"old:xy", "renamed:xyz", "added [z] removed []"},
		{"a:x b:y c:z", "a:x c:z", "added [] removed [y]"},
		{"a:x b:y", "b:y c:x", "added [] removed []"},
		{":x :y", ":x :yz", "added [z] removed []"},
		{"a:x a:y", "a:x a:yz", "added [z] removed []"},
		{"a:x", "b:q a:x a:y", "added [q y] removed []"},
	} {
		c := compareSchemas(workbook(test.from), workbook(test.to))
		if got := fmt.Sprintf("added %v removed %v", c.Added, c.Removed); got != test.want {
			t.Errorf("%s -> %s: %s, want %s", test.from, test.to, got, test.want)
		}
	}
}

func workbook(s string) *inspect.Inside {
	in := &inspect.Inside{}
	for _, sheet := range strings.Fields(s) {
		name, columns, _ := strings.Cut(sheet, ":")
		p := &csvprofile.Profile{Name: name}
		for _, c := range columns {
			p.Columns = append(p.Columns, csvprofile.Column{Name: string(c)})
		}
		in.Tables = append(in.Tables, p)
	}
	return in
}
