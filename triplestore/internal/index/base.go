package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"odarchive/triplestore/internal/sealed"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// Reader reads stored values. kv.Snapshot and kv.Txn implement it.
type Reader interface {
	Read(space kv.Space, key []byte, f func(val []byte) error) (bool, error)
}

// Base is an immutable set of blocks in every layout. The zero value is empty.
type Base struct {
	levels [Layouts]level

	// Cached counts of ranges that end within blocks. Planners ask for the same ranges repeatedly, and the counts are
	// valid as long as the base.
	countMu sync.RWMutex
	counted map[Range]counts
}

const maxCounted = 1 << 12 // about 600 KiB

func (b *Base) remembered(r Range) (counts, bool) {
	b.countMu.RLock()
	defer b.countMu.RUnlock()
	c, ok := b.counted[r]
	return c, ok
}

func (b *Base) remember(r Range, c counts) {
	b.countMu.Lock()
	defer b.countMu.Unlock()
	if b.counted == nil || len(b.counted) >= maxCounted {
		b.counted = map[Range]counts{}
	}
	b.counted[r] = c
}

// Rows returns the number of quads.
func (b *Base) Rows() uint64 { return b.levels[GSPO].total.rows }

// Blocks returns the number of blocks in all layouts.
func (b *Base) Blocks() (n int) {
	for i := range b.levels {
		n += len(b.levels[i].fences)
	}
	return n
}

// The keys of blocks and pages of fences are a letter and a number.
func blockKey(id uint64) []byte { return binary.BigEndian.AppendUint64([]byte{'b'}, id) }
func pageKey(id uint64) []byte  { return binary.BigEndian.AppendUint64([]byte{'p'}, id) }

// OpenBase opens the base with the given root, which Merge returned, and reads the fences of all blocks.
func OpenBase(r Reader, root []byte) (*Base, error) {
	pages, err := decodeRoot(root)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", sealed.ErrDamaged, err)
	}
	b := &Base{}
	for l := range b.levels {
		for _, id := range pages[l] {
			ok, err := r.Read(kv.SpaceTripleIndex, pageKey(id), func(v []byte) error { return b.levels[l].decodePage(Layout(l), id, v) })
			if err == nil && !ok {
				err = errors.New("missing")
			}
			if err != nil {
				return nil, fmt.Errorf("%w: page %d of %s: %w", sealed.ErrDamaged, id, Layout(l), err)
			}
		}
	}
	return b, nil
}

// load returns the rows of a block, from the cache or decoded. If buf is not nil and the cache is full, it decodes into
// buf and does not cache the rows.
func (s *State) load(l Layout, i int, buf *[]term.IDQuad) ([]term.IDQuad, error) {
	id := s.Base.levels[l].fences[i].id
	if rows, ok := s.Cache.blocks.Get(id); ok {
		return rows, nil
	}
	var into []term.IDQuad
	keep := buf == nil || s.Cache.blocks.Room(id, blockRows*rowBytes)
	if !keep {
		into = *buf
	}
	c := s.Cache.codecs.Get().(*codec)
	defer s.Cache.codecs.Put(c)
	rows, err := readBlock(s.Reader, c, l, id, into)
	if err != nil {
		return nil, err
	}
	if keep {
		s.Cache.blocks.Put(id, rows, int64(len(rows))*rowBytes)
	} else {
		*buf = rows
	}
	return rows, nil
}

func readBlock(r Reader, c *codec, l Layout, id uint64, into []term.IDQuad) (rows []term.IDQuad, err error) {
	ok, err := r.Read(kv.SpaceTripleIndex, blockKey(id), func(v []byte) error {
		rows, err = c.decode(v, l, id, into)
		return err
	})
	if err == nil && !ok {
		err = errors.New("missing")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: block %d of %s: %w", sealed.ErrDamaged, id, l, err)
	}
	return rows, nil
}

// blockSource reads the rows of a range block by block.
type blockSource struct {
	s       *State
	layout  Layout
	r       Range
	i, to   int // the blocks still to be read
	read    int // number of blocks read consecutively
	scratch []term.IDQuad
}

// readAhead is the number of consecutive blocks after which a scan no longer evicts other blocks from the cache.
const readAhead = 16

func (s *State) blockSource(r Range) *blockSource {
	from, to := s.Base.levels[r.Layout].blocks(r)
	if from == to {
		return nil
	}
	return &blockSource{s: s, layout: r.Layout, r: r, i: from, to: to}
}

func (b *blockSource) next() ([]term.IDQuad, error) {
	for b.i < b.to {
		var buf *[]term.IDQuad
		if b.read++; b.read > readAhead {
			buf = &b.scratch
		}
		rows, err := b.s.load(b.layout, b.i, buf)
		if err != nil {
			return nil, err
		}
		b.i++
		if rows = b.r.clip(rows); len(rows) > 0 {
			return rows, nil
		}
	}
	return nil, nil
}

func (b *blockSource) seek(t Tuple) {
	if !b.r.From.Less(t) {
		return
	}
	b.r.From = t
	l := &b.s.Base.levels[b.layout]
	if to := l.reach(b.i, t); to > b.i {
		b.i = min(to, b.to)
		b.read = 0
	}
}

func (b *blockSource) close() { b.i = b.to }
