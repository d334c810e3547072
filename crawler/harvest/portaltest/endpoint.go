package portaltest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/sparql/results"
	"odarchive/triplestore/term"
)

// Endpoint is a SPARQL endpoint over a TriG document. With MaxRows it truncates answers as Virtuoso does, and declares
// that only if Honest is true. To queries that Late selects it gives the rows after which Virtuoso's "anytime" timeout
// ends an answer: the first of them, with status 200 and the header X-SQL-State.
type Endpoint struct {
	MaxRows int
	Honest  bool
	Late    func(query string) (rows int, late bool)
	Queries []string // in the order received

	store  *triplestore.Store
	engine *sparql.Engine
}

// NewEndpoint returns an endpoint that keeps the document in memory.
func NewEndpoint(t testing.TB, trig string) *Endpoint {
	t.Helper()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	store, err := triplestore.Open(db, triplestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(store.Close(), db.Close()) }) // nothing is on disk
	err = store.Update(t.Context(), func(txn *triplestore.Txn) error {
		for q, err := range rdfio.NewReader(strings.NewReader(trig), rdfio.TriG(), rdfio.Options{}).All() {
			if err != nil {
				return err
			}
			if err := txn.Insert(q); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return &Endpoint{store: store, engine: sparql.New(sparql.Options{})}
}

// ServeHTTP implements http.Handler.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.FormValue("query")
	e.Queries = append(e.Queries, query)
	err := e.store.View(r.Context(), func(sn *triplestore.Snapshot) error { return e.answer(r.Context(), sn, query, w) })
	if err != nil {
		http.Error(w, fmt.Sprint(err, "\n", query), http.StatusBadRequest)
	}
}

func (e *Endpoint) answer(ctx context.Context, sn *triplestore.Snapshot, query string, w http.ResponseWriter) error {
	res, err := e.engine.Query(ctx, sn, query, sparql.QueryOptions{})
	if err != nil {
		return err
	}
	defer res.Close()
	var rows [][]term.Key
	most, late := e.MaxRows, false
	if e.Late != nil {
		var n int
		if n, late = e.Late(query); late {
			most = n
			w.Header().Set("X-SQL-State", "S1TAT")
		}
	}
	for {
		row, err := res.Next()
		if errors.Is(err, io.EOF) || err == nil && row == nil {
			break
		}
		if err != nil {
			return err
		}
		if (most > 0 || late) && len(rows) == most {
			if e.Honest && !late {
				w.Header().Set("X-Sparql-Maxrows", fmt.Sprint(e.MaxRows))
			}
			break
		}
		rows = append(rows, append([]term.Key(nil), row...))
	}
	w.Header().Set("Content-Type", "application/sparql-results+json")
	out := results.NewWriter(w, results.JSON, results.Options{})
	if err := out.Begin(res.Vars); err != nil {
		return err
	}
	for _, row := range rows {
		if err := out.Row(row); err != nil {
			return err
		}
	}
	return out.End()
}
