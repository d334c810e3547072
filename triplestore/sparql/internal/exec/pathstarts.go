package exec

import (
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// pathStarts lists the nodes at one end of a path.
type pathStarts struct {
	q     *query
	node  *plan.PathStarts
	w     *walker
	nodes []term.ID
	out   batch
	ended bool
}

func (s *pathStarts) next() (*batch, error) {
	if s.ended {
		return nil, nil
	}
	if s.w == nil {
		s.w = s.q.walker(s.node.Graph.ID)
		var err error
		if s.nodes, err = s.w.sources(s.node.Path, !s.node.Back); err != nil {
			return nil, err
		}
	}
	if err := s.q.check(); err != nil {
		return nil, err
	}
	n := min(s.q.opts.BatchSize, len(s.nodes))
	if n == 0 {
		s.ended = true
		return nil, nil
	}
	s.out.n, s.out.cols = n, append(s.out.cols[:0], s.nodes[:n])
	s.nodes = s.nodes[n:]
	return &s.out, nil
}

func (s *pathStarts) close() {
	s.ended, s.nodes = true, nil
	if s.w != nil {
		s.w.free()
		s.w = nil
	}
}
