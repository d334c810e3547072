package rdfio

import (
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

// tagged returns the literal with the text lex, which begins with a quote, and the language tag that comes next.
func (d *turtleDecoder) tagged(lex []byte) (term.Key, error) {
	in, n := d.in, 1
	for c := in.at(n); c == '-' || terminals.Class[c]&terminals.InName != 0 && c != '_'; c = in.at(n) {
		n++
	}
	tag := in.buf[in.pos+1 : in.pos+n]
	size := tagLen(tag, d.rdf12, d.longTags)
	if size == 0 || size != len(tag) {
		return "", in.fail(1+size, "a language tag")
	}
	d.buf = appendLang(lex, tag)
	in.pos += n
	return d.keys.key(d.buf[len(lex):]), nil
}

// typed is tagged for a datatype.
func (d *turtleDecoder) typed(lex []byte) (term.Key, error) {
	text := lex
	d.space()
	d.buf = lex[len(lex):] // so that the datatype is built after the text, in the same array
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
		return "", d.in.fail(0, "a language tag instead of this datatype")
	}
	d.buf = appendTyped(text, string(dt[1:]))
	return d.keys.key(d.buf[len(text):]), nil
}

// text consumes the string that comes next, in single or triple quotes, and appends it to d.buf. It consumes the string
// in pieces, so that only d.buf holds all of it.
func (d *turtleDecoder) text(quote byte, long bool) (err error) {
	in, end := d.in, string(quote)+" at the end of a string"
	in.pos++
	if long {
		in.pos += 2
		end = "three " + end
	}
	for {
		if d.buf, err = in.text(d.buf, stopString, end); err != nil {
			return err
		}
		switch c := in.buf[in.pos]; {
		case c == '\\':
			in.has(10)
			r, size := terminals.Escape(in.buf[in.pos:in.end])
			if size == 0 {
				return in.fail(0, escapeSequence)
			}
			d.buf = utf8.AppendRune(d.buf, r)
			in.pos += size
		case c == quote && !long:
			in.pos++
			return nil
		case c == quote && in.at(1) == quote && in.at(2) == quote:
			in.pos += 3
			return nil
		case c < ' ' && !long:
			return in.fail(0, "%s, or an escaped line break", end)
		default:
			d.buf = append(d.buf, c)
			in.pos++
		}
	}
}
