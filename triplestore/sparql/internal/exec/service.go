package exec

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// ErrNoService is the error for a SERVICE if Options.Service is nil.
var ErrNoService = errors.New("exec: SERVICE is not allowed here")

// ErrNoEndpoint is the error for a SERVICE whose variable is not bound to an IRI.
var ErrNoEndpoint = errors.New("SERVICE needs an IRI, and its variable has none")

// service asks endpoints one after the other and returns their solutions. If its plan has an input, it asks for the
// solutions that agree with the input's rows; or for all, once, if those are many.
type service struct {
	q      *query
	node   *plan.Service
	l      op          // binds the names and keys; nil if there are none
	wanted []*wanted   // what is still to be asked, the next one first
	rows   ServiceRows // the answer that is being read
	keep   *block      // copies the answer, for later rounds; nil if it is not kept
	kept   *block      // the answer of an earlier round, being returned
	at     int         // in kept
	cols   []int       // for each column, the index of its variable in the request; -1 for the name
	out    batch
	begun  bool
}

// wanted is what the input wants of one endpoint.
type wanted struct {
	name term.ID
	rows []term.ID // different rows of the keys, one after the other; those with blank nodes are left out
	all  bool      // the keys do not restrict the solutions
	seen map[string]struct{}
}

// maxBound is the number of different rows from which a service is asked for all its solutions instead.
const maxBound = 3000

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

// begin lists the endpoints to ask, and for what.
func (s *service) begin() error {
	s.begun = true
	var constant term.ID
	if s.node.Name.Slot < 0 {
		id, err := s.q.terms.intern(s.node.Op.Name.Term)
		if err != nil {
			return err
		}
		constant = id
	}
	if s.l == nil {
		s.wanted = []*wanted{{name: constant, all: true}}
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
				s.wanted = append(s.wanted, w)
			}
			tuple = w.add(b, i, keys, tuple)
		}
	}
	slices.SortFunc(s.wanted, func(a, b *wanted) int { return cmp.Compare(a.name, b.name) })
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
	if !s.begun {
		if err := s.begin(); err != nil {
			return nil, err
		}
	}
	for len(s.wanted) > 0 {
		b, err := s.ask(s.wanted[0])
		if b != nil {
			return b, nil
		}
		if err != nil && (!s.node.Op.Silent || s.q.ctx.Err() != nil) {
			return nil, err
		}
		name := s.wanted[0].name
		s.wanted = s.wanted[1:]
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

// answered identifies the whole answer of an endpoint to a SERVICE.
type answered struct {
	node *plan.Service
	name term.ID
}

// open begins to ask an endpoint, or to return what it has answered before.
func (s *service) open(w *wanted) error {
	if s.kept = s.q.answers[answered{s.node, w.name}]; s.kept != nil {
		s.at = 0
		return nil
	}
	if s.q.opts.Service == nil {
		return ErrNoService
	}
	key := make([]term.Key, 1)
	if err := s.q.terms.resolve([]term.ID{w.name}, key); err != nil {
		return err
	}
	if key[0].Kind() != term.KindIRI {
		return ErrNoEndpoint
	}
	req := ServiceRequest{Endpoint: key[0].Value(), Op: s.node.Op, Vars: s.node.Vars}
	if !w.all {
		if err := s.restrict(&req, w); err != nil {
			return err
		}
	}
	if req.Rows == nil && s.l != nil {
		s.keep = newBlock(len(s.node.Cols), s.q.budget)
	}
	rows, err := s.q.opts.Service(s.q.ctx, req)
	if err != nil {
		return err
	}
	s.rows = rows
	return nil
}

// restrict sets the keys and rows of a request. A row with a blank node is left out: no other endpoint knows the node.
func (s *service) restrict(req *ServiceRequest, w *wanted) error {
	k := len(s.node.Keys)
	terms := make([]term.Key, len(w.rows))
	if err := s.q.terms.resolve(w.rows, terms); err != nil {
		return err
	}
	rows := make([][]term.Key, 0, len(terms)/k)
	for i := 0; i < len(terms); i += k {
		row := terms[i : i+k]
		for _, t := range row {
			if t.Kind() == term.KindTriple { // not every endpoint can read one
				return nil
			}
		}
		if !slices.ContainsFunc(row, func(t term.Key) bool { return t.Kind() == term.KindBlank }) {
			rows = append(rows, row)
		}
	}
	req.Rows = rows
	for _, slot := range s.node.Keys {
		req.Keys = append(req.Keys, s.node.Vars[index(s.node.Out, slot)])
	}
	return nil
}

// serviceWait is how long solutions wait for more of them, since an endpoint may be slow.
const serviceWait = 20 * time.Millisecond

// ask returns the next solutions of one endpoint.
func (s *service) ask(w *wanted) (*batch, error) {
	if s.rows == nil && s.kept == nil {
		if err := s.open(w); err != nil {
			return nil, err
		}
	}
	if s.kept != nil {
		from := s.at
		if s.at = min(from+s.q.opts.BatchSize, s.kept.n); s.at == from {
			return nil, nil
		}
		var part batch
		return part.setPart(s.kept.cols, from, s.at), nil
	}
	name := w.name
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
		if s.keep != nil {
			if s.q.answers == nil {
				s.q.answers = map[answered]*block{}
			}
			s.q.answers[answered{s.node, name}] = s.keep
			s.keep = nil
		}
		return nil, nil
	}
	s.out.n = n
	if s.keep != nil {
		if err := s.keep.add(&s.out, identity(len(s.out.cols))); err != nil {
			return nil, err
		}
	}
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
	s.kept = nil
	if s.keep != nil { // not complete
		s.keep.free()
		s.keep = nil
	}
	if s.rows != nil {
		s.rows.Close()
		s.rows = nil
	}
}

func (s *service) close() {
	s.begun, s.wanted = true, nil
	s.closeRows()
	if s.l != nil {
		s.l.close()
	}
}
