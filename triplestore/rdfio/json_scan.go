package rdfio

import (
	"unicode/utf16"
	"unicode/utf8"

	"odarchive/triplestore/internal/terminals"
)

// jsonScanner takes JSON (RFC 8259) apart, with positions, and with strings that must be Unicode: a lone surrogate or
// invalid UTF-8 is an error, since no RDF term can hold it.
type jsonScanner struct {
	in  *input
	lim Limits
	buf []byte // the string or number told last
}

type jsonKind byte

const (
	jsonEnd    jsonKind = 0 // of the input
	jsonString jsonKind = '"'
	jsonNumber jsonKind = '0'
	jsonTrue   jsonKind = 't'
	jsonFalse  jsonKind = 'f'
	jsonNull   jsonKind = 'n'
	// besides these: '{' '}' '[' ']' ':' ','
)

// next reads a token. Text and digits stand in buf.
func (j *jsonScanner) next() (jsonKind, error) {
	kind, err := j.peek()
	if err != nil {
		return 0, err
	}
	return kind, j.read(kind)
}

// expect reads one of the given tokens.
func (j *jsonScanner) expect(what string, kinds ...jsonKind) (jsonKind, error) {
	kind, err := j.peek()
	if err != nil {
		return 0, err
	}
	for _, want := range kinds {
		if kind == want {
			return kind, j.read(kind)
		}
	}
	return 0, j.in.fail(0, "%s", what)
}

// peek tells what comes next by its first byte.
func (j *jsonScanner) peek() (jsonKind, error) {
	in := j.in
	if in.line == 1 && in.col == 1 && in.pos == 0 && in.has(3) && string(in.buf[:3]) == "\xEF\xBB\xBF" {
		in.pos = 3
	}
	for terminals.Class[in.peek()]&terminals.Space != 0 {
		in.pos++
	}
	switch c := in.peek(); c {
	case '{', '}', '[', ']', ':', ',', '"', 't', 'f', 'n':
		return jsonKind(c), nil
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return jsonNumber, nil
	case 0:
		if in.atEnd() && in.failure() == nil {
			return jsonEnd, nil
		}
	}
	return 0, in.fail(0, "a JSON value")
}

func (j *jsonScanner) read(kind jsonKind) error {
	switch kind {
	case jsonEnd:
		return nil
	case jsonString:
		return j.text()
	case jsonNumber:
		return j.number()
	case jsonTrue:
		return j.word("true")
	case jsonFalse:
		return j.word("false")
	case jsonNull:
		return j.word("null")
	}
	j.in.pos++
	return nil
}

func (j *jsonScanner) word(w string) error {
	n := 0
	for c := j.in.at(n); 'a' <= c|0x20 && c|0x20 <= 'z'; c = j.in.at(n) {
		n++
	}
	if string(j.in.buf[j.in.pos:j.in.pos+n]) != w {
		return j.in.fail(0, "a JSON value")
	}
	j.in.pos += n
	return nil
}

func (j *jsonScanner) number() error {
	in, n := j.in, 0
	digits := func() bool {
		from := n
		for terminals.Class[in.at(n)]&terminals.Digit != 0 {
			n++
		}
		return n > from
	}
	if in.at(0) == '-' {
		n++
	}
	if in.at(n) == '0' {
		n++
	} else if !digits() {
		return in.fail(n, "a digit")
	}
	if in.at(n) == '.' {
		n++
		if !digits() {
			return in.fail(n, "a digit")
		}
	}
	if in.at(n)|0x20 == 'e' {
		n++
		if c := in.at(n); c == '+' || c == '-' {
			n++
		}
		if !digits() {
			return in.fail(n, "a digit")
		}
	}
	if n > maxJSONNumber {
		return in.failWith(0, limitError("a number", maxJSONNumber))
	}
	j.buf = append(j.buf[:0], in.buf[in.pos:in.pos+n]...)
	in.pos += n
	return nil
}

const maxJSONNumber = 1000

func (j *jsonScanner) text() error {
	in := j.in
	in.pos++
	j.buf = j.buf[:0]
	for {
		b := in.buf[in.pos:in.end]
		n := 0
		for n < len(b) && b[n] != '"' && b[n] != '\\' && b[n] >= ' ' {
			n++
		}
		whole := n < len(b)
		if !whole && in.err == nil {
			n -= incomplete(b)
		}
		if !utf8.Valid(b[:n]) {
			return in.fail(invalidAt(b[:n]), "UTF-8")
		}
		j.buf = append(j.buf, b[:n]...)
		if len(j.buf) > j.lim.Token {
			return in.failWith(n, limitError("a string", int64(j.lim.Token)))
		}
		in.pos += n
		if !whole {
			if !in.has(in.end - in.pos + 1) {
				return in.fail(in.end-in.pos, `'"' at the end of a string`)
			}
			continue
		}
		switch in.buf[in.pos] {
		case '"':
			in.pos++
			return nil
		case '\\':
			if err := j.escape(); err != nil {
				return err
			}
		default:
			return in.fail(0, "an escape sequence for a control character")
		}
	}
}

func (j *jsonScanner) escape() error {
	in := j.in
	c := in.at(1)
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		return j.unicode()
	default:
		return in.fail(0, "an escape sequence of JSON")
	}
	j.buf = append(j.buf, c)
	in.pos += 2
	return nil
}

func (j *jsonScanner) unicode() error {
	in := j.in
	unit := func(n int) (rune, bool) {
		var r rune
		for i := n; i < n+4; i++ {
			c := in.at(i)
			if terminals.Class[c]&terminals.Hex == 0 {
				return 0, false
			}
			if c > '9' {
				c = c&^0x20 - 'A' + 10 + '0'
			}
			r = r<<4 | rune(c-'0')
		}
		return r, true
	}
	r, ok := unit(2)
	n := 6
	if ok && utf16.IsSurrogate(r) {
		var low rune
		if ok = in.at(6) == '\\' && in.at(7) == 'u'; ok {
			low, ok = unit(8)
			r = utf16.DecodeRune(r, low)
			n = 12
		}
		ok = ok && r != utf8.RuneError
	}
	if !ok {
		return in.fail(0, `\uXXXX with the number of a character`)
	}
	j.buf = utf8.AppendRune(j.buf, r)
	in.pos += n
	return nil
}
