package index

import (
	"context"
	"fmt"

	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// sum describes a set of quads.
type sum struct{ quads, mixed uint64 }

func (s *sum) add(q term.IDQuad) {
	s.quads++
	s.mixed += mix(q)
}

// Verify reads every block from disk and compares it with its fence, the layouts with each other, and the tiers with
// each other. It calls see with all quads. blocks is the number of blocks read.
func (s *State) Verify(ctx context.Context, see func([]term.IDQuad) error) (blocks int, err error) {
	if s.Base == nil {
		return 0, nil
	}
	var all, named [Layouts]sum // all quads, and those in named graphs
	for _, t := range s.Base.tiers {
		for l := Layout(0); l < Layouts; l++ {
			err := s.verifyLevel(ctx, l, &t.levels[l], func(rows []term.IDQuad) error {
				blocks++
				for _, q := range rows {
					if all[l].add(q); q.G != term.DefaultGraph {
						named[l].add(q)
					}
				}
				if l == GSPO {
					return see(rows)
				}
				return nil
			})
			if err != nil {
				return blocks, err
			}
		}
	}
	if len(s.Base.tiers) > 1 {
		if err := s.verifyTiers(ctx); err != nil {
			return blocks, err
		}
	}
	for l := Layout(0); l < Layouts; l++ {
		want := all[GSPO]
		if l >= SPOG {
			want = named[GSPO]
		}
		if all[l] != want {
			return blocks, fmt.Errorf("%w: %s and GSPO do not hold the same quads (%d and %d)", segments.ErrDamaged, l, all[l].quads,
				want.quads)
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
			return blocks, fmt.Errorf("%w: the log adds or removes a quad twice", segments.ErrDamaged)
		}
	}
	if err := see(log.rows); err != nil {
		return blocks, fmt.Errorf("%w: the log: %w", segments.ErrDamaged, err)
	}
	return blocks, nil
}

// verifyLevel reads the blocks of a level and compares them with their fences. It calls see with the rows of each.
func (s *State) verifyLevel(ctx context.Context, l Layout, level *level, see func([]term.IDQuad) error) (err error) {
	c := new(codec)
	var rows []term.IDQuad
	var prev Tuple
	for i, f := range level.fences {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if rows, err = readBlock(s.Reader, c, l, f.id, rows); err != nil {
			return err
		}
		wrong := func(what string) error {
			return fmt.Errorf("%w: block %d of %s: %s", segments.ErrDamaged, f.id, l, what)
		}
		var own counts
		for k, q := range rows {
			t := l.Tuple(q)
			differs := 0
			if i > 0 || k > 0 {
				if !prev.Less(t) {
					return wrong("rows are not in order")
				}
				differs = differAt(prev, t)
			}
			own.add(differs)
			prev = t
		}
		if f.first != l.Tuple(rows[0]) || f.last != prev || own != level.in(i) {
			return wrong("its fence does not match")
		}
		if err := see(rows); err != nil {
			return wrong(err.Error())
		}
	}
	return nil
}

// verifyTiers returns an error if a quad is in two tiers.
func (s *State) verifyTiers(ctx context.Context) error {
	bare := &State{Base: s.Base, Reader: s.Reader, Cache: s.Cache, bulk: true}
	c := bare.Layout(GSPO)
	defer c.Close()
	var last term.IDQuad
	for {
		rows, err := c.Next()
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, q := range rows {
			if q == last {
				return fmt.Errorf("%w: a quad is in two tiers", segments.ErrDamaged)
			}
			last = q
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
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

// keys returns the keys of all blocks and pages.
func (b *Base) keys() (keys [][]byte) {
	for _, t := range b.tiers {
		for l := range t.levels {
			for _, f := range t.levels[l].fences {
				keys = append(keys, blockKey(f.id))
			}
			for _, p := range t.levels[l].pages {
				keys = append(keys, pageKey(p.id))
			}
		}
	}
	return keys
}

// Orphans returns the number of stored blocks and pages that the base does not use.
func (b *Base) Orphans(r scanner) (n int, err error) {
	used := map[string]bool{}
	for _, k := range b.keys() {
		used[string(k)] = true
	}
	err = r.Scan(kv.SpaceTripleIndex, nil, nil, func(key, _ []byte) (bool, error) {
		if !used[string(key)] {
			n++
		}
		return true, nil
	})
	return n, err
}
