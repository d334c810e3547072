package rdfio

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"odarchive/triplestore/internal/terminals"
)

// characters reads text up to the next markup, or a part of it.
func (x *xmlScanner) characters() error {
	in := x.in
	x.kind, x.mixed = xmlText, false
	x.raw = x.raw[:0]
	for len(x.raw) < windowSize {
		b := in.buf[in.pos:in.end]
		n := 0
		for n < len(b) && b[n] != '<' && b[n] != '&' && b[n] != ']' {
			n++
		}
		whole := n < len(b)
		if !whole && in.err == nil {
			n -= incomplete(b)
			if n > 0 && b[n-1] == '\r' {
				n-- // the LF may follow
			}
		}
		if err := x.plain(b[:n]); err != nil {
			return err
		}
		if !whole {
			if !in.has(in.end - in.pos + 1) {
				break
			}
			continue
		}
		switch in.buf[in.pos] {
		case '<':
			x.text = x.raw
			return nil
		case ']':
			if in.at(1) == ']' && in.at(2) == '>' {
				return in.fail(0, "no ']]>' in text")
			}
			x.raw, x.mixed = append(x.raw, ']'), true
			in.pos++
		default:
			var err error
			if x.raw, err = x.reference(x.raw); err != nil {
				return err
			}
			x.mixed = true
		}
	}
	x.text = x.raw
	return nil
}

// plain consumes b, which stands next, as text.
func (x *xmlScanner) plain(b []byte) error {
	if err := x.checkChars(b); err != nil {
		return err
	}
	x.mixed = x.mixed || len(bytes.TrimLeft(b, " \t\r\n")) > 0
	x.raw = append(x.raw, newlines(b)...)
	x.in.pos += len(b)
	return nil
}

// attributes reads the rest of a start tag.
func (x *xmlScanner) attributes(o *xmlOpen) error {
	in := x.in
	x.attrs = x.attrs[:0]
	pending := x.pending[:0]
	defer func() { x.pending = pending[:0] }()
	for {
		spaced := false
		for terminals.Class[in.peek()]&terminals.Space != 0 {
			in.pos++
			spaced = true
		}
		switch c := in.peek(); {
		case c == '>':
			in.pos++
			return x.finishAttributes(pending)
		case c == '/' && in.at(1) == '>':
			in.pos += 2
			x.selfEnd = true
			return x.finishAttributes(pending)
		case !spaced:
			return in.fail(0, "white space, '>' or '/>'")
		}
		n, err := x.nameLen(0)
		if err != nil {
			return err
		}
		a := rawAttr{name: x.intern(in.buf[in.pos : in.pos+n])}
		in.pos += n
		if err := x.equals(); err != nil {
			return err
		}
		if a.value, err = x.attrValue(); err != nil {
			return err
		}
		if len(pending) >= maxAttributes {
			return in.failWith(0, limitError("a number of attributes", maxAttributes))
		}
		pending = append(pending, a)
	}
}

type rawAttr struct{ name, value string }

// maxAttributes of one element keeps the search for doubles short.
const maxAttributes = 1000

func (x *xmlScanner) equals() error {
	in := x.in
	for terminals.Class[in.peek()]&terminals.Space != 0 {
		in.pos++
	}
	if in.peek() != '=' {
		return in.fail(0, "'=' behind the name of an attribute")
	}
	in.pos++
	for terminals.Class[in.peek()]&terminals.Space != 0 {
		in.pos++
	}
	return nil
}

// finishAttributes declares namespaces first and resolves names then, because declarations hold for the whole tag.
func (x *xmlScanner) finishAttributes(pending []rawAttr) error {
	for _, a := range pending {
		if a.name == "xmlns" {
			if err := x.declare("", a.value); err != nil {
				return err
			}
		} else if prefix, ok := strings.CutPrefix(a.name, "xmlns:"); ok {
			if !isNCName(prefix) {
				return x.in.failWith(0, fmt.Errorf("%q is not a namespace prefix", prefix))
			}
			if err := x.declare(prefix, a.value); err != nil {
				return err
			}
		}
	}
	for i, a := range pending {
		for _, b := range pending[:i] {
			if a.name == b.name {
				return x.in.failWith(0, fmt.Errorf("the attribute %s stands twice", a.name))
			}
		}
		if a.name == "xmlns" || strings.HasPrefix(a.name, "xmlns:") {
			continue
		}
		name, err := x.resolve(a.name, false)
		if err != nil {
			return err
		}
		for _, b := range x.attrs {
			if b.name.local == name.local && b.name.space == name.space {
				return x.in.failWith(0, fmt.Errorf("the attribute %s stands twice", a.name))
			}
		}
		x.attrs = append(x.attrs, xmlAttr{name, a.value})
	}
	return nil
}

// attrValue reads a quoted value and normalises its white space (XML 1.0 §3.3.3).
func (x *xmlScanner) attrValue() (string, error) {
	in, quote := x.in, x.in.peek()
	if quote != '"' && quote != '\'' {
		return "", in.fail(0, "the value of an attribute in quotes")
	}
	in.pos++
	x.raw = x.raw[:0]
	for {
		b := in.buf[in.pos:in.end]
		n := 0
		for n < len(b) && b[n] != quote && b[n] != '&' && b[n] != '<' {
			n++
		}
		whole := n < len(b)
		if !whole && in.err == nil {
			n -= incomplete(b)
			if n > 0 && b[n-1] == '\r' {
				n--
			}
		}
		if err := x.checkChars(b[:n]); err != nil {
			return "", err
		}
		for i, c := range newlines(b[:n]) {
			if _ = i; c == '\t' || c == '\n' {
				c = ' '
			}
			x.raw = append(x.raw, c)
		}
		in.pos += n
		if len(x.raw) > x.lim.Token {
			return "", in.failWith(0, limitError("an attribute", int64(x.lim.Token)))
		}
		if !whole {
			if !in.has(in.end - in.pos + 1) {
				return "", in.fail(in.end-in.pos, "%c at the end of an attribute", quote)
			}
			continue
		}
		switch in.buf[in.pos] {
		case quote:
			in.pos++
			return string(x.raw), nil
		case '<':
			return "", in.fail(0, "no '<' in an attribute")
		}
		var err error
		if x.raw, err = x.reference(x.raw); err != nil {
			return "", err
		}
	}
}

// reference appends what the character or entity reference that stands next means.
func (x *xmlScanner) reference(dst []byte) ([]byte, error) {
	in := x.in
	const most = 128
	in.has(most)
	b := in.buf[in.pos:min(in.pos+most, in.end)]
	semi := bytes.IndexByte(b, ';')
	if semi < 2 {
		return dst, in.fail(0, "an entity (&amp; for a plain '&')")
	}
	out, ok := x.entity(string(b[1:semi]))
	if !ok {
		return dst, in.fail(0, "an entity that has been declared")
	}
	if b[1] != '#' {
		if x.expanded += len(out); x.expanded > x.lim.Token {
			return dst, in.failWith(0, limitError("a text made from entities", int64(x.lim.Token)))
		}
	}
	in.pos += semi + 1
	return append(dst, out...), nil
}

// entity is the text a reference stands for, without '&' and ';'.
func (x *xmlScanner) entity(name string) (string, bool) {
	switch name {
	case "amp":
		return "&", true
	case "lt":
		return "<", true
	case "gt":
		return ">", true
	case "apos":
		return "'", true
	case "quot":
		return `"`, true
	}
	if digits, ok := strings.CutPrefix(name, "#"); ok {
		return characterReference(digits)
	}
	s, ok := x.entities[name]
	return s, ok
}

func characterReference(digits string) (string, bool) {
	base := rune(10)
	if hex, ok := strings.CutPrefix(digits, "x"); ok {
		base, digits = 16, hex
	}
	var r rune
	for _, c := range []byte(digits) {
		d := rune(16)
		switch {
		case '0' <= c && c <= '9':
			d = rune(c - '0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			d = rune(c|0x20-'a') + 10
		}
		if d >= base {
			return "", false
		}
		if r = r*base + d; r > utf8.MaxRune {
			return "", false
		}
	}
	if digits == "" || !isXMLChar(r) {
		return "", false
	}
	return string(r), true
}

// isXMLChar is XML 1.0's Char.
func isXMLChar(r rune) bool {
	return r >= ' ' && r <= 0xD7FF || r == '\t' || r == '\n' || r == '\r' || r >= 0xE000 && r <= 0xFFFD || r >= 0x10000 && r <= utf8.MaxRune
}
