package quality

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"odarchive/ns"
	"odarchive/triplestore"
	"odarchive/triplestore/term"
	"odarchive/vocab/dcat"
	"odarchive/vocab/dcterms"
	"odarchive/vocab/dqv"
	"odarchive/vocab/rdf"
	"odarchive/vocab/xsd"
)

// Keeper measures the portals of a store.
type Keeper struct {
	Triples *triplestore.Store
	Mint    ns.Mint
	Known   func(ctx context.Context, address string) (Known, error)
}

const (
	datasetsATime = 200    // of one snapshot and one transaction
	maxAbout      = 20_000 // statements about one dataset that are looked at
)

// Table is the quality of one portal.
type Table struct {
	Portal   string `json:"portal"`
	Datasets int    `json:"datasets"`
	Changed  int    `json:"changed"` // datasets whose values are others than last time
	Rows     []Row  `json:"metrics"`
}

// Row is one metric of a portal.
type Row struct {
	Metric    string  `json:"metric"`    // local name of its IRI
	Dimension string  `json:"dimension"` // likewise
	Label     string  `json:"label"`
	Mean      float64 `json:"mean"`     // over the datasets that have a value
	Datasets  int     `json:"datasets"` // how many have one
}

// Graph that holds the measurements of a portal.
func Graph(m ns.Mint, portal string) string { return m.Graph(portal) + "#quality" }

// Portals that have a catalog in the store.
func (k Keeper) Portals(ctx context.Context) ([]string, error) {
	var portals []string
	err := k.Triples.View(ctx, func(sn *triplestore.Snapshot) error {
		p, ok, err := pattern(sn, "", term.IRI(rdf.Type), term.IRI(dcat.Catalog), "")
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

// pattern in the ids of a snapshot; false where the store knows one of the terms not at all, so that nothing matches.
func pattern(sn *triplestore.Snapshot, s, p, o, g term.Key) (found term.Pattern, ok bool, err error) {
	for _, part := range []struct {
		key term.Key
		id  *term.ID
	}{{s, &found.S}, {p, &found.P}, {o, &found.O}, {g, &found.G}} {
		if part.key == "" {
			continue
		}
		if *part.id, ok, err = sn.Lookup(part.key); err != nil || !ok {
			return found, false, err
		}
	}
	return found, true, nil
}

// each calls f with every quad that matches. It scans the order that has what is known in front: Dump would read all of
// the subjects.
func each(ctx context.Context, sn *triplestore.Snapshot, s, p, o, g term.Key, f func(term.Quad) error) error {
	found, ok, err := pattern(sn, s, p, o, g)
	if err != nil || !ok {
		return err
	}
	order := term.SPO
	if s == "" {
		order = term.POS
	}
	return scan(ctx, sn, found, order, f)
}

func scan(ctx context.Context, sn *triplestore.Snapshot, p term.Pattern, order term.Order, f func(term.Quad) error) error {
	c := sn.Scan(p, order)
	defer c.Close()
	for {
		ids, err := c.Next()
		if err != nil || len(ids) == 0 {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		flat := make([]term.ID, 0, 4*len(ids))
		for _, q := range ids {
			if q.G == term.DefaultGraph { // it has no name
				q.G = q.P
			}
			flat = append(flat, q.S, q.P, q.O, q.G)
		}
		keys := make([]term.Key, len(flat))
		if err := sn.Keys(flat, keys); err != nil {
			return err
		}
		for i := 0; i < len(keys); i += 4 {
			if ids[i/4].G == term.DefaultGraph {
				keys[i+3] = ""
			}
			if err := f(term.Quad{S: keys[i], P: keys[i+1], O: keys[i+2], G: keys[i+3]}); err != nil {
				return err
			}
		}
	}
}

// Measure all datasets of a portal and keep what changed. Only datasets that are listed now have measurements behind it.
func (k Keeper) Measure(ctx context.Context, portal string) (Table, error) {
	t := Table{Portal: portal}
	state, _, err := k.states(ctx, portal)
	if err != nil {
		return t, fmt.Errorf("quality of %s: %w", portal, err)
	}
	datasets, err := k.datasets(ctx, portal)
	if err != nil {
		return t, fmt.Errorf("quality of %s: %w", portal, err)
	}
	t.Datasets = len(datasets)
	sums, counts := map[Metric]float64{}, map[Metric]int{}
	for batch := range slices.Chunk(datasets, datasetsATime) {
		values, err := k.batch(ctx, portal, batch)
		if err != nil {
			return t, fmt.Errorf("quality of %s: %w", portal, err)
		}
		for _, found := range values {
			for _, m := range found {
				sums[m.Metric] += m.Value
				counts[m.Metric]++
			}
		}
		changed, err := k.keep(ctx, portal, batch, values)
		if err != nil {
			return t, fmt.Errorf("quality of %s: %w", portal, err)
		}
		t.Changed += changed
	}
	var means []Measurement
	for _, m := range Metrics() {
		if counts[m] == 0 {
			continue
		}
		mean := Measurement{m, round(sums[m] / float64(counts[m]))}
		means = append(means, mean)
		t.Rows = append(t.Rows, Row{m.Name, m.Dimension, m.Label, mean.Value, counts[m]})
	}
	if _, err := k.keep(ctx, portal, []term.Key{term.IRI(portal)}, [][]Measurement{means}); err != nil {
		return t, fmt.Errorf("quality of %s: %w", portal, err)
	}
	if err := k.forget(ctx, portal, datasets); err != nil {
		return t, fmt.Errorf("quality of %s: %w", portal, err)
	}
	if err := k.note(ctx, portal, state); err != nil {
		return t, fmt.Errorf("quality of %s: %w", portal, err)
	}
	return t, nil
}

func (k Keeper) datasets(ctx context.Context, portal string) (all []term.Key, err error) {
	err = k.Triples.View(ctx, func(sn *triplestore.Snapshot) error {
		return each(ctx, sn, term.IRI(portal), term.IRI(dcat.DatasetProp), "", term.IRI(k.Mint.Graph(portal)), func(q term.Quad) error {
			all = append(all, q.O)
			return nil
		})
	})
	return all, err
}

// batch measures some datasets in one state of the store.
func (k Keeper) batch(ctx context.Context, portal string, datasets []term.Key) (values [][]Measurement, err error) {
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

// around a dataset: what is said of it, of its distributions and agents, and of nodes without a name below these.
func around(ctx context.Context, sn *triplestore.Snapshot, dataset, graph term.Key) (about []term.Quad, err error) {
	seen := map[term.Key]bool{dataset: true}
	for queue := []term.Key{dataset}; len(queue) > 0 && len(about) < maxAbout; queue = queue[1:] {
		err := each(ctx, sn, queue[0], "", "", graph, func(q term.Quad) error {
			about = append(about, q)
			follow := q.O.Kind() == term.KindBlank
			switch q.P.Value() {
			case dcat.DistributionProp, dcat.ContactPoint, dcterms.Publisher, dcterms.Creator:
				follow = q.O.Kind() != term.KindLiteral
			}
			if follow && !seen[q.O] {
				seen[q.O] = true
				queue = append(queue, q.O)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return about, nil
}

// keep writes the measurements of some things where they are others than before, as one transaction; it says of how many
// things.
func (k Keeper) keep(ctx context.Context, portal string, things []term.Key, values [][]Measurement) (changed int, err error) {
	graph := term.IRI(Graph(k.Mint, portal))
	var drop, add []term.Quad
	err = k.Triples.View(ctx, func(sn *triplestore.Snapshot) error {
		for i, thing := range things {
			want := map[string]Measurement{}
			for _, m := range values[i] {
				want[node(graph, thing, m)] = m
			}
			before := len(drop)
			err := each(ctx, sn, "", term.IRI(dqv.ComputedOn), thing, graph, func(q term.Quad) error {
				iri := q.S.Value()
				if _, same := want[iri]; same {
					delete(want, iri)
				} else {
					drop = append(drop, again(graph, thing, iri)...)
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
	return changed, k.Triples.Update(ctx, func(txn *triplestore.Txn) error { return write(txn, drop, add) })
}

func write(txn *triplestore.Txn, drop, add []term.Quad) error {
	for _, q := range drop {
		if err := txn.Delete(q); err != nil {
			return err
		}
	}
	for _, q := range add {
		if err := txn.Insert(q); err != nil {
			return err
		}
	}
	return nil
}

// forget the measurements of datasets that are listed no longer.
func (k Keeper) forget(ctx context.Context, portal string, datasets []term.Key) error {
	graph := term.IRI(Graph(k.Mint, portal))
	listed := map[term.Key]bool{term.IRI(portal): true}
	for _, d := range datasets {
		listed[d] = true
	}
	var drop []term.Quad
	err := k.Triples.View(ctx, func(sn *triplestore.Snapshot) error {
		return each(ctx, sn, "", term.IRI(dqv.ComputedOn), "", graph, func(q term.Quad) error {
			if !listed[q.O] {
				drop = append(drop, again(graph, q.O, q.S.Value())...)
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	for part := range slices.Chunk(drop, 20_000) {
		if err := k.Triples.Update(ctx, func(txn *triplestore.Txn) error { return write(txn, part, nil) }); err != nil {
			return err
		}
	}
	return nil
}

// node names a measurement after all it says, so that the same is the same and another is another.
func node(graph, thing term.Key, m Measurement) string {
	sum := sha256.Sum256([]byte(thing))
	return graph.Value() + "-" + hex.EncodeToString(sum[:8]) + "-" + m.Metric.Name + "-" + lexical(m.Value)
}

func lexical(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// round to four places, as values are kept.
func round(v float64) float64 { return math.Round(v*1e4) / 1e4 }

// again makes the statements of a measurement from its name.
func again(graph, thing term.Key, iri string) []term.Quad {
	parts := strings.Split(iri, "-")
	if len(parts) < 2 {
		return nil
	}
	value, err := strconv.ParseFloat(parts[len(parts)-1], 64)
	if err != nil {
		return nil
	}
	return quads(graph, thing, iri, Measurement{Metric{Name: parts[len(parts)-2]}, value})
}

func quads(graph, thing term.Key, iri string, m Measurement) []term.Quad {
	s := term.IRI(iri)
	value := lexical(m.Value)
	if !strings.Contains(value, ".") {
		value += ".0"
	}
	return []term.Quad{
		{S: s, P: term.IRI(rdf.Type), O: term.IRI(dqv.QualityMeasurement), G: graph},
		{S: s, P: term.IRI(dqv.IsMeasurementOf), O: term.IRI(m.Metric.IRI()), G: graph},
		{S: s, P: term.IRI(dqv.ComputedOn), O: thing, G: graph},
		{S: s, P: term.IRI(dqv.Value), O: term.Typed(value, xsd.Decimal), G: graph},
	}
}
