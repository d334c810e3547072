package rdfio

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// characters reads text up to the next markup. It returns long texts in parts.
func (x *xmlScanner) characters() error {
	in := x.in
	x.kind, x.mixed = xmlText, false
	x.raw = x.raw[:0]
	for len(x.raw) < windowSize {
		b, found := in.run(stopXML)
		if err := x.checkChars(b); err != nil {
			return err
		}
		x.mixed = x.mixed || len(bytes.TrimLeft(b, " \t\r\n")) > 0
		x.raw = append(x.raw, newlines(b)...)
		in.pos += len(b)
		if !found {
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

// attributes reads the rest of a start tag.
func (x *xmlScanner) attributes(o *xmlOpen) error {
	in := x.in
	x.attrs = x.attrs[:0]
	pending := x.pending[:0]
	defer func() { x.pending = pending[:0] }()
	for {
		spaced := x.skipSpace()
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

// rawAttr is an attribute whose name is not resolved.
type rawAttr struct{ name, value string }

// maxAttributes bounds the attributes of an element, and so the search for repeated ones.
const maxAttributes = 1000

// equals consumes "=" and white space around it.
func (x *xmlScanner) equals() error {
	x.skipSpace()
	if x.in.peek() != '=' {
		return x.in.fail(0, "'=' after the name of an attribute")
	}
	x.in.pos++
	x.skipSpace()
	return nil
}

// finishAttributes declares namespaces and then resolves names, since declarations apply to the whole tag.
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
				return x.in.failWith(0, fmt.Errorf("the attribute %s is repeated", a.name))
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
				return x.in.failWith(0, fmt.Errorf("the attribute %s is repeated", a.name))
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
		b, found := in.run(stopXMLAttr)
		if err := x.checkChars(b); err != nil {
			return "", err
		}
		for _, c := range newlines(b) {
			if c == '\t' || c == '\n' {
				c = ' '
			}
			x.raw = append(x.raw, c)
		}
		in.pos += len(b)
		if len(x.raw) > x.lim.Token {
			return "", in.failWith(0, limitError("an attribute", int64(x.lim.Token)))
		}
		if !found {
			if !in.has(in.end - in.pos + 1) {
				return "", in.fail(in.end-in.pos, "%c at the end of an attribute", quote)
			}
			continue
		}
		switch c := in.buf[in.pos]; c {
		case quote:
			in.pos++
			return string(x.raw), nil
		case '<':
			return "", in.fail(0, "no '<' in an attribute")
		case '&':
			var err error
			if x.raw, err = x.reference(x.raw); err != nil {
				return "", err
			}
		default: // the other quote
			x.raw = append(x.raw, c)
			in.pos++
		}
	}
}

// reference consumes the character or entity reference that comes next and appends the text it stands for.
func (x *xmlScanner) reference(dst []byte) ([]byte, error) {
	in := x.in
	const maxLength = 128
	in.has(maxLength)
	b := in.buf[in.pos:min(in.pos+maxLength, in.end)]
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

// predefined are the entities that need no declaration.
var predefined = map[string]string{"amp": "&", "lt": "<", "gt": ">", "apos": "'", "quot": `"`}

// entity returns the text that a reference stands for. The name is without '&' and ';'.
func (x *xmlScanner) entity(name string) (string, bool) {
	if digits, ok := strings.CutPrefix(name, "#"); ok {
		return characterReference(digits)
	}
	s, ok := predefined[name]
	if !ok {
		s, ok = x.entities[name]
	}
	return s, ok
}

func characterReference(digits string) (string, bool) {
	base := 10
	if hex, ok := strings.CutPrefix(digits, "x"); ok {
		base, digits = 16, hex
	}
	n, err := strconv.ParseUint(digits, base, 31)
	return string(rune(n)), err == nil && isXMLChar(rune(n))
}

// isXMLChar reports whether r is a Char of XML 1.0.
func isXMLChar(r rune) bool {
	return r >= ' ' && r <= 0xD7FF || r == '\t' || r == '\n' || r == '\r' || r >= 0xE000 && r <= 0xFFFD || r >= 0x10000 && r <= utf8.MaxRune
}
