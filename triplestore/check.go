package triplestore

import (
	"context"
	"fmt"

	"odarchive/triplestore/term"
)

// Checked says what a Check has read.
type Checked struct {
	Quads, Terms, Blocks uint64
}

// Check reads everything in one state and compares the sort orders with one another. The error is ErrDamaged, and
// names what was found.
func (s *Store) Check(ctx context.Context) (Checked, error) {
	var done Checked
	err := s.View(ctx, func(sn *Snapshot) error {
		var counts, sums [4]uint64
		for i, o := range sn.Orders() {
			c := sn.Scan(term.Pattern{}, o)
			for {
				rows, err := c.Next()
				if err != nil || len(rows) == 0 {
					c.Close()
					if err != nil {
						return err
					}
					break
				}
				if ctx.Err() != nil {
					c.Close()
					return context.Cause(ctx)
				}
				for _, q := range rows {
					counts[i]++
					sums[i] += mix(q)
				}
			}
		}
		for i := range counts {
			if counts[i] != counts[0] || sums[i] != sums[0] {
				return fmt.Errorf("%w: order %s holds %d quads, order SPO %d, and they are not the same", ErrDamaged, sn.Orders()[i], counts[i], counts[0])
			}
		}
		done.Quads, done.Terms = counts[0], sn.state.terms-1
		return sn.Dump(ctx, term.Pattern{}, func(q term.Quad) error { return checkQuad(q) })
	})
	return done, err
}

// mix is a hash of a quad that can be added up.
func mix(q term.IDQuad) uint64 {
	h := uint64(14695981039346656037)
	for _, v := range [4]term.ID{q.S, q.P, q.O, q.G} {
		h = (h ^ uint64(v)) * 0x9E3779B97F4A7C15
		h ^= h >> 29
	}
	return h
}
