package plan

import (
	"fmt"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
)

// values looks up the terms of inline data.
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

// constant returns the id of a term of the query. A term that the store does not have gets a local id of the plan.
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

// lookup returns the id of a term at a position of a pattern. ok is false if the store does not have it, so that no
// quad can match.
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
