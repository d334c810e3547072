package sparql

import (
	"fmt"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
)

func (u *updateRun) clear(g term.Key) error {
	n, err := graphSize(u.ds, g)
	if err != nil {
		return err
	}
	u.done.Deleted += n
	u.changed = append(u.changed, change{clear: &g})
	if o := u.overlay(); o != nil {
		return o.clear(g)
	}
	return nil
}

// clearAll is CLEAR and DROP. A graph is its triples, so one that does not exist is empty.
func (u *updateRun) clearAll(t algebra.GraphTarget) error {
	if t.IRI != "" {
		return u.clear(term.IRI(t.IRI))
	}
	if t.Default || t.All {
		if err := u.clear(""); err != nil {
			return err
		}
	}
	if t.Default {
		return nil
	}
	var ids []term.ID
	if err := u.ds.Graphs(func(g term.ID) bool { ids = append(ids, g); return true }); err != nil {
		return err
	}
	keys := make([]term.Key, len(ids))
	if err := u.ds.Keys(ids, keys); err != nil {
		return err
	}
	for _, g := range keys {
		if err := u.clear(g); err != nil {
			return err
		}
	}
	return nil
}

// graphSize returns the number of quads in a graph.
func graphSize(ds term.Dataset, g term.Key) (int64, error) {
	if g == "" {
		return quadsOf(ds, term.DefaultGraph)
	}
	id, ok, err := ds.Lookup(g)
	if err != nil || !ok {
		return 0, err
	}
	return quadsOf(ds, id)
}

// quadsOf counts the quads of a graph, or of all for term.AnyGraph.
func quadsOf(ds term.Dataset, g term.ID) (n int64, err error) {
	p := term.Pattern{G: g}
	if e := ds.Estimate(p); e.Exact {
		return int64(e.Count), nil
	}
	err = each(ds, p, func(term.IDQuad) { n++ })
	return n, err
}

// create only checks that the graph does not exist: an empty graph does not, so there is nothing to create.
func (u *updateRun) create(c algebra.Create) error {
	n, err := graphSize(u.ds, term.IRI(c.IRI))
	if err != nil {
		return err
	}
	if n > 0 && !c.Silent {
		return fmt.Errorf("create <%s>: %w", c.IRI, ErrGraphExists)
	}
	return nil
}

// transfer is ADD, COPY and MOVE (Update §3.2.3 to §3.2.5).
func (u *updateRun) transfer(t algebra.Transfer) error {
	from, to := graphKey(t.From), graphKey(t.To)
	if from == to {
		return nil
	}
	if from != "" { // a mistyped name must not empty the target
		n, err := graphSize(u.ds, from)
		if err != nil {
			return err
		}
		if n == 0 {
			if t.Silent {
				return nil
			}
			return fmt.Errorf("%s <%s>: %w", t.Kind, t.From.IRI, ErrNoGraph)
		}
	}
	quads, err := u.graph(from)
	if err != nil {
		return err
	}
	if t.Kind != "ADD" {
		if err := u.clear(to); err != nil {
			return err
		}
	}
	for i := range quads {
		quads[i].G = to
	}
	if err := u.insert(quads); err != nil {
		return err
	}
	if t.Kind == "MOVE" {
		return u.clear(from)
	}
	return nil
}

func graphKey(t algebra.GraphTarget) term.Key {
	if t.Default {
		return ""
	}
	return term.IRI(t.IRI)
}

// copiedTriple is about what a triple of a copied graph takes in memory, in bytes.
const copiedTriple = 192

// graph reads a whole graph.
func (u *updateRun) graph(g term.Key) ([]term.Quad, error) {
	id := term.DefaultGraph
	if g != "" {
		found, ok, err := u.ds.Lookup(g)
		if err != nil || !ok {
			return nil, err
		}
		id = found
	}
	n, err := quadsOf(u.ds, id)
	if err != nil {
		return nil, err
	}
	if err := u.hold(n * copiedTriple); err != nil {
		return nil, fmt.Errorf("a copy of %d triples: %w", n, err)
	}
	ids := make([]term.ID, 0, 3*n)
	if err := each(u.ds, term.Pattern{G: id}, func(q term.IDQuad) { ids = append(ids, q.S, q.P, q.O) }); err != nil {
		return nil, err
	}
	keys := make([]term.Key, len(ids))
	if err := u.ds.Keys(ids, keys); err != nil {
		return nil, err
	}
	out := make([]term.Quad, 0, len(ids)/3)
	for i := 0; i < len(keys); i += 3 {
		out = append(out, term.Quad{S: keys[i], P: keys[i+1], O: keys[i+2], G: g})
	}
	return out, nil
}
