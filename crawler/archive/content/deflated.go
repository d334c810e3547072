package content

import (
	"errors"
	"io"
	"sync"
)

// readAhead is the number of deflated bytes that are read from a pack at once.
const readAhead = 256 << 10

// Deflated reads the concatenated segments of a file: a deflate stream that lacks only Tail. The bytes are those in the
// packs, compared with their checksums. It must not be used concurrently, and must be closed.
type Deflated struct {
	s      *Store
	layout *layout
	pos    int64
	free   func()
	buf    *[]byte
	part   []byte // bytes of the stream, starting at partAt
	partAt int64
}

var aheadBuffers = sync.Pool{New: func() any { b := make([]byte, 0, readAhead+readAhead/8); return &b }}

// Deflated opens the deflate stream of a file in the layout of a Ref, or in the Current one. An older layout stays
// readable while a Hold is open that was made before the Ref was returned.
func (s *Store) Deflated(sha [32]byte, number uint64) (*Deflated, error) {
	if s.isClosed() {
		return nil, ErrClosed
	}
	free := s.Hold()
	l, err := s.layoutOf(sha, number)
	if err != nil {
		free()
		return nil, err
	}
	return &Deflated{s: s, layout: l, free: free, buf: aheadBuffers.Get().(*[]byte)}, nil
}

// Ref returns the Ref of the file, with the sizes of this layout.
func (d *Deflated) Ref() Ref { return d.layout.file.ref() }

// Size returns the size of the stream, without Tail.
func (d *Deflated) Size() int64 { return d.layout.file.deflateSize }

// Close releases the file; it may be called twice.
func (d *Deflated) Close() error {
	d.free()
	if d.buf != nil {
		aheadBuffers.Put(d.buf)
		d.buf, d.part = nil, nil
	}
	return nil
}

// Seek implements io.Seeker.
func (d *Deflated) Seek(offset int64, whence int) (int64, error) {
	pos, err := seek(offset, whence, d.pos, d.Size())
	if err == nil {
		d.pos = pos
	}
	return pos, err
}

// Read implements io.Reader.
func (d *Deflated) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	b, err := d.next()
	if err != nil {
		return 0, err
	}
	n := copy(p, b)
	d.pos += int64(n)
	return n, nil
}

// WriteTo implements io.WriterTo.
func (d *Deflated) WriteTo(w io.Writer) (total int64, err error) {
	for {
		b, err := d.next()
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
		n, err := w.Write(b)
		d.pos += int64(n)
		total += int64(n)
		if err != nil {
			return total, err
		}
	}
}

// next returns the buffered bytes at pos, at least one. It reads more if there are none.
func (d *Deflated) next() ([]byte, error) {
	if d.buf == nil {
		return nil, errors.New("content: read of a closed file")
	}
	if d.pos >= d.Size() {
		return nil, io.EOF
	}
	if d.pos < d.partAt || d.pos >= d.partAt+int64(len(d.part)) {
		i := d.layout.atDeflated(d.pos)
		part, err := d.s.bodies(d.layout, i, d.layout.together(i, readAhead), d.buf)
		if err != nil {
			d.part = nil
			return nil, err
		}
		d.part, d.partAt = part, d.layout.leaves[i].defAt
	}
	return d.part[d.pos-d.partAt:], nil
}
