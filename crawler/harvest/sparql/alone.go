package sparql

import (
	"context"
	"fmt"
	"strings"

	"odarchive/triplestore/term"
)

const (
	keyed     = 5000    // rows per page of one thing
	maxOfOne  = 500_000 // rows about one thing
	stableIDs = "nodeID://"
)

// alone returns the statements about one thing that has more of them than an answer holds, as question does: the IRIs
// it has as values, in pages; what is said of those that Follow names, in batches; its literals; and its blank nodes.
func (w *Walk) alone(ctx context.Context, thing string) ([]term.Quad, error) {
	var quads []term.Quad
	add := func(more []Row, whole bool, err error) error {
		if err == nil && !whole {
			w.Skip(fmt.Sprintf("not all rows about %s can be read: the endpoint cuts its answer off", thing))
		}
		quads = append(quads, statements(more)...)
		return err
	}
	about, subject := fmt.Sprintf("VALUES ?s { <%s> } ", thing), "?s ?p ?o"
	if err := add(w.pages(ctx, "?s ?p ?o", about+w.in(subject)+" FILTER (isIRI(?o))", "STR(?o)")); err != nil {
		return nil, err
	}
	below := &Walk{Endpoint: w.Endpoint, Graph: w.Graph, Skip: w.Skip, atOnce: largeBatch, most: w.most}
	for rest := w.followed(quads); len(rest) > 0; {
		more, n, err := below.about(ctx, rest[:min(len(rest), below.atOnce)])
		if err != nil {
			return nil, err
		}
		quads, rest = append(quads, apart(more, len(rest))...), rest[n:]
	}
	// Rows with literals are not sorted by these if that can be avoided: they may be longer than an endpoint can sort.
	if err := add(w.rows(ctx, "?s ?p ?o", about+w.in(subject)+" FILTER (isLiteral(?o))", "MD5(STR(?o))")); err != nil {
		return nil, err
	}
	err := add(w.rows(ctx, "?s ?p ?o ?p2 ?o2 ?p3 ?o3", about+w.in(w.paths())+" FILTER (isBlank(?o))", "STR(?o)"))
	return quads, err
}

// followed returns the objects of Follow that can be asked for.
func (w *Walk) followed(quads []term.Quad) []string {
	var all []string
	for _, q := range quads {
		for _, p := range w.Follow {
			if q.P == term.IRI(p) && IsIRI(q.O.Value()) {
				all = append(all, q.O.Value())
			}
		}
	}
	return all
}

// rows returns the rows for a pattern in one answer or, if that is cut off, in pages.
func (w *Walk) rows(ctx context.Context, vars, pattern, key string) (rows []Row, whole bool, err error) {
	answer, err := w.Select(ctx, "SELECT "+vars+" WHERE { "+pattern+" }")
	if err == nil && !w.cut(answer) {
		return answer.Rows, true, nil
	}
	if err != nil && !tooMuch(err) {
		return nil, false, err
	}
	if rows, whole, err = w.pages(ctx, vars, pattern, key); err == nil && len(rows) < len(answer.Rows) {
		return answer.Rows, false, nil
	}
	return rows, whole, err
}

// pages returns the rows for a pattern in the order of a key. It asks for what follows the last key until an answer is
// empty, so that it does not matter how many rows an endpoint returns at most. whole is false if rows are missing:
// those of one key do not fit into an answer.
func (w *Walk) pages(ctx context.Context, vars, pattern, key string) (rows []Row, whole bool, err error) {
	whole = true
	behind, limit := "", keyed
	for {
		answer, err := w.Select(ctx,
			fmt.Sprintf("SELECT %s (%s AS ?key) WHERE { %s %s } ORDER BY %s LIMIT %d", vars, key, pattern, behind, key, limit))
		if err != nil && tooMuch(err) && limit > 100 && ctx.Err() == nil {
			limit /= 4
			continue
		}
		page := answer.Rows
		if err != nil || len(page) == 0 || len(rows) > maxOfOne {
			return rows, whole && len(page) == 0, err
		}
		last := page[len(page)-1]["key"]
		if page[0]["key"] == last {
			whole = whole && !answer.Cut && len(page) < limit
		} else { // the answer may end in the middle of the last key
			for page[len(page)-1]["key"] == last {
				page = page[:len(page)-1]
			}
			last = page[len(page)-1]["key"]
		}
		next := fmt.Sprintf("FILTER (%s > %s)", key, quote(last.Value()))
		if next == behind {
			return rows, false, nil // the endpoint does not compare
		}
		if rows, behind = append(rows, page...), next; last == "" {
			return rows, whole, nil // no row has the key: blank nodes, at most endpoints
		}
	}
}

// apart renames blank nodes, because labels are valid within one answer. Those of Virtuoso are the same in all.
func apart(quads []term.Quad, answer int) []term.Quad {
	for i := range quads {
		for _, k := range []*term.Key{&quads[i].S, &quads[i].O} {
			if k.Kind() == term.KindBlank && !strings.HasPrefix(k.Value(), stableIDs) {
				*k = term.Blank(fmt.Sprintf("q%d.%s", answer, k.Value()))
			}
		}
	}
	return quads
}
