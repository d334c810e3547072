package triplestore

import (
	"context"

	"odarchive/triplestore/term"
)

// Stats are exact figures of one state.
type Stats struct {
	Quads    uint64       // in all graphs
	Terms    uint64       // in the dictionary: distinct terms ever used, without those that are inline
	Position uint64       // of the last commit
	Default  GraphStats   // the default graph
	Named    []GraphCount // the named graphs, in id order
}

// GraphCount is the number of triples in a graph.
type GraphCount struct {
	Graph   term.Key
	Triples uint64
}

// GraphStats are exact figures of one graph (VoID).
type GraphStats struct {
	Triples, Subjects, Predicates, Objects uint64 // distinct ones, except for Triples
	ByPredicate                            []PredicateStats
}

// PredicateStats are exact figures of one predicate in one graph.
type PredicateStats struct {
	Predicate                  term.Key
	ID                         term.ID
	Triples, Subjects, Objects uint64
}

// Stats of the snapshot.
func (sn *Snapshot) Stats(ctx context.Context) (Stats, error) {
	st := Stats{Position: sn.state.position, Terms: sn.state.terms - 1}
	var err error
	if st.Default, err = sn.GraphStats(ctx, term.DefaultGraph); err != nil {
		return Stats{}, err
	}
	st.Quads = st.Default.Triples
	var graphs []term.ID
	if err := sn.Graphs(func(g term.ID) bool { graphs = append(graphs, g); return true }); err != nil {
		return Stats{}, err
	}
	keys := make([]term.Key, len(graphs))
	if err := sn.Keys(graphs, keys); err != nil {
		return Stats{}, err
	}
	for i, g := range graphs {
		n, _ := sn.state.index.Count(term.Pattern{G: g})
		st.Named = append(st.Named, GraphCount{keys[i], uint64(n)})
		st.Quads += uint64(n)
	}
	return st, nil
}

// GraphStats of one graph, given by its id.
func (sn *Snapshot) GraphStats(ctx context.Context, g term.ID) (GraphStats, error) {
	var st GraphStats
	var last term.IDQuad
	each := func(o term.Order, f func(q, last term.IDQuad)) error {
		c := sn.Scan(term.Pattern{G: g}, o)
		defer c.Close()
		last = term.IDQuad{}
		for {
			rows, err := c.Next()
			if err != nil {
				return err
			}
			if len(rows) == 0 {
				return nil
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			for _, q := range rows {
				f(q, last)
				last = q
			}
		}
	}
	err := each(term.PSO, func(q, last term.IDQuad) {
		st.Triples++
		if q.P != last.P {
			st.Predicates++
			st.ByPredicate = append(st.ByPredicate, PredicateStats{ID: q.P})
		}
		p := &st.ByPredicate[len(st.ByPredicate)-1]
		p.Triples++
		if q.P != last.P || q.S != last.S {
			p.Subjects++
		}
	})
	if err != nil {
		return GraphStats{}, err
	}
	i := -1
	err = each(term.POS, func(q, last term.IDQuad) {
		if q.P != last.P {
			i++
		}
		if q.P != last.P || q.O != last.O {
			st.ByPredicate[i].Objects++
		}
	})
	if err != nil {
		return GraphStats{}, err
	}
	err = each(term.SPO, func(q, last term.IDQuad) {
		if q.S != last.S {
			st.Subjects++
		}
	})
	if err != nil {
		return GraphStats{}, err
	}
	err = each(term.OSP, func(q, last term.IDQuad) {
		if q.O != last.O {
			st.Objects++
		}
	})
	if err != nil {
		return GraphStats{}, err
	}
	ids, keys := make([]term.ID, len(st.ByPredicate)), make([]term.Key, len(st.ByPredicate))
	for i, p := range st.ByPredicate {
		ids[i] = p.ID
	}
	if err := sn.Keys(ids, keys); err != nil {
		return GraphStats{}, err
	}
	for i := range keys {
		st.ByPredicate[i].Predicate = keys[i]
	}
	return st, nil
}
