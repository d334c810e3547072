package quality

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"odarchive/triplestore"
	"odarchive/triplestore/term"
	"odarchive/triplestore/xsdval"
	"odarchive/vocab"
)

// fullInterval is the time between two measurements of a whole portal.
const fullInterval = 7 * 24 * time.Hour

// Position returns the present position of the change log, for a later Update.
func (k Keeper) Position() uint64 {
	sn := k.Triples.Snapshot()
	defer sn.Release()
	return sn.Position()
}

// Update measures the datasets of a portal that changed: those whose statements changed in commits after a position,
// and those whose files were visited since the harvest that was measured last. It measures all datasets once a week, if
// it cannot tell what changed, or if most changed. The Table has no rows if nothing changed.
func (k Keeper) Update(ctx context.Context, portal string, since uint64) (Table, error) {
	todo, known, err := k.changed(ctx, portal, since)
	if err != nil {
		return Table{Portal: portal}, fmt.Errorf("quality of %s: %w", portal, err)
	}
	if !known {
		return k.Measure(ctx, portal)
	}
	t, err := k.update(ctx, portal, todo)
	if err != nil {
		return t, fmt.Errorf("quality of %s: %w", portal, err)
	}
	return t, nil
}

// changes are the datasets to be measured, and those that are no longer listed.
type changes struct{ measure, forget []term.Key }

func (k Keeper) changed(ctx context.Context, portal string, since uint64) (todo changes, known bool, err error) {
	visited, known, err := k.visited(ctx, portal)
	if err != nil || !known {
		return todo, false, err
	}
	graph, touched, dropped := term.IRI(k.Mint.Graph(portal)), map[term.Key]bool{}, map[term.Key]bool{}
	for _, d := range visited {
		touched[term.IRI(d)] = true
	}
	_, err = k.Triples.Changes(ctx, since, func(c triplestore.Commit) error {
		for _, q := range c.Added {
			if q.G == graph {
				touched[q.S] = true
			}
		}
		for _, q := range c.Removed {
			if q.G != graph {
				continue
			}
			touched[q.S] = true
			if q.P.Value() == vocab.DCATDatasetProp {
				dropped[q.O] = true
			}
		}
		return nil
	})
	if errors.Is(err, triplestore.ErrTrimmed) {
		return todo, false, nil
	}
	if err != nil {
		return todo, false, err
	}
	err = k.Triples.View(ctx, func(sn *triplestore.Snapshot) error {
		all, err := count(ctx, sn, term.IRI(portal), term.IRI(vocab.DCATDatasetProp), graph)
		if err != nil {
			return err
		}
		datasets, err := listedAbove(ctx, sn, touched, term.IRI(portal), graph)
		if err != nil {
			return err
		}
		known = 2*len(datasets) <= all
		todo.measure = slices.Sorted(maps.Keys(datasets))
		for d := range dropped {
			if !datasets[d] {
				todo.forget = append(todo.forget, d)
			}
		}
		return nil
	})
	return todo, known, err
}

// visited returns the datasets whose files were visited since the harvest that was measured last. known is false if
// that is unknown, or if all datasets are due.
func (k Keeper) visited(ctx context.Context, portal string) (datasets []string, known bool, err error) {
	var started, whole []term.Key
	err = k.Triples.View(ctx, func(sn *triplestore.Snapshot) error {
		own := term.IRI(Graph(k.Mint, portal))
		measured, err := objects(ctx, sn, own, vocab.PROVWasDerivedFrom)
		if err != nil || len(measured) != 1 {
			return err
		}
		if started, err = objects(ctx, sn, measured[0], vocab.PROVStartedAtTime); err != nil {
			return err
		}
		whole, err = objects(ctx, sn, own, vocab.DCTCreated)
		return err
	})
	if err != nil || len(started) != 1 || len(whole) != 1 || k.Visited == nil {
		return nil, false, err
	}
	day, ok := timeOf(whole[0])
	if since, known := timeOf(started[0]); ok && known && time.Since(day) < fullInterval {
		return k.Visited(ctx, portal, since)
	}
	return nil, false, nil
}

func timeOf(k term.Key) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, k.Value()); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// listedAbove returns the listed datasets to which touched subjects belong.
func listedAbove(ctx context.Context, sn *triplestore.Snapshot, touched map[term.Key]bool, portal, graph term.Key) (map[term.Key]bool,
	error) {
	datasets, seen := map[term.Key]bool{}, map[term.Key]bool{portal: true}
	for queue := slices.Collect(maps.Keys(touched)); len(queue) > 0; queue = queue[1:] {
		if seen[queue[0]] {
			continue
		}
		seen[queue[0]] = true
		listed, above := false, []term.Key(nil)
		err := each(ctx, sn, "", "", queue[0], graph, func(q term.Quad) error {
			if q.S == portal {
				listed = listed || q.P.Value() == vocab.DCATDatasetProp
			} else if !seen[q.S] {
				above = append(above, q.S)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if listed {
			datasets[queue[0]] = true
		} else {
			queue = append(queue, above...)
		}
	}
	return datasets, nil
}

func (k Keeper) update(ctx context.Context, portal string, todo changes) (Table, error) {
	t := Table{Portal: portal}
	state, _, err := k.states(ctx, portal)
	if err != nil {
		return t, err
	}
	if len(todo.measure)+len(todo.forget) == 0 {
		return t, k.setMeasuredState(ctx, portal, state)
	}
	for batch := range slices.Chunk(todo.measure, batchSize) {
		values, err := k.measureBatch(ctx, portal, batch)
		if err != nil {
			return t, err
		}
		changed, err := k.save(ctx, portal, batch, values)
		if err != nil {
			return t, err
		}
		t.Changed += changed
	}
	for batch := range slices.Chunk(todo.forget, batchSize) {
		if _, err := k.save(ctx, portal, batch, make([][]Measurement, len(batch))); err != nil {
			return t, err
		}
	}
	sums, counts, err := k.stored(ctx, portal)
	if err != nil {
		return t, err
	}
	err = k.Triples.View(ctx, func(sn *triplestore.Snapshot) (err error) {
		t.Datasets, err = count(ctx, sn, term.IRI(portal), term.IRI(vocab.DCATDatasetProp), term.IRI(k.Mint.Graph(portal)))
		return err
	})
	if err != nil {
		return t, err
	}
	return t, k.saveMeans(ctx, &t, sums, counts, state)
}

// stored sums up the stored measurements of a portal's datasets by metric. It works on ids, and looks up only distinct
// values.
func (k Keeper) stored(ctx context.Context, portal string) (sums map[Metric]float64, counts map[Metric]int, err error) {
	sums, counts = map[Metric]float64{}, map[Metric]int{}
	graph := term.IRI(Graph(k.Mint, portal))
	err = k.Triples.View(ctx, func(sn *triplestore.Snapshot) error {
		own := map[term.ID]bool{} // measurements of the portal itself
		if err := pairs(ctx, sn, vocab.DQVComputedOn, term.IRI(portal), graph,
			func(s, _ term.ID) error { own[s] = true; return nil }); err != nil {
			return err
		}
		values, of := map[term.ID]float64{}, map[term.ID]float64{} // by value, by measurement
		err := pairs(ctx, sn, vocab.DQVValue, "", graph, func(s, o term.ID) error {
			v, known := values[o]
			if !known {
				text := make([]term.Key, 1)
				if err := sn.Keys([]term.ID{o}, text); err != nil {
					return err
				}
				if number, ok := xsdval.Parse(text[0].Value(), vocab.XSDDouble); ok {
					v = number.Float64()
				}
				values[o] = v
			}
			of[s] = v
			return nil
		})
		if err != nil {
			return err
		}
		for _, m := range Metrics() {
			err := pairs(ctx, sn, vocab.DQVIsMeasurementOf, term.IRI(m.IRI()), graph, func(s, _ term.ID) error {
				if v, ok := of[s]; ok && !own[s] {
					sums[m] += v
					counts[m]++
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return sums, counts, err
}

// pairs calls f with subject and object of each statement of a property.
func pairs(ctx context.Context, sn *triplestore.Snapshot, property string, o, g term.Key, f func(s, o term.ID) error) error {
	p, ok, err := pattern(sn, "", term.IRI(property), o, g)
	if err != nil || !ok {
		return err
	}
	return blocks(ctx, sn, p, term.POS, func(ids []term.IDQuad) error {
		for _, q := range ids {
			if err := f(q.S, q.O); err != nil {
				return err
			}
		}
		return nil
	})
}

// count returns the number of matching quads.
func count(ctx context.Context, sn *triplestore.Snapshot, s, p, g term.Key) (n int, err error) {
	found, ok, err := pattern(sn, s, p, "", g)
	if err != nil || !ok {
		return 0, err
	}
	err = blocks(ctx, sn, found, term.SPO, func(ids []term.IDQuad) error { n += len(ids); return nil })
	return n, err
}
