package csvprofile

import "strings"

// layout is where the table is among the records of a sample.
type layout struct {
	first   int    // index of the table's first record, header or data
	header  int    // number of header records
	comment string // prefix of comment lines, "" if there are none
	because string // why the header is one
}

// findLayout finds the lines before the table, and its header.
func findLayout(c *candidate) layout {
	var l layout
	rows := c.rows
	l.first, l.comment = firstRecord(rows, c.width)
	first := min(l.first, len(rows))
	l.header, l.because = headerRows(rows[first:], c.kindsOfCells()[first:])
	return l
}

// firstRecord returns the index of the table's first record and the prefix of comments. Titles, notes and comments come
// before.
func firstRecord(rows [][]string, width int) (int, string) {
	comment := ""
	i := 0
	for i < len(rows) {
		r := rows[i]
		first := strings.TrimSpace(r[0])
		if blank(r) {
			i++
			continue
		}
		if p := commentPrefix(first); p != "" && len(rows) > i+1 && filled(r) < width {
			comment = p
			i++
			continue
		}
		break
	}
	if width < 2 {
		return i, comment
	}
	// Titles have few filled cells, and full rows after them.
	for j := i; j < len(rows) && j < i+40; j++ {
		if blank(rows[j]) || width > 2 && labelled(rows[j]) {
			continue
		}
		if looksFull(rows, j, width) || spans(rows, j, width) {
			return j, comment
		}
	}
	return i, comment
}

// spans reports whether record j is the upper row of a header: several words, each above a group of columns that the
// next record names.
func spans(rows [][]string, j, width int) bool {
	r := rows[j]
	if len(r) != width || filled(r) < 2 || strings.TrimSpace(r[0]) == "" && filled(r) < 3 || j+1 >= len(rows) ||
		filled(rows[j+1]) < width-1 {
		return false
	}
	for _, row := range rows[j : j+2] {
		for _, cell := range row {
			if k := kindOf(strings.TrimSpace(cell)); k != kindText && k != kindEmpty && k != kindNull && k != kindBoolean {
				return false
			}
		}
	}
	return true
}

// looksFull reports whether record j has as many filled cells as the rows of the table.
func looksFull(rows [][]string, j, width int) bool {
	n := filled(rows[j])
	if n == width {
		return true
	}
	if len(rows[j]) < (width+1)/2 || n <= 1 && width > 2 {
		return false
	}
	if len(rows[j]) < width && setApart(rows, j, width) {
		return false
	}
	// A title beside a note is not a header: a fuller row follows closely.
	maxFilled := 0
	for k := j + 1; k < len(rows) && k < j+6; k++ {
		if !blank(rows[k]) {
			maxFilled = max(maxFilled, filled(rows[k]))
		}
	}
	return n*2 > maxFilled
}

// labelled reports whether a record is a label and what it labels, as above a table: "Title:", "Population".
func labelled(r []string) bool {
	first := strings.TrimSpace(r[0])
	return len(first) > 1 && strings.HasSuffix(first, ":") && filled(r) <= 2
}

// setApart reports whether record j is in a paragraph of records that are all too short, before a full one.
func setApart(rows [][]string, j, width int) bool {
	gap := false
	for _, r := range rows[j:min(len(rows), j+20)] {
		switch {
		case blank(r):
			gap = true
		case len(r) >= width:
			return gap && filled(r) == width
		case gap:
			return false
		}
	}
	return false
}

func commentPrefix(s string) string {
	for _, p := range []string{"#", "//", "%%", "--"} {
		if strings.HasPrefix(s, p) && len(s) > len(p) {
			return p
		}
	}
	return ""
}

func blank(r []string) bool {
	for _, c := range r {
		if strings.TrimSpace(c) != "" {
			return false
		}
	}
	return true
}

func filled(r []string) int {
	n := 0
	for _, c := range r {
		if strings.TrimSpace(c) != "" {
			n++
		}
	}
	return n
}
