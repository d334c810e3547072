package exec

import (
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// openValues hands out inline data.
func (q *query) openValues(n *plan.Values) op {
	if len(n.Rows) == 0 {
		return &oneBatch{}
	}
	b := &batch{n: len(n.Rows), cols: newCols(len(n.Cols), len(n.Rows))}
	for r, row := range n.Rows {
		for c, id := range row {
			b.cols[c][r] = id
		}
	}
	return &pieces{b: b, size: q.opts.BatchSize}
}

// pieces hands a large batch out in parts.
type pieces struct {
	b    *batch
	from int
	size int
	out  batch
}

func (p *pieces) next() (*batch, error) {
	if p.b == nil || p.from >= p.b.n {
		return nil, nil
	}
	n := min(p.size, p.b.n-p.from)
	p.out.n = n
	p.out.cols = p.out.cols[:0]
	for _, c := range p.b.cols {
		p.out.cols = append(p.out.cols, c[p.from:p.from+n])
	}
	p.from += n
	return &p.out, nil
}
func (p *pieces) close() { p.b = nil }

// openSeed hands out the rows of the Lateral that is running.
func (q *query) openSeed(n *plan.Seed) op {
	rows := q.seeds[n]
	if rows == nil || rows.n == 0 {
		return &oneBatch{}
	}
	return &pieces{b: &batch{n: rows.n, cols: rows.cols}, size: q.opts.BatchSize}
}

// openGraphs lists the named graphs of the dataset.
func (q *query) openGraphs(*plan.Graphs) (op, error) {
	var ids []term.ID
	if q.plan.HasFrom { // a graph of FROM NAMED without triples is not told from one that does not exist
		ids = sortedIDs(q.plan.Named)
	} else if err := q.ds.Graphs(func(id term.ID) bool { ids = append(ids, id); return true }); err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return &oneBatch{}, nil
	}
	return &pieces{b: &batch{n: len(ids), cols: [][]term.ID{ids}}, size: q.opts.BatchSize}, nil
}

// union hands out one branch after the other.
type union struct {
	q    *query
	node *plan.Union
	at   int
	cur  op
	cols []int
	out  batch
	zero []term.ID
}

func (q *query) openUnion(n *plan.Union) (op, error) {
	return &union{q: q, node: n, zero: make([]term.ID, q.opts.BatchSize)}, nil
}

func (u *union) next() (*batch, error) {
	for {
		if u.cur == nil {
			if u.at >= len(u.node.Branches) {
				return nil, nil
			}
			branch := u.node.Branches[u.at]
			o, err := u.q.open(branch)
			if err != nil {
				return nil, err
			}
			u.cur, u.cols = o, indexes(branch.Info().Cols, u.node.Cols)
			u.at++
		}
		b, err := u.cur.next()
		if err != nil {
			return nil, err
		}
		if b == nil {
			u.cur.close()
			u.cur = nil
			if err := u.q.check(); err != nil {
				return nil, err
			}
			continue
		}
		u.out.n = b.n
		u.out.cols = u.out.cols[:0]
		for _, c := range u.cols {
			switch {
			case c >= 0:
				u.out.cols = append(u.out.cols, b.cols[c])
			default:
				if len(u.zero) < b.n {
					u.zero = make([]term.ID, b.n)
				}
				u.out.cols = append(u.out.cols, u.zero)
			}
		}
		return &u.out, nil
	}
}

func (u *union) close() {
	u.at = len(u.node.Branches)
	if u.cur != nil {
		u.cur.close()
		u.cur = nil
	}
}

// project chooses columns.
type project struct {
	in   op
	cols []int
	out  batch
}

func openProject(n *plan.Project, in op, cols []int) op {
	return &project{in: in, cols: indexes(cols, n.Cols)}
}

func (p *project) next() (*batch, error) {
	b, err := p.in.next()
	if b == nil || err != nil {
		return nil, err
	}
	p.out.n = b.n
	p.out.cols = p.out.cols[:0]
	for _, c := range p.cols {
		p.out.cols = append(p.out.cols, b.cols[c])
	}
	return &p.out, nil
}
func (p *project) close() { p.in.close() }

// rename copies columns to other slots; where the other slot has a value already, both must agree.
type rename struct {
	in       op
	from, to []int // columns of the input; to is -1 for a new slot
	target   []int // output column of each pair
	keep     []int // input column of each output column, -1 for new ones
	out      batch
	own      [][]term.ID
}

func openRename(n *plan.Rename, in op, cols []int) op {
	r := &rename{in: in, from: indexes(cols, n.From), to: indexes(cols, n.To)}
	r.keep = indexes(cols, n.Cols)
	r.target = indexes(n.Cols, n.To)
	return r
}

func (r *rename) next() (*batch, error) {
	for {
		b, err := r.in.next()
		if b == nil || err != nil {
			return nil, err
		}
		if len(r.own) == 0 || len(r.own[0]) < b.n {
			r.own = newCols(len(r.keep)+1, b.n)
		}
		n := 0
		for i := range b.n {
			ok := true
			for k, f := range r.from {
				from := b.cols[f][i]
				if t := r.to[k]; t >= 0 && b.cols[t][i] != 0 && from != 0 && b.cols[t][i] != from {
					ok = false
				}
			}
			if !ok {
				continue
			}
			for c, k := range r.keep {
				if k >= 0 {
					r.own[c][n] = b.cols[k][i]
				}
			}
			for k, f := range r.from {
				if t := r.target[k]; t >= 0 {
					if v := b.cols[f][i]; v != 0 {
						r.own[t][n] = v
					} else if r.to[k] < 0 {
						r.own[t][n] = 0
					}
				}
			}
			n++
		}
		if n > 0 {
			r.out.n, r.out.cols = n, r.own[:len(r.keep)]
			return &r.out, nil
		}
	}
}
func (r *rename) close() { r.in.close() }

// slice is OFFSET and LIMIT.
type slice struct {
	in         op
	skip, left int64
	out        batch
}

func (s *slice) next() (*batch, error) {
	for s.left != 0 {
		b, err := s.in.next()
		if b == nil || err != nil {
			return nil, err
		}
		from := 0
		if s.skip > 0 {
			from = int(min(s.skip, int64(b.n)))
			s.skip -= int64(from)
		}
		n := b.n - from
		if s.left > 0 {
			n = int(min(int64(n), s.left))
			s.left -= int64(n)
		}
		if n == 0 {
			continue
		}
		s.out.n = n
		s.out.cols = s.out.cols[:0]
		for _, c := range b.cols {
			s.out.cols = append(s.out.cols, c[from:from+n])
		}
		return &s.out, nil
	}
	s.in.close() // nothing more is wanted: let the inputs go at once
	return nil, nil
}
func (s *slice) close() { s.in.close() }

// sliceEach is OFFSET and LIMIT for each value of a column.
type sliceEach struct {
	in   op
	node *plan.Slice
	per  int
	seen map[term.ID]int64
	p    *pairs
}

func openSliceEach(n *plan.Slice, in op, cols []int, size int) op {
	return &sliceEach{in: in, node: n, per: index(cols, n.Per), seen: map[term.ID]int64{}, p: newPairs(n.Cols, cols, nil, size)}
}

func (s *sliceEach) next() (*batch, error) {
	for {
		b, err := s.in.next()
		if b == nil || err != nil {
			return nil, err
		}
		for i, id := range b.cols[s.per][:b.n] {
			nr := s.seen[id]
			s.seen[id]++
			if nr >= s.node.Offset && (s.node.Limit < 0 || nr < s.node.Offset+s.node.Limit) {
				s.p.l = append(s.p.l, int32(i))
			}
		}
		if len(s.p.l) > 0 {
			return s.p.rowsOf(b.cols), nil
		}
	}
}
func (s *sliceEach) close() { s.in.close() }
