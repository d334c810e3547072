package describe

import (
	"cmp"
	"context"
	"slices"

	"odarchive/triplestore/term"
)

const (
	maxStatements = 10_000 // of one description, in each direction
	maxDepth      = 8      // of blank nodes inside blank nodes
)

// Describe returns the concise bounded description of an IRI over all graphs, that is the statements about it and those
// about the blank nodes they lead to, and the statements that point to it. Each list has at most max statements,
// without graph names. An unknown IRI has none.
func Describe(ctx context.Context, ds term.Dataset, iri string, max int) (out, in []term.Quad, err error) {
	id, ok, err := ds.Lookup(term.IRI(iri))
	if err != nil || !ok {
		return nil, nil, err
	}
	ids, err := bounded(ctx, ds, id, max)
	if err != nil {
		return nil, nil, err
	}
	pointing, err := scan(ctx, ds, term.Pattern{O: id}, term.OSP, max)
	if err != nil {
		return nil, nil, err
	}
	if out, err = keys(ds, ids); err != nil {
		return nil, nil, err
	}
	in, err = keys(ds, pointing)
	return out, in, err
}

// bounded returns the description of id. It follows blank nodes breadth first.
func bounded(ctx context.Context, ds term.Dataset, id term.ID, max int) ([]term.IDQuad, error) {
	var all []term.IDQuad
	seen := map[term.ID]bool{id: true}
	level := []term.ID{id}
	for depth := 0; depth < maxDepth && len(level) > 0; depth++ {
		var next []term.ID
		for _, subject := range level {
			quads, err := scan(ctx, ds, term.Pattern{S: subject}, term.SPO, max-len(all))
			if err != nil {
				return nil, err
			}
			all = append(all, quads...)
			for _, q := range quads {
				if q.O.Kind() == term.KindBlank && !seen[q.O] {
					seen[q.O] = true
					next = append(next, q.O)
				}
			}
			if len(all) >= max {
				return all, nil
			}
		}
		level = next
	}
	return all, nil
}

// scan reads at most max statements, each once even if several graphs contain it.
func scan(ctx context.Context, ds term.Dataset, p term.Pattern, order term.Order, max int) ([]term.IDQuad, error) {
	cursor := ds.Scan(p, order)
	defer cursor.Close()
	var out []term.IDQuad
	for len(out) < max {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		batch, err := cursor.Next()
		if err != nil {
			return nil, err
		}
		if len(batch) == 0 {
			break
		}
		for _, q := range batch {
			q.G = 0
			if len(out) > 0 && out[len(out)-1] == q { // equal statements of different graphs are neighbours
				continue
			}
			if out = append(out, q); len(out) == max {
				break
			}
		}
	}
	return out, nil
}

// keys returns the terms of ids. It looks each id up once.
func keys(ds term.Dataset, quads []term.IDQuad) ([]term.Quad, error) {
	ids := make([]term.ID, 0, 3*len(quads))
	for _, q := range quads {
		ids = append(ids, q.S, q.P, q.O)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	terms := make([]term.Key, len(ids))
	if err := ds.Keys(ids, terms); err != nil {
		return nil, err
	}
	of := func(id term.ID) term.Key {
		i, _ := slices.BinarySearch(ids, id)
		return terms[i]
	}
	out := make([]term.Quad, len(quads))
	for i, q := range quads {
		out[i] = term.Quad{S: of(q.S), P: of(q.P), O: of(q.O)}
	}
	return out, nil
}

// sortQuads sorts statements, so that the same facts make the same bytes.
func sortQuads(quads []term.Quad) {
	slices.SortStableFunc(quads, func(a, b term.Quad) int {
		return cmp.Or(cmp.Compare(a.S, b.S), cmp.Compare(a.P, b.P), cmp.Compare(a.O, b.O))
	})
}
