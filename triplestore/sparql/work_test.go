package sparql_test

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"odarchive/triplestore/naive"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/term"
)

// slow is a dataset whose batches take a second each.
type slow struct{ term.Dataset }

func (s slow) Scan(p term.Pattern, o term.Order) term.Cursor { return slowCursor{s.Dataset.Scan(p, o)} }

type slowCursor struct{ term.Cursor }

func (c slowCursor) Next() ([]term.IDQuad, error) {
	time.Sleep(time.Second)
	return c.Cursor.Next()
}

func TestTheTimeLimitCountsTheWorkAndNotTheReader(t *testing.T) {
	var quads []term.Quad
	for i := range 5000 {
		quads = append(quads, term.Quad{S: term.IRI("s:s"), P: term.IRI("p:p"), O: term.String(string(rune('a' + i)))})
	}
	store := naive.New(quads...)
	for _, query := range []string{"SELECT * { ?s ?p ?o }", "CONSTRUCT WHERE { ?s ?p ?o }", "DESCRIBE <s:s>"} {
		for _, c := range []struct {
			ds     term.Dataset
			reader time.Duration // for each row
			want   error
		}{
			{store.Snapshot(), time.Second, nil},
			{slow{store.Snapshot()}, 0, sparql.ErrTimeout},
		} {
			synctest.Test(t, func(t *testing.T) {
				r, err := sparql.New(sparql.Options{Timeout: time.Second / 2, Workers: 1}).Query(t.Context(), c.ds, query,
					sparql.QueryOptions{})
				for err == nil {
					if r.Kind == sparql.Triples {
						_, err = r.Triple()
					} else {
						_, err = r.Next()
					}
					time.Sleep(c.reader)
				}
				if r != nil {
					r.Close()
				}
				if c.want == nil && !errors.Is(err, io.EOF) || c.want != nil && !errors.Is(err, c.want) {
					t.Errorf("%s with a reader that takes %s a row: %v, want %v", query, c.reader, err, c.want)
				}
			})
		}
	}
}

func TestAQueryWaitsToBeAdmittedWithItsEstimatedCost(t *testing.T) {
	store := naive.New(term.Quad{S: term.IRI("s:s"), P: term.IRI("p:p"), O: term.String("o")})
	engine := sparql.New(sparql.Options{})
	left := 0
	var costs []time.Duration
	for _, query := range []string{"ASK { ?s ?p ?o }", "SELECT * { SERVICE <http://x.example/> { ?s ?p ?o } }"} {
		r, err := engine.Query(t.Context(), store.Snapshot(), query, sparql.QueryOptions{Admit: func(cost time.Duration) (func(), error) {
			costs = append(costs, cost)
			return func() { left++ }, nil
		}})
		if err == nil {
			r.Close()
		}
	}
	if len(costs) != 2 || costs[0] >= costs[1] || left != 2 {
		t.Errorf("costs %v, %d left", costs, left)
	}
	refused := errors.New("refused")
	if _, err := engine.Query(t.Context(), store.Snapshot(), "ASK {}",
		sparql.QueryOptions{Admit: func(time.Duration) (func(), error) { return nil, refused }}); !errors.Is(err, refused) {
		t.Error(err)
	}
}
