package faces

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime/debug"
	"strings"

	"odarchive/sparqlapi/assist"
	"odarchive/sparqlapi/data"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/protocol"
	"odarchive/sparqlapi/rest"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/sparql"
	"odarchive/vocab"
)

// assistant returns the archive for assistants (Model Context Protocol).
func (a *Faces) assistant(tables *data.RowsAPI) *assist.Server {
	release := "devel"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		release = info.Main.Version
	}
	return assist.New(assist.Options{
		Archive: reader{a.store.Archive, a.crawl.Frontier, a.crawl.Pipeline}, Rows: tables, Query: a.queryForAssistants,
		Describe:  a.describe,
		MediaType: rest.MediaType, Mint: a.store.Mint, Errors: a.errorTable(), Release: release, Log: a.store.Log,
	})
}

// queryForAssistants runs a query within the limits of clients without a token. SERVICE is refused: who asks the
// assistant may be anybody, and what it reads may have been written to make it ask.
func (a *Faces) queryForAssistants(ctx context.Context, text string, rows, bytes int) (out assist.Result, err error) {
	if max := int(a.store.Config.Serve.Queries.MaxQuery); max > 0 && len(text) > max {
		return out, problem.Newf(http.StatusRequestEntityTooLarge, "The query is too large", "at most %d bytes are allowed", max)
	}
	place, err := a.places.Query(ctx)
	if err != nil {
		return out, protocol.Refused(err)
	}
	defer place.Leave()
	o := queryOptions()
	o.Admit, o.Turn, o.Local = place.Admit, place.Turn, true
	a.anonymous().Apply(&o, a.Engine.Timeout())
	if o.MaxRows == 0 || o.MaxRows > int64(rows)+1 {
		o.MaxRows = int64(rows) + 1
	}
	q, err := a.Engine.Prepare(text, o)
	if err != nil {
		return out, protocol.ProblemOf(err)
	}
	if q.Federated() {
		return out, problem.New(http.StatusForbidden, "No SERVICE", "this tool asks no other endpoints; query what is in the archive")
	}
	snapshot := a.store.Triples.Snapshot()
	defer snapshot.Release()
	r, err := a.Engine.Run(ctx, snapshot, q, o)
	if err != nil {
		return out, protocol.ProblemOf(protocol.Refused(err))
	}
	defer r.Close()
	out.Warnings = q.Warnings()
	switch r.Kind {
	case sparql.Boolean:
		yes := r.Boolean()
		out.Boolean = &yes
	case sparql.Triples:
		err = firstTriples(r, &out, rows, bytes)
	default:
		err = firstRows(r, &out, rows, bytes)
	}
	return out, protocol.ProblemOf(err)
}

func firstRows(r *sparql.Results, out *assist.Result, rows, bytes int) error {
	out.Vars, out.Rows = r.Vars, [][]string{}
	for row, err := range rowsOf(r) {
		if err != nil {
			return err
		}
		cells := make([]string, len(row))
		for i, k := range row {
			cells[i] = assist.Text(k)
			bytes -= len(cells[i]) + 4
		}
		if len(out.Rows) == rows || bytes < 0 && len(out.Rows) > 0 {
			out.More = true
			return nil
		}
		out.Rows = append(out.Rows, cells)
	}
	return nil
}

func firstTriples(r *sparql.Results, out *assist.Result, rows, bytes int) error {
	var text strings.Builder
	w := rdfio.NewWriter(&text, rdfio.Turtle(), vocab.Prefixes())
	for range rows {
		q, err := r.Triple()
		if errors.Is(err, io.EOF) {
			err := w.Close()
			out.Turtle = text.String()
			return err
		}
		if err != nil {
			return err
		}
		if bytes -= len(q.S) + len(q.P) + len(q.O); bytes < 0 {
			break
		}
		if err := w.Write(q); err != nil {
			return err
		}
	}
	err := w.Close()
	out.Turtle, out.More = text.String(), true
	return err
}
