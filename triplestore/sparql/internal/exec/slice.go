package exec

import (
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// slice is OFFSET and LIMIT.
type slice struct {
	in         op
	skip, left int64
	out        batch
}

func (s *slice) next() (*batch, error) {
	for s.left != 0 {
		b, err := s.in.next()
		if b == nil || err != nil {
			return nil, err
		}
		from := 0
		if s.skip > 0 {
			from = int(min(s.skip, int64(b.n)))
			s.skip -= int64(from)
		}
		n := b.n - from
		if s.left > 0 {
			n = int(min(int64(n), s.left))
			s.left -= int64(n)
		}
		if n == 0 {
			continue
		}
		return s.out.setPart(b.cols, from, from+n), nil
	}
	s.in.close() // nothing more is wanted: release the inputs at once
	return nil, nil
}
func (s *slice) close() { s.in.close() }

// sliceEach is OFFSET and LIMIT for each value of a column.
type sliceEach struct {
	in   op
	node *plan.Slice
	per  int
	seen map[term.ID]int64
	p    *pairs
}

func (q *query) openSliceEach(n *plan.Slice, in op, cols []int) op {
	return &sliceEach{in: in, node: n, per: index(cols, n.Per), seen: map[term.ID]int64{}, p: q.newPairs(n.Cols, cols, nil)}
}

func (s *sliceEach) next() (*batch, error) {
	for {
		b, err := s.in.next()
		if b == nil || err != nil {
			return nil, err
		}
		for i, id := range b.cols[s.per][:b.n] {
			nr := s.seen[id]
			s.seen[id]++
			if nr >= s.node.Offset && (s.node.Limit < 0 || nr < s.node.Offset+s.node.Limit) {
				s.p.l = append(s.p.l, int32(i))
			}
		}
		if len(s.p.l) > 0 {
			return s.p.rowsOf(b.cols), nil
		}
	}
}
func (s *sliceEach) close() {
	s.in.close()
	s.p.free()
}
