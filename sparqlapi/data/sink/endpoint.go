package sink

import (
	"context"
	"fmt"
	"io"
	"net/url"

	"odarchive/triplestore/sparql/results"
	"odarchive/triplestore/term"
)

// standing reads the standing from the target's state graph. After an interrupted update there may be two of them; the
// one that promises less is returned. t.said gets all of them.
func (t *SPARQL) standing(ctx context.Context) (s standing, err error) {
	t.said = t.said[:0]
	err = t.selectOne(ctx, sinkPosition, func(k term.Key) error {
		one, ok := parseStanding(k.Value())
		if !ok {
			return fmt.Errorf("the endpoint's graph <%s> says the position %.60q, which no sink wrote", t.state.Value(), k.Value())
		}
		t.said = append(t.said, k.Value())
		if !s.known || one.before(s) {
			s = one
		}
		return nil
	})
	return s, err
}

// readGraphs reads from the state graph which graphs sinks have written.
func (t *SPARQL) readGraphs(ctx context.Context) error {
	t.graphs = map[term.Key]bool{}
	return t.selectOne(ctx, sinkGraph, func(k term.Key) error {
		t.graphs[k] = true
		return nil
	})
}

// pageRows is the number of rows to ask for at a time. Some endpoints cut longer answers off.
const pageRows = 5000

// selectOne calls f with each object of a predicate in the state graph.
func (t *SPARQL) selectOne(ctx context.Context, p term.Key, f func(term.Key) error) error {
	for offset := 0; ; offset += pageRows {
		n := 0
		text := fmt.Sprintf("SELECT ?o WHERE { GRAPH %s { %s %s ?o } } ORDER BY ?o LIMIT %d OFFSET %d", iriText(t.state), iriText(t.state),
			iriText(p), pageRows, offset)
		err := t.query(ctx, text, func(r *results.Reader) error {
			for row, err := range r.All() {
				if err != nil {
					return temporarily("answer of the endpoint: %w", err)
				}
				n++
				if len(row) != 1 || row[0] == "" {
					return fmt.Errorf("%s answered a query for one column with a row of %d values", t.o.Query, len(row))
				}
				if err := f(row[0]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || n < pageRows {
			return err
		}
	}
}

// ask sends an ASK query and returns its result.
func (t *SPARQL) ask(ctx context.Context, text string) (yes bool, err error) {
	err = t.query(ctx, text, func(r *results.Reader) error {
		var ok bool
		if yes, ok = r.Boolean(); !ok {
			return fmt.Errorf("%s did not answer an ASK query with true or false", t.o.Query)
		}
		return nil
	})
	return yes, err
}

// query sends a query and calls f with its result.
func (t *SPARQL) query(ctx context.Context, text string, f func(*results.Reader) error) error {
	form := url.Values{"query": {text}}.Encode()
	resp, err := t.http.post(ctx, t.o.Query, "application/x-www-form-urlencoded", form, "application/sparql-results+json")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	r, err := results.NewReader(resp.Body, results.JSON, results.Limits{})
	if err != nil {
		return temporarily("answer of %s: %w", t.o.Query, err)
	}
	return f(r)
}

// update sends an update.
func (t *SPARQL) update(ctx context.Context, text string) error {
	resp, err := t.http.post(ctx, t.o.Update, "application/sparql-update", text, "*/*")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20)); err != nil {
		return temporarily("answer of %s: %w", t.o.Update, err)
	}
	return nil
}
