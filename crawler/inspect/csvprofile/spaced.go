package csvprofile

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// skipping returns the candidate with blanks after delimiters skipped, if that changes what is quoted: in
// `1, "Doe, Jane", 2` the quotation begins behind a blank. ok is false if it does not, or if cells do not begin with
// blanks.
func (c *candidate) skipping(text []byte) (candidate, bool) {
	if c.delim == "" || c.delim == " " || !bytes.Contains(text, []byte(c.delim+` "`)) {
		return *c, false
	}
	blanks, cells := 0, 0
	for _, row := range c.rows {
		for _, cell := range row[1:] {
			if cell != "" {
				cells++
				if cell[0] == ' ' {
					blanks++
				}
			}
		}
	}
	if blanks*2 < cells {
		return *c, false
	}
	s := readSkipping(text, c.delim, `"`, c.esc, true)
	s.score = c.score
	better := s.consistency > c.consistency || s.consistency == c.consistency && s.width <= c.width
	return s, better && s.rows != nil
}

// lettersBetween returns the letters beyond ASCII that occur equally often, at least twice, in every one of the first
// lines of text. Programs have taken such characters to separate cells, since no cell has them: they are letters only
// in the encoding in which the text is read.
func lettersBetween(text []byte) []string {
	var lines [][]byte
	for line := range bytes.Lines(text) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
			lines = append(lines, line[:min(len(line), 8192)])
		}
		if len(lines) == 50 {
			break
		}
	}
	if len(lines) < 4 {
		return nil
	}
	var list []string
	for i := 0; i < len(lines[0]) && len(list) < 4; {
		r, w := utf8.DecodeRune(lines[0][i:])
		i += w
		if w < 2 || !unicode.IsLetter(r) || slices.Contains(list, string(r)) || mayDelimit(r) {
			continue
		}
		n := bytes.Count(lines[0], []byte(string(r)))
		if n >= 2 && !slices.ContainsFunc(lines, func(l []byte) bool { return bytes.Count(l, []byte(string(r))) != n }) &&
			apart(lines, string(r)) {
			list = append(list, string(r))
		}
	}
	return list
}

// apart reports whether most of the cells between a letter are other than words that it could be part of.
func apart(lines [][]byte, letter string) bool {
	inside, all := 0, 0
	for _, line := range lines {
		cells := strings.Split(string(line), letter)
		for i, cell := range cells[1:] {
			all++
			before, _ := utf8.DecodeLastRuneInString(cells[i])
			after, _ := utf8.DecodeRuneInString(cell)
			if unicode.IsLetter(before) && unicode.IsLetter(after) {
				inside++
			}
		}
	}
	return inside*2 < all
}
