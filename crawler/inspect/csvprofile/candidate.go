package csvprofile

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"unsafe"
)

// candidate is a dialect and the table that the sample is in it.
type candidate struct {
	delim, quote, esc string
	skip              bool // blanks after delimiters are skipped, so that a quotation may begin behind them
	rows              [][]string
	kinds             [][]kind     // of the cells of rows; nil until needed
	widths            []widthCount // narrow ones first
	good, bad         int          // well-formed and malformed quotations
	score             float64
	full              int     // rows that are not blank
	width             int     // most frequent number of cells
	consistency       float64 // share of rows that have width cells
	types             float64 // mean plainness of the cells
}

// doubles reports whether the delimiter is the best one written twice. The best one then reads an empty cell between
// any two.
func (c *candidate) doubles(best *candidate) bool {
	return len(best.delim) > 0 && c.delim == best.delim+best.delim && c.width > 1 && best.width == 2*c.width-1 &&
		c.consistency >= best.consistency
}

// unlikely reports whether a rarely used delimiter explains the text worse than the best other one: too few rows agree
// on it, or it occurs inside times, addresses and numbers that are whole without it.
func (c *candidate) unlikely(best *candidate) bool {
	if c.width < 2 || c.consistency < 0.8 || c.full < 2 {
		return true
	}
	if best.consistency >= 0.9 && (best.delim == "" || usual(best.delim)) && lonely(c.rows) {
		return true // it occurs in the texts of a column, not in the column's name
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

// steady reports whether the delimiter splits every record alike and is not the decimal character of numbers. Another
// one that does not occur in the first record, the column names, then only separates words within cells.
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

// withDelimiter returns the best candidate with delimiter d.
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

// withQuote reads text with a quote character. ok is false if it quotes nothing.
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

// withEscape tries a backslash as escape character if it occurs before a quote or a delimiter.
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

// read parses the sample in one dialect. The candidate's cells share memory with text, which must not change.
func read(text []byte, d, q, esc string) candidate {
	return readSkipping(text, d, q, esc, false)
}

// readSkipping is read; skip says that blanks after delimiters are skipped.
func readSkipping(text []byte, d, q, esc string, skip bool) candidate {
	c := candidate{delim: d, quote: q, esc: esc, skip: skip, rows: make([][]string, 0, enoughRows)}
	r := newRowsBytes(text, Dialect{Delimiter: d, QuoteChar: q, EscapeChar: esc, SkipInitialSpace: skip})
	cells := 0
	var all []string // memory for many rows
	agree := true    // all rows have the same number of cells, at least two
	for len(c.rows) < sniffRows && (!agree || len(c.rows) < enoughRows) && cells < sniffCells && r.Next() {
		n := len(r.Cells())
		agree = agree && n > 1 && (len(c.rows) == 0 || n == len(c.rows[0]))
		if len(all) < n {
			all = make([]string, max(n, 1024))
		}
		var row []string
		row, all = all[:n:n], all[n:]
		var line []byte // copies of cells that differ from the text
		if len(r.scratch) > 0 {
			line = bytes.Join(r.Cells(), nil)
		}
		for i, cell := range r.Cells() {
			if len(r.scratch) > 0 {
				cell, line = line[:len(cell)], line[len(cell):]
			}
			row[i] = unsafe.String(unsafe.SliceData(cell), len(cell))
		}
		cells += n
		c.rows = append(c.rows, row)
	}
	if q != "" {
		c.good, c.bad = quotations(text, d, q[0], esc)
		c.bad += r.unclosed
	}
	c.measure()
	return c
}

// between reports whether q surrounds nearly every d and begins no line: the three together are the delimiter.
func between(text []byte, d, q string) bool {
	return d != "" && bytes.Count(text, []byte(q+d+q))*10 >= bytes.Count(text, []byte(d))*9 &&
		!bytes.HasPrefix(text, []byte(q)) && !bytes.Contains(text, []byte("\n"+q))
}

// quotations counts the quoted cells that begin and end where cells do, and those that do not.
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
		// An opening quote: find the closing one.
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

// widthCount is the number of rows that have width cells.
type widthCount struct{ width, rows int }

// measure sets widths, width, full and consistency from the rows that are not blank.
func (c *candidate) measure() {
	all := make([]int, 0, len(c.rows))
	for _, r := range c.rows {
		if len(r) != 1 || strings.TrimSpace(r[0]) != "" {
			all = append(all, len(r))
		}
	}
	slices.Sort(all)
	maxRows := 0
	for i, w := range all {
		if i == 0 || w != all[i-1] {
			c.widths = append(c.widths, widthCount{width: w})
		}
		last := &c.widths[len(c.widths)-1]
		if last.rows++; last.rows >= maxRows {
			c.width, maxRows = w, last.rows
		}
	}
	if c.full = len(all); c.full > 0 {
		c.consistency = float64(maxRows) / float64(c.full)
	}
}

// oneColumn is the score of a table of one column. Two columns in all rows score a half.
const oneColumn = 0.12

// rate scores how much the rows look like a table: equally long rows of cells that are plain values.
func (c *candidate) rate() float64 {
	if c.width == 0 {
		return 0
	}
	// Pattern score after van den Burg, Nazabal and Sutton (CleverCSV, 2019); the most frequent width counts most.
	pattern := 0.0
	for _, w := range c.widths {
		share := float64(w.rows) / float64(c.full)
		if w.width == 1 {
			pattern += share * share * oneColumn
			continue
		}
		pattern += share * share * float64(w.width-1) / float64(w.width)
	}
	sum, cells := c.plainness()
	c.types = 0
	if cells > 0 {
		c.types = sum / float64(cells)
	}
	return pattern * math.Max(c.types, 1e-3) * weight(c.delim)
}

// plainness returns the sum of the plainness of the cells and their number, and sets kinds.
func (c *candidate) plainness() (sum float64, cells int) {
	var seen [64]struct { // recent cells by prefix, since most columns repeat some
		cell  string
		kind  kind
		plain float64
	}
	for i := range seen {
		seen[i].plain = plainness("", kindEmpty)
	}
	c.kinds = make([][]kind, len(c.rows))
	var all []kind // memory for many rows
	for n, r := range c.rows {
		if len(all) < len(r) {
			all = make([]kind, max(len(r), 1024))
		}
		c.kinds[n], all = all[:len(r):len(r)], all[len(r):]
		if len(r) == 1 && r[0] == "" {
			continue
		}
		cells += len(r)
		for i, cell := range r {
			b := unsafe.Slice(unsafe.StringData(cell), len(cell))
			known := &seen[prefix(b)*0x9E3779B97F4A7C15>>58]
			if known.cell != cell {
				k := cellKind(cell)
				known.cell, known.kind, known.plain = cell, k, plainness(cell, k)
			}
			c.kinds[n][i] = known.kind
			sum += known.plain
		}
	}
	return sum, cells
}

// kindsOfCells returns the kinds of the cells of all rows.
func (c *candidate) kindsOfCells() [][]kind {
	if c.kinds == nil {
		c.plainness()
	}
	return c.kinds
}

// cellKind returns the kind of a cell of the sample.
func cellKind(cell string) kind { return kindOf(strings.TrimSpace(cell)) }
