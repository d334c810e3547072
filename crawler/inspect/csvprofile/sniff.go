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

// Limits of what is read to find the dialect.
const (
	sniffBytes = 128 << 10 // of text
	sniffRows  = 400       // records per candidate
	enoughRows = 200       // records per candidate, if all agree
	sniffCells = 40000     // cells per candidate
)

// sniff finds delimiter, quote and escape characters of text, the beginning of a file. whole says that text is all of
// the file.
func sniff(text []byte, whole bool) candidate {
	text = sample(text, whole)
	body := withoutComments(text)
	list := delimiters(body)[1:] // without ""
	list = append(list, lettersBetween(body)...)
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
	if len(body) < len(text) { // read the records again, with their comments
		score := best.score
		if best.quote == "" {
			if names, ok := withQuote(text, best.delim, `"`); ok && names.bad == 0 { // only the names, in a comment, are quoted
				best.quote = names.quote
			}
		}
		best = read(text, best.delim, best.quote, best.esc)
		best.score = score
	}
	if skipped, ok := best.skipping(body); ok {
		best = skipped
	}
	if best.delim == "" && !bytes.Contains(body, []byte(",")) {
		best.delim = "," // what a writer of one column would have put between two
	}
	return best
}

// usual reports whether a delimiter is one of those of nearly all files.
func usual(d string) bool { return d == "," || d == ";" || d == "\t" || d == "|" }

// lonely reports whether the first record that is not blank has one cell and no blank record after it, as a title
// would.
func lonely(rows [][]string) bool {
	for i, r := range rows {
		if !blank(r) {
			return len(r) == 1 && i+1 < len(rows) && !blank(rows[i+1])
		}
	}
	return false
}

// withoutComments removes the lines that begin with "#" if the text begins with such a line and has other lines.
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

// sample returns the part of text to examine: whole lines.
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

// weight returns how likely a delimiter is before the file has been read.
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
	if r, _ := utf8.DecodeRuneInString(d); unicode.IsLetter(r) {
		return 0.6 // only if it is equally often on every line (lettersBetween)
	}
	return 0.5
}

// bound returns the maximum score of any text with a delimiter, including the share of quotations.
func bound(d string) float64 {
	if d == "" {
		return oneColumn * 1.1
	}
	return weight(d) * 1.1
}

// delimiters lists what may separate the cells of text: "" first, then every character, or common group of characters,
// that occurs on enough lines.
func delimiters(text []byte) []string {
	type count struct{ lines, last int } // last is the last line it occurred on
	var ascii [utf8.RuneSelf]int
	counts := map[rune]count{}  // of non-ASCII characters
	lines, at, feed := 0, 0, -1 // feed is the offset of the next LF
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
		var seen [2]uint64 // one bit per ASCII character
		for i := 0; i < len(line); {
			if c := line[i]; c < utf8.RuneSelf {
				i++
				seen[0] |= 1 << c // no bit if c is 64 or more
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
	for _, m := range []string{"||", "|~|", "~|~", ";;", "\t\t", "::", "^|^", "#|#", "|^|", "<>", "~~", "$$", "|;|", "@@", "##", "&&", "%%",
		"->", "=>", "<|>", "{|}"} {
		if absent[m[0]] || absent[m[1]] {
			continue
		}
		if bytes.Count(text, []byte(m))*4 >= lines*3 && lines > 0 {
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b string) int {
		return cmp.Or(cmp.Compare(utf8.RuneCountInString(a), utf8.RuneCountInString(b)), cmp.Compare(weight(b), weight(a)),
			cmp.Compare(a, b))
	})
	return list[:min(len(list), 24)]
}

// delimiting has a bit for each ASCII character that may delimit cells.
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
		return c == '\t' || c > 0 && c < ' ' && c != '\n' && c != '\r' || c >= ' ' && c < 0x7f && !isAlnum(byte(c)) && c != '"' &&
			c != '.' && c != '\'' && c != '`' && c != '\\'
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
