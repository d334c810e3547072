package csvprofile

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what is looked at to find the dialect.
const (
	sniffBytes = 128 << 10 // of text
	sniffRows  = 400       // records per candidate
	enoughRows = 200       // records per candidate, where all agree
	sniffCells = 40000     // cells per candidate
)

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
		if c.score <= best.score || !usual(d) && c.unlikely(&best) || lonely(c.rows) && best.steady() {
			continue
		}
		best = c
	}
	if len(body) < len(text) { // the records with their comments again
		score := best.score
		if best.quote == "" {
			if names, ok := withQuote(text, best.delim, `"`); ok && names.bad == 0 { // only the names, in a comment, are quoted
				best.quote = names.quote
			}
		}
		best = read(text, best.delim, best.quote, best.esc)
		best.score = score
	}
	if best.delim == "" && !bytes.Contains(body, []byte(",")) {
		best.delim = "," // what a writer of one column would have put between two
	}
	return best
}

// usual tells whether a delimiter is one of those that nearly all files have.
func usual(d string) bool { return d == "," || d == ";" || d == "\t" || d == "|" }

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
	var ascii [utf8.RuneSelf]int
	counts := map[rune]count{}  // of other characters
	lines, at, feed := 0, 0, -1 // feed is the next LF
	for at < len(text) && lines < 200 {
		if feed < at {
			feed = len(text)
			if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
				feed = at + i
			}
		}
		line := text[at:feed]
		if end := bytes.IndexByte(line, '\r'); end >= 0 {
			line = line[:end]
		}
		at += len(line) + 1
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		lines++
		if len(line) > 8192 {
			line = line[:8192]
		}
		var seen [2]uint64 // a bit for each ASCII character
		for i := 0; i < len(line); {
			if c := line[i]; c < utf8.RuneSelf {
				i++
				seen[0] |= 1 << c // which is no bit from 64 on
				seen[1] |= 1 << (c - 64)
				continue
			}
			c, w := utf8.DecodeRune(line[i:])
			i += w
			if n := counts[c]; n.last != lines && mayDelimit(c) {
				counts[c] = count{n.lines + 1, lines}
			}
		}
		for i, m := range seen {
			for m &= delimiting[i]; m != 0; m &= m - 1 {
				ascii[i*64+bits.TrailingZeros64(m)]++
			}
		}
	}
	for c, n := range ascii {
		if n > 0 {
			counts[rune(c)] = count{lines: n}
		}
	}
	list := []string{""}
	for c, n := range counts {
		if n.lines*4 >= lines || n.lines >= 10 {
			list = append(list, string(c))
		}
	}
	var absent [utf8.RuneSelf]bool
	for c := range absent {
		absent[c] = strings.IndexByte("|~;\t:^#<>$@&%-={}", byte(c)) >= 0 && bytes.IndexByte(text, byte(c)) < 0
	}
	for _, m := range []string{"||", "|~|", "~|~", ";;", "\t\t", "::", "^|^", "#|#", "|^|", "<>", "~~", "$$", "|;|", "@@", "##", "&&", "%%", "->", "=>", "<|>", "{|}"} {
		if absent[m[0]] || absent[m[1]] {
			continue
		}
		if bytes.Count(text, []byte(m))*4 >= lines*3 && lines > 0 {
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b string) int {
		return cmp.Or(cmp.Compare(utf8.RuneCountInString(a), utf8.RuneCountInString(b)), cmp.Compare(weight(b), weight(a)), cmp.Compare(a, b))
	})
	return list[:min(len(list), 24)]
}

// delimiting has a bit for each ASCII character that may delimit.
var delimiting = func() (set [2]uint64) {
	for c := range utf8.RuneSelf {
		if mayDelimit(rune(c)) {
			set[c/64] |= 1 << (c % 64)
		}
	}
	return set
}()

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
	return isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
