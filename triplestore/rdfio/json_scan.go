package rdfio

import (
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"odarchive/triplestore/internal/terminals"
)

// jsonScanner splits JSON (RFC 8259) into tokens. Lone surrogates and invalid UTF-8 in strings are errors, since no RDF
// term can hold them.
type jsonScanner struct {
	in  *input
	lim Limits
	buf []byte // the last string, decoded, or the last number
}

type jsonKind byte

const (
	jsonEnd    jsonKind = 0 // the end of the input
	jsonString jsonKind = '"'
	jsonNumber jsonKind = '0'
	jsonTrue   jsonKind = 't'
	jsonFalse  jsonKind = 'f'
	jsonNull   jsonKind = 'n'
	// The others are '{', '}', '[', ']', ':' and ','.
)

// next reads the next token. A string or a number is in j.buf then.
func (j *jsonScanner) next() (jsonKind, error) {
	kind, err := j.peek()
	if err != nil {
		return 0, err
	}
	return kind, j.read(kind)
}

// expect reads the next token, which must be of one of the given kinds; what describes them.
func (j *jsonScanner) expect(what string, kinds ...jsonKind) (jsonKind, error) {
	kind, err := j.peek()
	if err != nil {
		return 0, err
	}
	if slices.Contains(kinds, kind) {
		return kind, j.read(kind)
	}
	return 0, j.in.fail(0, "%s", what)
}

// peek skips white space and returns the kind of the next token, by its first byte.
func (j *jsonScanner) peek() (jsonKind, error) {
	in := j.in
	in.skipByteOrderMark()
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

// read consumes the token of the given kind that comes next.
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
		var err error
		if j.buf, err = in.text(j.buf, stopJSON, `'"' at the end of a string`); err != nil {
			return err
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

// escape decodes an escape sequence.
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

// unicode decodes \u and four digits, or two of these that are a surrogate pair.
func (j *jsonScanner) unicode() error {
	in := j.in
	unit := func(n int) (rune, bool) {
		if !in.has(n + 4) {
			return 0, false
		}
		u, err := strconv.ParseUint(string(in.buf[in.pos+n:in.pos+n+4]), 16, 16)
		return rune(u), err == nil
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
