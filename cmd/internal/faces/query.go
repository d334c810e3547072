package faces

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"odarchive/sparqlapi/bundle"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/protocol"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/sparql/results"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// queryOptions of everything that asks this archive: its own dialect, over one state of the store.
func queryOptions() sparql.QueryOptions { return sparql.QueryOptions{Dialect: true} }

// Query runs a query over the current state and hands the results to f, which must not keep them.
func (a *Faces) Query(ctx context.Context, text string, o sparql.QueryOptions, f func(*sparql.Results) error) error {
	snapshot := a.store.Triples.Snapshot()
	defer snapshot.Release()
	r, err := a.Engine.Query(ctx, snapshot, text, o)
	if err != nil {
		return err
	}
	defer r.Close()
	return f(r)
}

// QueryFormat is how the answer to a query is written: rows in Rows, triples in Graph.
type QueryFormat struct {
	Rows  results.Format
	Graph rdfio.Syntax
}

// WriteQuery runs a query and writes its answer.
func (a *Faces) WriteQuery(ctx context.Context, text string, format QueryFormat, w io.Writer) error {
	return a.Query(ctx, text, queryOptions(), func(r *sparql.Results) error {
		switch r.Kind {
		case sparql.Triples:
			return writeGraph(r, rdfio.NewWriter(w, format.Graph, vocab.Prefixes()))
		case sparql.Boolean:
			return results.NewWriter(w, format.Rows, results.Options{}).Boolean(r.Boolean())
		}
		return writeRows(r.Vars, r.Next, results.NewWriter(w, format.Rows, results.Options{Prefixes: vocab.Prefixes(), Width: 100}))
	})
}

// QueryTable writes the answer to a SELECT query as a table for people.
func (a *Faces) QueryTable(ctx context.Context, text string, w io.Writer) error {
	return a.WriteQuery(ctx, text, QueryFormat{Rows: results.Table, Graph: rdfio.Turtle()}, w)
}

// writeRows writes what next gives until io.EOF.
func writeRows(vars []string, next func() ([]term.Key, error), w *results.Writer) error {
	if err := w.Begin(vars); err != nil {
		return err
	}
	for {
		row, err := next()
		if errors.Is(err, io.EOF) {
			return w.End()
		}
		if err == nil {
			err = w.Row(row)
		}
		if err != nil {
			return err
		}
	}
}

func writeGraph(r *sparql.Results, w *rdfio.Writer) error {
	for {
		q, err := r.Triple()
		if errors.Is(err, io.EOF) {
			return w.Close()
		}
		if err == nil {
			err = w.Write(q)
		}
		if err != nil {
			return err
		}
	}
}

// selectVersions runs the SELECT query that names the files of a zip.
func (a *Faces) selectVersions(ctx context.Context, text string, f func(bundle.Rows) error) error {
	return a.Query(ctx, text, queryOptions(), func(r *sparql.Results) error {
		if r.Kind != sparql.Solutions {
			return &NotSelect{}
		}
		return f(rowsOf(r))
	})
}

// querier is selectVersions for requests over HTTP: errors come as problems.
type querier struct{ *Faces }

var _ bundle.Querier = querier{}

// Select implements bundle.Querier.
func (q querier) Select(ctx context.Context, text string, f func(bundle.Rows) error) error {
	err := q.selectVersions(ctx, text, f)
	var other *NotSelect
	if errors.As(err, &other) {
		return problem.Wrap(http.StatusBadRequest, "Not a SELECT query", err)
	}
	return protocol.ProblemOf(err)
}

// rowsOf ranges over the rows of a result.
func rowsOf(r *sparql.Results) bundle.Rows {
	return func(yield func([]term.Key, error) bool) {
		for {
			row, err := r.Next()
			if errors.Is(err, io.EOF) || !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// NotSelect says that a query gives no rows.
type NotSelect struct{}

func (*NotSelect) Error() string {
	return "the query is no SELECT: a zip is made of the versions that its rows name"
}

// Bundle is the zip of the versions that a query names.
func (a *Faces) Bundle(ctx context.Context, query string) (*bundle.Plan, error) {
	var entries []bundle.Entry
	err := a.selectVersions(ctx, query, func(rows bundle.Rows) (err error) {
		entries, err = bundle.Collect(ctx, rows, a.store.Archive, a.store.Mint, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	plan, err := bundle.New(entries, bundle.Meta{Query: query, Base: a.store.Mint.Base})
	if err != nil {
		return nil, fmt.Errorf("the query names no file of this archive: %w", err)
	}
	return plan, nil
}
