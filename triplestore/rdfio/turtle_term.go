package rdfio

import (
	"bytes"
	"fmt"
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
	n, ascii, escaped := 1, true, false
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
			return d.resolve(raw, n+1, escaped)
		case c == '\\':
			escaped = true
		case c >= utf8.RuneSelf:
			ascii = false
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

// number reads an integer, decimal or double.
func (d *turtleDecoder) number() (term.Key, error) {
	in, n := d.in, 0
	if c := in.peek(); c == '+' || c == '-' {
		n++
	}
	digits := func() (some bool) {
		for classes[in.at(n)]&classDigit != 0 {
			n++
			some = true
		}
		return some
	}
	datatype := "integer"
	whole, fraction := digits(), false
	if in.at(n) == '.' {
		switch c := in.at(n + 1); {
		case classes[c]&classDigit != 0:
			n++
			fraction = digits()
			datatype = "decimal"
		case whole && c|0x20 == 'e' && d.exponentAt(n+1) > 0:
			n++
		}
	}
	if !whole && !fraction {
		return "", in.fail(n, "a digit")
	}
	if in.at(n)|0x20 == 'e' {
		e := d.exponentAt(n)
		if e == 0 {
			return "", in.fail(n+1, "the digits of an exponent")
		}
		n += e
		digits()
		datatype = "double"
	}
	d.buf = append(d.buf[:0], "^"+xsdNS...)
	d.buf = append(append(d.buf, datatype...), 0)
	d.buf = append(d.buf, in.buf[in.pos:in.pos+n]...)
	in.pos += n
	return d.keys.key(d.buf), nil
}

// exponentAt is the length of "e", a sign and one digit, 0 where they do not stand n bytes ahead.
func (d *turtleDecoder) exponentAt(n int) int {
	size := 1
	if c := d.in.at(n + size); c == '+' || c == '-' {
		size++
	}
	if classes[d.in.at(n+size)]&classDigit == 0 {
		return 0
	}
	return size + 1
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
	for c := in.at(n); c == '-' || classes[c]&classPN != 0 && c != '_'; c = in.at(n) {
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
	r, size := escape(d.in.buf[d.in.pos:min(d.in.pos+10, d.in.end)])
	if size == 0 {
		return 0, d.in.fail(0, `an escape sequence (\t \b \n \r \f \" \' \\ \uXXXX \UXXXXXXXX)`)
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
