package exec

import (
	"cmp"
	"slices"
	"sort"

	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// scan reads one pattern in one order.
type scan struct {
	q      *query
	node   *plan.Scan
	src    *source
	pend   []term.IDQuad
	out    batch
	pos    []int        // position of each output column
	equal  [][2]int     // positions that must be equal: ?x p ?x
	ranges []plan.Range // not yet read, ascending
	first  int          // the position that ranges limit
	ended  bool
}

func (q *query) openScan(n *plan.Scan) *scan {
	s := &scan{q: q, node: n}
	s.pos, s.equal = layout(n)
	s.out.cols = newCols(len(s.pos), q.opts.BatchSize)
	if n.Ranges != nil {
		s.ranges = slices.Clone(n.Ranges)
		slices.SortFunc(s.ranges, func(a, b plan.Range) int { return cmp.Compare(a.From, b.From) })
		for _, c := range plan.Components(n.Order) {
			if n.Pos[c].ID == 0 {
				s.first = c
				break
			}
		}
	}
	return s
}

// layout returns the position of each output column of a scan, and the pairs of positions that share a slot.
func layout(n *plan.Scan) (pos []int, equal [][2]int) {
	for _, c := range n.Cols {
		for i, p := range n.Pos {
			if p.Slot == c {
				pos = append(pos, i)
				break
			}
		}
	}
	for i := range n.Pos {
		for j := i + 1; j < 4; j++ {
			if n.Pos[i].Slot >= 0 && n.Pos[i].Slot == n.Pos[j].Slot {
				equal = append(equal, [2]int{i, j})
			}
		}
	}
	return pos, equal
}

func (s *scan) next() (*batch, error) {
	for {
		if s.ended {
			return nil, nil
		}
		if s.src == nil {
			s.src = s.q.source(s.node.Pos, s.node.Order)
			if s.node.Ranges != nil && !s.seekRange() {
				continue
			}
		}
		if len(s.pend) == 0 {
			quads, err := s.src.next()
			if err != nil {
				return nil, err
			}
			if len(quads) == 0 {
				s.ended = true
				continue
			}
			s.pend = quads
		}
		if s.node.OneEach {
			return s.looseBatch()
		}
		quads := s.pend
		if s.node.Ranges != nil {
			if quads = s.inRange(quads); len(quads) == 0 {
				continue
			}
		}
		quads = quads[:min(len(quads), s.q.opts.BatchSize)]
		s.pend = s.pend[len(quads):]
		if s.fill(quads) {
			return &s.out, nil
		}
	}
}

// fill makes a batch of quads. It returns false if none of them passes.
func (s *scan) fill(quads []term.IDQuad) bool {
	if len(s.equal) == 0 {
		for i, p := range s.pos {
			column(s.out.cols[i], quads, p)
		}
		s.out.n = len(quads)
		return true
	}
	n := 0
	for k := range quads {
		if !agree(&quads[k], s.equal) {
			continue
		}
		for i, p := range s.pos {
			s.out.cols[i][n] = at(&quads[k], p)
		}
		n++
	}
	s.out.n = n
	return n > 0
}

func agree(x *term.IDQuad, equal [][2]int) bool {
	for _, e := range equal {
		if at(x, e[0]) != at(x, e[1]) {
			return false
		}
	}
	return true
}

// seekRange moves to the next range. It returns false at the end.
func (s *scan) seekRange() bool {
	if len(s.ranges) == 0 {
		s.ended = true
		return false
	}
	x := constants(s.node.Pos)
	set(&x, s.first, s.ranges[0].From)
	s.src.seek(x)
	s.pend = nil
	return true
}

// constants returns a quad with the constants of a pattern.
func constants(pos [4]plan.Pos) term.IDQuad {
	x := term.IDQuad{S: pos[0].ID, P: pos[1].ID, O: pos[2].ID, G: pos[3].ID}
	if x.G == term.AnyNamed {
		x.G = 0
	}
	return x
}

// inRange returns the pending quads in the current range. If they are beyond it, it moves to the next range.
func (s *scan) inRange(quads []term.IDQuad) []term.IDQuad {
	for len(s.ranges) > 0 {
		r := s.ranges[0]
		from := sort.Search(len(quads), func(i int) bool { return at(&quads[i], s.first) >= r.From })
		quads = quads[from:]
		to := sort.Search(len(quads), func(i int) bool { return at(&quads[i], s.first) > r.To })
		s.pend = quads
		if to > 0 {
			return quads[:to]
		}
		if len(quads) == 0 {
			return nil
		}
		s.ranges = s.ranges[1:] // the first quad is beyond
		if len(s.ranges) > 0 && at(&quads[len(quads)-1], s.first) < s.ranges[0].From {
			s.seekRange()
			return nil
		}
	}
	s.ended = true
	return nil
}

// looseBatch returns each combination of the wanted positions once, jumping from one to the next.
func (s *scan) looseBatch() (*batch, error) {
	order := plan.Components(s.node.Order)
	last := 0 // index in order of the last wanted position
	for i, c := range order {
		if index(s.pos, c) >= 0 {
			last = i
		}
	}
	n := 0
	for n < s.q.opts.BatchSize {
		x := s.pend[0]
		for i, p := range s.pos {
			s.out.cols[i][n] = at(&x, p)
		}
		n++
		next := constants(s.node.Pos)
		for i := 0; i <= last; i++ {
			set(&next, order[i], at(&x, order[i]))
		}
		for i := last + 1; i < 3; i++ {
			set(&next, order[i], 0)
		}
		set(&next, order[last], at(&x, order[last])+1)
		next.G = 0
		less := lessIn(s.node.Order)
		if less(&s.pend[len(s.pend)-1], &next) {
			s.src.seek(next)
			quads, err := s.src.next()
			if err != nil {
				return nil, err
			}
			if s.pend = quads; len(quads) == 0 {
				s.ended = true
				break
			}
		}
		at := sort.Search(len(s.pend), func(i int) bool { return !less(&s.pend[i], &next) })
		if s.pend = s.pend[at:]; len(s.pend) == 0 {
			break
		}
	}
	s.out.n = n
	return &s.out, nil
}

func (s *scan) close() {
	s.ended = true
	if s.src != nil {
		s.src.close()
	}
}

// lessIn returns a function that compares quads by subject, predicate and object in an order. It ignores the graph.
func lessIn(o term.Order) func(a, b *term.IDQuad) bool {
	switch o {
	case term.SPO:
		return func(a, b *term.IDQuad) bool { return less3(a.S, a.P, a.O, b.S, b.P, b.O) }
	case term.POS:
		return func(a, b *term.IDQuad) bool { return less3(a.P, a.O, a.S, b.P, b.O, b.S) }
	case term.OSP:
		return func(a, b *term.IDQuad) bool { return less3(a.O, a.S, a.P, b.O, b.S, b.P) }
	}
	return func(a, b *term.IDQuad) bool { return less3(a.P, a.S, a.O, b.P, b.S, b.O) }
}

func less3(a1, a2, a3, b1, b2, b3 term.ID) bool {
	if a1 != b1 {
		return a1 < b1
	}
	if a2 != b2 {
		return a2 < b2
	}
	return a3 < b3
}
