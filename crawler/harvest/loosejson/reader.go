package loosejson

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// Bad is a value of a stream that cannot be used. The reader stands behind it and can go on.
type Bad struct {
	Why  string
	Part Value  // what was complete before the fault
	Sum  string // of its bytes, as far as they were read: the same for the same value
}

func (b *Bad) Error() string { return b.Why }

// Reader goes through one document of any length. Its methods each take the next value; the callbacks of Object and Array
// must take one value themselves. Use NewReader.
type Reader struct {
	in    *bufio.Reader
	at    int64
	depth int
	max   int
}

// NewReader reads from r; a value that is taken whole may be max bytes long, 0 = 16 MiB.
func NewReader(r io.Reader, max int) *Reader {
	if max <= 0 {
		max = 16 << 20
	}
	in := bufio.NewReaderSize(r, 64<<10)
	if mark, _ := in.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		in.Discard(3) // was peeked
	}
	return &Reader{in: in, max: max}
}

// Peek is the byte that the next value begins with: '{', '[', '"' or another.
func (r *Reader) Peek() (byte, error) {
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

// broken is the error of a stream that ended in the middle, or failed.
func (r *Reader) broken(err error) error {
	if errors.Is(err, io.EOF) {
		return &Error{Offset: r.at, Cut: true}
	}
	return fmt.Errorf("JSON that breaks off after %d bytes: %w", r.at, err)
}

func (r *Reader) fail(why string) error { return &Error{Offset: r.at, Why: why} }

// Object calls member with the name of each member; what is no object is passed over.
func (r *Reader) Object(member func(name string) error) error {
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

// Array calls element before each element; what is no array is passed over.
func (r *Reader) Array(element func() error) error { return r.inside('[', ']', element) }

func (r *Reader) inside(open, close byte, each func() error) error {
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

func (r *Reader) skipByte() {
	r.in.Discard(1) // was peeked
	r.at++
}

// Value takes the next value whole. The error is a *Bad where only this value is unusable.
func (r *Reader) Value() (Value, error) {
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

// Skip passes over the next value.
func (r *Reader) Skip() error {
	_, err := r.scan(func(byte) bool { return false })
	return err
}

// scan goes behind the next value by its brackets and quotes alone. keep gets each byte until it has enough; long tells
// whether that was before the end.
func (r *Reader) scan(keep func(byte) bool) (long bool, err error) {
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
				return !more, nil // a bare word is ended by the end
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
