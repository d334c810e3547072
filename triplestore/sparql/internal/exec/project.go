package exec

import (
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// project selects columns.
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
	return p.out.setColumns(b.n, b.cols, p.cols), nil
}
func (p *project) close() { p.in.close() }

// rename copies columns to other slots. If the other slot is bound, both values must be equal.
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
