package plan

import "odarchive/triplestore/sparql/internal/algebra"

// union gathers the branches of nested unions into one node.
func (b *builder) union(op algebra.Union, sc scope) (Node, error) {
	var branches []Node
	for _, o := range unionBranches(op) {
		n, err := b.branch(o, sc)
		if err != nil {
			return nil, err
		}
		branches = append(branches, n)
	}
	return newUnion(branches), nil
}

// unionBranches returns the operands of nested unions.
func unionBranches(op algebra.Union) []algebra.Op {
	var list []algebra.Op
	stack := []algebra.Op{op}
	for len(stack) > 0 {
		o := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if u, ok := o.(algebra.Union); ok {
			stack = append(stack, u.R, u.L)
			continue
		}
		list = append(list, o)
	}
	return list
}

func newUnion(branches []Node) Node {
	var kept []Node
	for _, n := range branches {
		if _, empty := n.(*Nothing); !empty {
			kept = append(kept, n)
		}
	}
	u := &Union{Branches: kept}
	var all Set
	for _, n := range branches {
		all = all.Or(setOf(n.Info().Cols...))
	}
	u.Cols = all.List()
	if len(kept) == 0 {
		return &Nothing{Props{Cols: u.Cols, Sure: all, Cost: 1}}
	}
	u.Distinct = map[int]float64{}
	for i, n := range kept {
		p := n.Info()
		if i == 0 {
			u.Sure = p.Sure
		}
		u.Sure = u.Sure.And(p.Sure)
		u.Rows += p.Rows
		u.Cost += p.Cost
		for s, d := range p.Distinct {
			u.Distinct[s] += d
		}
	}
	return u
}
