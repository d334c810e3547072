package sparql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"odarchive/triplestore/term"
)

// Walk reads the things of an endpoint in the order of their IRIs and requests their statements in batches. Pages start
// behind the last IRI, not at an offset into an answer that may change or be limited, and only an empty one is the end.
// If an answer may have been truncated, or the query was too much for the endpoint, Walk requests half as many.
// Truncated is also an answer without a word about something that another answer describes.
type Walk struct {
	Endpoint
	Graph string // IRI of the graph; "" means the default graph
	Is    string // pattern that binds ?thing
	// Follow lists properties whose objects are described too, besides blank nodes.
	Follow []string
	Skip   func(why string) // called for what cannot be read; required

	atOnce int // size of the next batch
	most   int // rows of the smallest answer that was truncated silently, 0 if none was
	failed int // things in a row that could not be read
}

const (
	listed     = 5000 // IRIs per list
	firstBatch = 50
	largeBatch = 200
	rowLimit   = 9000 // below the 10,000 rows that Virtuoso returns by default
	maxFailed  = 10   // things in a row that cannot be read before the walk fails
)

// Each calls f with the statements about a batch of things, and with the last of them, from which a later walk may
// continue. There may be none about some of the things.
func (w *Walk) Each(ctx context.Context, after string, f func(things []string, quads []term.Quad, last string) error) error {
	w.atOnce = firstBatch
	for {
		things, err := w.list(ctx, after)
		if err != nil || len(things) == 0 {
			return err
		}
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
	}
}

// Things returns the IRIs of all things, in order.
func (w *Walk) Things(ctx context.Context) ([]string, error) {
	var all []string
	for after := ""; ; after = all[len(all)-1] {
		things, err := w.list(ctx, after)
		if err != nil || len(things) == 0 {
			return all, err
		}
		all = append(all, things...)
	}
}

// in restricts a pattern to the graph.
func (w *Walk) in(pattern string) string {
	if w.Graph == "" {
		return pattern
	}
	return "GRAPH <" + w.Graph + "> { " + pattern + " }"
}

// list returns the IRIs of things that follow after, not all if they are many, but none only if there are none.
func (w *Walk) list(ctx context.Context, after string) ([]string, error) {
	for limit := listed; ; limit /= 4 {
		answer, err := w.Select(ctx,
			fmt.Sprintf("SELECT DISTINCT ?thing WHERE { %s FILTER (isIRI(?thing) && STR(?thing) > %s) } ORDER BY STR(?thing) LIMIT %d",
				w.in(w.Is), quote(after), limit))
		if err != nil && tooMuch(err) && limit > 100 && ctx.Err() == nil {
			continue
		}
		if err != nil {
			return nil, err
		}
		var all []string
		for _, row := range answer.Rows {
			if thing := row["thing"]; thing.Kind() == term.KindIRI && thing.Value() > after {
				all = append(all, thing.Value())
			}
		}
		slices.Sort(all)
		return slices.Compact(all), nil
	}
}

// about returns the statements about the first n things, as many as fit in one complete answer.
func (w *Walk) about(ctx context.Context, things []string) (quads []term.Quad, n int, err error) {
	for n = len(things); ; n = max(1, n/2) {
		answer, err := w.Select(ctx, w.question(things[:n]))
		whole := err == nil && len(answer.Rows) <= rowLimit && !w.cut(answer)
		if whole {
			whole, err = w.hasAll(ctx, things[:n], answer.Rows)
		}
		switch {
		case err != nil && (!tooMuch(err) || ctx.Err() != nil):
			return nil, 0, err
		case whole:
			w.failed = 0
			if len(answer.Rows) < rowLimit/8 && n == w.atOnce {
				w.atOnce = min(largeBatch, 2*w.atOnce)
			}
			return statements(answer.Rows), n, nil
		case n == 1:
			quads, err := w.alone(ctx, things[0])
			if err == nil {
				w.failed = 0
			} else if w.failed++; w.failed < maxFailed && tooMuch(err) && ctx.Err() == nil {
				w.Skip(fmt.Sprintf("%s cannot be read: %v", things[0], err))
				return nil, 1, nil
			}
			return quads, 1, err
		}
		w.atOnce = max(1, n/2)
	}
}

// cut reports whether there may be more rows than an answer has: limits of endpoints are round numbers, or known.
func (w *Walk) cut(a Answer) bool {
	n := len(a.Rows)
	return a.Cut || n > 0 && n%100 == 0 || w.most > 0 && n >= w.most
}

// hasAll reports whether rows are the whole answer about things. If one of them is not described, it is asked about
// again: there was no room for it if there are rows now.
func (w *Walk) hasAll(ctx context.Context, things []string, rows []Row) (bool, error) {
	described := map[term.Key]bool{}
	for _, r := range rows {
		described[r["s"]] = true
	}
	var rest []string
	for _, thing := range things {
		if !described[term.IRI(thing)] && IsIRI(thing) {
			rest = append(rest, thing)
		}
	}
	if len(rest) == 0 {
		return true, nil
	}
	answer, err := w.Select(ctx, w.question(rest))
	if err != nil || len(answer.Rows) == 0 {
		return err == nil, err
	}
	if w.most == 0 || len(rows) < w.most {
		w.most = len(rows)
	}
	return false, nil
}

// question returns a query for the statements about things, about blank nodes below them, and about the objects of
// Follow. It selects paths, because labels of blank nodes are valid only within one answer.
func (w *Walk) question(things []string) string {
	var values strings.Builder
	for _, thing := range things {
		if IsIRI(thing) {
			values.WriteString("<" + thing + "> ")
		}
	}
	return fmt.Sprintf("SELECT ?s ?p ?o ?p2 ?o2 ?p3 ?o3 WHERE { VALUES ?s { %s} %s } LIMIT %d", values.String(), w.in(w.paths()),
		rowLimit+1)
}

// paths returns a pattern for what question asks of ?s.
func (w *Walk) paths() string {
	follow := "isBlank(?o)"
	if len(w.Follow) > 0 {
		follow += " || ?p IN (<" + strings.Join(w.Follow, ">, <") + ">)"
	}
	return "?s ?p ?o . OPTIONAL { ?o ?p2 ?o2 . FILTER (" + follow + ") OPTIONAL { ?o2 ?p3 ?o3 . FILTER (isBlank(?o2)) } }"
}

// statements returns the distinct statements in rows that are paths.
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
