package exec

import (
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// openValues returns inline data.
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

// pieces returns a large batch in parts.
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
	p.from += n
	return p.out.setPart(p.b.cols, p.from-n, p.from), nil
}
func (p *pieces) close() { p.b = nil }

// openSeed returns the rows of the Lateral that is running.
func (q *query) openSeed(n *plan.Seed) op {
	from := n
	if n.Of != nil {
		from = n.Of
	}
	rows := q.seeds[from]
	if rows == nil || rows.n == 0 {
		return &oneBatch{}
	}
	b := &batch{n: rows.n, cols: rows.cols}
	if n.Of != nil {
		b.cols = nil
		for _, c := range indexes(from.Cols, n.Cols) {
			b.cols = append(b.cols, rows.cols[c])
		}
	}
	return &pieces{b: b, size: q.opts.BatchSize}
}

// openGraphs lists the named graphs of the dataset.
func (q *query) openGraphs(*plan.Graphs) (op, error) {
	var ids []term.ID
	if q.plan.HasFrom { // FROM NAMED lists them, whether or not they have triples
		ids = sortedIDs(q.plan.Named)
	} else if err := q.ds.Graphs(func(id term.ID) bool { ids = append(ids, id); return true }); err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return &oneBatch{}, nil
	}
	return &pieces{b: &batch{n: len(ids), cols: [][]term.ID{ids}}, size: q.opts.BatchSize}, nil
}
