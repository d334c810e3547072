package source

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

// FuzzBlocks divides sheets into tables: none may lose, repeat or reorder a row that has cells, or go on behind its
// end.
func FuzzBlocks(f *testing.F) {
	f.Add(first + "\n\nWels,1,3\n\np,q\nr,3\ns,4\nt,5\n\n\n\nq,p\nr,3\ns,4\n\nend,\n")
	f.Add(first + ",,\nAreas,,\n,,\nstate,2001,2002\nTyrol,1,2\nStyria,2,3\n")
	f.Add("x,y\n1,2%\n3,$4\n\n" + first)
	f.Fuzz(func(t *testing.T, text string) {
		var got []string
		blocks := NewBlocks(sheetOf(text))
		for tables := 0; blocks.Next(); tables++ {
			if tables > len(text) {
				t.Fatal("the tables do not end")
			}
			for {
				row, err := blocks.Row()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if filled(row) > 0 {
					got = append(got, strings.Join(row, ","))
				}
			}
			if _, err := blocks.Row(); !errors.Is(err, io.EOF) {
				t.Fatal("a table goes on behind its end")
			}
		}
		want := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if want = slices.DeleteFunc(want, func(s string) bool { return filled(strings.Split(s, ",")) == 0 }); !slices.Equal(got, want) {
			t.Errorf("%q\nwant %q", got, want)
		}
	})
}
