package faces

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"odarchive/sparqlapi/files"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/protocol"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/sparql/results"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// queryOptions returns the options of all queries over the archive, which use its dialect.
func queryOptions() sparql.QueryOptions { return sparql.QueryOptions{Dialect: true} }

// Query runs a query over the current state and calls f with the results, which f must not retain.
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

// QueryFormat is the format of a result: Rows for rows and booleans, Graph for triples.
type QueryFormat struct {
	Rows  results.Format
	Graph rdfio.Syntax
}

// WriteQuery runs a query and writes its result.
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

// QueryTable runs a query and writes its rows as a table for people.
func (a *Faces) QueryTable(ctx context.Context, text string, w io.Writer) error {
	return a.WriteQuery(ctx, text, QueryFormat{Rows: results.Table, Graph: rdfio.Turtle()}, w)
}

// writeRows writes the rows that next returns until io.EOF.
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

// selectVersions runs the SELECT query of a zip and calls f with its rows.
func (a *Faces) selectVersions(ctx context.Context, text string, o sparql.QueryOptions, f func(files.Rows) error) error {
	return a.Query(ctx, text, o, func(r *sparql.Results) error {
		if r.Kind != sparql.Solutions {
			return &NotSelect{}
		}
		return f(rowsOf(r))
	})
}

// querier is selectVersions for HTTP: its errors are problems.
type querier struct{ *Faces }

var _ files.Querier = querier{}

// Select implements bundle.Querier.
func (q querier) Select(ctx context.Context, text string, f func(files.Rows) error) error {
	place, err := q.places.Query(ctx)
	if err != nil {
		return protocol.Refused(err)
	}
	defer place.Leave()
	o := queryOptions()
	o.Admit, o.Turn = place.Admit, place.Turn
	err = protocol.Refused(q.selectVersions(ctx, text, o, f))
	var other *NotSelect
	if errors.As(err, &other) {
		return problem.Wrap(http.StatusBadRequest, "Not a SELECT query", err)
	}
	return protocol.ProblemOf(err)
}

// rowsOf returns the rows of a result as a sequence.
func rowsOf(r *sparql.Results) files.Rows {
	return func(yield func([]term.Key, error) bool) {
		for {
			row, err := r.Next()
			if errors.Is(err, io.EOF) || !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// NotSelect is the error of a zip whose query is not a SELECT.
type NotSelect struct{}

func (*NotSelect) Error() string {
	return "the query is not a SELECT: its rows name the versions to download"
}

// Bundle plans the zip of the versions that a query names.
func (a *Faces) Bundle(ctx context.Context, query string) (*files.Plan, error) {
	entries, err := a.named(ctx, query)
	if err != nil {
		return nil, err
	}
	if err := a.origins(ctx, entries); err != nil {
		return nil, err
	}
	plan, err := files.NewBundle(entries, a.meta(query))
	return plan, namesNothing(err)
}

// WARC plans the WARC file of the versions that a query names.
func (a *Faces) WARC(ctx context.Context, query string) (*files.WARC, error) {
	entries, err := a.named(ctx, query)
	if err != nil {
		return nil, err
	}
	warc, err := files.NewWARC(ctx, entries, a.meta(query), a.store.Archive, a.store.Content)
	return warc, namesNothing(err)
}

// WACZ plans the WACZ file of the versions that a query names.
func (a *Faces) WACZ(ctx context.Context, query string) (*files.WACZ, error) {
	warc, err := a.WARC(ctx, query)
	if err != nil {
		return nil, err
	}
	return files.NewWACZ(ctx, warc, a.store.Content)
}

// named returns the entries of the versions that a query names.
func (a *Faces) named(ctx context.Context, query string) (entries []files.Entry, err error) {
	place, err := a.places.Query(ctx) // beside the queries of others, if a server runs the command
	if err != nil {
		return nil, err
	}
	defer place.Leave()
	o := queryOptions()
	o.Admit, o.Turn = place.Admit, place.Turn
	err = a.selectVersions(ctx, query, o, func(rows files.Rows) (err error) {
		entries, err = files.Collect(ctx, rows, a.store.Archive, a.store.Mint, 0)
		return err
	})
	return entries, err
}

func (a *Faces) meta(query string) files.Meta {
	return files.Meta{Query: query, Base: a.store.Mint.Base}
}

func namesNothing(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the query names no file of this archive: %w", err)
}
