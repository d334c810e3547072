package plan

import (
	"fmt"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
)

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

// unionBranches lists the operands of nested unions.
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

// values looks the inline data up.
func (b *builder) values(op algebra.Values, sc scope) (Node, error) {
	n := &Values{}
	for _, v := range op.Vars {
		n.Cols = append(n.Cols, b.slot(sc, v))
	}
	n.Sure = setOf(n.Cols...)
	distinct := make([]map[term.ID]bool, len(n.Cols))
	for _, row := range op.Rows {
		ids := make([]term.ID, len(n.Cols))
		for i, k := range row {
			if k == "" {
				n.Sure = n.Sure.Minus(setOf(n.Cols[i]))
				continue
			}
			id, err := b.constant(k)
			if err != nil {
				return nil, err
			}
			ids[i] = id
			if distinct[i] == nil {
				distinct[i] = map[term.ID]bool{}
			}
			distinct[i][id] = true
		}
		n.Rows = append(n.Rows, ids)
	}
	n.Props.Rows, n.Cost = float64(len(n.Rows)), float64(len(n.Rows))*costRow
	n.Distinct = map[int]float64{}
	for i, s := range n.Cols {
		n.Distinct[s] = float64(max(1, len(distinct[i])))
	}
	return n, nil
}

// constant gives the id of a term of the query. A term that the store does not have gets a local id of the plan.
func (b *builder) constant(k term.Key) (term.ID, error) {
	id, ok, err := b.stats.Lookup(k)
	if err != nil {
		return 0, fmt.Errorf("plan: look up a term: %w", err)
	}
	if !ok {
		id = b.plan.localID(k)
	}
	b.plan.terms[id] = k
	return id, nil
}

// lookup is constant for a position of a pattern: ok is false where no quad can match.
func (b *builder) lookup(k term.Key) (id term.ID, ok bool, err error) {
	id, ok, err = b.stats.Lookup(k)
	if err != nil {
		return 0, false, fmt.Errorf("plan: look up a term: %w", err)
	}
	if ok {
		b.plan.terms[id] = k
	}
	return id, ok, nil
}
