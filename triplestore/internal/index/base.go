package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// Reader reads stored values. kv.Snapshot and kv.Txn implement it.
type Reader interface {
	Read(space kv.Space, key []byte, f func(val []byte) error) (bool, error)
}

// Base is an immutable set of quads in blocks. It consists of tiers, the largest first. No quad is in two of them. The
// zero value is empty.
//
// New quads lie everywhere between old ones in most layouts, so adding them to a large tier rewrites most of its
// blocks. They go to a small tier instead, which readers merge with the others, until it has grown to a part of the
// next larger one and is folded into it (see target).
type Base struct {
	tiers []*tier

	// Estimates and exact numbers of distinct values, where several tiers may have the same ones.
	distinct memo[distinctOf, float64]
}

// distinctOf says which number of distinct values is meant: that of the component after the first n of a range's
// tuples.
type distinctOf struct {
	r     Range
	n     int
	exact bool
}

// tier is an immutable set of blocks in every layout.
type tier struct {
	levels [Layouts]level

	// Counts of ranges that end within blocks. Planners ask for the same ranges repeatedly.
	counted memo[Range, counts]
}

func (t *tier) rows() uint64 { return t.levels[GSPO].total.rows }

// all returns the tiers of a base, which may be nil.
func (b *Base) all() []*tier {
	if b == nil {
		return nil
	}
	return b.tiers
}

// Tiers returns the number of tiers.
func (b *Base) Tiers() int { return len(b.tiers) }

// Rows returns the number of quads.
func (b *Base) Rows() (n uint64) {
	for _, t := range b.tiers {
		n += t.rows()
	}
	return n
}

// Blocks returns the number of blocks in all layouts.
func (b *Base) Blocks() (n int) {
	for _, t := range b.tiers {
		for l := range t.levels {
			n += len(t.levels[l].fences)
		}
	}
	return n
}

const (
	// maxTiers is the maximum number of tiers. Each costs a query a block, and a scan the merging.
	maxTiers = 3
	// tierShare is how many times larger than the next a tier is at least, after a merge. With fewer, folding is rarer
	// but more quads are in small tiers.
	tierShare = 4
)

// target returns the tier that n new quads go to, which also absorbs those after it. It may be one past the last.
func (b *Base) target(n uint64) int {
	k := len(b.tiers)
	for k > 0 && (k >= maxTiers || b.tiers[k-1].rows() < tierShare*n) {
		k--
		n += b.tiers[k].rows()
	}
	return k
}

// memo remembers results. It may be used concurrently.
type memo[K comparable, V any] struct {
	mu   sync.RWMutex // guards made
	made map[K]V
}

const maxRemembered = 1 << 12 // about 600 KiB

func (m *memo[K, V]) get(k K) (V, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	v, ok := m.made[k]
	return v, ok
}

func (m *memo[K, V]) put(k K, v V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.made == nil || len(m.made) >= maxRemembered {
		m.made = map[K]V{}
	}
	m.made[k] = v
}

// The keys of blocks and pages of fences are a letter and a number.
func blockKey(id uint64) []byte { return binary.BigEndian.AppendUint64([]byte{'b'}, id) }
func pageKey(id uint64) []byte  { return binary.BigEndian.AppendUint64([]byte{'p'}, id) }

// OpenBase opens the base with the given root, which a Merger returned, and reads the fences of all blocks.
func OpenBase(r Reader, root []byte) (*Base, error) {
	tiers, err := decodeRoot(root)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", segments.ErrDamaged, err)
	}
	b := &Base{}
	for _, pages := range tiers {
		t := &tier{}
		for l := range t.levels {
			for _, id := range pages[l] {
				ok, err := r.Read(kv.SpaceTripleIndex, pageKey(id),
					func(v []byte) error { return t.levels[l].decodePage(Layout(l), id, v) })
				if err == nil && !ok {
					err = errors.New("missing")
				}
				if err != nil {
					return nil, fmt.Errorf("%w: page %d of %s: %w", segments.ErrDamaged, id, Layout(l), err)
				}
			}
			t.levels[l].finish()
		}
		b.tiers = append(b.tiers, t)
	}
	return b, nil
}

// load returns the rows of a block, from the cache or decoded. If buf is not nil, and the cache is full or the state is
// read by a merge, which replaces most of what it reads, load decodes into buf and does not cache the rows.
func (s *State) load(l Layout, id uint64, buf *[]term.IDQuad) ([]term.IDQuad, error) {
	if rows, ok := s.Cache.blocks.Get(id); ok {
		return rows, nil
	}
	var into []term.IDQuad
	keep := buf == nil || !s.bulk && s.Cache.blocks.Room(id, blockRows*rowBytes)
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
		return nil, fmt.Errorf("%w: block %d of %s: %w", segments.ErrDamaged, id, l, err)
	}
	return rows, nil
}
