package rdfio

import (
	"bytes"
	"unicode/utf8"

	"odarchive/triplestore/internal/terminals"
	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
)

// space consumes white space and comments.
func (d *turtleDecoder) space() {
	in := d.in
	for {
		for in.pos < in.end && terminals.Class[in.buf[in.pos]]&terminals.Space != 0 {
			in.pos++
		}
		if in.pos < in.end && in.buf[in.pos] != '#' {
			return
		}
		if in.pos == in.end {
			in.skipByteOrderMark()
			if in.pos == in.end && !in.fill() {
				return
			}
			continue
		}
		d.comment()
	}
}

func (d *turtleDecoder) comment() {
	in := d.in
	for {
		for in.pos < in.end {
			if c := in.buf[in.pos]; c == '\n' || c == '\r' {
				return
			}
			in.pos++
		}
		if !in.fill() {
			return
		}
	}
}

// resource reads an IRI, a prefixed name or a labelled blank node.
func (d *turtleDecoder) resource(expected string) (term.Key, error) {
	switch c := d.in.peek(); {
	case c == '<':
		return d.iriRef()
	case c == '_':
		return d.blankNode()
	case d.startsName():
		return d.prefixedName()
	}
	return "", d.in.fail(0, "%s", expected)
}

// term reads an object other than [ ] and ( ).
func (d *turtleDecoder) term() (term.Key, error) {
	switch c := d.in.peek(); c {
	case '<':
		return d.iriRef()
	case '_':
		return d.blankNode()
	case '"', '\'':
		return d.literal(c)
	case '+', '-', '.', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return d.number()
	case 't':
		if d.word("true") {
			return term.Key("^" + xsdNS + "boolean\x00true"), nil
		}
	case 'f':
		if d.word("false") {
			return term.Key("^" + xsdNS + "boolean\x00false"), nil
		}
	}
	if !d.startsName() {
		return "", d.in.fail(0, "an object: an IRI, a prefixed name, a blank node, a literal, '[' or '('")
	}
	return d.prefixedName()
}

// word consumes w and returns true, if w comes next and does not begin a longer name.
func (d *turtleDecoder) word(w string) bool {
	if !d.in.hasPrefix(w) || d.continuesName(len(w)) {
		return false
	}
	d.in.pos += len(w)
	return true
}

// continuesName reports whether the character at pos+n continues a prefixed name.
func (d *turtleDecoder) continuesName(n int) bool {
	for {
		c := d.in.at(n)
		if c != '.' {
			if c >= utf8.RuneSelf {
				r, _ := d.in.runeAt(n)
				return terminals.PNChars(r)
			}
			return c == ':' || terminals.Class[c]&terminals.InName != 0
		}
		n++ // dots belong to a name only if more of it follows
	}
}

// startsName reports whether a prefixed name may begin here.
func (d *turtleDecoder) startsName() bool {
	c := d.in.peek()
	if c >= utf8.RuneSelf {
		r, _ := d.in.runeAt(0)
		return terminals.PNCharsBase(r)
	}
	return c == ':' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// iriRef reads and resolves an IRI in angle brackets.
func (d *turtleDecoder) iriRef() (term.Key, error) {
	in := d.in
	n, ascii, escaped, broken := 1, true, false, false
	for {
		if in.pos+n >= in.end {
			if !in.fill() {
				return "", in.fail(n, "'>' at the end of an IRI")
			}
			continue
		}
		c := in.buf[in.pos+n]
		switch {
		case terminals.Class[c]&terminals.InIRI != 0:
		case c == '>':
			raw := in.buf[in.pos : in.pos+n]
			if !ascii && !utf8.Valid(raw) {
				return "", in.fail(invalidAt(raw), "UTF-8")
			}
			if broken {
				parts := bytes.Split(bytes.TrimSpace(raw[1:]), []byte{'\\'}) // escape sequences stay
				for i := range parts {
					parts[i] = iri.Escape(parts[i])
				}
				raw = append([]byte{'<'}, bytes.Join(parts, []byte{'\\'})...)
			}
			return d.resolveRef(raw, n+1, escaped)
		case c == '\\':
			escaped = true
		case c >= utf8.RuneSelf:
			ascii = false
		case d.mend && c != '\n' && c != '\r' && c != '<':
			broken = true
		default:
			return "", in.fail(n, "a character that IRIs may contain, or '>'")
		}
		n++
	}
}

// resolveRef returns the IRI of raw, which is "<" and a reference, and consumes n bytes.
func (d *turtleDecoder) resolveRef(raw []byte, n int, escaped bool) (term.Key, error) {
	if escaped {
		var bad int
		if d.buf, bad = terminals.AppendIRI(d.buf[:0], raw); bad >= 0 {
			return "", d.in.fail(bad, unicodeEscape)
		}
		raw = d.buf
		if err := iri.CheckChars(raw[1:]); err != nil {
			return "", d.in.failWith(0, err)
		}
	}
	if iri.IsAbsolute(raw[1:]) {
		d.in.pos += n
		return d.keys.key(raw), nil
	}
	abs, err := d.base.Resolve(string(raw[1:]))
	if err != nil {
		return "", d.in.failWith(0, err)
	}
	d.in.pos += n
	return term.IRI(abs), nil
}

// prefixLen returns the length of the prefix that comes next, which ":" must follow.
func (d *turtleDecoder) prefixLen() (int, error) {
	n := d.in.scan(0, terminals.Prefix)
	if d.in.at(n) != ':' {
		return 0, d.in.fail(n, "':' after a prefix")
	}
	return n, nil
}

// prefixedName reads a prefixed name, prefix:local.
func (d *turtleDecoder) prefixedName() (term.Key, error) {
	n, err := d.prefixLen()
	if err != nil {
		return "", err
	}
	in := d.in
	ns, ok := d.ns[string(in.buf[in.pos:in.pos+n])]
	if !ok {
		return "", in.fail(0, "a prefix that has been declared")
	}
	d.buf = append(append(d.buf[:0], '<'), ns...)
	var escaped bool
	size := in.scan(n+1, func(b []byte) (size int) {
		size, escaped, ok = terminals.Local(b)
		return size
	})
	switch local := in.buf[in.pos+n+1:][:size]; {
	case !ok && in.at(n+1+size) == '%':
		return "", in.fail(n+1+size, "two hexadecimal digits after '%%'")
	case !ok:
		return "", in.fail(n+1+size, "an escaped punctuation mark")
	case escaped:
		d.buf = terminals.AppendLocal(d.buf, local)
	default:
		d.buf = append(d.buf, local...)
	}
	in.pos += n + 1 + size
	return d.keys.key(d.buf), nil
}

// blankNode reads _:label.
func (d *turtleDecoder) blankNode() (term.Key, error) {
	in := d.in
	if in.at(1) != ':' {
		return "", in.fail(1, "':' of a blank node")
	}
	n := in.scan(2, terminals.Label)
	if n == 0 {
		return "", in.fail(2, "the label of a blank node")
	}
	k := d.label(in.buf[in.pos+2:][:n])
	in.pos += 2 + n
	return k, nil
}
