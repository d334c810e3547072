package content

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
)

// keepDecoded is the number of inflated segments that a Reader keeps.
const keepDecoded = 4

// Reader reads the raw bytes of one file. Read, Seek and WriteTo must not run concurrently; ReadAt may. A Reader must
// be closed.
type Reader struct {
	s    *Store
	size int64
	pos  int64
	free func()

	mu      sync.Mutex // guards the fields below
	layout  *layout
	decoded [keepDecoded]decodedSegment
	turn    int
	buf     []byte
}

type decodedSegment struct {
	leaf int // -1 if raw is invalid
	raw  []byte
}

// Open opens a file. The error is ErrNotFound if it is not stored.
func (s *Store) Open(sha [32]byte) (*Reader, error) {
	if s.isClosed() {
		return nil, ErrClosed
	}
	free := s.Hold()
	l, err := s.layoutOf(sha, Current)
	if err != nil {
		free()
		return nil, err
	}
	r := &Reader{s: s, size: l.file.size, free: free, layout: l}
	for i := range r.decoded {
		r.decoded[i].leaf = -1
	}
	return r, nil
}

// Size returns the size of the file in raw bytes.
func (r *Reader) Size() int64 { return r.size }

// Close releases the file; it may be called twice.
func (r *Reader) Close() error {
	r.free()
	return nil
}

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if r.pos >= r.size {
		return 0, io.EOF
	}
	n, err := r.some(p, r.pos)
	r.pos += int64(n)
	return n, err
}

// Seek implements io.Seeker.
func (r *Reader) Seek(offset int64, whence int) (int64, error) {
	pos, err := seek(offset, whence, r.pos, r.size)
	if err == nil {
		r.pos = pos
	}
	return pos, err
}

func seek(offset int64, whence int, pos, size int64) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += pos
	case io.SeekEnd:
		offset += size
	case io.SeekStart:
	default:
		return 0, errors.New("content: seek: unknown whence")
	}
	if offset < 0 {
		return 0, errors.New("content: seek: before the beginning")
	}
	return offset, nil
}

// ReadAt implements io.ReaderAt.
func (r *Reader) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, errors.New("content: read at a negative offset")
	}
	for n < len(p) {
		if off+int64(n) >= r.size {
			return n, io.EOF
		}
		k, err := r.some(p[n:], off+int64(n))
		n += k
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// WriteTo implements io.WriterTo.
func (r *Reader) WriteTo(w io.Writer) (total int64, err error) {
	for r.pos < r.size {
		i := r.layout.at(r.pos)
		r.mu.Lock()
		raw, err := r.segment(i)
		if err == nil {
			var n int
			n, err = w.Write(raw[r.pos-r.layout.leaves[i].rawAt:])
			r.pos += int64(n)
			total += int64(n)
		}
		r.mu.Unlock()
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// some reads at least one byte at off, which must be inside the file.
func (r *Reader) some(p []byte, off int64) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := r.layout.at(off)
	raw, err := r.segment(i)
	if err != nil {
		return 0, err
	}
	return copy(p, raw[off-r.layout.leaves[i].rawAt:]), nil
}

// segment returns the raw bytes of leaf i, valid until mu is unlocked.
func (r *Reader) segment(i int) ([]byte, error) {
	for k := range r.decoded {
		if r.decoded[k].leaf == i {
			return r.decoded[k].raw, nil
		}
	}
	body, err := r.s.bodies(r.layout, i, i+1, &r.buf)
	if err != nil {
		return nil, err
	}
	d := &r.decoded[r.turn]
	r.turn = (r.turn + 1) % keepDecoded
	n := r.layout.leaves[i].raw
	if cap(d.raw) < n {
		d.raw = make([]byte, n, max(n, min(maxRaw, int(r.size))))
	}
	d.leaf, d.raw = -1, d.raw[:n]
	if err := inflate(d.raw, body); err != nil {
		return nil, r.s.damage(r.layout, i, err.Error())
	}
	d.leaf = i
	return d.raw, nil
}

// damage returns the error about a damaged leaf.
func (s *Store) damage(l *layout, i int, why string) error {
	g := &l.leaves[i]
	return &DamageError{Pack: s.packs.nameOf(g.pack), Offset: g.offset, File: l.file.sha, Why: why}
}

// bodies reads the leaves from i to to, exclusive, which must be consecutive in one pack (see together). It compares
// them with their checksums and returns their concatenated bodies, in buf. If the pack does not exist, it reads the
// layout again, once, since Compact may have moved the segments.
func (s *Store) bodies(l *layout, i, to int, buf *[]byte) ([]byte, error) {
	for again := false; ; again = true {
		b, err := s.tryBodies(l, i, to, buf)
		if !errors.Is(err, errNoPack) {
			return b, err
		}
		if again {
			return nil, s.damage(l, i, "the pack is missing")
		}
		fresh, err := s.layoutOf(l.file.sha, l.file.layout)
		if err != nil {
			return nil, err
		}
		if len(fresh.leaves) != len(l.leaves) {
			return nil, s.damage(l, i, "the pack is missing")
		}
		copy(l.leaves, fresh.leaves)
		if to > i+1 { // they may no longer be consecutive
			return s.oneByOne(l, i, to, buf)
		}
	}
}

// oneByOne does the same as bodies for leaves that are not consecutive.
func (s *Store) oneByOne(l *layout, i, to int, buf *[]byte) (all []byte, err error) {
	for ; i < to; i++ {
		b, err := s.bodies(l, i, i+1, buf)
		if err != nil {
			return nil, err
		}
		all = append(all, b...)
	}
	return all, nil
}

func (s *Store) tryBodies(l *layout, i, to int, buf *[]byte) ([]byte, error) {
	first := &l.leaves[i]
	if first.pack == 0 {
		return nil, s.damage(l, i, "it is no longer stored")
	}
	h, err := s.packs.acquire(first.pack)
	if err != nil {
		return nil, err
	}
	defer s.packs.release(h)
	n := 0
	for k := i; k < to; k++ {
		n += segmentHead + l.leaves[k].deflated
	}
	if cap(*buf) < n {
		*buf = make([]byte, n)
	}
	b := (*buf)[:n]
	r := leavesReader(h.f, l, i)
	k, wrong, err := readLeaves(r, l.leaves[i:to], b)
	if wrong != "" && distrust(h.f, l.leaves[i:to]) {
		k, wrong, err = readLeaves(r, l.leaves[i:to], b)
	}
	if errors.Is(err, fs.ErrNotExist) { // it is gone from the bucket
		return nil, errNoPack
	}
	if err != nil {
		return nil, fmt.Errorf("content: read pack %s: %w", s.packs.nameOf(first.pack), err)
	}
	if wrong != "" {
		at := l.leaves[i+k].offset
		if err := s.damage(l, i+k, wrong); !s.throughParity(h, first.pack, at, wrong, func(r io.ReaderAt) bool {
			_, again, failed := readLeaves(r, l.leaves[i:to], b)
			return again == "" && failed == nil
		}) {
			return nil, err
		}
	}
	out, rest := b[:0], b
	for k := i; k < to; k++ {
		size := segmentHead + l.leaves[k].deflated
		out = append(out, rest[segmentHead:size]...) // overwrites only bytes before rest, since the heads are left out
		rest = rest[size:]
	}
	return out, nil
}

// readLeaves reads consecutive segments into b. at is the first that is damaged, and wrong describes how, "" if none
// is.
func readLeaves(r io.ReaderAt, leaves []leaf, b []byte) (at int, wrong string, err error) {
	n, err := readFull(r, b, leaves[0].offset)
	switch {
	case err == nil:
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		wrong = "the pack ends before it"
	case isUnreadable(err):
		wrong = "it cannot be read: " + err.Error()
	default:
		return 0, "", err
	}
	for k := range leaves {
		g := &leaves[k]
		size := segmentHead + g.deflated
		if n -= size; wrong != "" && n < 0 {
			return k, wrong, nil
		}
		h, _, wrong := checkSegment(b[:size])
		if wrong == "" && (h.mark != segmentMark || h.crc != g.crc || h.raw != g.raw) {
			wrong = "it is another segment"
		}
		if wrong != "" {
			return k, wrong, nil
		}
		b = b[size:]
	}
	return 0, "", nil
}

// throughParity records damage in a pack. If the pack has parity, it calls read with a reader that heals the pack, and
// returns its result.
func (s *Store) throughParity(h *handle, num uint64, at int64, why string, read func(io.ReaderAt) bool) bool {
	name := s.packs.nameOf(num)
	s.noteFile(name, at, why)
	if !isClosed(name) {
		return false
	}
	g, err := s.guard(name, h.f)
	if err != nil {
		return false
	}
	defer g.Close()
	return read(g)
}

// together returns the end of the leaves from i on that are consecutive in one pack: at least one leaf, and at most
// limit bytes if there are more.
func (l *layout) together(i, limit int) (to int) {
	n := l.leaves[i].deflated
	for to = i + 1; to < len(l.leaves); to++ {
		a, b := &l.leaves[to-1], &l.leaves[to]
		n += b.deflated
		if b.pack != a.pack || b.offset != a.offset+segmentHead+int64(a.deflated) || n > limit {
			break
		}
	}
	return to
}
