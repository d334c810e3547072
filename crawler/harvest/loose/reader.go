package loose

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// Bad is the error of a value that cannot be used. The reader is behind the value and can continue.
type Bad struct {
	Why  string
	Part Value  // the complete part
	Sum  string // hash of the bytes read, which identifies the value
}

func (b *Bad) Error() string { return b.Why }

// JSONReader reads one document of any length. Its methods read the next value; the callbacks of Object and Array must
// read one value too. Use NewReader.
type JSONReader struct {
	in    *bufio.Reader
	at    int64
	depth int
	max   int
}

// NewJSONReader reads from r. A value returned by Value may have max bytes; 0 means 16 MiB.
func NewJSONReader(r io.Reader, max int) *JSONReader {
	if max <= 0 {
		max = 16 << 20
	}
	in := bufio.NewReaderSize(r, 64<<10)
	if mark, _ := in.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		in.Discard(3) // cannot fail after Peek
	}
	return &JSONReader{in: in, max: max}
}

// Peek returns the first byte of the next value: '{', '[', '"' or another.
func (r *JSONReader) Peek() (byte, error) {
	for {
		b, err := r.in.ReadByte()
		if err != nil {
			return 0, r.broken(err)
		}
		if b > ' ' {
			return b, r.in.UnreadByte()
		}
		r.at++
	}
}

// broken returns the error of a stream that ends early or fails.
func (r *JSONReader) broken(err error) error {
	if errors.Is(err, io.EOF) {
		return &Error{Offset: r.at, Cut: true}
	}
	return fmt.Errorf("JSON that breaks off after %d bytes: %w", r.at, err)
}

func (r *JSONReader) fail(why string) error { return &Error{Offset: r.at, Why: why} }

// Object calls member with the name of each member. It skips a value that is not an object.
func (r *JSONReader) Object(member func(name string) error) error {
	return r.inside('{', '}', func() error {
		if b, err := r.Peek(); err != nil {
			return err
		} else if b != '"' {
			return r.fail(fmt.Sprintf("%q where a member's name should be", b))
		}
		name, err := r.Value()
		if err != nil {
			return err
		}
		if b, err := r.Peek(); err != nil {
			return err
		} else if b != ':' {
			return r.fail(fmt.Sprintf("%q where a colon should be", b))
		}
		r.skipByte()
		return member(name.Text())
	})
}

// Array calls element before each element. It skips a value that is not an array.
func (r *JSONReader) Array(element func() error) error { return r.inside('[', ']', element) }

func (r *JSONReader) inside(open, close byte, each func() error) error {
	b, err := r.Peek()
	if err != nil {
		return err
	}
	if b != open {
		return r.Skip()
	}
	if r.depth++; r.depth > maxDepth {
		return r.fail("nested too deeply")
	}
	defer func() { r.depth-- }()
	r.skipByte()
	for {
		b, err := r.Peek()
		switch {
		case err != nil:
			return err
		case b == close:
			r.skipByte()
			return nil
		case b == ',':
			r.skipByte()
			continue
		case b == ']' || b == '}' || b == ':':
			return r.fail(fmt.Sprintf("%q out of place", b))
		}
		if err := each(); err != nil {
			return err
		}
	}
}

func (r *JSONReader) skipByte() {
	r.in.Discard(1) // cannot fail after Peek
	r.at++
}

// Value reads the next value. The error is a *Bad if only this value is unusable.
func (r *JSONReader) Value() (Value, error) {
	start := r.at
	var raw []byte
	long, err := r.scan(func(b byte) bool {
		raw = append(raw, b)
		return len(raw) < r.max
	})
	if err != nil {
		return Value{}, err
	}
	v, err := Parse(raw)
	switch sum := sha256.Sum256(raw); {
	case long:
		return Value{}, &Bad{fmt.Sprintf("the value at byte %d is longer than %d bytes", start, r.max), v, hex.EncodeToString(sum[:8])}
	case err != nil:
		return Value{}, &Bad{fmt.Sprintf("the value at byte %d is %v", start, err), v, hex.EncodeToString(sum[:8])}
	}
	return v, nil
}

// Skip skips the next value.
func (r *JSONReader) Skip() error {
	_, err := r.scan(func(byte) bool { return false })
	return err
}

// scan moves behind the next value, guided by brackets and quotes alone. It passes bytes to keep until that returns
// false; long reports whether there were more.
func (r *JSONReader) scan(keep func(byte) bool) (long bool, err error) {
	first, err := r.Peek()
	if err != nil {
		return false, err
	}
	if first == ',' || first == ':' || first == ']' || first == '}' {
		return false, r.fail(fmt.Sprintf("%q where a value should be", first))
	}
	depth, quoted, escaped, more := 0, false, false, true
	for {
		b, err := r.in.ReadByte()
		if err != nil {
			if errors.Is(err, io.EOF) && depth == 0 && !quoted {
				return !more, nil // a bare word may end the document
			}
			return false, r.broken(err)
		}
		if depth == 0 && !quoted && first != '{' && first != '[' && first != '"' && (b <= ' ' || b == ',' || b == ']' || b == '}') {
			return !more, r.in.UnreadByte()
		}
		r.at++
		if more {
			more = keep(b)
		}
		switch {
		case escaped:
			escaped = false
		case quoted && b == '\\':
			escaped = true
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{' || b == '[':
			depth++
		case b == '}' || b == ']':
			depth--
		}
		if depth == 0 && !quoted && (first == '{' || first == '[' || first == '"') {
			return !more, nil
		}
	}
}
