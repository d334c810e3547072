package sparql_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"odarchive/triplestore/naive"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/sparql/conformance"
	"odarchive/triplestore/term"
)

// storeOf makes a naive store accept updates.
func storeOf(s *naive.Store) sparql.Store {
	return sparql.StoreOf(s.View, s.Update)
}

// collect reads a whole answer.
func collect(r *sparql.Results) (*conformance.Result, error) {
	defer r.Close()
	out := &conformance.Result{}
	switch r.Kind {
	case sparql.Boolean:
		v := r.Boolean()
		out.Boolean = &v
		return out, nil
	case sparql.Triples:
		out.IsGraph = true
		for {
			q, err := r.Triple()
			if errors.Is(err, io.EOF) {
				return out, nil
			}
			if err != nil {
				return nil, err
			}
			out.Graph = append(out.Graph, q)
		}
	}
	out.Vars = r.Vars
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		out.Rows = append(out.Rows, append([]term.Key{}, row...))
	}
}

func ask(t testing.TB, e *sparql.Engine, ds term.Dataset, text string, o sparql.QueryOptions) *conformance.Result {
	t.Helper()
	r, err := e.Query(context.Background(), ds, text, o)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	out, err := collect(r)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}
