package diff

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
)

// WriteCSV writes what the report lists, a line for each cell, statement or path that differs: of rows added and
// removed, a line for each of their cells. A difference of bytes has only the header.
func (r *Report) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write([]string{"table", "change", "row", "key", "column", "from", "to"})
	for _, t := range r.Tables() {
		for _, row := range t.Rows {
			line := []string{t.Name, row.Op, strconv.FormatInt(row.Row, 10), strings.Join(row.Key, ", "), "", "", ""}
			for _, c := range row.Diff {
				line[4], line[5], line[6] = c.Column, c.From, c.To
				out.Write(line)
			}
			if row.Op == "changed" { // what did not change is not listed
				continue
			}
			columns, at := t.To, 6
			if row.Op == "removed" {
				columns, at = t.From, 5
			}
			for i, cell := range row.Cells {
				line[4] = ""
				if i < len(columns) {
					line[4] = columns[i].Name
				}
				line[at] = cell
				out.Write(line)
			}
		}
	}
	if t := r.Triples; t != nil {
		for _, s := range t.Removed {
			out.Write([]string{"", "removed", "", "", "", s, ""})
		}
		for _, s := range t.Added {
			out.Write([]string{"", "added", "", "", "", "", s})
		}
	}
	if p := r.Paths; p != nil {
		for _, c := range p.Changes {
			out.Write([]string{"", c.Op, "", "", c.Path, c.From, c.To})
		}
	}
	out.Flush()
	return out.Error()
}
