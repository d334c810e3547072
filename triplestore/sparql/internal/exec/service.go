package exec

import (
	"errors"
	"time"

	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// ErrNoService is the error for a SERVICE if Options.Service is nil.
var ErrNoService = errors.New("exec: SERVICE is not allowed here")

// ErrNoEndpoint is the error for a SERVICE whose variable is not bound to an IRI.
var ErrNoEndpoint = errors.New("SERVICE needs an IRI, and its variable has none")

// service asks endpoints one after the other and returns their solutions.
type service struct {
	q     *query
	node  *plan.Service
	l     op // binds the names; nil if the name is a constant
	names []term.ID
	rows  ServiceRows
	cols  []int // for each column, the index of its variable in the request; -1 for the name
	out   batch
	begun bool
}

func (q *query) openService(n *plan.Service) (op, error) {
	s := &service{q: q, node: n, out: batch{cols: newCols(len(n.Cols), q.opts.BatchSize)}}
	s.cols = indexes(n.Out, n.Cols)
	if n.L != nil {
		l, err := q.open(n.L)
		if err != nil {
			return nil, err
		}
		s.l = l
	}
	return s, nil
}

// begin lists the endpoints to ask.
func (s *service) begin() error {
	s.begun = true
	if s.l == nil {
		id, err := s.q.terms.intern(s.node.Op.Name.Term)
		s.names = []term.ID{id}
		return err
	}
	col := index(s.node.L.Info().Cols, s.node.Name.Slot)
	for {
		b, err := s.l.next()
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		if col < 0 {
			s.names = []term.ID{0}
			continue
		}
		s.names = append(s.names, b.cols[col][:b.n]...)
	}
	s.names = sortedIDs(s.names)
	return nil
}

func (s *service) next() (*batch, error) {
	if !s.begun {
		if err := s.begin(); err != nil {
			return nil, err
		}
	}
	for len(s.names) > 0 {
		b, err := s.ask(s.names[0])
		if b != nil {
			return b, nil
		}
		if err != nil && (!s.node.Op.Silent || s.q.ctx.Err() != nil) {
			return nil, err
		}
		name := s.names[0]
		s.names = s.names[1:]
		s.closeRows()
		if err != nil { // SILENT: as if it had answered one empty solution (SPARQL 1.1 Federation §2.3)
			for i, c := range s.out.cols {
				c[0] = 0
				if s.cols[i] < 0 || s.node.Cols[i] == s.node.Name.Slot {
					c[0] = name
				}
			}
			s.out.n = 1
			return &s.out, nil
		}
	}
	return nil, nil
}

// serviceWait is how long solutions wait for more of them, since an endpoint may be slow.
const serviceWait = 20 * time.Millisecond

// ask returns the next solutions of one endpoint.
func (s *service) ask(name term.ID) (*batch, error) {
	if s.rows == nil {
		if s.q.opts.Service == nil {
			return nil, ErrNoService
		}
		key := make([]term.Key, 1)
		if err := s.q.terms.resolve([]term.ID{name}, key); err != nil {
			return nil, err
		}
		if key[0].Kind() != term.KindIRI {
			return nil, ErrNoEndpoint
		}
		rows, err := s.q.opts.Service(s.q.ctx, ServiceRequest{Endpoint: key[0].Value(), Op: s.node.Op, Vars: s.node.Vars})
		if err != nil {
			return nil, err
		}
		s.rows = rows
	}
	n := 0
	for began := time.Now(); n < s.q.opts.BatchSize && (n == 0 || time.Since(began) < serviceWait); {
		row, err := s.rows.Next()
		if err != nil {
			return nil, err
		}
		if row == nil {
			break
		}
		if !s.put(n, row, name) {
			continue
		}
		for i, c := range s.cols {
			if c < 0 {
				continue
			}
			id, err := s.q.terms.intern(row[c])
			if err != nil {
				return nil, err
			}
			if s.node.Cols[i] == s.node.Name.Slot && id == 0 {
				id = name
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

// put writes the name into row n. It returns false if the solution binds the name's variable to something else.
func (s *service) put(n int, row []term.Key, name term.ID) bool {
	for i, c := range s.cols {
		if c < 0 {
			s.out.cols[i][n] = name
			continue
		}
		if s.node.Cols[i] == s.node.Name.Slot && row[c] != "" {
			id, err := s.q.terms.intern(row[c])
			if err != nil || id != name {
				return false
			}
		}
	}
	return true
}

func (s *service) closeRows() {
	if s.rows != nil {
		s.rows.Close()
		s.rows = nil
	}
}

func (s *service) close() {
	s.begun, s.names = true, nil
	s.closeRows()
	if s.l != nil {
		s.l.close()
	}
}
