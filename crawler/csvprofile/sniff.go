package csvprofile

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what is looked at to find the dialect.
const (
	sniffBytes = 128 << 10 // of text
	sniffRows  = 400       // records per candidate
	sniffCells = 40000     // cells per candidate
)

// candidate is a dialect with the table it makes of the sample.
type candidate struct {
	delim, quote, esc string
	rows              [][]string
	lines             []int // line each row began on
	good, bad         int   // quotations well and badly formed
	score             float64
	full              int // rows that are not blank
	width             int // commonest number of cells
	consistency       float64
	types             float64
}

// sniff finds delimiter, quote and escape characters of text, the beginning of a file. whole says that it is all
// of the file.
func sniff(text []byte, whole bool) candidate {
	text = sample(text, whole)
	body := withoutComments(text)
	list := delimiters(body)[1:] // without ""
	var best candidate
	if len(list) > 0 && usual(list[0]) {
		best, list = withDelimiter(body, list[0]), list[1:]
	}
	if best.delim == "" || best.score <= bound("") {
		if one := withDelimiter(body, ""); best.delim == "" || best.score <= one.score {
			best = one
		}
	}
	for _, d := range list {
		if bound(d) <= best.score && d != best.delim+best.delim {
			continue
		}
		c := withDelimiter(body, d)
		if c.doubles(&best) {
			best = c
			continue
		}
		if c.score <= best.score || !usual(d) && c.unlikely(&best) {
			continue
		}
		best = c
	}
	if len(body) < len(text) { // the records with their comments again
		score := best.score
		best = read(text, best.delim, best.quote, best.esc)
		best.score = score
	}
	if best.delim == "" && !bytes.Contains(body, []byte(",")) {
		best.delim = "," // what a writer of one column would have put between two
	}
	return best
}

// doubles tells whether a delimiter is the best one written twice, which then only found an empty cell between any two.
func (c *candidate) doubles(best *candidate) bool {
	return len(best.delim) > 0 && c.delim == best.delim+best.delim && c.width > 1 && best.width == 2*c.width-1 && c.consistency >= best.consistency
}

// usual tells whether a delimiter is one of those that nearly all files have.
func usual(d string) bool { return d == "," || d == ";" || d == "\t" || d == "|" }

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

// lonely tells whether the first record that is not blank is one cell, and no blank one follows it as after a title.
func lonely(rows [][]string) bool {
	for i, r := range rows {
		if !blank(r) {
			return len(r) == 1 && i+1 < len(rows) && !blank(rows[i+1])
		}
	}
	return false
}

// withoutComments drops the lines that begin with "#" if the text begins with such a line and is not all of them.
func withoutComments(text []byte) []byte {
	if !bytes.HasPrefix(bytes.TrimLeft(text, "\r\n\t "), []byte("#")) {
		return text
	}
	out := make([]byte, 0, len(text))
	for rest := text; len(rest) > 0; {
		n := len(rest)
		if i := bytes.IndexAny(rest, "\r\n"); i >= 0 {
			n = i + 1
		}
		if rest[0] != '#' {
			out = append(out, rest[:n]...)
		}
		rest = rest[n:]
	}
	if len(bytes.TrimSpace(out)) == 0 {
		return text
	}
	return out
}

// sample is the part of text that is looked at: whole lines.
func sample(text []byte, whole bool) []byte {
	if len(text) > sniffBytes {
		text, whole = text[:sniffBytes], false
	}
	if !whole {
		if i := bytes.LastIndexAny(text, "\r\n"); i > 0 {
			text = text[:i+1]
		}
	}
	return text
}

// weight says how likely a delimiter is before the file has been read.
func weight(d string) float64 {
	switch d {
	case ",", ";", "\t":
		return 1
	case "|":
		return 0.98
	case "":
		return 1
	case "\x01", "\x1f", "\x1e", "||", "|~|", "~|~", ";;", "\t\t", "::", "^|^", "#|#", "|^|", "§", "¬", "¦", "þ":
		return 0.9
	case ":", " ", "^", "~", "*", "#", "!", "@", "&":
		return 0.75
	case "-", "_", ".", "/", "'", "\"", "=", "+", "(", ")", "<", ">", "[", "]", "{", "}", "%", "\\", "`":
		return 0.3
	}
	return 0.5
}

// bound is the most that rate can make of any text with a delimiter, the quotations' share included.
func bound(d string) float64 {
	if d == "" {
		return oneColumn * 1.1
	}
	return weight(d) * 1.1
}

// delimiters lists what may separate the cells of text: "" and every character, or common group of characters,
// that stands on enough lines; "" comes first.
func delimiters(text []byte) []string {
	type count struct{ lines, last int } // the last line it was seen on
	var ascii [utf8.RuneSelf]count
	counts := map[rune]count{} // of other characters
	lines, at := 0, 0
	for at < len(text) && lines < 200 {
		end := bytes.IndexAny(text[at:], "\r\n")
		if end < 0 {
			end = len(text) - at
		}
		line := text[at : at+end]
		at += end + 1
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		lines++
		if len(line) > 8192 {
			line = line[:8192]
		}
		for i := 0; i < len(line); {
			if c := line[i]; c < utf8.RuneSelf {
				i++
				if n := &ascii[c]; n.last != lines {
					*n = count{n.lines + 1, lines}
				}
				continue
			}
			c, w := utf8.DecodeRune(line[i:])
			i += w
			if n := counts[c]; n.last != lines && mayDelimit(c) {
				counts[c] = count{n.lines + 1, lines}
			}
		}
	}
	for c, n := range ascii {
		if n.lines > 0 && mayDelimit(rune(c)) {
			counts[rune(c)] = n
		}
	}
	list := []string{""}
	for c, n := range counts {
		if n.lines*4 >= lines || n.lines >= 10 {
			list = append(list, string(c))
		}
	}
	for _, m := range []string{"||", "|~|", "~|~", ";;", "\t\t", "::", "^|^", "#|#", "|^|", "<>", "~~", "$$", "|;|", "@@", "##", "&&", "%%", "->", "=>", "<|>", "{|}"} {
		if bytes.Count(text, []byte(m))*4 >= lines*3 && lines > 0 {
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b string) int {
		return cmp.Or(cmp.Compare(utf8.RuneCountInString(a), utf8.RuneCountInString(b)), cmp.Compare(weight(b), weight(a)), cmp.Compare(a, b))
	})
	return list[:min(len(list), 24)]
}

func mayDelimit(c rune) bool {
	if c < utf8.RuneSelf {
		return c == '\t' || c > 0 && c < ' ' && c != '\n' && c != '\r' || c >= ' ' && c < 0x7f && !isAlnum(byte(c)) && c != '"' && c != '.' && c != '\'' && c != '`' && c != '\\'
	}
	if c == utf8.RuneError || unicode.IsMark(c) {
		return false
	}
	return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '\u00a0' && c != '°' && c != 'º' || c == 'þ' || c == 'ÿ'
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
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
	if q == d || !bytes.Contains(text, []byte(q)) {
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
	c := candidate{delim: d, quote: q, esc: esc}
	r := newRowsBytes(text, Dialect{Delimiter: d, QuoteChar: q, EscapeChar: esc})
	cells := 0
	var all []string // of many rows: one piece of memory
	var line []byte
	for len(c.rows) < sniffRows && cells < sniffCells && r.Next() {
		n := len(r.Cells())
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
		c.lines = append(c.lines, r.Line())
	}
	if q != "" {
		c.good, c.bad = quotations(text, d, q[0], esc)
		c.bad += r.unclosed
	}
	c.width, c.full, c.consistency = widths(c.rows)
	return c
}

// quotations counts quoted cells that begin and end where cells do, and those that do not.
func quotations(text []byte, d string, q byte, esc string) (good, bad int) {
	delim := []byte(d)
	starts := func(i int) bool {
		return i == 0 || text[i-1] == '\n' || text[i-1] == '\r' || len(delim) > 0 && bytes.HasSuffix(text[:i], delim)
	}
	ends := func(i int) bool {
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
		if ends(k + 1) {
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

// Form is how much a text looks like a table.
type Form struct {
	Delimiter string
	Rows      int  // sampled rows that are not blank
	Columns   int  // cells that most rows have
	Table     bool // it can hardly be anything else: several rows agree on several cells
}

// Shape tells whether text, the beginning of a file in UTF-8, reads as a table. whole says that it is all of the file.
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
