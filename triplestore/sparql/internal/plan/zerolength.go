package plan

import (
	"slices"

	"odarchive/triplestore/sparql/internal/algebra"
)

// startsOutsideGraph reports whether the pattern of an EXISTS has a path of zero or more steps that begins or ends
// with a value from outside, one of seeds, which may not be a node of the path's graph. Substituted in the pattern,
// the value leads to itself in any graph (§18.4, §18.6); the value of a variable does so only if it is a node of the
// graph.
func (b *builder) startsOutsideGraph(op algebra.Op, seeds Set, graph Pos, in Node, sc scope) bool {
	switch op := op.(type) {
	case algebra.PathPattern:
		for _, end := range [2]algebra.Node{op.S, op.O} {
			if end.Var != "" && emptyPath(op.Path) {
				if s := b.slot(sc, end.Var); seeds.Has(s) && !areNodes(in, s, graph) {
					return true
				}
			}
		}
	case algebra.Graph:
		graph = Pos{Slot: -1}
		if op.Name.Var != "" {
			graph.Slot = b.slot(sc, op.Name.Var)
		} else if id, ok, err := b.lookup(op.Name.Term); ok && err == nil {
			graph.ID = id
		} else {
			in = nil // no value is a node of a graph that does not exist
		}
	}
	if hidesVars(op) {
		return false
	}
	outside := func(x algebra.Op) bool { return b.startsOutsideGraph(x, seeds, graph, in, sc) }
	return slices.ContainsFunc(algebra.Inputs(op), outside)
}

// emptyPath reports whether a path matches zero steps.
func emptyPath(p algebra.Path) bool {
	switch p := p.(type) {
	case algebra.PathInverse:
		return emptyPath(p.Path)
	case algebra.PathSeq:
		return emptyPath(p.L) && emptyPath(p.R)
	case algebra.PathAlt:
		return emptyPath(p.L) || emptyPath(p.R)
	case algebra.PathMany:
		return p.Min == 0 || emptyPath(p.Path)
	}
	return false
}

// areNodes reports whether all values of a slot are certainly subjects or objects in a graph.
func areNodes(n Node, slot int, graph Pos) bool {
	both := func(l, r Node, kind JoinKind) bool {
		return areNodes(l, slot, graph) || kind == Inner && areNodes(r, slot, graph)
	}
	switch n := n.(type) {
	case *Scan:
		return n.Pos[3] == graph && (n.Pos[0].Slot == slot || n.Pos[2].Slot == slot)
	case *MergeJoin:
		return both(n.L, n.R, n.Kind)
	case *HashJoin:
		return both(n.L, n.R, n.Kind)
	case *BindJoin:
		return both(n.L, n.R, n.Kind)
	case *Lateral:
		return both(n.L, n.R, n.Kind)
	case *Union:
		for _, branch := range n.Branches {
			if !areNodes(branch, slot, graph) {
				return false
			}
		}
		return len(n.Branches) > 0
	case *PathJoin, *PlacesJoin, *Filter, *Extend, *Rename, *Sort, *Project, *Distinct, *Slice, *Substitute:
		return areNodes(Inputs(n)[0], slot, graph)
	}
	return false
}
