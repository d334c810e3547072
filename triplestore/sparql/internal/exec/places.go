package exec

import (
	"fmt"

	"odarchive/triplestore/geometry"
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/spatial"
	"odarchive/triplestore/term"
)

// openFinder opens the index of geometries, which a plan with Places or PlacesJoin has.
func (q *query) openFinder() (spatial.Finder, error) {
	s, ok := spatial.SearcherOf(q.ds)
	if !ok {
		return nil, fmt.Errorf("sparql: the dataset has no index of geometries")
	}
	return s.Places(q.ctx)
}

// places returns the candidates of a region.
type places struct {
	q    *query
	node *plan.Places
	paid int
	out  pieces
	done bool
}

func (p *places) next() (*batch, error) {
	if !p.done {
		p.done = true
		if err := p.find(); err != nil {
			return nil, err
		}
	}
	return p.out.next()
}

func (p *places) find() error {
	finder, err := p.q.openFinder()
	if err != nil {
		return err
	}
	defer finder.Close()
	ids, err := finder.Search(p.node.Region, nil)
	if err != nil {
		return err
	}
	p.paid = 8 * cap(ids)
	if err := p.q.budget.reserve(p.paid); err != nil {
		return err
	}
	p.out = pieces{b: &batch{n: len(ids), cols: [][]term.ID{ids}}, size: p.q.opts.BatchSize}
	return nil
}

func (p *places) close() {
	p.q.budget.release(p.paid)
	p.paid, p.done = 0, true
	p.out.close()
}

// placesJoin adds the candidates near a geometry of each row of its input.
type placesJoin struct {
	q      *query
	node   *plan.PlacesJoin
	in     op
	from   int   // column of the input
	cols   []int // columns of the input, -1 for the new one
	finder spatial.Finder

	rows  *batch
	keys  []term.Key
	row   int       // of rows
	last  term.ID   // the geometry of found
	hits  []term.ID // for the row, not yet returned
	all   []term.ID // found for last
	paid  int
	out   batch
	ended bool
}

func (q *query) openPlacesJoin(n *plan.PlacesJoin, in op, cols []int) op {
	j := &placesJoin{q: q, node: n, in: in, from: index(cols, n.From), row: -1}
	for _, c := range n.Cols {
		if c == n.To {
			j.cols = append(j.cols, -1)
		} else {
			j.cols = append(j.cols, index(cols, c))
		}
	}
	j.out.cols = newCols(len(n.Cols), q.opts.BatchSize)
	return j
}

func (j *placesJoin) next() (*batch, error) {
	j.out.n = 0
	for {
		for len(j.hits) == 0 {
			more, err := j.advance()
			if err != nil {
				return nil, err
			}
			if !more {
				if j.out.n > 0 {
					return &j.out, nil
				}
				return nil, nil
			}
		}
		n := min(len(j.hits), j.q.opts.BatchSize-j.out.n)
		for i, c := range j.cols {
			col := j.out.cols[i][j.out.n:]
			if c < 0 {
				copy(col, j.hits[:n])
				continue
			}
			v := j.rows.cols[c][j.row]
			for k := range n {
				col[k] = v
			}
		}
		j.hits = j.hits[n:]
		if j.out.n += n; j.out.n == j.q.opts.BatchSize {
			return &j.out, nil
		}
	}
}

// advance moves to the next row and finds its candidates.
func (j *placesJoin) advance() (more bool, err error) {
	if j.ended {
		return false, nil
	}
	for j.row++; j.rows == nil || j.row >= j.rows.n; j.row = 0 {
		if err := j.q.check(); err != nil {
			return false, err
		}
		if j.rows, err = j.in.next(); err != nil || j.rows == nil {
			j.ended, j.rows, j.row = true, nil, -1
			return false, err
		}
		if cap(j.keys) < j.rows.n {
			j.keys = make([]term.Key, j.rows.n)
		}
		j.keys = j.keys[:j.rows.n]
		if err := j.q.terms.resolve(j.rows.cols[j.from][:j.rows.n], j.keys); err != nil {
			return false, err
		}
	}
	if id := j.rows.cols[j.from][j.row]; id != j.last {
		j.last = id
		if j.all, err = j.find(j.keys[j.row]); err != nil {
			return false, err
		}
	}
	j.hits = j.all
	return true, nil
}

func (j *placesJoin) find(k term.Key) ([]term.ID, error) {
	if !spatial.Takes(k) {
		return j.all[:0], nil
	}
	g, err := geometry.Parse(k.Value(), k.Datatype())
	if err != nil {
		return j.all[:0], nil // a literal that is not a geometry is near nothing
	}
	region := spatial.Meeting(g)
	if j.node.Metres >= 0 {
		region = spatial.Within(g, j.node.Metres)
	}
	if j.finder == nil {
		if j.finder, err = j.q.openFinder(); err != nil {
			return nil, err
		}
	}
	if err := j.q.check(); err != nil {
		return nil, err
	}
	before := cap(j.all)
	out, err := j.finder.Search(region, j.all[:0])
	if grown := cap(out) - before; err == nil && grown > 0 {
		j.paid += 8 * grown
		err = j.q.budget.reserve(8 * grown)
	}
	return out, err
}

func (j *placesJoin) rewind() {
	j.ended = false
	rewind(j.in)
}

func (j *placesJoin) close() {
	if j.finder != nil {
		j.finder.Close()
		j.finder = nil
	}
	j.q.budget.release(j.paid)
	j.paid = 0
	j.in.close()
}
