package csvprofile

import (
	"bytes"
	"math"
	"strings"
)

// candidate is a dialect with the table it makes of the sample.
type candidate struct {
	delim, quote, esc string
	rows              [][]string
	good, bad         int // quotations well and badly formed
	score             float64
	full              int // rows that are not blank
	width             int // commonest number of cells
	consistency       float64
	types             float64
}

// doubles tells whether a delimiter is the best one written twice, which then only found an empty cell between any two.
func (c *candidate) doubles(best *candidate) bool {
	return len(best.delim) > 0 && c.delim == best.delim+best.delim && c.width > 1 && best.width == 2*c.width-1 && c.consistency >= best.consistency
}

// unlikely tells whether a delimiter that few files have explains the text worse than the best other one: too few
// rows agree on it, or it stands inside times, addresses and numbers that are whole without it.
func (c *candidate) unlikely(best *candidate) bool {
	if c.width < 2 || c.consistency < 0.8 || c.full < 2 {
		return true
	}
	if best.consistency >= 0.9 && (best.delim == "" || usual(best.delim)) && lonely(c.rows) {
		return true // it is in the texts of a column, and not in the column's name
	}
	with, inside := 0, 0
	for _, row := range best.rows {
		for _, cell := range row {
			if strings.Contains(cell, c.delim) {
				with++
				if kindOf(strings.TrimSpace(cell)) != kindText {
					inside++
				}
			}
		}
	}
	return with > 0 && inside*2 >= with
}

// steady tells whether a delimiter makes a table of every record, and is not what stands before the decimals of numbers:
// then another one that is not in the first record, the names of the columns, only separates words within cells.
func (c *candidate) steady() bool {
	if !usual(c.delim) || c.consistency < 1 || c.width < 2 || c.full < 3 {
		return false
	}
	decimals := 0
	for _, row := range c.rows {
		for i, cell := range row[1:] {
			if before := row[i]; before != "" && cell != "" && isDigit(before[len(before)-1]) && isDigit(cell[0]) {
				decimals++
				break
			}
		}
	}
	return decimals*2 <= c.full
}

// withDelimiter finds the best quoting for one delimiter.
func withDelimiter(text []byte, d string) candidate {
	usual, ok := withQuote(text, d, `"`)
	if ok && usual.bad == 0 { // nothing beats well-formed double quotes
		return usual
	}
	best := read(text, d, "", "")
	best.score = best.rate()
	quoted := false
	if ok && usual.score > best.score {
		best, quoted = usual, true
	}
	for _, q := range []string{"'", "`", "~"} {
		if quoted {
			break
		}
		if c, ok := withQuote(text, d, q); ok && c.score > best.score {
			best, quoted = c, true
		}
	}
	if best.quote == "" {
		if e, ok := withEscape(text, d, "", best); ok {
			e.score = e.rate()
			if e.score > best.score {
				best = e
			}
		}
	}
	return best
}

// withQuote reads text with a quote character; not ok where that does not quote anything.
func withQuote(text []byte, d, q string) (c candidate, ok bool) {
	if q == d || !bytes.Contains(text, []byte(q)) || q == "~" && between(text, d, q) {
		return c, false
	}
	c = read(text, d, q, "")
	escaped, ok := withEscape(text, d, q, c)
	if ok {
		c = escaped
	} else if c.good == 0 || c.bad*2 > c.good {
		return c, false
	}
	share := float64(c.good) / float64(c.good+4*c.bad)
	c.score = c.rate() * (0.9 + 0.2*share)
	return c, true
}

// withEscape tries a backslash as escape character where it stands before a quote or a delimiter.
func withEscape(text []byte, d, q string, plain candidate) (candidate, bool) {
	before := 0
	if q != "" {
		before = bytes.Count(text, []byte(`\`+q))
	}
	if d != "" {
		before += bytes.Count(text, []byte(`\`+d))
	}
	if before == 0 {
		return plain, false
	}
	c := read(text, d, q, `\`)
	if c.bad < plain.bad || c.bad == plain.bad && c.consistency > plain.consistency {
		return c, true
	}
	return plain, false
}

// read parses the sample in one dialect.
func read(text []byte, d, q, esc string) candidate {
	c := candidate{delim: d, quote: q, esc: esc, rows: make([][]string, 0, enoughRows)}
	r := newRowsBytes(text, Dialect{Delimiter: d, QuoteChar: q, EscapeChar: esc})
	cells := 0
	var all []string // of many rows: one piece of memory
	var line []byte
	agree := true // all rows have as many cells as the first, which are several
	for len(c.rows) < sniffRows && (!agree || len(c.rows) < enoughRows) && cells < sniffCells && r.Next() {
		n := len(r.Cells())
		agree = agree && n > 1 && (len(c.rows) == 0 || n == len(c.rows[0]))
		if len(all) < n {
			all = make([]string, max(n, 1024))
		}
		var row []string
		row, all = all[:n:n], all[n:]
		line = line[:0]
		for _, cell := range r.Cells() {
			line = append(line, cell...)
		}
		text := string(line)
		for i, cell := range r.Cells() {
			row[i], text = text[:len(cell)], text[len(cell):]
		}
		cells += n
		c.rows = append(c.rows, row)
	}
	if q != "" {
		c.good, c.bad = quotations(text, d, q[0], esc)
		c.bad += r.unclosed
	}
	c.width, c.full, c.consistency = widths(c.rows)
	return c
}

// between tells whether q stands on both sides of nearly every d and at the beginning of no line: together they are the
// delimiter.
func between(text []byte, d, q string) bool {
	return d != "" && bytes.Count(text, []byte(q+d+q))*10 >= bytes.Count(text, []byte(d))*9 &&
		!bytes.HasPrefix(text, []byte(q)) && !bytes.Contains(text, []byte("\n"+q))
}

// quotations counts quoted cells that begin and end where cells do, and those that do not.
func quotations(text []byte, d string, q byte, esc string) (good, bad int) {
	delim := []byte(d)
	starts := func(i int) bool {
		return i == 0 || text[i-1] == '\n' || text[i-1] == '\r' || len(delim) > 0 && bytes.HasSuffix(text[:i], delim)
	}
	ends := func(i int) bool {
		for i < len(text) && text[i] == ' ' && d != " " { // blanks after the quotation
			i++
		}
		return i == len(text) || text[i] == '\n' || text[i] == '\r' || len(delim) > 0 && bytes.HasPrefix(text[i:], delim)
	}
	for i := 0; i < len(text); {
		j := bytes.IndexByte(text[i:], q)
		if j < 0 {
			break
		}
		i += j
		if !starts(i) {
			i++
			continue
		}
		// an opening quote: find the one that closes
		k := i + 1
		for k < len(text) {
			if esc != "" && text[k] == esc[0] {
				k += 2
				continue
			}
			if text[k] == q {
				if k+1 < len(text) && text[k+1] == q {
					k += 2
					continue
				}
				break
			}
			k++
		}
		if k >= len(text) {
			bad++
			break
		}
		if ends(k+1) && (q == '"' || k-i < 3 || len(bytes.Trim(text[i:k], string(q))) > 0) { // a row of tildes is a line
			good++
		} else {
			bad++
		}
		i = k + 1
	}
	return good, bad
}

// widths finds the commonest number of cells among rows that are not blank, the number of these rows, and the share
// of them that have it.
func widths(rows [][]string) (width, full int, share float64) {
	count := map[int]int{}
	n := 0
	for _, r := range rows {
		if len(r) == 1 && strings.TrimSpace(r[0]) == "" {
			continue
		}
		count[len(r)]++
		n++
	}
	if n == 0 {
		return 0, 0, 0
	}
	for w, k := range count {
		if k > count[width] || k == count[width] && w > width {
			width = w
		}
	}
	return width, n, float64(count[width]) / float64(n)
}

// oneColumn is what a table of one column is worth: two columns in all rows are worth a half.
const oneColumn = 0.12

// rate says how much the candidate's rows look like a table: equally long rows of cells that are plain values.
func (c *candidate) rate() float64 {
	if c.width == 0 {
		return 0
	}
	// Patterns, after van den Burg, Nazabal and Sutton (CleverCSV, 2019), with the commonest width counting most.
	count := map[int]int{}
	n := 0
	for _, r := range c.rows {
		if len(r) == 1 && strings.TrimSpace(r[0]) == "" {
			continue
		}
		count[len(r)]++
		n++
	}
	pattern := 0.0
	for w, k := range count {
		share := float64(k) / float64(n)
		if w == 1 {
			pattern += share * share * oneColumn
			continue
		}
		pattern += share * share * float64(w-1) / float64(w)
	}
	sum, cells := 0.0, 0
	for _, r := range c.rows {
		if len(r) == 1 && r[0] == "" {
			continue
		}
		for _, cell := range r {
			sum += plainness(cell)
			cells++
		}
	}
	c.types = 0
	if cells > 0 {
		c.types = sum / float64(cells)
	}
	return pattern * math.Max(c.types, 1e-3) * weight(c.delim)
}
