package exec

import (
	"fmt"
	"slices"
	"time"

	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// call is a request to one endpoint of a service, and its answer.
type call struct {
	s      *service
	want   *wanted
	opened bool
	err    error       // of open
	rows   ServiceRows // the answer that is being read
	keep   *block      // gets a copy of the answer for later rounds; nil if there are none
	held   *block      // gets the answer of a SILENT service until it is complete; nil if solutions are returned at once
	kept   *block      // a complete answer that is being returned
	shared bool        // kept belongs to the query
	at     int         // the next row of kept to return
}

// remoteError is an error of an endpoint or of the request to it. SILENT hides such errors, but not errors of the query
// itself.
type remoteError struct{ err error }

func (e *remoteError) Error() string { return e.err.Error() }
func (e *remoteError) Unwrap() error { return e.err }

// answered identifies the complete answer of an endpoint to a SERVICE.
type answered struct {
	node *plan.Service
	name term.ID
}

// open sends the request, or finds the answer to the same request of an earlier round. Further calls do nothing.
func (c *call) open() {
	if !c.opened {
		c.opened = true
		c.err = c.ask()
	}
}

func (c *call) ask() error {
	s := c.s
	if c.kept = s.q.answers[answered{s.node, c.want.name}]; c.kept != nil {
		c.shared = true
		return nil
	}
	if s.q.opts.Service == nil {
		return &remoteError{ErrNoService}
	}
	key := make([]term.Key, 1)
	if err := s.q.terms.resolve([]term.ID{c.want.name}, key); err != nil {
		return err
	}
	if key[0].Kind() != term.KindIRI {
		return &remoteError{ErrNoEndpoint}
	}
	req := ServiceRequest{Endpoint: key[0].Value(), Op: s.node.Op, Vars: s.node.Vars}
	if !c.want.all {
		if err := c.restrict(&req); err != nil {
			return err
		}
	}
	c.want.rows, c.want.seen = nil, nil
	switch {
	case req.Rows == nil && s.l != nil:
		c.keep = newBlock(len(s.node.Cols), s.q.budget)
	case s.node.Op.Silent:
		c.held = newBlock(len(s.node.Cols), s.q.budget)
	}
	rows, err := s.q.opts.Service(s.q.ctx, req)
	if err != nil {
		return &remoteError{err}
	}
	c.rows = rows
	s.q.calling++
	return nil
}

// restrict sets the keys and rows of a request. It leaves out rows with blank nodes, which no other endpoint knows. If
// there are triple terms, which not every endpoint can read, it does not restrict the request.
func (c *call) restrict(req *ServiceRequest) error {
	s := c.s
	k := len(s.node.Keys)
	terms := make([]term.Key, len(c.want.rows))
	if err := s.q.terms.resolve(c.want.rows, terms); err != nil {
		return err
	}
	rows := make([][]term.Key, 0, len(terms)/k)
	for i := 0; i < len(terms); i += k {
		row := terms[i : i+k]
		for _, t := range row {
			if t.Kind() == term.KindTriple {
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

// next returns the next solutions, or nil after the last.
func (c *call) next() (*batch, error) {
	if c.open(); c.err != nil {
		return nil, c.err
	}
	whole := c.held
	if whole == nil && c.s.node.Op.Silent {
		whole = c.keep
	}
	for c.kept == nil {
		b, err := c.read()
		if err != nil {
			return nil, err
		}
		if whole == nil && b != nil {
			return b, nil
		}
		if b != nil {
			if c.held == nil {
				continue // keep has it
			}
			if err := c.held.add(b, identity(len(b.cols))); err != nil {
				return nil, err
			}
			continue
		}
		if c.keep != nil {
			c.remember()
		}
		if whole == nil {
			return nil, nil
		}
		c.kept, c.held = whole, nil
	}
	from := c.at
	if c.at = min(from+c.s.q.opts.BatchSize, c.kept.n); c.at == from {
		return nil, nil
	}
	var part batch
	return part.setPart(c.kept.cols, from, c.at), nil
}

// remember keeps the complete answer for later rounds.
func (c *call) remember() {
	q := c.s.q
	if q.answers == nil {
		q.answers = map[answered]*block{}
	}
	q.answers[answered{c.s.node, c.want.name}] = c.keep
	c.keep, c.shared = nil, true
}

// serviceWait is the time for which solutions are collected into a batch before they are returned: an endpoint may be
// slow.
const serviceWait = 20 * time.Millisecond

// read returns the next solutions of the endpoint, or nil after the last one.
func (c *call) read() (*batch, error) {
	s := c.s
	n := 0
	for began := time.Now(); n < s.q.opts.BatchSize && (n == 0 || time.Since(began) < serviceWait); {
		row, err := c.rows.Next()
		if err != nil {
			return nil, &remoteError{err}
		}
		if row == nil {
			break
		}
		ok, err := c.put(n, row)
		if err != nil {
			return nil, err
		}
		if ok {
			n++
		}
	}
	if n == 0 {
		return nil, nil
	}
	s.out.n = n
	if c.keep != nil {
		if err := c.keep.add(&s.out, identity(len(s.out.cols))); err != nil {
			return nil, err
		}
	}
	return &s.out, nil
}

// put writes a solution into row n of the output. It returns false if the solution binds the variable of the endpoint's
// name to another term.
func (c *call) put(n int, row []term.Key) (bool, error) {
	s := c.s
	for i, at := range s.cols {
		named := s.node.Cols[i] == s.node.Name.Slot
		id := c.want.name
		if at >= 0 && (row[at] != "" || !named) {
			var err error
			if id, err = s.q.terms.intern(row[at]); err != nil {
				return false, err
			}
			if named && id != c.want.name {
				return false, nil
			}
		}
		if id == 0 && s.sure[i] {
			return false, &remoteError{fmt.Errorf("the endpoint left ?%s unbound, which the pattern binds", s.node.Vars[at])}
		}
		s.out.cols[i][n] = id
	}
	return true, nil
}

// close ends the call. It may be called more than once.
func (c *call) close() {
	if c.rows != nil {
		c.rows.Close()
		c.rows = nil
		c.s.q.calling--
	}
	if c.kept != nil && !c.shared {
		c.kept.free()
	}
	c.kept = nil
	for _, b := range []**block{&c.keep, &c.held} { // incomplete answers
		if *b != nil {
			(*b).free()
			*b = nil
		}
	}
	c.opened, c.err = true, nil
}
