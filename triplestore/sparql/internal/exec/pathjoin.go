package exec

import (
	"slices"

	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// pathJoin follows a path from the rows of its input.
type pathJoin struct {
	q       *query
	node    *plan.PathJoin
	in      op
	start   int // column of the start
	end     int // column of the other end; -1 if the path binds it
	fixed   term.ID
	back    bool // the start is To
	graph   int  // column of the graph; -1
	check   bool // zero steps count for nodes of the graph only
	walkers map[term.ID]*walker
	b       *batch
	ends    map[[2]term.ID]span
	found   *block
	row     int
	mj      int
	p       *pairs
	ended   bool
}

type span struct{ from, to int }

func (q *query) openPathJoin(n *plan.PathJoin, in op, cols []int) (op, error) {
	j := &pathJoin{q: q, node: n, in: in, end: -1, graph: -1, walkers: map[term.ID]*walker{}}
	from, to := -1, -1
	if n.From.Slot >= 0 {
		from = index(cols, n.From.Slot)
	}
	if n.To.Slot >= 0 {
		to = index(cols, n.To.Slot)
	}
	other := n.To
	if from >= 0 {
		j.start, j.end = from, to
	} else {
		j.start, j.back, other = to, true, n.From
	}
	j.fixed = other.ID
	if n.Graph.Slot >= 0 {
		j.graph = index(cols, n.Graph.Slot)
	}
	j.check = empty(n.Path) && !n.Nodes
	right := []int{}
	if j.end < 0 && other.Slot >= 0 {
		right = append(right, other.Slot)
	}
	j.p = q.newPairs(n.Cols, cols, right)
	j.found = newBlock(1, q.budget)
	return j, nil
}

func (j *pathJoin) next() (*batch, error) {
	for {
		if j.ended {
			return nil, nil
		}
		if j.b == nil {
			b, err := j.in.next()
			if err != nil {
				return nil, err
			}
			if b == nil {
				j.ended = true
				return nil, nil
			}
			if err := j.walk(b); err != nil {
				return nil, err
			}
			j.b, j.row, j.mj = b, 0, -1
		}
		for j.row < j.b.n && !j.p.full() {
			s := j.ends[[2]term.ID{j.graphOf(j.b, j.row), j.b.cols[j.start][j.row]}]
			if j.mj < 0 {
				j.mj = s.from
			}
			for j.mj < s.to && !j.p.full() {
				end := j.found.cols[0][j.mj]
				if (j.end < 0 || j.b.cols[j.end][j.row] == end) && (j.fixed == 0 || end == j.fixed) {
					j.p.add(int32(j.row), int32(j.mj))
				}
				j.mj++
			}
			if j.mj < s.to {
				break
			}
			j.mj = -1
			j.row++
		}
		var out *batch
		if !j.p.empty() {
			out = j.p.flush(j.b.cols, j.found.cols)
		}
		if j.row >= j.b.n {
			j.b = nil
		}
		if out != nil {
			return out, nil
		}
	}
}

func (j *pathJoin) graphOf(b *batch, row int) term.ID {
	if j.graph >= 0 {
		return b.cols[j.graph][row]
	}
	return j.node.Graph.ID
}

// walk finds the ends of every start in a batch.
func (j *pathJoin) walk(b *batch) error {
	j.found.reset()
	j.ends = map[[2]term.ID]span{}
	starts := map[term.ID][]term.ID{}
	for i := range b.n {
		k := [2]term.ID{j.graphOf(b, i), b.cols[j.start][i]}
		if _, dup := j.ends[k]; !dup {
			j.ends[k] = span{}
			starts[k[0]] = append(starts[k[0]], k[1])
		}
	}
	for graph, list := range starts {
		w := j.walkers[graph]
		if w == nil {
			w = j.q.walker(graph)
			j.walkers[graph] = w
		} else { // after a second batch, the rest is likely to be needed as well
			w.due = int(min(1e9, j.node.L.Info().Rows))
		}
		slices.Sort(list)
		hops, err := w.follow(j.node.Path, list, !j.back)
		if err != nil {
			return err
		}
		slices.SortStableFunc(hops, func(a, b hop) int { return a.from - b.from })
		for i := 0; i < len(hops); {
			k := i
			s := span{from: j.found.n}
			start := list[hops[i].from]
			inGraph := true
			if j.check {
				if inGraph, err = w.exists(start); err != nil {
					return err
				}
			}
			for k < len(hops) && hops[k].from == hops[i].from {
				k++
			}
			if inGraph {
				if err := j.found.grow(k - i); err != nil {
					return err
				}
				for _, h := range hops[i:k] {
					j.found.cols[0] = append(j.found.cols[0], h.to)
				}
				j.found.n += k - i
			}
			s.to = j.found.n
			j.ends[[2]term.ID{graph, start}] = s
			i = k
		}
		w.forget(0)
	}
	return nil
}

func (j *pathJoin) close() {
	j.ended = true
	j.in.close()
	j.found.free()
	j.p.free()
	for _, w := range j.walkers {
		w.free()
	}
	j.walkers = nil
}
