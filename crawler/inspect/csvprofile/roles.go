package csvprofile

import (
	"bytes"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxNoted is the maximum number of rows of a role that a profile lists.
const maxNoted = 100

// roles finds rows of a table that are other than records. They stay rows: only their numbers are noted.
type roles struct {
	totals, sections         []int64 // numbers of data rows from 1, the first maxNoted of each
	totalCount, sectionCount int64

	heads  []int64 // numbers of the last rows that may head those below, with none but such since
	phrase bool    // the last of them has several words

	grid  *grid   // the first rows; nil before the first
	full  bool    // the table has more rows than grid
	named []int64 // numbers of those that say that they have sums, the first maxNamed

	last     int64    // number of the last row after those of the grid that says so
	lastText []string // its cells
}

// totalStart has the first three bytes of words for a total, by their places. Most rows are known by them to be none.
var totalStart = func() (start [3][256]bool) {
	for _, w := range totalWords {
		for _, s := range []string{w, strings.ToUpper(w)} {
			for i := range start {
				start[i][s[i]] = true
			}
		}
	}
	return start
}()

// totalWords are words, in lower case, that alone name a row of sums.
var totalWords = []string{"total", "totals", "grand total", "sub-total", "subtotal", "sub total", "sum", "summe", "zwischensumme",
	"gesamtsumme", "insgesamt", "gesamt",
	"zusammen", "total général", "ensemble", "totale", "totale generale", "totaal", "celkem", "razem", "ogółem", "suma", "összesen",
	"итого", "всего", "toplam", "yhteensä",
	"i alt", "totalt", "overall total", "overall", "skupaj", "ukupno", "spolu"}

// maxNamed is the maximum number of rows that are checked for sums because of a word.
const maxNamed = 200

// note records data row number n for sum. Once the grid is full, rows that others follow may be left out.
func (r *roles) note(cells [][]byte, n int64) {
	if !r.full {
		if r.grid == nil {
			r.grid = spareGrids.Get().(*grid)
		}
		if r.full = !r.grid.keep(cells); !r.full {
			if len(r.named) < maxNamed && namesTotal(cells) {
				r.named = append(r.named, n)
			}
			return
		}
	}
	if namesTotal(cells) {
		r.last, r.lastText = n, copyCells(cells)
	}
}

// namesTotal reports whether one of the first cells of a row is a word for a sum, and numbers follow.
func namesTotal(cells [][]byte) bool {
	for _, cell := range cells[:min(3, len(cells))] {
		if len(cell) > 2 && (totalStart[0][cell[0]] && totalStart[1][cell[1]] && totalStart[2][cell[2]] || endsAsTotal(cell)) &&
			isTotal(cell) && numbersBehind(cells) {
			return true
		}
	}
	return false
}

// sum sets the rows of totals. A word alone does not make one: its numbers must be the sums of others. Of a table with
// more rows than are kept, the last row is compared with the statistics of the columns.
func (r *roles) sum(p *Profile) {
	if r.grid == nil {
		return
	}
	unnamed := !r.full && len(r.grid.rows) <= maxUnnamed
	if unnamed || len(r.named) > 0 {
		named := make([]bool, len(r.grid.rows))
		for _, n := range r.named {
			named[n-1] = true
		}
		s := newSums(r.grid, named, func(c int) bool { return c < len(p.Columns) && p.Columns[c].Decimal == "," })
		s.find(unnamed)
		r.totals = s.totals()
	}
	r.grid.release()
	r.grid = nil
	if r.last > 0 && r.last == p.Rows && !p.Truncated && isSumOfAll(r.lastText, p) {
		r.totals = append(r.totals, r.last)
	}
	r.totalCount = int64(len(r.totals))
	r.totals = r.totals[:min(len(r.totals), maxNoted)]
}

// isSumOfAll reports whether the last row of a table has the sums of all others: half of what its columns add up to.
func isSumOfAll(last []string, p *Profile) bool {
	same, misses := 0, 0
	for i, c := range p.Columns[:min(len(p.Columns), len(last))] {
		v := classify(trim([]byte(last[i])))
		if c.Mean == nil || v.kind != kindInteger && v.kind != kindDecimal && v.kind != kindDouble {
			continue
		}
		x := v.num
		if c.Decimal == "," {
			x = v.alt
		}
		if others := *c.Mean*float64(p.Rows-c.Nulls) - x; math.Abs(others-x) > 1e-6*math.Abs(x) {
			misses++
		} else if math.Abs(x) >= 20 {
			same++
		}
	}
	return same > 0 && same >= misses
}

// head records that data row number n may head the rows below it: it has nothing but a text in its first cell.
func (r *roles) head(cells [][]byte, n int64) {
	r.heads = append(r.heads, n)
	r.phrase = bytes.IndexByte(trim(cells[0]), ' ') > 0
}

// body records that a row of several values follows. Of the rows above it that may be headings, one or two are; more
// are a text. The last is none if its words go on in the row, in lower case.
func (r *roles) body(cells [][]byte) {
	if n := len(r.heads); n > 0 && r.phrase && len(cells) > 0 {
		if first, _ := utf8.DecodeRune(trim(cells[0])); unicode.IsLower(first) {
			r.heads = r.heads[:n-1]
		}
	}
	if len(r.heads) <= 2 {
		for _, n := range r.heads {
			r.sectionCount++
			if len(r.sections) < maxNoted {
				r.sections = append(r.sections, n)
			}
		}
	}
	r.heads = r.heads[:0]
}

// endsAsTotal reports whether the last word of a cell is "total".
func endsAsTotal(cell []byte) bool {
	return len(cell) > 6 && cell[len(cell)-1]|0x20 == 'l' && bytes.EqualFold(cell[len(cell)-5:], []byte("total")) &&
		cell[len(cell)-6] == ' '
}

// isTotal reports whether a cell names a sum: a word for it, or "Total" and what is summed.
func isTotal(cell []byte) bool {
	if len(cell) > 80 {
		return false
	}
	low := strings.Trim(strings.ToLower(string(trim(cell))), " .:,;*-–—=()[]0123456789\\/\u00a0")
	for _, w := range totalWords {
		if low == w {
			return true
		}
	}
	if strings.HasSuffix(low, ", total") {
		return true
	}
	for _, w := range []string{"total,", "total:", "total ", "subtotal ", "sub-total ", "grand total ", "summe ", "insgesamt ", "gesamt "} {
		if strings.HasPrefix(low, w) {
			return true
		}
	}
	return false
}

// numbersBehind reports whether cells behind the first are numbers, and none behind the second is a word: a film may be
// called Total Recall.
func numbersBehind(cells [][]byte) bool {
	numbers := 0
	for i, c := range cells {
		c = trim(c)
		if i == 0 || len(c) == 0 {
			continue
		}
		switch classify(c).kind {
		case kindInteger, kindDecimal, kindDouble:
			numbers++
		case kindText:
			if i > 1 && len(c) > 3 && !bytes.ContainsAny(c, "0123456789") {
				return false
			}
		}
	}
	return numbers > 0
}

// isSection reports whether a row of a table of that width has nothing but a text in its first cell.
func isSection(cells [][]byte, width int) bool {
	if width < 3 || len(cells) == 0 || !lone(cells) {
		return false
	}
	cell := trim(cells[0])
	if len(cell) == 0 || len(cell) > 120 || remark(cell) || cell[len(cell)-1] == '.' || cell[0] == '\\' {
		return false
	}
	return classify(cell).kind == kindText && !isOpen(cell)
}

// isOpen reports whether a text ends in the middle of a name or sentence.
func isOpen(cell []byte) bool {
	switch last := cell[len(cell)-1]; {
	case last == ',' || last == ';' || last == '&' || cell[0] == '"':
		return true
	case bytes.Count(cell, []byte("(")) > bytes.Count(cell, []byte(")")):
		return true
	}
	word := cell[bytes.LastIndexByte(cell, ' ')+1:]
	return len(word) < len(cell) && openWords[strings.ToLower(string(word))]
}

// openWords are words that no name ends with.
var openWords = set(
	"and or of the a an in on for with to by than und oder der die das von mit für et ou de du des la le les y e o del di da en van het")
