package csvprofile

import (
	"bytes"
	"strings"
)

// maxNoted is the maximum number of rows of a role that a profile lists.
const maxNoted = 100

// roles are rows of a table that are other than records. They stay rows: only their numbers are noted.
type roles struct {
	totals, sections         []int64 // numbers of data rows from 1, the first maxNoted of each
	totalCount, sectionCount int64

	heads []int64 // numbers of the last rows that may head those below, with none but such since
}

// totalStart has the bytes that words for a total may begin with. Most rows are known by it to be none.
var totalStart = func() (set [256]bool) {
	for _, w := range totalWords {
		set[w[0]] = true
		if c := w[0]; c >= 'a' && c <= 'z' {
			set[c&^0x20] = true
		}
	}
	set[0xd0] = true // Cyrillic capitals begin with it, too
	return set
}()

// totalWords are words, in lower case, that alone name a row of sums.
var totalWords = []string{"total", "totals", "grand total", "sub-total", "subtotal", "sub total", "sum", "summe", "zwischensumme", "gesamtsumme", "insgesamt", "gesamt",
	"zusammen", "total général", "ensemble", "totale", "totale generale", "totaal", "celkem", "razem", "ogółem", "suma", "összesen", "итого", "всего", "toplam", "yhteensä",
	"i alt", "totalt", "overall total", "overall", "skupaj", "ukupno", "spolu"}

// note records the role of data row number n with these cells, if one of the first two names a sum.
func (r *roles) note(cells [][]byte, n int64) {
	for _, cell := range cells[:min(2, len(cells))] {
		if len(cell) > 2 && (totalStart[cell[0]] || endsAsTotal(cell)) && isTotal(cell) && numbersBehind(cells) {
			r.totalCount++
			if len(r.totals) < maxNoted {
				r.totals = append(r.totals, n)
			}
			return
		}
	}
}

// head records that data row number n may head the rows below it: it has nothing but a text in its first cell.
func (r *roles) head(n int64) { r.heads = append(r.heads, n) }

// body records that a row of several values follows. Of the rows above it that may be headings, one or two are; more are a text.
func (r *roles) body() {
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
	return len(cell) > 6 && cell[len(cell)-1]|0x20 == 'l' && bytes.EqualFold(cell[len(cell)-5:], []byte("total")) && cell[len(cell)-6] == ' '
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

// numbersBehind reports whether cells behind the first are numbers, and none behind the second is a word: a film may be called
// Total Recall.
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
			if i > 1 && len(c) > 3 && bytes.IndexAny(c, "0123456789") < 0 {
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
	return classify(cell).kind == kindText
}
