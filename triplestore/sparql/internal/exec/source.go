package exec

import (
	"slices"

	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// source reads quads of a pattern from the query's dataset. With FROM, the default graph is the union of the graphs
// listed, without repeated triples (SPARQL 1.1 §13.2), and only the graphs of FROM NAMED are named graphs.
type source struct {
	q      *query
	cur    term.Cursor
	graphs []term.ID // sorted; quads of other graphs are dropped; nil: all
	merge  bool      // drop repetitions of a triple in several graphs
	last   term.IDQuad
	buf    []term.IDQuad
}

// source returns the quads of a scan with positions pos.
func (q *query) source(pos [4]plan.Pos, order term.Order) *source {
	p := term.Pattern{S: pos[0].ID, P: pos[1].ID, O: pos[2].ID, G: pos[3].ID}
	s := &source{q: q}
	named := pos[3].Slot >= 0 || p.G == term.AnyNamed
	if named {
		p.G = term.AnyNamed
	}
	if q.plan.HasFrom {
		switch {
		case named:
			s.graphs = sortedIDs(q.plan.Named)
		case p.G == term.DefaultGraph:
			p.G = term.AnyGraph
			s.graphs = sortedIDs(q.plan.Default)
			if len(s.graphs) == 1 {
				p.G, s.graphs = s.graphs[0], nil
			} else {
				s.merge = true
			}
		}
	}
	if hasLocal(p) || s.graphs != nil && len(s.graphs) == 0 {
		s.cur = NoQuads{}
		return s
	}
	s.cur = q.ds.Scan(p, order)
	return s
}

// hasLocal reports whether a pattern contains a term that the store does not have.
func hasLocal(p term.Pattern) bool {
	return slices.ContainsFunc([]term.ID{p.S, p.P, p.O, p.G}, func(id term.ID) bool { return id.Tag() == term.TagLocal })
}

func sortedIDs(ids []term.ID) []term.ID {
	out := append([]term.ID{}, ids...) // not nil
	slices.Sort(out)
	return slices.Compact(out)
}

// next returns the next quads, none at the end. They are valid until the next call.
func (s *source) next() ([]term.IDQuad, error) {
	for {
		if err := s.q.check(); err != nil {
			return nil, err
		}
		quads, err := s.cur.Next()
		if err != nil || len(quads) == 0 || s.graphs == nil {
			return quads, err
		}
		s.buf = s.buf[:0]
		for _, x := range quads {
			if _, ok := slices.BinarySearch(s.graphs, x.G); !ok {
				continue
			}
			if s.merge {
				x.G = term.DefaultGraph
				if x == s.last {
					continue
				}
				s.last = x
			}
			s.buf = append(s.buf, x)
		}
		if len(s.buf) > 0 {
			return s.buf, nil
		}
	}
}

func (s *source) seek(x term.IDQuad) { s.cur.SeekGE(x) }
func (s *source) close()             { s.cur.Close() }

// NoQuads is an empty cursor.
type NoQuads struct{}

func (NoQuads) Next() ([]term.IDQuad, error) { return nil, nil }
func (NoQuads) SeekGE(term.IDQuad)           {}
func (NoQuads) Close()                       {}

// at returns one position of a quad: 0 subject, 1 predicate, 2 object, 3 graph.
func at(x *term.IDQuad, i int) term.ID {
	switch i {
	case 0:
		return x.S
	case 1:
		return x.P
	case 2:
		return x.O
	}
	return x.G
}

func set(x *term.IDQuad, i int, id term.ID) {
	switch i {
	case 0:
		x.S = id
	case 1:
		x.P = id
	case 2:
		x.O = id
	default:
		x.G = id
	}
}

// column copies one position of quads.
func column(dst []term.ID, quads []term.IDQuad, i int) {
	dst = dst[:len(quads)]
	switch i {
	case 0:
		for k := range quads {
			dst[k] = quads[k].S
		}
	case 1:
		for k := range quads {
			dst[k] = quads[k].P
		}
	case 2:
		for k := range quads {
			dst[k] = quads[k].O
		}
	default:
		for k := range quads {
			dst[k] = quads[k].G
		}
	}
}
