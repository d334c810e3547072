package index

import (
	"context"
	"fmt"

	"odarchive/triplestore/internal/sealed"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// Verify reads every block from disk and compares it with its fence, and the layouts with each other. It calls see with
// all quads in GSPO order. blocks is the number of blocks read.
func (s *State) Verify(ctx context.Context, see func([]term.IDQuad) error) (blocks int, err error) {
	type sum struct{ quads, mixed uint64 }
	var all, named [Layouts]sum // all quads, and those in named graphs
	if s.Base == nil {
		return 0, nil
	}
	c := new(codec)
	var rows []term.IDQuad
	for l := Layout(0); l < Layouts; l++ {
		level := &s.Base.levels[l]
		var prev Tuple
		for i, f := range level.fences {
			if err := ctx.Err(); err != nil {
				return blocks, context.Cause(ctx)
			}
			if rows, err = readBlock(s.Reader, c, l, f.id, rows); err != nil {
				return blocks, err
			}
			blocks++
			wrong := func(what string) error {
				return fmt.Errorf("%w: block %d of %s: %s", sealed.ErrDamaged, f.id, l, what)
			}
			var own counts
			for k, q := range rows {
				t := l.Tuple(q)
				differs := 0
				if i > 0 || k > 0 {
					if !prev.Less(t) {
						return blocks, wrong("rows are not in order")
					}
					differs = differAt(prev, t)
				}
				own.add(differs)
				prev = t
				m := mix(q)
				all[l].quads++
				all[l].mixed += m
				if q.G != term.DefaultGraph {
					named[l].quads++
					named[l].mixed += m
				}
			}
			if f.first != l.Tuple(rows[0]) || f.last != prev || own != level.in(i) {
				return blocks, wrong("its fence does not match")
			}
			if l == GSPO {
				if err := see(rows); err != nil {
					return blocks, wrong(err.Error())
				}
			}
		}
	}
	for l := Layout(0); l < Layouts; l++ {
		want := all[GSPO]
		if l >= SPOG {
			want = named[GSPO]
		}
		if all[l] != want {
			return blocks, fmt.Errorf("%w: %s and GSPO do not hold the same quads (%d and %d)", sealed.ErrDamaged, l, all[l].quads, want.quads)
		}
	}
	// The overlay may only add quads that are not in blocks and remove quads that are.
	bare, log := &State{Base: s.Base, Reader: s.Reader, Cache: s.Cache}, s.Overlay.Flat().in(GSPO)
	for i, q := range log.rows {
		has, err := bare.Has(q)
		if err != nil {
			return blocks, err
		}
		if added := log.sign(i) > 0; added == has {
			return blocks, fmt.Errorf("%w: the log adds or removes a quad twice", sealed.ErrDamaged)
		}
	}
	if err := see(log.rows); err != nil {
		return blocks, fmt.Errorf("%w: the log: %w", sealed.ErrDamaged, err)
	}
	return blocks, nil
}

// mix returns a hash of a quad; hashes are combined by addition.
func mix(q term.IDQuad) uint64 {
	h := uint64(14695981039346656037)
	for _, v := range [4]term.ID{q.S, q.P, q.O, q.G} {
		h = (h ^ uint64(v)) * 0x9E3779B97F4A7C15
		h ^= h >> 29
	}
	return h
}

// scanner is a Reader that can also list keys. kv.Snapshot implements it.
type scanner interface {
	Reader
	Scan(space kv.Space, prefix, from []byte, f func(key, val []byte) (bool, error)) error
}

// Orphans returns the number of stored blocks and pages that the base does not use.
func (b *Base) Orphans(r scanner) (n int, err error) {
	used := map[string]bool{}
	for l := range b.levels {
		for _, f := range b.levels[l].fences {
			used[string(blockKey(f.id))] = true
		}
		for _, p := range b.levels[l].pages {
			used[string(pageKey(p.id))] = true
		}
	}
	err = r.Scan(kv.SpaceTripleIndex, nil, nil, func(key, _ []byte) (bool, error) {
		if !used[string(key)] {
			n++
		}
		return true, nil
	})
	return n, err
}
