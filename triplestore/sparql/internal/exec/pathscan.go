package exec

import (
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// pathScan returns the pairs of a path.
type pathScan struct {
	q      *query
	node   *plan.PathScan
	graphs []term.ID
	w      *walker
	starts []term.ID
	back   bool // walked from To
	fixed  bool // the start is a constant
	at     int
	rows   [][]term.ID // pending output
	sent   int
	out    batch
	opened bool
}

func (q *query) openPathScan(n *plan.PathScan) op {
	return &pathScan{q: q, node: n, rows: make([][]term.ID, len(n.Cols))}
}

func (s *pathScan) open() error {
	s.opened = true
	if s.node.Graph.Slot < 0 {
		s.graphs = []term.ID{s.node.Graph.ID}
		return nil
	}
	g, err := s.q.openGraphs(nil)
	if err != nil {
		return err
	}
	defer g.close()
	for {
		b, err := g.next()
		if b == nil || err != nil {
			return err
		}
		s.graphs = append(s.graphs, b.cols[0][:b.n]...)
	}
}

func (s *pathScan) next() (*batch, error) {
	if !s.opened {
		if err := s.open(); err != nil {
			return nil, err
		}
	}
	for {
		if len(s.rows) > 0 && s.sent < len(s.rows[0]) {
			from := s.sent
			s.sent = min(from+s.q.opts.BatchSize, len(s.rows[0]))
			return s.out.setPart(s.rows, from, s.sent), nil
		}
		if len(s.rows) == 0 && s.sent > 0 { // no columns are wanted: sent counts the rows
			s.out.n = min(s.q.opts.BatchSize, s.sent)
			s.sent -= s.out.n
			return &s.out, nil
		}
		s.sent = 0
		for i := range s.rows {
			s.rows[i] = s.rows[i][:0]
		}
		if err := s.q.check(); err != nil {
			return nil, err
		}
		if s.w == nil {
			if len(s.graphs) == 0 {
				return nil, nil
			}
			if err := s.begin(s.graphs[0]); err != nil {
				return nil, err
			}
			s.graphs = s.graphs[1:]
		}
		if s.at >= len(s.starts) {
			s.w.free()
			s.w = nil
			continue
		}
		if err := s.walkStarts(); err != nil {
			return nil, err
		}
	}
}

// begin chooses the starts in one graph.
func (s *pathScan) begin(graph term.ID) error {
	n := s.node
	s.w, s.at = s.q.walker(graph), 0
	s.fixed = n.From.ID != 0 || n.To.ID != 0
	s.back = n.From.ID == 0 && n.To.ID != 0
	switch {
	case n.From.ID != 0:
		s.starts = []term.ID{n.From.ID}
	case n.To.ID != 0:
		s.starts = []term.ID{n.To.ID}
	default:
		var err error
		s.starts, err = s.w.sources(n.Path, true)
		s.w.due = len(s.starts)
		return err
	}
	return nil
}

// walkStarts follows the path from the next starts.
func (s *pathScan) walkStarts() error {
	n := s.node
	part := s.starts[s.at:min(len(s.starts), s.at+startsAtOnce)]
	s.at += len(part)
	s.w.due = len(s.starts) - s.at
	hops, err := s.w.follow(n.Path, part, !s.back)
	if err != nil {
		return err
	}
	defer s.w.forget(0)
	for _, h := range hops {
		from, to := part[h.from], h.to
		if s.back {
			from, to = to, from
		}
		if n.From.ID != 0 && from != n.From.ID || n.To.ID != 0 && to != n.To.ID ||
			n.From.Slot >= 0 && n.From.Slot == n.To.Slot && from != to {
			continue
		}
		if len(s.rows) == 0 {
			s.sent++
			continue
		}
		for i, c := range n.Cols {
			id := s.w.graph.ID
			switch c {
			case n.From.Slot:
				id = from
			case n.To.Slot:
				id = to
			}
			s.rows[i] = append(s.rows[i], id)
		}
	}
	return nil
}

func (s *pathScan) close() {
	s.graphs, s.starts, s.opened = nil, nil, true
	if s.w != nil {
		s.w.free()
		s.w = nil
	}
}

// startsAtOnce is how many starts are followed at a time.
const startsAtOnce = 256
