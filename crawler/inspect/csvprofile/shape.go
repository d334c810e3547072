package csvprofile

import "strings"

// Form describes how much a text looks like a table.
type Form struct {
	Delimiter string
	Rows      int  // sampled rows that are not blank
	Columns   int  // number of cells of most rows
	Table     bool // the text is almost certainly a table: several rows have the same number of cells
}

// Shape returns how much text, the beginning of a file in UTF-8, looks like a table. whole says that text is all of the
// file.
func Shape(text []byte, whole bool) Form {
	if len(text) > sniffBytes/16 {
		text, whole = text[:sniffBytes/16], false
	}
	c := sniff(text, whole)
	f := Form{Delimiter: c.delim, Rows: c.full, Columns: c.width}
	if c.width < 2 || c.full < 2 {
		return f
	}
	words := 0  // cells that read like running text
	blanks := 0 // cells that begin with a blank, as after the commas of a sentence
	cells := 0
	for _, row := range c.rows {
		for i, cell := range row {
			cells++
			if i > 0 && strings.HasPrefix(cell, " ") {
				blanks++
			}
			if strings.Count(cell, " ") > 6 {
				words++
			}
		}
	}
	switch {
	case usual(c.delim) && c.delim != ",":
		f.Table = c.consistency >= 0.8 || c.full >= 10 && c.consistency >= 0.6
	case c.delim == ",":
		f.Table = c.consistency >= 0.85 && (c.width >= 3 || c.full >= 4 && words*3 < cells || c.consistency == 1 && words == 0) && blanks*3 < cells
	default:
		f.Table = c.consistency >= 0.95 && c.full >= 5 && c.width >= 3
	}
	return f
}
