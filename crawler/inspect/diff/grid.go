package diff

import "slices"

// gridColumns is the maximum number of columns of tables whose changes are shown below the heads of their columns.
// Changes of wider ones are lists of values.
const gridColumns = 14

// grid is the changes of rows of a table, below the heads of its columns.
type grid struct {
	Heads []string
	Rows  []gridRow
}

// gridRow is a row that changed. It has a cell for each head.
type gridRow struct {
	RowChange
	Cells []gridCell
}

// gridCell is a cell of a row that changed. Same tells the reader which row it is.
type gridCell struct {
	From, To string
	Same     string // the value of both versions
}

// grid returns the changes of rows below heads: the columns of the new version, then those that were removed. It
// returns nil if the table is too wide for that, or does not know which columns belong together, as after reading a
// report from JSON.
func (t *Table) grid() *grid {
	width := len(t.To) + len(t.Removed)
	if width > gridColumns || len(t.pairs) == 0 || len(t.Rows) == 0 {
		return nil
	}
	g := &grid{}
	for _, c := range t.To {
		g.Heads = append(g.Heads, c.Name)
	}
	old := make([]int, len(t.From)) // of a column of the old version, its place
	for i := range old {
		old[i] = -1
	}
	for _, p := range t.pairs {
		old[p.from] = p.to
	}
	for i, c := range t.From {
		if old[i] < 0 {
			old[i] = len(g.Heads)
			g.Heads = append(g.Heads, c.Name)
		}
	}
	for _, row := range t.Rows {
		r := gridRow{RowChange: row, Cells: make([]gridCell, len(g.Heads))}
		if row.Op == "changed" {
			for i, v := range row.Cells[:min(len(row.Cells), len(t.To))] {
				if fresh := !slices.ContainsFunc(t.pairs, func(p columnPair) bool { return p.to == i }); fresh {
					r.Cells[i].To = v
				} else {
					r.Cells[i].Same = v
				}
			}
		}
		for _, c := range row.Diff {
			if k := slices.Index(g.Heads, c.Column); k >= 0 {
				r.Cells[k] = gridCell{From: c.From, To: c.To}
			}
		}
		for i, v := range row.Cells {
			switch {
			case row.Op == "added" && i < len(g.Heads):
				r.Cells[i].To = v
			case row.Op == "removed" && i < len(old):
				r.Cells[old[i]].From = v
			}
		}
		g.Rows = append(g.Rows, r)
	}
	return g
}
