package exec

import (
	"errors"
	"fmt"

	"odarchive/triplestore/sparql/plan"
	"odarchive/triplestore/term"
)

// ErrNoService is returned for a SERVICE where none may be called.
var ErrNoService = errors.New("exec: SERVICE is not allowed here")

// service asks another endpoint and hands its solutions out.
type service struct {
	q     *query
	node  *plan.Service
	rows  ServiceRows
	out   batch
	begun bool
	ended bool
}

func (q *query) openService(n *plan.Service) (op, error) {
	return &service{q: q, node: n, out: batch{cols: newCols(len(n.Cols), q.opts.BatchSize)}}, nil
}

func (s *service) next() (*batch, error) {
	if s.ended {
		return nil, nil
	}
	b, err := s.ask()
	if err == nil || !s.node.Op.Silent || s.q.ctx.Err() != nil {
		return b, err
	}
	s.ended = true // SILENT: as if the service had answered one empty solution (SPARQL 1.1 Federation §2.3)
	for _, c := range s.out.cols {
		c[0] = 0
	}
	s.out.n = 1
	return &s.out, nil
}

func (s *service) ask() (*batch, error) {
	if !s.begun {
		s.begun = true
		if s.q.opts.Service == nil {
			return nil, ErrNoService
		}
		name := s.node.Op.Name.Term
		if name.Kind() != term.KindIRI {
			return nil, fmt.Errorf("exec: SERVICE needs an IRI, the variable has none")
		}
		rows, err := s.q.opts.Service(s.q.ctx, ServiceRequest{Endpoint: name.Value(), Op: s.node.Op, Vars: s.node.Vars})
		if err != nil {
			return nil, err
		}
		s.rows = rows
	}
	n := 0
	at := indexes(s.node.Out, s.node.Cols)
	for n < s.q.opts.BatchSize {
		row, err := s.rows.Next()
		if err != nil {
			return nil, err
		}
		if row == nil {
			s.ended = true
			break
		}
		for i, c := range at {
			id, err := s.q.terms.intern(row[c])
			if err != nil {
				return nil, err
			}
			s.out.cols[i][n] = id
		}
		n++
	}
	if n == 0 {
		return nil, nil
	}
	s.out.n = n
	return &s.out, nil
}

func (s *service) close() {
	s.ended = true
	if s.rows != nil {
		s.rows.Close()
		s.rows = nil
	}
}
