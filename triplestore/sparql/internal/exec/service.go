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

// service returns the solutions of endpoints, of one after the other. If its plan has an input, it asks for the
// solutions that agree with the input's rows; or for all, once, if those are many.
//
// Endpoints answer slowly, so several are asked at a time: the next ones of this service, and those of the other
// services of the query that can be asked already (startServices).
type service struct {
	q     *query
	node  *plan.Service
	l     op      // binds the names and keys; nil if there are none
	calls []*call // not answered yet, in the order of their answers
	cols  []int   // for each column, the index of its variable in the request; -1 for the name
	sure  []bool  // for each column, whether every solution must bind it
	out   batch
	begun bool
	err   error // of begin
}

// wanted is what the input wants of one endpoint.
type wanted struct {
	name term.ID
	rows []term.ID // different rows of the keys, one after the other; those with blank nodes are left out
	all  bool      // the keys do not restrict the solutions
	seen map[string]struct{}
}

const (
	// maxBound is the number of different rows from which a service is asked for all its solutions instead.
	maxBound = 3000
	// maxCalls is how many endpoints a query asks at a time.
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

// startServices asks endpoints for s, and for the other services of the query as long as fewer than maxCalls are asked.
// The input of a service is a Seed, so that reading it takes no time.
func (q *query) startServices(s *service) {
	s.start()
	for _, other := range q.services {
		if q.calling >= maxCalls {
			return
		}
		other.start()
	}
}

// start begins to ask the first endpoint, and more of them as long as the query may.
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

// begin lists the endpoints to ask, and for what.
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

// add notes the keys of row i, unless they are noted already. It uses buf and returns it.
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
