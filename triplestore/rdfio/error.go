package rdfio

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Error is a fault in a document: where it is, what was found there, and what was expected.
type Error struct {
	File      string // Options.File, may be empty
	Line, Col int    // from 1; Col counts characters
	Found     string // the input at that place, quoted and shortened; may be empty
	Expected  string // what the syntax requires there
	Err       error  // a more specific error, may be nil
}

// Error returns file, line and column as compilers do, and the fault.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		b.WriteByte(':')
	}
	fmt.Fprintf(&b, "%d:%d: ", e.Line, e.Col)
	var parts []string
	if e.Found != "" {
		parts = append(parts, "found "+e.Found)
	}
	if e.Expected != "" {
		parts = append(parts, "expected "+e.Expected)
	}
	b.WriteString(strings.Join(parts, ", "))
	if e.Err != nil {
		if len(parts) > 0 {
			b.WriteString(": ")
		}
		b.WriteString(e.Err.Error())
	}
	return b.String()
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// ErrLimit is wrapped by every error that one of the Limits causes.
var ErrLimit = errors.New("limit exceeded")

func limitError(what string, n int64) error {
	return fmt.Errorf("%w: %s of more than %d", ErrLimit, what, n)
}

// quote quotes the first characters of b, up to white space.
func quote(b []byte) string {
	if len(b) == 0 {
		return "the end of the input"
	}
	const maxLength = 24
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if i > 0 && (r <= ' ' || i >= maxLength) {
			b = b[:i]
			break
		}
		i += n
	}
	return strconv.Quote(string(b))
}
