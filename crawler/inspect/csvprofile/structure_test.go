package csvprofile

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// FuzzStructure holds what a profile says of rows and columns, their sums, headings and keys, against the rows. Lines
// of text are rows, and commas are between their cells; the rows come again with other numbers in their first column,
// as the keys of long tables are found in another way.
func FuzzStructure(f *testing.F) {
	f.Add("name,a,b\nVienna,10,200\nGraz,30,400\nTotal,40,600\n", uint16(0))
	f.Add("place,x,y\nNorth,,\nWels,1200,34\nSteyr,17,1\nSum,1217,35\nSouth,,\nGraz,2,25\nLinz,5,99\nSum,7,124\nTotal,1224,159\n",
		uint16(0))
	f.Add("id,code,n\n7,a,1\n8,b,1\n", uint16(385))
	f.Add("n,code\n-3,x\n", uint16(97))
	f.Add("1,5\n\n2,\"\n", uint16(65535))
	f.Fuzz(func(t *testing.T, text string, again uint16) {
		if len(text) > 2<<10 {
			return
		}
		var once [][]string
		for line := range strings.Lines(text) {
			once = append(once, strings.Split(strings.TrimSuffix(line, "\n"), ","))
		}
		rows := slices.Clone(once)
		most := int(again) % 512
		if again%16 == 1 && len(once) < 5 && len(text) < 100 { // rarely, as it leaves room for few executions
			most = tableCap + 100
		}
		for i := 0; len(once) > 1 && len(rows) < most; i++ {
			for _, row := range once[1:] {
				row = slices.Clone(row)
				row[0] = fmt.Sprint(row[0], i*(1-int(again%3)))
				rows = append(rows, row)
			}
		}
		from := func() func() ([]string, error) {
			left := rows
			return func() ([]string, error) {
				if len(left) == 0 {
					return nil, io.EOF
				}
				row := left[0]
				left = left[1:]
				return row, nil
			}
		}
		p, err := ReadRows(context.Background(), "x", nil, from(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		var data [][]string
		_, err = ReadRows(context.Background(), "x", nil, from(), Options{Each: func(cells [][]byte) error {
			data = append(data, copyCells(cells))
			return nil
		}})
		if err != nil || int64(len(data)) != p.Rows {
			t.Fatalf("%d rows one by one, %d in the profile, %v", len(data), p.Rows, err)
		}
		for what, r := range map[string]struct {
			numbers []int64
			count   int64
		}{"sums": {p.Totals, p.TotalRows}, "headings": {p.Sections, p.SectionRows}} {
			if n := r.numbers; !slices.IsSorted(n) || len(slices.Compact(slices.Clone(n))) < len(n) || len(n) > maxNoted ||
				int64(len(n)) > r.count ||
				len(n) > 0 && (n[0] < 1 || n[len(n)-1] > p.Rows) || r.count > p.Rows {
				t.Fatalf("%d %s of %d rows: %v", r.count, what, p.Rows, n)
			}
		}
		for i, c := range p.Columns {
			if c.Distinct+c.Nulls > p.Rows || c.Nulls < 0 || c.Distinct < 0 {
				t.Errorf("column %d of %d rows has %d values, %d missing", i, p.Rows, c.Distinct, c.Nulls)
			}
			if !c.Key {
				continue
			}
			seen := map[string]bool{}
			for n, row := range data {
				cell := ""
				if i < len(row) {
					cell = strings.TrimSpace(row[i])
				}
				if cell == "" || seen[cell] {
					t.Fatalf("column %d is a key, but row %d has %q", i, n+1, cell)
				}
				seen[cell] = true
			}
		}
	})
}
