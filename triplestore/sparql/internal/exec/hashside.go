package exec

import (
	"runtime/debug"
	"sync"

	"odarchive/triplestore/sparql/internal/plan"
)

// hashSide is the right side of a hash join and its table. The first copy of the join that needs it builds it; then
// all copies only read it. What does not fit into memory is in a mapped file.
type hashSide struct {
	q    *query
	node *plan.HashJoin

	mu    sync.Mutex // held while building
	in    op
	built bool
	err   error

	rows  *block // rows and table may be read after build
	table hashTable
}

func (q *query) openSide(n *plan.HashJoin) (*hashSide, error) {
	in, err := q.open(n.R)
	if err != nil {
		return nil, err
	}
	rows := newBlock(len(n.R.Info().Cols), q.budget)
	rows.space = q.opts.Spill
	return &hashSide{q: q, node: n, in: in, rows: rows}, nil
}

func (s *hashSide) build() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.built {
		s.built = true
		defer func() {
			if v := recover(); v != nil { // the others must not read half a table
				s.err = &crash{v, debug.Stack()}
				panic(v)
			}
		}()
		defer guardMapped()()
		s.err = s.read()
	}
	return s.err
}

func (s *hashSide) read() error {
	cols := s.node.R.Info().Cols
	all := identity(len(cols))
	for {
		if err := s.q.check(); err != nil {
			return err
		}
		b, err := s.in.next()
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		if err := s.rows.add(b, all); err != nil {
			return err
		}
	}
	s.in.close()
	return s.table.build(s.rows, indexes(cols, s.node.Keys), s.q.check)
}

// mapped reports whether the rows or the table are in a file.
func (s *hashSide) mapped() bool { return s.rows.file != nil || s.table.file != nil }

func (s *hashSide) close() {
	s.in.close()
	s.table.free()
	s.rows.free()
}
