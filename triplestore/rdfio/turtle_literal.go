package rdfio

import (
	"fmt"
	"unicode/utf8"

	"odarchive/triplestore/internal/terminals"
	"odarchive/triplestore/term"
)

// number reads an integer, decimal or double.
func (d *turtleDecoder) number() (term.Key, error) {
	in, sign := d.in, 0
	if c := in.peek(); c == '+' || c == '-' {
		sign = 1
	}
	var datatype string
	n := sign + in.scan(sign, func(b []byte) (n int) {
		n, datatype = terminals.Number(b)
		return n
	})
	switch {
	case n == sign:
		return "", in.fail(n, "a digit")
	case datatype != "double" && in.at(n)|0x20 == 'e':
		return "", in.fail(n+1, "the digits of an exponent")
	}
	d.buf = append(d.buf[:0], "^"+xsdNS...)
	d.buf = append(append(d.buf, datatype...), 0)
	d.buf = append(d.buf, in.buf[in.pos:in.pos+n]...)
	in.pos += n
	return d.keys.key(d.buf), nil
}

// literal reads a quoted string with its language tag or datatype.
func (d *turtleDecoder) literal(quote byte) (term.Key, error) {
	d.buf = append(d.buf[:0], '"')
	long := d.in.at(1) == quote && d.in.at(2) == quote
	if err := d.text(quote, long); err != nil {
		return "", err
	}
	switch d.in.peek() {
	case ' ', '\t', '\r', '\n', '#':
		d.space()
	}
	switch d.in.peek() {
	case '@':
		return d.tagged(d.buf)
	case '^':
		if d.in.at(1) != '^' {
			return "", d.in.fail(1, "a second '^'")
		}
		d.in.pos += 2
		return d.typed(d.buf)
	}
	return d.keys.key(d.buf), nil
}

func (d *turtleDecoder) tagged(lex []byte) (term.Key, error) {
	in, n := d.in, 1
	for c := in.at(n); c == '-' || terminals.Class[c]&terminals.InName != 0 && c != '_'; c = in.at(n) {
		n++
	}
	tag := in.buf[in.pos+1 : in.pos+n]
	size := tagLen(tag, d.rdf12)
	if size == 0 || size != len(tag) {
		return "", in.fail(1+size, "a language tag")
	}
	d.buf = appendLang(lex, tag)
	in.pos += n
	return d.keys.key(d.buf[len(lex):]), nil
}

func (d *turtleDecoder) typed(lex []byte) (term.Key, error) {
	text := lex
	d.space()
	d.buf = lex[len(lex):] // what the datatype needs to build itself goes behind the text
	var dt term.Key
	var err error
	switch {
	case d.in.peek() == '<':
		dt, err = d.iriRef()
	case d.startsName():
		dt, err = d.prefixedName()
	default:
		err = d.in.fail(0, "the IRI of a datatype")
	}
	if err != nil {
		return "", err
	}
	if dt == "<"+term.XSDString {
		d.buf = text
		return d.keys.key(text), nil
	}
	if d.rdf12 && needsTag(dt) {
		return "", d.in.fail(0, "a language tag with the datatype before")
	}
	d.buf = appendTyped(text, string(dt[1:]))
	return d.keys.key(d.buf[len(text):]), nil
}

// text consumes the string that stands next, between single or triple quotes, and appends it to d.buf. It is consumed in
// pieces, so that only d.buf holds all of it.
func (d *turtleDecoder) text(quote byte, long bool) error {
	in, mark := d.in, fmt.Sprintf("%c at the end of a string", quote)
	in.pos++
	if long {
		in.pos += 2
		mark = "three " + mark
	}
	for {
		b := in.buf[in.pos:in.end]
		n := textRun(b, quote, long)
		whole := n < len(b)
		if !whole && in.err == nil {
			n -= incomplete(b)
		}
		if !utf8.Valid(b[:n]) {
			return in.fail(invalidAt(b[:n]), "UTF-8")
		}
		d.buf = append(d.buf, b[:n]...)
		if len(d.buf) > d.lim.Token {
			return in.failWith(n, limitError("a literal", int64(d.lim.Token)))
		}
		in.pos += n
		if !whole {
			if !in.has(in.end - in.pos + 1) {
				return in.fail(in.end-in.pos, "%s", mark)
			}
			continue
		}
		switch c := in.buf[in.pos]; {
		case c == '\\':
			size, err := d.escape()
			if err != nil {
				return err
			}
			in.pos += size
		case c != quote:
			return in.fail(0, "%s, or an escaped line break", mark)
		case !long:
			in.pos++
			return nil
		case in.at(1) == quote && in.at(2) == quote:
			in.pos += 3
			return nil
		default:
			d.buf = append(d.buf, quote)
			in.pos++
		}
	}
}

// textRun is the number of bytes at the start of b that stand for themselves in a string.
func textRun(b []byte, quote byte, long bool) int {
	for n, c := range b {
		if c == quote || c == '\\' || !long && (c == '\n' || c == '\r') {
			return n
		}
	}
	return len(b)
}

// escape appends the character of the escape sequence that stands next to d.buf.
func (d *turtleDecoder) escape() (int, error) {
	d.in.has(10)
	r, size := terminals.Escape(d.in.buf[d.in.pos:d.in.end])
	if size == 0 {
		return 0, d.in.fail(0, escapeSequence)
	}
	d.buf = utf8.AppendRune(d.buf, r)
	return size, nil
}

// incomplete is the number of bytes at the end of b that are the beginning of a character.
func incomplete(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}
