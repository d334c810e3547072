package rdfio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"odarchive/triplestore/internal/terminals"
)

// input is a window on the bytes being read. What begins at pos is not consumed yet and stays in the window until it is;
// a token is therefore always contiguous, and as long as Limits.Token at most. Lines and columns are not counted while
// reading but when bytes leave the window, and once more when somebody asks.
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

// fill gets more bytes behind end; pos may move, what is between pos and end stays the same. It returns false at the end
// of the input, after a failed read, and where the token has become too long; err says which.
func (in *input) fill() bool {
	if in.err != nil {
		return false
	}
	if in.pos > 0 {
		in.count(in.buf[:in.pos])
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

// count moves the position of the window's start over b.
func (in *input) count(b []byte) {
	in.line, in.col = advance(in.line, in.col, b)
}

func advance(line, col int, b []byte) (int, int) {
	if n := bytes.Count(b, []byte{'\n'}); n > 0 {
		line += n
		col = 1
		b = b[bytes.LastIndexByte(b, '\n')+1:]
	}
	return line, col + utf8.RuneCount(b)
}

// has makes sure that n bytes stand at pos; false means the input ends before.
func (in *input) has(n int) bool {
	for in.end-in.pos < n {
		if !in.fill() {
			return false
		}
	}
	return true
}

// peek is the next byte, 0 at the end of the input. (A NUL byte is nowhere legal outside of a literal.)
func (in *input) peek() byte {
	if in.pos < in.end || in.fill() {
		return in.buf[in.pos]
	}
	return 0
}

// at is the byte n behind the next one, 0 where the input ends before.
func (in *input) at(n int) byte {
	if in.pos+n < in.end || in.has(n+1) {
		return in.buf[in.pos+n]
	}
	return 0
}

// runeAt decodes the character n bytes behind pos; size 0 is the end of the input.
func (in *input) runeAt(n int) (rune, int) {
	if !in.has(n + 1) {
		return 0, 0
	}
	if in.buf[in.pos+n] >= utf8.RuneSelf {
		in.has(n + utf8.UTFMax)
	}
	return utf8.DecodeRune(in.buf[in.pos+n : in.end])
}

// scan returns the result of measure, the length of a token that begins n bytes after pos. If the token may continue
// after the window, scan reads on and calls measure again.
func (in *input) scan(n int, measure func([]byte) int) int {
	for {
		in.has(n + 1)
		b := in.buf[min(in.pos+n, in.end):in.end]
		size := measure(b)
		rest := bytes.TrimLeft(b[size:], ".") // dots belong to a name only if more of it follows
		if len(rest) >= utf8.UTFMax || len(rest) > 0 && rest[0] < utf8.RuneSelf && rest[0] != '%' && rest[0] != '\\' && terminals.Class[rest[0]]&terminals.InName == 0 ||
			!in.has(n+len(b)+max(1, len(b)/8)) && len(b) == len(in.buf[min(in.pos+n, in.end):in.end]) {
			return size
		}
	}
}

// atEnd tells whether everything has been read.
func (in *input) atEnd() bool { return in.pos == in.end && !in.fill() }

// failure is what keeps the input from going on, where that is not simply its end.
func (in *input) failure() error {
	if in.err == nil || in.err == io.EOF {
		return nil
	}
	return in.err
}

// fail makes the error for a fault n bytes behind pos.
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

// failWith is fail with a cause instead of an expectation.
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

// failed is the error where the input could not be read further. A failure below (the disk, the network) is no fault of
// the document and hides any that there seems to be, since that may only be where the bytes end.
func (in *input) failed(e *Error, err error) error {
	if isFault(err) {
		e.Err = err
		return e
	}
	return fmt.Errorf("rdfio: reading%s after line %d: %w", orBlank(" ", in.file), e.Line, err)
}

// documentFault is an error of a reader in between that the document is to blame for.
type documentFault struct{ error }

func isFault(err error) bool {
	var fault documentFault
	return errors.Is(err, ErrLimit) || errors.As(err, &fault)
}

func orBlank(sep, s string) string {
	if s == "" {
		return ""
	}
	return sep + s
}
