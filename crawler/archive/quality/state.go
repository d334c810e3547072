package quality

import (
	"context"
	"slices"
	"time"

	"odarchive/triplestore"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// Measurements are of one state of a portal's graph, identified by the harvest that made it. Once they are complete,
// the graph of the measurements names that harvest (prov:wasDerivedFrom), so that an interrupted measurement is
// recognised, and the day when the whole portal was last measured (dct:created).

// Current reports whether the measurements are of the present state of the portal's graph.
func (k Keeper) Current(ctx context.Context, portal string) (bool, error) {
	now, measured, err := k.states(ctx, portal)
	return err == nil && slices.Equal(now, measured), err
}

// states returns the harvest that made the portal's graph, and the harvest whose result was measured; each may be
// empty.
func (k Keeper) states(ctx context.Context, portal string) (now, measured []term.Key, err error) {
	graph, own := term.IRI(k.Mint.Graph(portal)), term.IRI(Graph(k.Mint, portal))
	err = k.Triples.View(ctx, func(sn *triplestore.Snapshot) error {
		if now, err = objects(ctx, sn, graph, vocab.PROVWasGeneratedBy); err != nil {
			return err
		}
		measured, err = objects(ctx, sn, own, vocab.PROVWasDerivedFrom)
		return err
	})
	return now, measured, err
}

// objects returns the objects of a property in the default graph.
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

// setMeasuredState records which state was measured.
func (k Keeper) setMeasuredState(ctx context.Context, portal string, state []term.Key) error {
	return k.setStatement(ctx, portal, vocab.PROVWasDerivedFrom, state)
}

// setMeasuredToday records that the whole portal was measured today.
func (k Keeper) setMeasuredToday(ctx context.Context, portal string) error {
	return k.setStatement(ctx, portal, vocab.DCTCreated, []term.Key{term.Typed(time.Now().UTC().Format(time.DateOnly), vocab.XSDDate)})
}

// setStatement replaces the objects of a property of the measurements' graph.
func (k Keeper) setStatement(ctx context.Context, portal, property string, after []term.Key) error {
	graph := term.IRI(Graph(k.Mint, portal))
	var before []term.Key
	err := k.Triples.View(ctx, func(sn *triplestore.Snapshot) (err error) {
		before, err = objects(ctx, sn, graph, property)
		return err
	})
	if err != nil || slices.Equal(before, after) {
		return err
	}
	about := func(all []term.Key) (quads []term.Quad) {
		for _, o := range all {
			quads = append(quads, term.Quad{S: graph, P: term.IRI(property), O: o})
		}
		return quads
	}
	return k.write(ctx, about(before), about(after))
}
