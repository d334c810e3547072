package quality

import (
	"context"
	"fmt"
	"slices"

	"odarchive/triplestore"
	"odarchive/triplestore/term"
	"odarchive/vocab/prov"
)

// Measurements are of one state of a portal's graph, which goes by the harvest that made it. The graph of the measurements
// names that harvest (prov:wasDerivedFrom) once they are complete, so whoever was killed while measuring is found out.

// Current tells whether what was measured is what the portal says now.
func (k Keeper) Current(ctx context.Context, portal string) (bool, error) {
	now, measured, err := k.states(ctx, portal)
	return err == nil && slices.Equal(now, measured), err
}

// Confirm that a harvest changed nothing: what was measured before it is still so.
func (k Keeper) Confirm(ctx context.Context, portal string) error {
	now, _, err := k.states(ctx, portal)
	if err == nil {
		err = k.note(ctx, portal, now)
	}
	if err != nil {
		return fmt.Errorf("quality of %s: %w", portal, err)
	}
	return nil
}

// states are the harvests that made the portal's graph, and those whose result was measured: one each, or none.
func (k Keeper) states(ctx context.Context, portal string) (now, measured []term.Key, err error) {
	graph, own := term.IRI(k.Mint.Graph(portal)), term.IRI(Graph(k.Mint, portal))
	err = k.Triples.View(ctx, func(sn *triplestore.Snapshot) error {
		if now, err = objects(ctx, sn, graph, prov.WasGeneratedBy); err != nil {
			return err
		}
		measured, err = objects(ctx, sn, own, prov.WasDerivedFrom)
		return err
	})
	return now, measured, err
}

// objects of a property in the default graph.
func objects(ctx context.Context, sn *triplestore.Snapshot, s term.Key, property string) (all []term.Key, err error) {
	p, ok, err := pattern(sn, s, term.IRI(property), "", "")
	if err != nil || !ok {
		return nil, err
	}
	p.G = term.DefaultGraph
	err = scan(ctx, sn, p, term.SPO, func(q term.Quad) error {
		all = append(all, q.O)
		return nil
	})
	return all, err
}

// note which state was measured.
func (k Keeper) note(ctx context.Context, portal string, state []term.Key) error {
	_, before, err := k.states(ctx, portal)
	if err != nil || slices.Equal(before, state) {
		return err
	}
	about := func(harvests []term.Key) (quads []term.Quad) {
		for _, h := range harvests {
			quads = append(quads, term.Quad{S: term.IRI(Graph(k.Mint, portal)), P: term.IRI(prov.WasDerivedFrom), O: h})
		}
		return quads
	}
	return k.Triples.Update(ctx, func(txn *triplestore.Txn) error { return write(txn, about(before), about(state)) })
}
