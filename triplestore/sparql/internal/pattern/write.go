package pattern

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// writer writes a tree in the syntax of an engine.
type writer struct {
	options
	backtracking bool // for regexp2, else for regexp
	b            strings.Builder
	ranges       int
	back         bool // the tree has back-references
}

// text returns what has been written. Go's engine ignores case by a flag for the whole; classes, which contain the
// variants already, switch it off.
func (w *writer) text() string {
	if w.fold && !w.backtracking {
		return "(?i)" + w.b.String()
	}
	return w.b.String()
}

func (w *writer) write(n node) {
	switch n := n.(type) {
	case char:
		w.char(rune(n))
	case set:
		w.set(n)
	case anyChar:
		if w.dotAll {
			w.b.WriteString(`(?s:.)`)
		} else {
			w.b.WriteString(`[^\n\r]`)
		}
	case start:
		w.anchor(`\A`, "(?m:^)")
	case end:
		w.anchor(`\z`, "(?m:$)")
	case back:
		w.back = true
		ignore := ""
		if w.fold {
			ignore = "i"
		}
		fmt.Fprintf(&w.b, `(?(%d)(?%s:\%d)|)`, n, ignore, n) // a group that did not take part equals ""
	case sequence:
		for _, x := range n {
			w.write(x)
		}
	case choice:
		w.b.WriteString("(?:")
		for i, x := range n {
			if i > 0 {
				w.b.WriteByte('|')
			}
			w.write(x)
		}
		w.b.WriteByte(')')
	case group:
		w.b.WriteByte('(')
		if !n.capture {
			w.b.WriteString("?:")
		}
		w.write(n.in)
		w.b.WriteByte(')')
	case repeat:
		w.repeat(n)
	}
}

func (w *writer) anchor(text, lines string) {
	if w.lines {
		text = lines
	}
	w.b.WriteString(text)
}

func (w *writer) char(c rune) {
	if w.fold && w.backtracking {
		if s := (set{c, c}).folded(); len(s) > 2 {
			w.set(s)
			return
		}
	}
	w.b.WriteString(regexp.QuoteMeta(string(c)))
}

func (w *writer) set(s set) {
	w.ranges += len(s) / 2
	if w.ranges > maxRanges {
		return // newPattern refuses the pattern
	}
	switch {
	case len(s) == 0 && w.backtracking:
		w.b.WriteString(`(?!)`)
		return
	case len(s) == 0:
		w.b.WriteString(`[^\x00-\x{10FFFF}]`)
		return
	case s[0] == 0 && s[1] == unicode.MaxRune:
		w.b.WriteString(`(?s:.)`)
		return
	}
	open, shut := "[", "]"
	if w.fold && !w.backtracking {
		open, shut = "(?-i:[", "])"
	}
	w.b.WriteString(open)
	for i := 0; i < len(s); i += 2 {
		w.member(s[i])
		if s[i+1] != s[i] {
			w.b.WriteByte('-')
			w.member(s[i+1])
		}
	}
	w.b.WriteString(shut)
}

func (w *writer) member(c rune) {
	if strings.ContainsRune(`\]^-[`, c) {
		w.b.WriteByte('\\')
	}
	w.b.WriteRune(c)
}

func (w *writer) repeat(r repeat) {
	w.b.WriteString("(?:")
	w.write(r.in)
	w.b.WriteByte(')')
	switch {
	case r.max == 1 && r.min == 0:
		w.b.WriteByte('?')
	case r.max < 0 && r.min == 0:
		w.b.WriteByte('*')
	case r.max < 0 && r.min == 1:
		w.b.WriteByte('+')
	case r.max < 0:
		fmt.Fprintf(&w.b, "{%d,}", r.min)
	case r.max == r.min:
		fmt.Fprintf(&w.b, "{%d}", r.min)
	default:
		fmt.Fprintf(&w.b, "{%d,%d}", r.min, r.max)
	}
	if r.lazy {
		w.b.WriteByte('?')
	}
}
