package quality

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"odarchive/ns"
	"odarchive/triplestore"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// Graph returns the IRI of the graph that holds the measurements of a portal.
func Graph(m ns.Mint, portal string) string { return m.Graph(portal) + "#quality" }

// pattern translates a pattern to the ids of a snapshot. ok is false if the store lacks one of the terms, so that
// nothing matches.
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

// each calls f with every matching quad. It scans the order that begins with the given terms; Dump would read all
// subjects.
func each(ctx context.Context, sn *triplestore.Snapshot, s, p, o, g term.Key, f func(term.Quad) error) error {
	found, ok, err := pattern(sn, s, p, o, g)
	if err != nil || !ok {
		return err
	}
	order := term.SPO
	switch {
	case s == "" && p == "":
		order = term.OSP
	case s == "":
		order = term.POS
	}
	return scan(ctx, sn, found, order, f)
}

// blocks calls f with all matching quads, many at a time. The slice is valid until f returns.
func blocks(ctx context.Context, sn *triplestore.Snapshot, p term.Pattern, order term.Order, f func([]term.IDQuad) error) error {
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
		if err := f(ids); err != nil {
			return err
		}
	}
}

// scan calls f with all matching quads.
func scan(ctx context.Context, sn *triplestore.Snapshot, p term.Pattern, order term.Order, f func(term.Quad) error) error {
	return blocks(ctx, sn, p, order, func(ids []term.IDQuad) error {
		flat := make([]term.ID, 0, 4*len(ids))
		for _, q := range ids {
			if q.G == term.DefaultGraph { // it has no key
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
		return nil
	})
}

// around returns the statements about a dataset, its distributions and agents, and the blank nodes below these.
func around(ctx context.Context, sn *triplestore.Snapshot, dataset, graph term.Key) (about []term.Quad, err error) {
	seen := map[term.Key]bool{dataset: true}
	for queue := []term.Key{dataset}; len(queue) > 0 && len(about) < maxAbout; queue = queue[1:] {
		err := each(ctx, sn, queue[0], "", "", graph, func(q term.Quad) error {
			about = append(about, q)
			follow := q.O.Kind() == term.KindBlank
			switch q.P.Value() {
			case vocab.DCATDistributionProp, vocab.DCATContactPoint, vocab.DCTPublisher, vocab.DCTCreator:
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

// node returns the IRI of a measurement, made of everything that it states, so that equal measurements have equal IRIs.
func node(graph, thing term.Key, m Measurement) string {
	sum := sha256.Sum256([]byte(thing))
	return graph.Value() + "-" + hex.EncodeToString(sum[:8]) + "-" + m.Metric.Name + "-" + lexical(m.Value)
}

func lexical(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// round rounds to four decimal places, as values are stored.
func round(v float64) float64 { return math.Round(v*1e4) / 1e4 }

// statementsOf returns the statements of a measurement, which its IRI encodes.
func statementsOf(graph, thing term.Key, iri string) []term.Quad {
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

// quads returns the statements of a measurement with an IRI.
func quads(graph, thing term.Key, iri string, m Measurement) []term.Quad {
	s := term.IRI(iri)
	value := lexical(m.Value)
	if !strings.Contains(value, ".") {
		value += ".0"
	}
	return []term.Quad{
		{S: s, P: term.IRI(vocab.RDFType), O: term.IRI(vocab.DQVQualityMeasurement), G: graph},
		{S: s, P: term.IRI(vocab.DQVIsMeasurementOf), O: term.IRI(m.Metric.IRI()), G: graph},
		{S: s, P: term.IRI(vocab.DQVComputedOn), O: thing, G: graph},
		{S: s, P: term.IRI(vocab.DQVValue), O: term.Typed(value, vocab.XSDDecimal), G: graph},
	}
}
