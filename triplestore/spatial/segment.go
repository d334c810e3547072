package spatial

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/term"
)

const (
	segmentVersion = 1
	blockEntries   = 256 // entries of a block; it has fewer if its layer ends
	groupBlocks    = 64  // blocks of a group
)

// segment is a sorted list of entries in blocks. A search compares the boxes around groups of blocks first, then those
// around blocks, then those of entries.
type segment struct {
	number  uint64 // 0 for a segment in memory
	entries int
	fences  []fence // of the blocks
	groups  []fence // of the groups
	mem     []Entry // the entries of a segment in memory; nil for a stored one
}

// fence describes a block or a group of blocks.
type fence struct {
	layer uint32 // of a block; not set for a group
	n     int    // number of entries
	first int    // index of the block's first entry in the segment; not set for a group
	box   Box    // around all entries
}

// group sets the groups.
func (s *segment) group() {
	s.groups = s.groups[:0]
	for part := range slices.Chunk(s.fences, groupBlocks) {
		g := fence{box: nothing}
		for _, f := range part {
			g.n += f.n
			g.box = g.box.or(f.box)
		}
		s.groups = append(s.groups, g)
	}
}

// blocks calls f with the index of each block that may have entries in a region, until f returns an error. inside
// reports that all entries of the block are in the region.
func (s *segment) blocks(r Region, f func(i int, inside bool) error) error {
	for g := range s.groups {
		if !r.meets(s.groups[g].box) {
			continue
		}
		for i := g * groupBlocks; i < min((g+1)*groupBlocks, len(s.fences)); i++ {
			if b := &s.fences[i]; r.in(b.layer) && r.meets(b.box) {
				if err := f(i, len(r.boxes) == 1 && r.boxes[0].contains(b.box)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// count estimates how many entries are in a region.
func (s *segment) count(r Region) float64 {
	n := 0.0
	_ = s.blocks(r, func(i int, inside bool) error { // f returns no error
		share := 0.0
		for _, b := range r.boxes {
			share += b.share(s.fences[i].box)
		}
		n += min(1, share) * float64(s.fences[i].n)
		return nil
	})
	return n
}

// search appends the ids of the entries in a region to out.
func (s *segment) search(read segments.Reader, r Region, out []term.ID) ([]term.ID, error) {
	err := s.blocks(r, func(i int, inside bool) error {
		f := &s.fences[i]
		if s.mem != nil {
			for _, e := range s.mem[f.first : f.first+f.n] {
				if inside || r.meets(e.Box) {
					out = append(out, e.ID)
				}
			}
			return nil
		}
		b, err := s.open(read, i)
		if err != nil {
			return err
		}
		for k := range b.n {
			if inside || r.meets(b.box(k)) {
				out = append(out, b.id(k))
			}
		}
		return nil
	})
	return out, err
}

// block is a stored block: the version, the number of entries, the number of bytes of an id, whether all boxes are
// points, the smallest id, a column of ids and the columns of coordinates. An id is stored as the difference from the
// smallest one.
type block struct {
	n, width int // number of entries, and bytes of an id
	points   bool
	least    uint64 // smallest id
	ids      []byte
	boxes    []byte
}

func (b *block) id(k int) term.ID {
	v := uint64(0)
	for _, x := range b.ids[k*b.width : (k+1)*b.width] {
		v = v<<8 | uint64(x)
	}
	return term.ID(b.least + v)
}

func (b *block) number(i int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(b.boxes[4*i:]))
}

func (b *block) box(k int) Box {
	if b.points {
		x, y := b.number(k), b.number(b.n+k)
		return Box{x, y, x, y}
	}
	return Box{b.number(k), b.number(b.n + k), b.number(2*b.n + k), b.number(3*b.n + k)}
}

// encodeBlock encodes a block of entries, which must be in one layer.
func encodeBlock(list []Entry) []byte {
	least, most, points := uint64(math.MaxUint64), uint64(0), true
	for _, e := range list {
		least, most = min(least, uint64(e.ID)), max(most, uint64(e.ID))
		points = points && e.Box.MinX == e.Box.MaxX && e.Box.MinY == e.Box.MaxY
	}
	width := 0
	for v := most - least; v > 0; v >>= 8 {
		width++
	}
	b := []byte{segmentVersion}
	b = binary.AppendUvarint(b, uint64(len(list)))
	b = append(b, byte(width), 0)
	if points {
		b[len(b)-1] = 1
	}
	b = binary.LittleEndian.AppendUint64(b, least)
	for _, e := range list {
		v := uint64(e.ID) - least
		for i := width - 1; i >= 0; i-- {
			b = append(b, byte(v>>(8*i)))
		}
	}
	column := func(f func(Box) float32) {
		for _, e := range list {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f(e.Box)))
		}
	}
	column(func(b Box) float32 { return b.MinX })
	column(func(b Box) float32 { return b.MinY })
	if !points {
		column(func(b Box) float32 { return b.MaxX })
		column(func(b Box) float32 { return b.MaxY })
	}
	return b
}

// open reads block i, which must be stored.
func (s *segment) open(read segments.Reader, i int) (block, error) {
	raw, err := read(segments.Key('b', s.number, uint64(i)))
	if err != nil {
		return block{}, err
	}
	r := fields.Reader{B: raw}
	if r.Byte() != segmentVersion {
		return block{}, s.damaged("version of a block")
	}
	b := block{n: r.Count(1), width: int(r.Byte()), points: r.Byte() == 1}
	if head := r.Bytes(8); head != nil {
		b.least = binary.LittleEndian.Uint64(head)
	}
	b.ids = r.Bytes(b.n * b.width)
	columns := 4
	if b.points {
		columns = 2
	}
	b.boxes = r.Bytes(b.n * columns * 4)
	if r.End() != nil || b.width > 8 || b.n != s.fences[i].n {
		return block{}, s.damaged("a block")
	}
	return b, nil
}

// load appends the entries of block i to out.
func (s *segment) load(read segments.Reader, i int, out []Entry) ([]Entry, error) {
	f := &s.fences[i]
	if s.mem != nil {
		return append(out, s.mem[f.first:f.first+f.n]...), nil
	}
	b, err := s.open(read, i)
	if err != nil {
		return nil, err
	}
	for k := range b.n {
		out = append(out, Entry{b.id(k), f.layer, b.box(k)})
	}
	return out, nil
}

func (s *segment) damaged(what string) error {
	return fmt.Errorf("%w: spatial segment %d: %s", segments.ErrDamaged, s.number, what)
}

// head encodes the fences.
func (s *segment) head() []byte {
	b := []byte{segmentVersion}
	b = binary.AppendUvarint(b, uint64(len(s.fences)))
	for _, f := range s.fences {
		b = binary.LittleEndian.AppendUint32(b, f.layer)
		b = binary.LittleEndian.AppendUint16(b, uint16(f.n))
		for _, v := range [4]float32{f.box.MinX, f.box.MinY, f.box.MaxX, f.box.MaxY} {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
	}
	return b
}

const fenceBytes = 4 + 2 + 4*4

// openSegment reads the fences of a stored segment. size is the length of their encoding in bytes.
func openSegment(read segments.Reader, number, size uint64) (*segment, error) {
	s := &segment{number: number}
	b, err := segments.Parts(read, 'h', number, 0, size)
	if err != nil {
		return nil, err
	}
	r := fields.Reader{B: b}
	if r.Byte() != segmentVersion {
		return nil, s.damaged("its head")
	}
	for range r.Count(fenceBytes) {
		raw := r.Bytes(fenceBytes)
		if raw == nil {
			break
		}
		at := func(i int) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(raw[6+4*i:])) }
		f := fence{layer: binary.LittleEndian.Uint32(raw), n: int(binary.LittleEndian.Uint16(raw[4:])), first: s.entries,
			box: Box{at(0), at(1), at(2), at(3)}}
		s.fences = append(s.fences, f)
		s.entries += f.n
	}
	if r.End() != nil {
		return nil, s.damaged("its head")
	}
	s.group()
	return s, nil
}
