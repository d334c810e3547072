package rdfio

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Error is a fault in a document: where it is, what stands there and what should.
type Error struct {
	File      string // Options.File, may be empty
	Line, Col int    // from 1; Col counts characters
	Found     string // what stands there, quoted and shortened; may be empty
	Expected  string // what the syntax asks for at this place
	Err       error  // a cause from below (an XML or JSON error, a limit), may be nil
}

// Error tells file, line and column the way compilers do.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		b.WriteByte(':')
	}
	fmt.Fprintf(&b, "%d:%d: ", e.Line, e.Col)
	if e.Found != "" {
		fmt.Fprintf(&b, "found %s", e.Found)
		if e.Expected != "" {
			b.WriteString(", ")
		}
	}
	if e.Expected != "" {
		fmt.Fprintf(&b, "expected %s", e.Expected)
	}
	if e.Err != nil {
		if e.Found != "" || e.Expected != "" {
			b.WriteString(": ")
		}
		b.WriteString(e.Err.Error())
	}
	return b.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrLimit is in the chain of every error that comes from one of the Limits.
var ErrLimit = errors.New("limit exceeded")

func limitError(what string, n int64) error {
	return fmt.Errorf("%w: %s of more than %d", ErrLimit, what, n)
}

// quote shows the first characters of what stands at a place.
func quote(b []byte) string {
	if len(b) == 0 {
		return "the end of the input"
	}
	const most = 24
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if i > 0 && (r <= ' ' || i >= most) {
			b = b[:i]
			break
		}
		i += n
	}
	return strconv.Quote(string(b))
}
