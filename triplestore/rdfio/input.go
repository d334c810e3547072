package rdfio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"odarchive/triplestore/internal/terminals"
)

// input is a window on the bytes being read. Bytes from pos on stay in the window until they are consumed, so a token
// is always contiguous, and at most Limits.Token long. Lines and columns are counted only when bytes leave the window
// and when an error needs them.
type input struct {
	r         io.Reader
	buf       []byte
	pos, end  int // buf[pos:end] is unread
	max       int // longest token
	filled    bool
	line, col int // of buf[0], from 1
	err       error
	file      string
}

const (
	windowSize  = 64 << 10
	firstWindow = 4 << 10 // most documents are small
)

func newInput(r io.Reader, o Options) *input {
	return &input{r: r, buf: make([]byte, min(firstWindow, o.Limits.Token+1)), max: o.Limits.Token, line: 1, col: 1, file: o.File}
}

// fill reads more bytes after end. It may move pos, but keeps the bytes between pos and end. It returns false at the
// end of the input, after a failed read, and if the token has become too long; err tells them apart.
func (in *input) fill() bool {
	if in.err != nil {
		return false
	}
	if in.pos > 0 {
		in.line, in.col = advance(in.line, in.col, in.buf[:in.pos])
		copy(in.buf, in.buf[in.pos:in.end])
		in.end -= in.pos
		in.pos = 0
	}
	if in.end > in.max {
		in.err = limitError("a token", int64(in.max))
		return false
	}
	if in.end == len(in.buf) || len(in.buf) < windowSize && in.filled {
		grown := make([]byte, min(max(2*len(in.buf), windowSize), in.max+1))
		copy(grown, in.buf[:in.end])
		in.buf = grown
	}
	in.filled = true
	for range 100 {
		n, err := in.r.Read(in.buf[in.end:])
		in.end += n
		if err != nil {
			in.err = err
		}
		if n > 0 {
			return true
		}
		if err != nil {
			return false
		}
	}
	in.err = io.ErrNoProgress
	return false
}

// advance returns the position after b, which begins at line and col.
func advance(line, col int, b []byte) (int, int) {
	if n := bytes.Count(b, []byte{'\n'}); n > 0 {
		line += n
		col = 1
		b = b[bytes.LastIndexByte(b, '\n')+1:]
	}
	return line, col + utf8.RuneCount(b)
}

// skipByteOrderMark consumes the byte order mark, if the input begins with one and nothing was read yet.
func (in *input) skipByteOrderMark() {
	if !in.filled && in.hasPrefix("\xEF\xBB\xBF") {
		in.pos = 3
	}
}

// has reads until the window holds n bytes after pos. It returns false if the input ends before.
func (in *input) has(n int) bool {
	for in.end-in.pos < n {
		if !in.fill() {
			return false
		}
	}
	return true
}

// hasPrefix reports whether s comes next.
func (in *input) hasPrefix(s string) bool {
	return in.has(len(s)) && string(in.buf[in.pos:in.pos+len(s)]) == s
}

// peek returns the next byte, or 0 at the end of the input. A NUL byte is legal only in literals.
func (in *input) peek() byte {
	if in.pos < in.end || in.fill() {
		return in.buf[in.pos]
	}
	return 0
}

// at returns the byte at pos+n, or 0 if the input ends before.
func (in *input) at(n int) byte {
	if in.pos+n < in.end || in.has(n+1) {
		return in.buf[in.pos+n]
	}
	return 0
}

// runeAt decodes the character at pos+n. Its size is 0 at the end of the input.
func (in *input) runeAt(n int) (rune, int) {
	if !in.has(n + 1) {
		return 0, 0
	}
	if in.buf[in.pos+n] >= utf8.RuneSelf {
		in.has(n + utf8.UTFMax)
	}
	return utf8.DecodeRune(in.buf[in.pos+n : in.end])
}

// scan returns the result of measure, the length of a token that begins at pos+n. If the token may go on after the
// window, scan reads more and calls measure again.
func (in *input) scan(n int, measure func([]byte) int) int {
	for {
		in.has(n + 1)
		b := in.buf[min(in.pos+n, in.end):in.end]
		size := measure(b)
		if endsToken(b[size:]) || !in.has(n+len(b)+max(1, len(b)/8)) && len(b) == in.end-min(in.pos+n, in.end) {
			return size
		}
	}
}

// endsToken reports whether rest, the bytes after a token, shows that the token does not go on after rest.
func endsToken(rest []byte) bool {
	rest = bytes.TrimLeft(rest, ".") // dots belong to a name only if more of it follows
	if len(rest) == 0 || len(rest) >= utf8.UTFMax {
		return len(rest) > 0
	}
	c := rest[0]
	return c < utf8.RuneSelf && c != '%' && c != '\\' && terminals.Class[c]&terminals.InName == 0
}

// Classes of bytes that end a run of plain text, bits in stops.
const (
	stopString  = 1 << iota // strings of Turtle
	stopJSON                // strings of JSON
	stopXML                 // text between tags
	stopXMLAttr             // values of attributes
)

var stops = func() (t [256]byte) {
	for class, chars := range map[byte]string{stopString: "\"'\\\r\n", stopJSON: `"\`, stopXML: "<&]", stopXMLAttr: `"'&<`} {
		for _, c := range []byte(chars) {
			t[c] |= class
		}
	}
	for c := range ' ' {
		t[c] |= stopJSON
	}
	return t
}()

// run returns the bytes from pos to the next one in the class stop. If the window ends before, found is false, and the
// run leaves out a character or a CRLF that the window may cut off.
func (in *input) run(stop byte) (b []byte, found bool) {
	b = in.buf[in.pos:in.end]
	for n, c := range b {
		if stops[c]&stop != 0 {
			return b[:n], true
		}
	}
	if in.err == nil {
		b = b[:len(b)-incomplete(b)]
		b = bytes.TrimSuffix(b, []byte{'\r'})
	}
	return b, false
}

// text consumes the run of characters that are not in the class stop and appends it to dst. The limit on tokens applies
// to dst. The input must not end before a character in stop; end names what is missing then.
func (in *input) text(dst []byte, stop byte, end string) ([]byte, error) {
	for {
		b, found := in.run(stop)
		if !utf8.Valid(b) {
			return dst, in.fail(invalidAt(b), "UTF-8")
		}
		dst = append(dst, b...)
		if len(dst) > in.max {
			return dst, in.failWith(len(b), limitError("a string", int64(in.max)))
		}
		in.pos += len(b)
		if found {
			return dst, nil
		}
		if !in.has(in.end - in.pos + 1) {
			return dst, in.fail(in.end-in.pos, "%s", end)
		}
	}
}

// incomplete returns how many bytes at the end of b begin a character without completing it.
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

// invalidAt returns the position of the first byte in b that is not valid UTF-8.
func invalidAt(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(b)
}

// atEnd reports whether the whole input is consumed.
func (in *input) atEnd() bool { return in.pos == in.end && !in.fill() }

// failure returns the error that stopped the input, or nil if it goes on or simply ended.
func (in *input) failure() error {
	if in.err == nil || in.err == io.EOF {
		return nil
	}
	return in.err
}

// fail returns the error for unexpected input at pos+n. The format and args say what was expected there.
func (in *input) fail(n int, format string, args ...any) error {
	in.has(n + 1)
	e := in.here(n)
	if err := in.failure(); err != nil && (in.pos+n >= in.end || !isFault(err)) {
		return in.failed(e, err)
	}
	e.Expected = fmt.Sprintf(format, args...)
	e.Found = quote(in.buf[min(in.pos+n, in.end):in.end])
	return e
}

// failWith returns the error for a fault at pos+n that has a cause.
func (in *input) failWith(n int, cause error) error {
	e := in.here(n)
	if err := in.failure(); err != nil && !isFault(err) {
		return in.failed(e, err)
	}
	e.Err = cause
	return e
}

func (in *input) here(n int) *Error {
	e := &Error{File: in.file}
	e.Line, e.Col = advance(in.line, in.col, in.buf[:min(in.pos+n, in.end)])
	return e
}

// failed returns the error for an input that could not be read further. If the reader below failed (disk, network),
// that is no fault of the document, and hides apparent faults, which may only come from the missing bytes.
func (in *input) failed(e *Error, err error) error {
	if isFault(err) {
		e.Err = err
		return e
	}
	file := ""
	if in.file != "" {
		file = " " + in.file
	}
	return fmt.Errorf("rdfio: reading%s after line %d: %w", file, e.Line, err)
}

// documentFault is an error of a reader below the input that is the document's fault.
type documentFault struct{ error }

func isFault(err error) bool {
	var fault documentFault
	return errors.Is(err, ErrLimit) || errors.As(err, &fault)
}

// Escape sequences that are expected, in errors about malformed ones.
const (
	unicodeEscape  = `\uXXXX or \UXXXXXXXX with the number of a character`
	escapeSequence = `an escape sequence (\t \b \n \r \f \" \' \\ \uXXXX \UXXXXXXXX)`
)
