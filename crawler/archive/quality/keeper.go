package quality

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"odarchive/crawler/archive/describe"
	"odarchive/ns"
	"odarchive/triplestore"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// Keeper measures the portals of a store and keeps the measurements in it.
type Keeper struct {
	Triples *triplestore.Store
	Mint    ns.Mint
	// Known returns what the archive knows of a URL.
	Known func(ctx context.Context, address string) (Known, error)
	// Visited returns the datasets of a portal whose files were fetched since a time; known is false if they are too
	// many. If Visited is nil, Update measures everything.
	Visited func(ctx context.Context, portal string, since time.Time) (datasets []string, known bool, err error)
	// ReadOnly makes the Keeper measure without keeping the measurements.
	ReadOnly bool
}

// write deletes and inserts quads.
func (k Keeper) write(ctx context.Context, drop, add []term.Quad) error {
	if k.ReadOnly {
		return nil
	}
	return k.Triples.Update(ctx, func(txn *triplestore.Txn) error { return describe.Replace(txn, drop, add) })
}

const (
	batchSize = 200    // datasets in one snapshot and one transaction
	maxAbout  = 20_000 // statements about one dataset that are read
)

// Table is the quality of one portal.
type Table struct {
	Portal   string `json:"portal"`
	Datasets int    `json:"datasets"`
	Changed  int    `json:"changed"` // datasets whose values changed
	Rows     []Row  `json:"metrics"`
}

// Row is one metric of a portal.
type Row struct {
	Metric    string  `json:"metric"`    // local name of its IRI
	Dimension string  `json:"dimension"` // likewise
	Label     string  `json:"label"`
	Mean      float64 `json:"mean"`     // over the datasets that have a value
	Datasets  int     `json:"datasets"` // the number of these
}

// Portals returns the portals that have a catalog in the store.
func (k Keeper) Portals(ctx context.Context) ([]string, error) {
	var portals []string
	err := k.Triples.View(ctx, func(sn *triplestore.Snapshot) error {
		p, ok, err := pattern(sn, "", term.IRI(vocab.RDFType), term.IRI(vocab.DCATCatalog), "")
		if err != nil || !ok {
			return err
		}
		p.G = term.AnyNamed
		return scan(ctx, sn, p, term.POS, func(q term.Quad) error {
			if q.G.Value() == k.Mint.Graph(q.S.Value()) {
				portals = append(portals, q.S.Value())
			}
			return nil
		})
	})
	slices.Sort(portals)
	return portals, err
}

// Measure measures all datasets of a portal, keeps what changed, and drops the measurements of datasets that are no
// longer listed.
func (k Keeper) Measure(ctx context.Context, portal string) (Table, error) {
	t, err := k.measureAll(ctx, portal)
	if err != nil {
		return t, fmt.Errorf("quality of %s: %w", portal, err)
	}
	return t, nil
}

func (k Keeper) measureAll(ctx context.Context, portal string) (Table, error) {
	t := Table{Portal: portal}
	state, _, err := k.states(ctx, portal)
	if err != nil {
		return t, err
	}
	datasets, err := k.datasets(ctx, portal)
	if err != nil {
		return t, err
	}
	t.Datasets = len(datasets)
	sums, counts := map[Metric]float64{}, map[Metric]int{}
	for batch := range slices.Chunk(datasets, batchSize) {
		values, err := k.measureBatch(ctx, portal, batch)
		if err != nil {
			return t, err
		}
		for _, found := range values {
			for _, m := range found {
				sums[m.Metric] += m.Value
				counts[m.Metric]++
			}
		}
		changed, err := k.save(ctx, portal, batch, values)
		if err != nil {
			return t, err
		}
		t.Changed += changed
	}
	if err := k.dropUnlisted(ctx, portal, datasets); err != nil {
		return t, err
	}
	return t, errors.Join(k.saveMeans(ctx, &t, sums, counts, state), k.setMeasuredToday(ctx, portal))
}

// saveMeans writes the means of a portal, and which state was measured.
func (k Keeper) saveMeans(ctx context.Context, t *Table, sums map[Metric]float64, counts map[Metric]int, state []term.Key) error {
	var means []Measurement
	for _, m := range Metrics() {
		if counts[m] == 0 {
			continue
		}
		mean := Measurement{m, round(sums[m] / float64(counts[m]))}
		means = append(means, mean)
		t.Rows = append(t.Rows, Row{m.Name, m.Dimension, m.Label, mean.Value, counts[m]})
	}
	if _, err := k.save(ctx, t.Portal, []term.Key{term.IRI(t.Portal)}, [][]Measurement{means}); err != nil {
		return err
	}
	return k.setMeasuredState(ctx, t.Portal, state)
}

func (k Keeper) datasets(ctx context.Context, portal string) (all []term.Key, err error) {
	err = k.Triples.View(ctx, func(sn *triplestore.Snapshot) error {
		return each(ctx, sn, term.IRI(portal), term.IRI(vocab.DCATDatasetProp), "", term.IRI(k.Mint.Graph(portal)),
			func(q term.Quad) error {
				all = append(all, q.O)
				return nil
			})
	})
	return all, err
}

// measureBatch measures some datasets in one state of the store.
func (k Keeper) measureBatch(ctx context.Context, portal string, datasets []term.Key) (values [][]Measurement, err error) {
	graph := term.IRI(k.Mint.Graph(portal))
	var abouts [][]term.Quad
	err = k.Triples.View(ctx, func(sn *triplestore.Snapshot) error {
		for _, d := range datasets {
			about, err := around(ctx, sn, d, graph)
			if err != nil {
				return err
			}
			abouts = append(abouts, about)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, about := range abouts {
		var failed error
		known := func(address string) Known {
			got, err := k.Known(ctx, address)
			if err != nil && failed == nil {
				failed = err
			}
			return got
		}
		values = append(values, Measure(datasets[i], about, known))
		if failed != nil {
			return nil, failed
		}
	}
	return values, ctx.Err()
}

// save writes the measurements of some things that changed, in one transaction, and returns the number of these things.
func (k Keeper) save(ctx context.Context, portal string, things []term.Key, values [][]Measurement) (changed int, err error) {
	graph := term.IRI(Graph(k.Mint, portal))
	var drop, add []term.Quad
	err = k.Triples.View(ctx, func(sn *triplestore.Snapshot) error {
		for i, thing := range things {
			want := map[string]Measurement{}
			for _, m := range values[i] {
				want[node(graph, thing, m)] = m
			}
			before := len(drop)
			err := each(ctx, sn, "", term.IRI(vocab.DQVComputedOn), thing, graph, func(q term.Quad) error {
				iri := q.S.Value()
				if _, same := want[iri]; same {
					delete(want, iri)
				} else {
					drop = append(drop, statementsOf(graph, thing, iri)...)
				}
				return nil
			})
			if err != nil {
				return err
			}
			for iri, m := range want {
				add = append(add, quads(graph, thing, iri, m)...)
			}
			if len(want) > 0 || len(drop) > before {
				changed++
			}
		}
		return nil
	})
	if err != nil || changed == 0 {
		return changed, err
	}
	return changed, k.write(ctx, drop, add)
}

// dropUnlisted drops the measurements of datasets that are no longer listed.
func (k Keeper) dropUnlisted(ctx context.Context, portal string, datasets []term.Key) error {
	graph := term.IRI(Graph(k.Mint, portal))
	listed := map[term.Key]bool{term.IRI(portal): true}
	for _, d := range datasets {
		listed[d] = true
	}
	var drop []term.Quad
	err := k.Triples.View(ctx, func(sn *triplestore.Snapshot) error {
		return each(ctx, sn, "", term.IRI(vocab.DQVComputedOn), "", graph, func(q term.Quad) error {
			if !listed[q.O] {
				drop = append(drop, statementsOf(graph, q.O, q.S.Value())...)
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	for part := range slices.Chunk(drop, 20_000) {
		if err := k.write(ctx, part, nil); err != nil {
			return err
		}
	}
	return nil
}
