package transparency

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"odarchive/triplestore/fields"

	"golang.org/x/mod/sumdb/tlog"
)

// stateFormat is the format of the state.
const stateFormat = 1

// state is what append must know.
type state struct {
	size int64
	// open and parity are of the leaves behind the last full tile: their tree, and their exclusive or.
	open   growing
	parity [LeafLen]byte
}

func (t Txn) state() (s state, err error) {
	_, err = t.Read(space, []byte{tableState}, func(raw []byte) error {
		r := fields.Reader{B: raw}
		format := r.Byte()
		if format != stateFormat {
			return fields.OtherFormat("the transparency log", uint64(format), stateFormat)
		}
		s = state{size: r.Max(maxSize)}
		if rest := s.size % tileWidth; rest > 0 {
			s.open.size = rest
			for range bits.OnesCount64(uint64(rest)) {
				s.open.roots = append(s.open.roots, readHash(&r))
			}
			copy(s.parity[:], r.Bytes(LeafLen))
		}
		if r.End() != nil {
			return fmt.Errorf("%w: its state cannot be read", ErrDamaged)
		}
		return nil
	})
	return s, err
}

func readHash(r *fields.Reader) (h tlog.Hash) {
	copy(h[:], r.Bytes(len(h)))
	return h
}

func (t Txn) setState(s state) error {
	b := append(make([]byte, 0, 16+len(s.open.roots)*tlog.HashSize+LeafLen), stateFormat)
	b = binary.AppendUvarint(b, uint64(s.size))
	for _, h := range s.open.roots {
		b = append(b, h[:]...)
	}
	if s.open.size > 0 {
		b = append(b, s.parity[:]...)
	}
	return t.Set(space, []byte{tableState}, b)
}

// add adds a leaf. It returns the hash of the tile that the leaf completes, if it does; the caller then empties open.
func (s *state) add(raw []byte) (full tlog.Hash) {
	s.size++
	addParity(&s.parity, raw)
	// returns the error of the function
	_ = s.open.add(tlog.RecordHash(raw), func(_ int, _ int64, h tlog.Hash) error { full = h; return nil })
	return full
}

// root returns hash n of a level of the tree, counted from the leaves, if it is the root of one of the full subtrees
// behind the last full tile.
func (s *state) root(level int, n int64) (h tlog.Hash, ok bool) {
	at := s.size - s.open.size
	for i, width := 0, int64(tileWidth/2); width > 0; width /= 2 {
		if s.open.size&width == 0 {
			continue
		}
		if int64(1)<<min(level, tileHeight) == width && n*width == at {
			return s.open.roots[i], true
		}
		at += width
		i++
	}
	return h, false
}

// addParity adds a leaf to the exclusive or of some, or takes it away.
func addParity(parity *[LeafLen]byte, raw []byte) {
	for i := range min(len(raw), len(parity)) {
		parity[i] ^= raw[i]
	}
}

// Size returns the number of leaves.
func (t Txn) Size() (int64, error) {
	s, err := t.state()
	return s.size, err
}
