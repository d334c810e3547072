package triplestore

import (
	"context"

	"odarchive/triplestore/internal/index"
	"odarchive/triplestore/term"
)

// Stats are exact figures of one state.
type Stats struct {
	Quads    uint64       // in all graphs
	Terms    uint64       // distinct terms in the dictionary; excludes inline terms, includes unused terms until they are swept
	Position uint64       // of the last commit
	Default  GraphStats   // the default graph
	Named    []GraphCount // the named graphs, in id order
}

// GraphCount is the number of triples in a graph.
type GraphCount struct {
	Graph   term.Key
	Triples uint64
}

// GraphStats are exact figures of one graph, as VoID defines them.
type GraphStats struct {
	Triples, Subjects, Predicates, Objects uint64 // distinct, except for Triples
	ByPredicate                            []PredicateStats
}

// PredicateStats are exact figures of one predicate in one graph.
type PredicateStats struct {
	Predicate                  term.Key
	ID                         term.ID
	Triples, Subjects, Objects uint64
}

// Stats returns the figures of the snapshot.
func (sn *Snapshot) Stats(ctx context.Context) (Stats, error) {
	st := Stats{Position: sn.state.position, Terms: sn.state.dict.Terms(sn.state.terms)}
	var err error
	if st.Default, err = sn.GraphStats(ctx, term.DefaultGraph); err != nil {
		return Stats{}, err
	}
	st.Quads = st.Default.Triples
	if st.Named, err = sn.Named(); err != nil {
		return Stats{}, err
	}
	for _, g := range st.Named {
		st.Quads += g.Triples
	}
	return st, nil
}

// Named returns the non-empty named graphs, in id order. It is much cheaper than Stats.
func (sn *Snapshot) Named() (all []GraphCount, err error) {
	graphs, counts, err := sn.graphs()
	if err != nil {
		return nil, err
	}
	keys := make([]term.Key, len(graphs))
	if err := sn.Keys(graphs, keys); err != nil {
		return nil, err
	}
	for i, k := range keys {
		all = append(all, GraphCount{k, uint64(counts[i])})
	}
	return all, nil
}

// Quads returns the number of quads. It is much cheaper than Stats.
func (sn *Snapshot) Quads() (uint64, error) {
	n, err := sn.index.Count(index.Prefix(index.GSPO, term.DefaultGraph))
	if err != nil {
		return 0, err
	}
	_, counts, err := sn.graphs()
	for _, c := range counts {
		n += c
	}
	return uint64(n), err
}

// GraphStats returns the figures of the graph with id g. They are computed from the fences of the blocks and corrected
// for the overlay, without a scan.
func (sn *Snapshot) GraphStats(ctx context.Context, g term.ID) (st GraphStats, err error) {
	count := func(n *uint64, l index.Layout, ids ...term.ID) {
		if err == nil {
			var d int
			d, err = sn.index.Distinct(index.Prefix(l, ids...), len(ids))
			*n = uint64(d)
		}
	}
	count(&st.Subjects, index.GSPO, g)
	count(&st.Predicates, index.GPSO, g)
	count(&st.Objects, index.GOSP, g)
	if err != nil {
		return GraphStats{}, err
	}
	var ids []term.ID
	err = sn.index.Groups(index.Prefix(index.GPSO, g), 1, func(p term.ID, quads int) (bool, error) {
		ids = append(ids, p)
		st.Triples += uint64(quads)
		st.ByPredicate = append(st.ByPredicate, PredicateStats{ID: p, Triples: uint64(quads)})
		return true, ctx.Err()
	})
	for i := range st.ByPredicate {
		p := &st.ByPredicate[i]
		count(&p.Subjects, index.GPSO, g, p.ID)
		count(&p.Objects, index.GPOS, g, p.ID)
	}
	if err != nil {
		return GraphStats{}, err
	}
	keys := make([]term.Key, len(ids))
	if err := sn.Keys(ids, keys); err != nil {
		return GraphStats{}, err
	}
	for i := range keys {
		st.ByPredicate[i].Predicate = keys[i]
	}
	return st, nil
}
