package triplestore

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"odarchive/triplestore/term"
)

// quadSpool keeps quads in a temporary file until they are read once, in the order in which they came. A component is
// written as the length of the prefix that it shares with that of the quad before, the length of the rest, and the
// rest.
type quadSpool struct {
	dir  string   // of the file
	file *os.File // nil before the first quad
	w    *bufio.Writer
	r    *bufio.Reader
	last [4]string
	buf  []byte
	n    uint64 // quads written
	left uint64 // quads not yet read
}

// add appends a quad.
func (q *quadSpool) add(x term.Quad) (err error) {
	if q.file == nil {
		if q.file, err = os.CreateTemp(q.dir, tempPrefix+"quads-"); err != nil {
			return err
		}
		q.w = bufio.NewWriterSize(q.file, 256<<10)
	}
	q.buf = q.buf[:0]
	for i, k := range [4]term.Key{x.S, x.P, x.O, x.G} {
		s := string(k)
		n := shared(q.last[i], s)
		q.buf = binary.AppendUvarint(q.buf, uint64(n))
		q.buf = binary.AppendUvarint(q.buf, uint64(len(s)-n))
		q.buf = append(q.buf, s[n:]...)
		q.last[i] = s
	}
	q.n++
	_, err = q.w.Write(q.buf)
	return err
}

// shared returns the length of the common prefix of two strings.
func shared(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// rewind ends writing. Read starts with the first quad.
func (q *quadSpool) rewind() error {
	q.left, q.last = q.n, [4]string{}
	if q.file == nil {
		return nil
	}
	if err := q.w.Flush(); err != nil {
		return err
	}
	if _, err := q.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	q.r = bufio.NewReaderSize(q.file, 256<<10)
	return nil
}

// Read implements QuadReader.
func (q *quadSpool) Read() (term.Quad, error) {
	if q.left == 0 {
		return term.Quad{}, io.EOF
	}
	q.left--
	for i := range q.last {
		n, err := q.length()
		if err != nil {
			return term.Quad{}, err
		}
		rest, err := q.length()
		if err != nil {
			return term.Quad{}, err
		}
		if n > len(q.last[i]) {
			return term.Quad{}, fmt.Errorf("temporary file of quads: %w", ErrDamaged)
		}
		if rest == 0 && n == len(q.last[i]) {
			continue // the same term, in the same memory
		}
		q.buf = append(q.buf[:0], q.last[i][:n]...)
		q.buf = append(q.buf, make([]byte, rest)...)
		if _, err := io.ReadFull(q.r, q.buf[n:]); err != nil {
			return term.Quad{}, noEOF(err)
		}
		q.last[i] = string(q.buf)
	}
	return term.Quad{S: term.Key(q.last[0]), P: term.Key(q.last[1]), O: term.Key(q.last[2]), G: term.Key(q.last[3])}, nil
}

func (q *quadSpool) length() (int, error) {
	n, err := binary.ReadUvarint(q.r)
	if err == nil && n > MaxTerm {
		err = ErrDamaged
	}
	return int(n), noEOF(err)
}

// noEOF returns an error for a file that ends too early: its end must not be taken for that of the quads.
func noEOF(err error) error {
	switch err {
	case nil:
		return nil
	case io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("temporary file of quads: %w", err)
}

// close deletes the file.
func (q *quadSpool) close() {
	if q.file != nil {
		q.file.Close()
		os.Remove(q.file.Name())
	}
}
