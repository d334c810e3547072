package exec

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// ErrNoService is the error for a SERVICE if Options.Service is nil.
var ErrNoService = errors.New("exec: SERVICE is not allowed here")

// ErrNoEndpoint is the error for a SERVICE whose variable is not bound to an IRI.
var ErrNoEndpoint = errors.New("SERVICE needs an IRI, and its variable has none")

// service returns the solutions of one or more endpoints, one endpoint after the other. If its plan has an input, it
// asks for the solutions that agree with a row of the input; if there are many rows, it asks once for all solutions.
//
// Endpoints answer slowly. Therefore several requests are sent at the same time: to the next endpoints of this service,
// and to those of other services of the query whose input is known (startServices).
type service struct {
	q     *query
	node  *plan.Service
	l     op      // binds the names and keys; nil if there are none
	calls []*call // calls whose answers were not returned yet, in the order in which they are returned
	cols  []int   // for each column, the index of its variable in the request; -1 for the name
	sure  []bool  // for each column, whether every solution must bind it
	out   batch
	begun bool
	err   error // of begin
}

// wanted describes the solutions that are wanted of one endpoint.
type wanted struct {
	name term.ID             // of the endpoint
	rows []term.ID           // the different rows of keys, one after the other
	all  bool                // all solutions are wanted; rows does not matter
	seen map[string]struct{} // rows as strings
}

const (
	// maxBound is the maximum number of different rows in a request. With more, all solutions are requested.
	maxBound = 3000
	// maxCalls is the maximum number of endpoints that a query asks at the same time.
	maxCalls = 4
)

func (q *query) openService(n *plan.Service) (op, error) {
	s := &service{q: q, node: n, out: batch{cols: newCols(len(n.Cols), q.opts.BatchSize)}}
	s.cols = indexes(n.Out, n.Cols)
	for _, c := range n.Cols {
		s.sure = append(s.sure, n.Sure.Has(c))
	}
	if n.L != nil {
		l, err := q.open(n.L)
		if err != nil {
			return nil, err
		}
		s.l = l
	}
	q.services = append(q.services, s)
	return s, nil
}

// startServices sends the requests of s, and those of the other services of the query as long as fewer than maxCalls
// are open. The inputs of services can be read at once, since they are Seeds.
func (q *query) startServices(s *service) {
	s.start()
	for _, other := range q.services {
		if q.calling >= maxCalls {
			return
		}
		other.start()
	}
}

// start sends the request to the first endpoint, and to further ones while fewer than maxCalls requests of the query
// are open.
func (s *service) start() {
	if !s.begun {
		s.begun = true
		if s.err = s.begin(); s.err != nil {
			return
		}
	}
	for i, c := range s.calls {
		if i > 0 && s.q.calling >= maxCalls {
			return
		}
		c.open()
	}
}

// begin makes a call for each endpoint to ask.
func (s *service) begin() error {
	var constant term.ID
	if s.node.Name.Slot < 0 {
		id, err := s.q.terms.intern(s.node.Op.Name.Term)
		if err != nil {
			return err
		}
		constant = id
	}
	if s.l == nil {
		s.calls = []*call{{s: s, want: &wanted{name: constant, all: true}}}
		return nil
	}
	in := s.node.L.Info().Cols
	name, keys := index(in, s.node.Name.Slot), indexes(in, s.node.Keys)
	by := map[term.ID]*wanted{}
	var tuple []byte
	for {
		b, err := s.l.next()
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		for i := range b.n {
			id := constant
			if name >= 0 {
				id = b.cols[name][i]
			}
			w := by[id]
			if w == nil {
				w = &wanted{name: id, all: len(keys) == 0, seen: map[string]struct{}{}}
				by[id] = w
				s.calls = append(s.calls, &call{s: s, want: w})
			}
			tuple = w.add(b, i, keys, tuple)
		}
	}
	slices.SortFunc(s.calls, func(a, b *call) int { return cmp.Compare(a.want.name, b.want.name) })
	return nil
}

// add adds the keys of row i, unless rows has them. buf is a buffer to use; add returns it, possibly grown.
func (w *wanted) add(b *batch, i int, keys []int, buf []byte) []byte {
	if w.all {
		return buf
	}
	buf = buf[:0]
	for _, c := range keys {
		if w.all = b.cols[c][i] == 0; w.all {
			return buf
		}
		buf = binary.LittleEndian.AppendUint64(buf, uint64(b.cols[c][i]))
	}
	if _, ok := w.seen[string(buf)]; ok {
		return buf
	}
	w.seen[string(buf)] = struct{}{}
	for _, c := range keys {
		w.rows = append(w.rows, b.cols[c][i])
	}
	w.all = len(w.seen) > maxBound
	return buf
}

func (s *service) next() (*batch, error) {
	s.q.startServices(s)
	if s.err != nil {
		return nil, s.err
	}
	for len(s.calls) > 0 {
		c := s.calls[0]
		b, err := c.next()
		if b != nil {
			return b, nil
		}
		failed, _ := errors.AsType[*remoteError](err)
		if failed != nil {
			err = failed.err
		}
		if err != nil && (failed == nil || !s.node.Op.Silent || s.q.ctx.Err() != nil) {
			return nil, err
		}
		c.close()
		s.calls = s.calls[1:]
		s.start()
		if failed != nil { // SILENT: as if it had answered one empty solution (SPARQL 1.1 Federation §2.3)
			for i, col := range s.out.cols {
				col[0] = 0
				if s.cols[i] < 0 || s.node.Cols[i] == s.node.Name.Slot {
					col[0] = c.want.name
				}
			}
			s.out.n = 1
			return &s.out, nil
		}
	}
	return nil, nil
}

func (s *service) close() {
	s.begun = true
	for _, c := range s.calls {
		c.close()
	}
	s.calls = nil
	s.q.services = slices.DeleteFunc(s.q.services, func(o *service) bool { return o == s })
	if s.l != nil {
		s.l.close()
	}
}
