package plan

// PathStarts lists the nodes from which a path leads somewhere, or to which it leads if Back is set, each once.
type PathStarts struct {
	Props
	Slot  int
	Graph Pos
	Path  Path
	Back  bool
}

func (n *PathStarts) children() []*Node { return nil }
func (n *PathStarts) prune(Set)         {}

func (n *PathStarts) label(p *Plan) string {
	if n.Back {
		return "PathEnds " + p.path(n.Path) + " " + p.slots([]int{n.Slot})
	}
	return "PathStarts " + p.slots([]int{n.Slot}) + " " + p.path(n.Path)
}

// below puts a condition that reads these slots under the path that in is, so that the path is followed only from the
// nodes that fulfil it. The condition keeps or drops rows as they are. below returns nil if in is not a path, or if the
// slots are not those where it starts.
func (b *builder) below(in Node, slots Set, condition func(Node) (Node, error)) (Node, error) {
	switch n := in.(type) {
	case *Filter:
		x, err := b.below(n.In, slots, condition)
		if x == nil || err != nil {
			return nil, err
		}
		return b.newFilter(x, n.Conds), nil
	case *PathJoin:
		p := n.L.Info()
		if slots.Empty() || !slots.In(p.Sure) || n.Rows < p.Rows {
			return nil, nil
		}
		l, err := condition(n.L)
		if err != nil {
			return nil, err
		}
		return b.pathJoin(l, PathScan{From: n.From, To: n.To, Graph: n.Graph, Path: n.Path}), nil
	case *PathScan:
		if n.Graph.Slot >= 0 || n.From.Slot < 0 || n.To.Slot < 0 || n.From.Slot == n.To.Slot || zeroSteps(n.Path) {
			return nil, nil
		}
		list := slots.List()
		if len(list) != 1 || list[0] != n.From.Slot && list[0] != n.To.Slot {
			return nil, nil
		}
		starts, err := condition(b.newPathStarts(n, list[0], list[0] == n.To.Slot))
		if err != nil {
			return nil, err
		}
		return b.pathJoin(starts, *n), nil
	}
	return nil, nil
}

// pathLeaves returns the plans of a path with the filters that it covers alone: over the path, or below it if they read
// only one of its ends.
func (b *builder) pathLeaves(f *PathScan, filters []Expr) []Node {
	n := b.pathScan(*f)
	if len(filters) == 0 {
		return []Node{n}
	}
	out := []Node{b.newFilter(n, filters)}
	for _, end := range []Pos{f.From, f.To} {
		var starts, rest []Expr
		for _, e := range filters {
			if s := setOf(e.Slots...); !s.Empty() && s.In(slotsOf(end)) {
				starts = append(starts, e)
			} else {
				rest = append(rest, e)
			}
		}
		if len(starts) == 0 {
			continue
		}
		x, _ := b.below(n, slotsOf(end), func(in Node) (Node, error) { return b.newFilter(in, starts), nil })
		if x != nil && len(rest) > 0 {
			x = b.newFilter(x, rest)
		}
		if x != nil {
			out = append(out, x)
		}
	}
	return out
}

func (b *builder) newPathStarts(n *PathScan, slot int, back bool) *PathStarts {
	rows := b.startRows(n.Path, !back)
	s := &PathStarts{Slot: slot, Graph: n.Graph, Path: n.Path, Back: back}
	s.Props = Props{Cols: []int{slot}, Sure: setOf(slot), Sorted: []int{slot}, Rows: rows}
	s.Distinct = map[int]float64{slot: rows}
	s.Cost = costSeek + b.edges(n.Path)*costScan
	return s
}

// startRows guesses how many nodes a path leads from, or to if forward is false.
func (b *builder) startRows(p Path, forward bool) float64 {
	switch p := p.(type) {
	case Inverse:
		return b.startRows(p.Path, !forward)
	case Seq:
		if forward {
			return b.startRows(p.L, forward)
		}
		return b.startRows(p.R, forward)
	case Alt:
		return b.startRows(p.L, forward) + b.startRows(p.R, forward)
	case Many:
		return b.startRows(p.Path, forward)
	}
	pairs, partners := b.pathRows(p)
	return pairs / max(1, partners)
}

// edges guesses how many pairs of nodes one step of a path connects, for all its steps together.
func (b *builder) edges(p Path) float64 {
	switch p := p.(type) {
	case Inverse:
		return b.edges(p.Path)
	case Seq:
		return b.edges(p.L) + b.edges(p.R)
	case Alt:
		return b.edges(p.L) + b.edges(p.R)
	case Many:
		return b.edges(p.Path)
	}
	pairs, _ := b.pathRows(p)
	return pairs
}

// zeroSteps reports whether a path matches zero steps.
func zeroSteps(p Path) bool {
	switch p := p.(type) {
	case Inverse:
		return zeroSteps(p.Path)
	case Seq:
		return zeroSteps(p.L) && zeroSteps(p.R)
	case Alt:
		return zeroSteps(p.L) || zeroSteps(p.R)
	case Many:
		return p.Min == 0 || zeroSteps(p.Path)
	}
	return false
}

// sortedPath returns the slots by which the pairs of a path are sorted. Only a repeated path is followed start by
// start.
func sortedPath(n *PathScan) []int {
	if _, many := n.Path.(Many); !many || n.From.Slot < 0 || n.To.ID != 0 || n.Graph.Slot >= 0 {
		return nil
	}
	return []int{n.From.Slot}
}
