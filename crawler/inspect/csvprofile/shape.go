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
	alone, pairs := 0, 0 // rows with one value, and with more: what only begins or ends lines separates nothing
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
		switch filled(row) {
		case 0:
		case 1:
			alone++
		default:
			pairs++
		}
	}
	switch {
	case pairs < alone && c.width <= 3 && c.good == 0:
	case usual(c.delim) && c.delim != ",":
		f.Table = c.consistency >= 0.8 || c.full >= 10 && c.consistency >= 0.6
	case c.delim == ",":
		f.Table = c.consistency >= 0.85 && (c.width >= 3 || c.full >= 4 && words*3 < cells || c.consistency == 1 && words == 0) &&
			blanks*3 < cells
	default:
		f.Table = c.consistency >= 0.95 && c.full >= 5 && c.width >= 3 && weight(c.delim) > 0.5 && c.typed() > 0 &&
			!counted(c.rows, c.width) && !dump(c.rows)
	}
	f.Table = f.Table && !source(c.rows, c.delim)
	return f
}

// typed returns the number of columns with values of one kind other than text, such as numbers or dates, below the
// first row.
func (c *candidate) typed() (n int) {
	kinds := c.kindsOfCells()
	for i := range c.width {
		if len(kinds) > 1 && columnKind(kinds[1:], i) != kindText {
			n++
		}
	}
	return n
}

// counted reports whether rows are one sentence again and again, in which only a number or a word changes.
func counted(rows [][]string, width int) bool {
	varying := 0
	for i := range width {
		first := ""
		for _, row := range rows {
			if i >= len(row) || row[i] == "" {
				continue
			}
			if first == "" {
				first = row[i]
			} else if row[i] != first {
				varying++
				break
			}
		}
	}
	return varying*2 < width
}

// dump reports whether all cells are bytes written in hexadecimal, two digits each, some with letters.
func dump(rows [][]string) bool {
	letters := false
	for _, row := range rows {
		for _, cell := range row {
			if cell == "" {
				continue
			}
			if len(cell) != 2 || strings.Trim(cell, "0123456789abcdefABCDEF") != "" {
				return false
			}
			letters = letters || strings.ContainsAny(cell, "abcdefABCDEF")
		}
	}
	return letters
}

// source reports whether rows read like the lines of a program or of a configuration rather than like records: many end
// or begin as statements, blocks and assignments do.
func source(rows [][]string, delim string) bool {
	like, full := 0, 0
	for _, row := range rows {
		if blank(row) {
			continue
		}
		full++
		line := strings.TrimSpace(strings.Join(row, delim))
		last, first := line[len(line)-1], row[0]
		switch {
		case last == '{' || last == '}' && !strings.Contains(line, "{") || last == '\\':
		case last == ';' && delim == ";" && filled(row) <= 2 && strings.ContainsAny(line, "=(){}"):
		case strings.HasPrefix(line, "//") || strings.HasPrefix(line, "/*"):
		case strings.HasPrefix(line, "struct<"):
		case delim != "=" && len(row) <= 3 && assigns(first):
		default:
			continue
		}
		like++
	}
	return like*4 > full
}

// assigns reports whether a cell is a name and a value, or begins with them: a = b, a: b.
func assigns(cell string) bool {
	for _, sign := range []string{" = ", " := ", "=\""} {
		if name, value, ok := strings.Cut(strings.TrimSpace(cell), sign); ok && name != "" && value != "" &&
			!strings.ContainsAny(name, " ,;\t") {
			return true
		}
	}
	return false
}
