package sparql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"odarchive/triplestore/term"
)

// Walk goes through things of an endpoint in the order of their IRIs and asks what is said of them, some at a time. It pages by
// the last IRI, not by an offset into an answer that may change or end at a limit; and where an answer may have been
// cut, or the endpoint was asked too much, it asks again for half as many.
type Walk struct {
	Endpoint
	Graph string // IRI of the graph; "" = the default graph
	Is    string // pattern that binds ?thing
	// Follow are properties behind which things are described too, beside blank nodes: IRIs.
	Follow []string
	Skip   func(why string) // for what cannot be had; required

	atOnce int // things whose statements are asked for at once
}

const (
	listed     = 5000 // IRIs in one list
	firstBatch = 50
	largeBatch = 200
	rowLimit   = 9000 // below the 10,000 rows that Virtuoso gives as it comes
)

// Each hands over the statements about some things at a time, and the last of them, to go on from.
func (w *Walk) Each(ctx context.Context, after string, f func(things []string, quads []term.Quad, last string) error) error {
	w.atOnce = firstBatch
	for {
		things, cut, err := w.list(ctx, after)
		if err != nil || len(things) == 0 {
			return err
		}
		whole := !cut && len(things) < listed && len(things)%100 != 0 // no limit was met, ours or one that an endpoint would have
		for len(things) > 0 {
			batch := things[:min(len(things), w.atOnce)]
			quads, n, err := w.about(ctx, batch)
			if err != nil {
				return err
			}
			after = batch[n-1]
			if err := f(batch[:n], quads, after); err != nil {
				return err
			}
			things = things[n:]
		}
		if whole {
			return nil
		}
	}
}

// in puts a pattern into the graph.
func (w *Walk) in(pattern string) string {
	if w.Graph == "" {
		return pattern
	}
	return "GRAPH <" + w.Graph + "> { " + pattern + " }"
}

// list the IRIs of things behind one.
func (w *Walk) list(ctx context.Context, after string) (things []string, cut bool, err error) {
	for limit := listed; ; limit /= 4 {
		answer, err := w.Select(ctx, fmt.Sprintf("SELECT DISTINCT ?thing WHERE { %s FILTER (isIRI(?thing) && STR(?thing) > %s) } ORDER BY STR(?thing) LIMIT %d", w.in(w.Is), quote(after), limit))
		if err != nil && tooMuch(err) && limit > 100 {
			continue
		}
		if err != nil {
			return nil, false, err
		}
		var all []string
		for _, row := range answer.Rows {
			if thing := row["thing"]; thing.Kind() == term.KindIRI && thing.Value() > after {
				all = append(all, thing.Value())
			}
		}
		slices.Sort(all)
		return slices.Compact(all), answer.Cut || limit < listed, nil
	}
}

// about the first of the things, as many as go into one whole answer; n is how many.
func (w *Walk) about(ctx context.Context, things []string) (quads []term.Quad, n int, err error) {
	for n = len(things); ; n = max(1, n/2) {
		answer, err := w.Select(ctx, w.question(things[:n]))
		switch {
		case err != nil && (n == 1 || !tooMuch(err)):
			return nil, 0, err
		case err != nil || len(answer.Rows) > rowLimit || answer.Cut:
			if n == 1 {
				quads, err := w.alone(ctx, things[0])
				return quads, 1, err
			}
			w.atOnce = max(1, n/2)
			continue
		}
		if len(answer.Rows) < rowLimit/8 && n == w.atOnce {
			w.atOnce = min(largeBatch, 2*w.atOnce)
		}
		return statements(answer.Rows), n, nil
	}
}

// question for what is said of things, of blank nodes behind them, and of what stands behind some properties, in paths:
// the labels of blank nodes mean something within one answer only.
func (w *Walk) question(things []string) string {
	var values strings.Builder
	for _, thing := range things {
		if IsIRI(thing) {
			values.WriteString("<" + thing + "> ")
		}
	}
	return fmt.Sprintf("SELECT ?s ?p ?o ?p2 ?o2 ?p3 ?o3 WHERE { VALUES ?s { %s} %s } LIMIT %d", values.String(), w.in(w.paths()), rowLimit+1)
}

func (w *Walk) paths() string {
	follow := "isBlank(?o)"
	if len(w.Follow) > 0 {
		follow += " || ?p IN (<" + strings.Join(w.Follow, ">, <") + ">)"
	}
	return "?s ?p ?o . OPTIONAL { ?o ?p2 ?o2 . FILTER (" + follow + ") OPTIONAL { ?o2 ?p3 ?o3 . FILTER (isBlank(?o2)) } }"
}

// alone asks for a thing of which more is said than goes into one answer, page by page.
func (w *Walk) alone(ctx context.Context, thing string) ([]term.Quad, error) {
	const page = 4000
	var rows []Row
	for offset := 0; ; offset += page {
		answer, err := w.Select(ctx, fmt.Sprintf("SELECT ?s ?p ?o ?p2 ?o2 ?p3 ?o3 WHERE { VALUES ?s { <%s> } %s } ORDER BY ?p ?o ?p2 ?o2 ?p3 ?o3 LIMIT %d OFFSET %d", thing, w.in(w.paths()), page, offset))
		if err != nil && offset > 0 {
			w.Skip(fmt.Sprintf("of %s only the first %d statements can be had: %v", thing, len(rows), err))
			break
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, answer.Rows...)
		if len(answer.Rows) < page || len(rows) > 10*page {
			break
		}
	}
	return statements(rows), nil
}

// statements of rows that are paths.
func statements(rows []Row) []term.Quad {
	seen := make(map[term.Quad]bool, len(rows))
	var quads []term.Quad
	add := func(s, p, o term.Key) {
		q := term.Quad{S: s, P: p, O: o}
		if s == "" || p == "" || o == "" || seen[q] {
			return
		}
		seen[q] = true
		quads = append(quads, q)
	}
	for _, r := range rows {
		add(r["s"], r["p"], r["o"])
		add(r["o"], r["p2"], r["o2"])
		add(r["o2"], r["p3"], r["o3"])
	}
	return quads
}
