package sparql

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"odarchive/triplestore/term"
)

// ErrTooLarge is wrapped by the error for a graph with more statements than are wanted.
var ErrTooLarge = errors.New("has too many statements")

// ManyQuads is the number of statements from which on Whole calls large.
const ManyQuads = 50_000

const (
	wholePage  = 5000   // rows per answer that are asked for
	maxGraphs  = 10_000 // named graphs of an endpoint
	blankBatch = 20     // subjects with blank nodes that are asked about at once
)

// Whole reads all statements of one graph of an endpoint, at most limit: "" is the default graph. It pages behind the
// last subject in the order of their IRIs, until an answer is empty. So it does not matter how many rows an endpoint
// returns at most, whether it says so, and in which order it returns them otherwise. Statements about blank nodes are
// read through the IRIs that lead to them, two steps deep. The error wraps ErrTooLarge if there are more statements.
// large, if not nil, is called once there are more than ManyQuads of them, so that the caller can limit how many large
// graphs are in memory.
func Whole(ctx context.Context, e Endpoint, graph string, limit int, large func() error) (quads []term.Quad, err error) {
	w := &Walk{Endpoint: e, Graph: graph, Skip: func(string) {}}
	var withBlank []string
	add := func(all ...term.Quad) error {
		for _, q := range all {
			if q.S == "" || q.P.Kind() != term.KindIRI || q.O == "" {
				continue
			}
			if len(quads) >= limit {
				return fmt.Errorf("the graph %w: more than %d", ErrTooLarge, limit)
			}
			if len(quads) == ManyQuads && large != nil {
				if err := large(); err != nil {
					return err
				}
			}
			quads = append(quads, q)
		}
		return nil
	}
	for after := ""; ; {
		rows, err := w.page(ctx, after)
		if err != nil {
			return nil, err
		}
		if len(rows) == 0 {
			break
		}
		last := rows[len(rows)-1].S
		if rows[0].S == last { // nothing else fits into an answer: this subject alone
			if rows, err = w.subject(ctx, last.Value(), limit); err != nil {
				return nil, err
			}
		} else { // the answer may end in the middle of the last subject
			for rows[len(rows)-1].S == last {
				rows = rows[:len(rows)-1]
			}
			last = rows[len(rows)-1].S
		}
		if last.Value() <= after {
			return nil, fmt.Errorf("%s repeats the same subjects", e.URL)
		}
		after = last.Value()
		for _, q := range rows {
			if q.O.Kind() == term.KindBlank {
				if n := len(withBlank); n == 0 || withBlank[n-1] != q.S.Value() {
					withBlank = append(withBlank, q.S.Value())
				}
				continue
			}
			if err := add(q); err != nil {
				return nil, err
			}
		}
	}
	slices.Sort(withBlank)
	w.atOnce = blankBatch
	for withBlank = slices.Compact(withBlank); len(withBlank) > 0; {
		batch := withBlank[:min(len(withBlank), w.atOnce)]
		all, n, err := w.about(ctx, batch)
		if err != nil {
			return nil, err
		}
		all = slices.DeleteFunc(all, func(q term.Quad) bool { // the others are known
			return q.S.Kind() != term.KindBlank && q.O.Kind() != term.KindBlank
		})
		mark := fmt.Sprintf("q%d.", len(quads)) // labels are valid within one answer
		for i := range all {
			for _, k := range []*term.Key{&all[i].S, &all[i].O} {
				if k.Kind() == term.KindBlank {
					*k = term.Blank(mark + k.Value())
				}
			}
		}
		if err := add(all...); err != nil {
			return nil, err
		}
		withBlank = withBlank[n:]
	}
	return quads, nil
}

// page returns the next statements in the order of their subjects, as many as fit in an answer.
func (w *Walk) page(ctx context.Context, after string) (quads []term.Quad, err error) {
	for limit := wholePage; ; limit /= 4 {
		answer, err := w.Select(ctx,
			fmt.Sprintf("SELECT ?s ?p ?o WHERE { %s FILTER (isIRI(?s) && STR(?s) > %s) } ORDER BY STR(?s) LIMIT %d", w.in("?s ?p ?o"),
				quote(after), limit))
		if err != nil && tooMuch(err) && limit > 100 {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, row := range answer.Rows {
			if q := (term.Quad{S: row["s"], P: row["p"], O: row["o"]}); q.S.Kind() == term.KindIRI && q.S.Value() > after {
				quads = append(quads, q)
			}
		}
		slices.SortStableFunc(quads, func(a, b term.Quad) int { return cmpKeys(a.S, b.S) })
		return quads, nil
	}
}

// subject returns all statements about one subject, of those with blank nodes at least one.
func (w *Walk) subject(ctx context.Context, subject string, limit int) (quads []term.Quad, err error) {
	pattern := w.in("<" + subject + "> ?p ?o")
	for _, kind := range []struct{ is, key string }{{"isIRI", "STR(?o)"}, {"isLiteral", "MD5(STR(?o))"}, {"isBlank", "STR(?o)"}} {
		rows, whole, err := w.pages(ctx, "?p ?o", pattern+" FILTER ("+kind.is+"(?o))", kind.key)
		if err != nil {
			return nil, err
		}
		if !whole && kind.is != "isBlank" {
			return nil, fmt.Errorf("%s cuts off what it says of %s", w.URL, subject)
		}
		for _, row := range rows {
			quads = append(quads, term.Quad{S: term.IRI(subject), P: row["p"], O: row["o"]})
		}
		if len(quads) > limit {
			return nil, fmt.Errorf("%s %w: more than %d", subject, ErrTooLarge, limit)
		}
	}
	return quads, nil
}

// NamedGraphs returns the names of the named graphs of an endpoint, sorted.
func NamedGraphs(ctx context.Context, e Endpoint) (names []string, err error) {
	for after := ""; len(names) < maxGraphs; {
		answer, err := e.Select(ctx,
			fmt.Sprintf("SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s ?p ?o } FILTER (isIRI(?g) && STR(?g) > %s) } ORDER BY STR(?g) LIMIT %d",
				quote(after), wholePage))
		if err != nil {
			return nil, err
		}
		before := len(names)
		for _, row := range answer.Rows {
			if name := row["g"]; name.Kind() == term.KindIRI && name.Value() > after && IsIRI(name.Value()) {
				names = append(names, name.Value())
			}
		}
		if len(names) == before {
			break
		}
		slices.Sort(names[before:])
		after = names[len(names)-1]
	}
	return slices.Compact(names), nil
}

// Adds reports whether a named graph has a statement that the default graph, which may be the union of all, does not
// have. It reports true if the endpoint cannot tell.
func Adds(ctx context.Context, e Endpoint, graph string) (bool, error) {
	answer, err := e.Select(ctx, fmt.Sprintf("SELECT ?s WHERE { GRAPH <%s> { ?s ?p ?o } FILTER NOT EXISTS { ?s ?p ?o } } LIMIT 1", graph))
	if err != nil {
		if ctx.Err() != nil {
			return false, err
		}
		return true, nil
	}
	return len(answer.Rows) > 0, nil
}

func cmpKeys(a, b term.Key) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
