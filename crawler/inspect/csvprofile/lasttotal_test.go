package csvprofile

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The last row of a long table is compared with the sums of its columns, wherever the batch ends in which it comes.
func TestTheLastRowOfALongTableMayBeATotal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rows int
		at   int // of the row that says it is a total, from the end; only the last one is believed
		want bool
	}{{maxGridRows - 1, 0, true}, {maxGridRows, 0, true}, {maxGridRows + 1, 0, true}, {maxGridRows + runLen, 0, true},
		{maxGridRows + 3*runLen - 1, 0, true},
		{maxGridRows + 3*runLen, 0, true}, {maxGridRows + 3*runLen + 1, 0, true}, {maxGridRows + 1000, 1, false},
		{maxGridRows + 1000, 500, false}} {
		var b strings.Builder
		b.WriteString("place,trees,hedges\n")
		trees, total := 0, 0
		for i := range c.rows - 1 {
			if i == c.rows-1-c.at {
				fmt.Fprintf(&b, "Total,%d,%d\n", trees, 2*trees)
			}
			n := 1 + i*7%50
			trees += n
			fmt.Fprintf(&b, "Place %d,%d,%d\n", i, n, 2*n)
		}
		if c.at == 0 {
			fmt.Fprintf(&b, "Total,%d,%d\n", trees, 2*trees)
			total = c.rows
		}
		p, err := Read(t.Context(), strings.NewReader(b.String()), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(p.Totals, int64(total)); got != c.want || !c.want && len(p.Totals) > 0 {
			t.Errorf("%d rows, total %d from the end: totals %v of %d rows", c.rows, c.at, p.Totals, p.Rows)
		}
	}
}
