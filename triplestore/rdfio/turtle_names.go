package rdfio

import (
	"bytes"
	"unicode/utf8"

	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
)

// space consumes white space and comments.
func (d *turtleDecoder) space() {
	in := d.in
	for {
		for in.pos < in.end && classes[in.buf[in.pos]]&classSpace != 0 {
			in.pos++
		}
		if in.pos < in.end && in.buf[in.pos] != '#' {
			return
		}
		if in.pos == in.end {
			if in.line == 1 && in.col == 1 && in.end == 0 && in.has(3) && string(in.buf[:3]) == "\xEF\xBB\xBF" {
				in.pos = 3
				continue
			}
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
		return d.label()
	case d.startsName():
		return d.prefixedName()
	}
	return "", d.in.fail(0, "%s", expected)
}

// term reads an object that is no [ ] and no ( ).
func (d *turtleDecoder) term() (term.Key, error) {
	switch c := d.in.peek(); c {
	case '<':
		return d.iriRef()
	case '_':
		return d.label()
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

// word consumes w where it stands next and is not the beginning of a longer name.
func (d *turtleDecoder) word(w string) bool {
	if !d.in.has(len(w)) || string(d.in.buf[d.in.pos:d.in.pos+len(w)]) != w || d.nameGoesOn(len(w)) {
		return false
	}
	d.in.pos += len(w)
	return true
}

// nameGoesOn tells whether the character n bytes ahead continues a prefixed name.
func (d *turtleDecoder) nameGoesOn(n int) bool {
	for {
		c := d.in.at(n)
		if c != '.' {
			if c >= utf8.RuneSelf {
				r, _ := d.in.runeAt(n)
				return isPNChars(r)
			}
			return c == ':' || classes[c]&classPN != 0
		}
		n++ // dots belong to a name only where more of it follows
	}
}

// startsName tells whether a prefixed name may begin here.
func (d *turtleDecoder) startsName() bool {
	c := d.in.peek()
	if c >= utf8.RuneSelf {
		r, _ := d.in.runeAt(0)
		return isPNCharsBase(r)
	}
	return c == ':' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// iriRef reads <...> and resolves it.
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
		case classes[c]&classIRI != 0:
		case c == '>':
			raw := in.buf[in.pos : in.pos+n]
			if !ascii && !utf8.Valid(raw) {
				return "", in.fail(invalidAt(raw), "UTF-8")
			}
			if broken {
				raw = append([]byte{'<'}, mendIRI(bytes.TrimSpace(raw[1:]))...)
			}
			return d.resolve(raw, n+1, escaped)
		case c == '\\':
			escaped = true
		case c >= utf8.RuneSelf:
			ascii = false
		case d.mend && c != '\n' && c != '\r' && c != '<':
			broken = true
		default:
			return "", in.fail(n, "a character that may stand in an IRI, or '>'")
		}
		n++
	}
}

// resolve makes the key of raw ("<" and the reference) and consumes n bytes.
func (d *turtleDecoder) resolve(raw []byte, n int, escaped bool) (term.Key, error) {
	if escaped {
		d.buf = append(d.buf[:0], '<')
		for i := 1; i < len(raw); {
			if raw[i] != '\\' {
				d.buf = append(d.buf, raw[i])
				i++
				continue
			}
			r, size := numericEscape(raw[i:])
			if size == 0 {
				return "", d.in.fail(i, `\uXXXX or \UXXXXXXXX with the number of a character`)
			}
			d.buf = utf8.AppendRune(d.buf, r)
			i += size
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

// prefixLen is the length of the prefix that stands next, which must end in ':'.
func (d *turtleDecoder) prefixLen() (int, error) {
	in := d.in
	for n := 0; ; {
		c := in.at(n)
		if c == ':' {
			if n > 0 && in.buf[in.pos+n-1] == '.' {
				return 0, in.fail(n-1, "a prefix that does not end in '.'")
			}
			return n, nil
		}
		if classes[c]&classPN != 0 && (n > 0 || 'a' <= c|0x20 && c|0x20 <= 'z') || c == '.' && n > 0 {
			n++
			continue
		}
		r, size := in.runeAt(n)
		if c < utf8.RuneSelf || r == utf8.RuneError && size == 1 || n == 0 && !isPNCharsBase(r) || !isPNChars(r) {
			return 0, in.fail(n, "':' behind a prefix")
		}
		n += size
	}
}

// prefixedName reads p:local.
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
	n, err = d.local(n + 1)
	if err != nil {
		return "", err
	}
	in.pos += n
	return d.keys.key(d.buf), nil
}

// local appends the local name that stands n bytes ahead to d.buf and returns where it ends.
func (d *turtleDecoder) local(n int) (int, error) {
	in, start := d.in, n
	dots := 0 // full stops at the end, which are not part of the name
	for {
		c := in.at(n)
		switch {
		case classes[c]&classPN != 0 && (n > start || c != '-'), c == ':':
			d.buf = append(d.buf, c)
			n++
		case c == '.' && n > start:
			d.buf = append(d.buf, c)
			n++
			dots++
			continue
		case c == '%':
			if classes[in.at(n+1)]&classHex == 0 || classes[in.at(n+2)]&classHex == 0 {
				return 0, in.fail(n, "two hexadecimal digits behind '%%'")
			}
			d.buf = append(d.buf, in.buf[in.pos+n:in.pos+n+3]...)
			n += 3
		case c == '\\':
			e := in.at(n + 1)
			if e == 0 || bytes.IndexByte([]byte("_~.-!$&'()*+,;=/?#@%"), e) < 0 {
				return 0, in.fail(n, `an escaped punctuation mark`)
			}
			d.buf = append(d.buf, e)
			n += 2
		default:
			if c >= utf8.RuneSelf {
				r, size := in.runeAt(n)
				if !(r == utf8.RuneError && size == 1) && (isPNCharsU(r) || n > start && isPNChars(r)) {
					d.buf = utf8.AppendRune(d.buf, r)
					n += size
					break
				}
			}
			d.buf = d.buf[:len(d.buf)-dots]
			return n - dots, nil
		}
		dots = 0
	}
}

// label reads _:x.
func (d *turtleDecoder) label() (term.Key, error) {
	in := d.in
	if in.at(1) != ':' {
		return "", in.fail(1, "':' of a blank node")
	}
	n, last := 2, 2
	for {
		c := in.at(n)
		if classes[c]&classPN != 0 && (n > 2 || c != '-') {
			n++
			last = n
			continue
		}
		if c == '.' && n > 2 {
			n++
			continue
		}
		if c < utf8.RuneSelf {
			break
		}
		r, size := in.runeAt(n)
		if r == utf8.RuneError && size == 1 || n == 2 && !isPNCharsU(r) || !isPNChars(r) {
			break
		}
		n += size
		last = n
	}
	if last == 2 {
		return "", in.fail(2, "the label of a blank node")
	}
	d.buf = d.blank.appendLabelled(d.buf[:0], in.buf[in.pos+2:in.pos+last])
	in.pos += last
	return d.keys.key(d.buf), nil
}
