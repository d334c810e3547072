package sparql

import (
	"errors"
	"io"
	"time"

	"odarchive/triplestore/term"
)

// Kind of Results.
type Kind byte

const (
	Solutions Kind = iota // rows, by Next
	Boolean               // by Boolean
	Triples               // by Triple
)

// Results stream the answer to a query. They belong to one goroutine and must be closed.
type Results struct {
	Kind     Kind
	Vars     []string          // Solutions: without "?"
	Prefixes map[string]string // that the query declared, for writers

	solutions solutions
	triples   interface {
		next() (term.Quad, error)
		ready() bool
	}
	boolean bool
	cancel  func()
	max, n  int64
	done    bool
	closed  func(rows int64, err error)
	err     error
}

// solutions are the rows of a plan that runs. A row is valid until the next call.
type solutions interface {
	Next() ([]term.Key, error) // io.EOF after the last
	Ready() bool
	Close()
	Explain() string
}

// Boolean is the answer to an ASK.
func (r *Results) Boolean() bool { return r.boolean }

// Next gives the next row, a Key for each of Vars, "" where unbound; io.EOF after the last. The slice is valid until
// the next call.
func (r *Results) Next() ([]term.Key, error) {
	if r.Kind != Solutions || r.err != nil {
		return nil, r.end(io.EOF)
	}
	row, err := r.solutions.Next()
	if err == nil {
		err = r.count()
	}
	if err != nil {
		return nil, r.end(err)
	}
	return row, nil
}

// Triple gives the next triple of a graph; io.EOF after the last. Duplicates may occur.
func (r *Results) Triple() (term.Quad, error) {
	if r.Kind != Triples || r.err != nil {
		return term.Quad{}, r.end(io.EOF)
	}
	q, err := r.triples.next()
	if err == nil {
		err = r.count()
	}
	if err != nil {
		return term.Quad{}, r.end(err)
	}
	return q, nil
}

// Ready tells whether the next row or triple is there already: where it is not, a good moment to send what has been
// written so far.
func (r *Results) Ready() bool {
	if r.Kind == Triples {
		return r.triples.ready()
	}
	return r.solutions.Ready()
}

func (r *Results) count() error {
	if r.n++; r.max > 0 && r.n > r.max {
		return rowLimit(r.max)
	}
	return nil
}

// end keeps the first error, and gives it again.
func (r *Results) end(err error) error {
	if r.err == nil {
		r.err = err
	}
	return r.err
}

// Explain prints the plan; after the rows have been read, with what was measured.
func (r *Results) Explain() string { return r.solutions.Explain() }

// Close frees what the query holds. It may be called twice.
func (r *Results) Close() {
	if r.done {
		return
	}
	r.done = true
	r.solutions.Close()
	r.cancel()
	if r.closed != nil {
		err := r.err
		if errors.Is(err, io.EOF) {
			err = nil
		}
		r.closed(r.n, err)
	}
}

// ask reads whether there is a solution.
func (r *Results) ask() error {
	_, err := r.solutions.Next()
	if errors.Is(err, io.EOF) {
		return nil
	}
	r.boolean = err == nil
	return err
}

// watch logs a query that was slow.
func (r *Results) watch(e *Engine, q *Query, began time.Time) {
	if e.opts.Slow <= 0 {
		return
	}
	r.closed = func(rows int64, err error) {
		if took := time.Since(began); took >= e.opts.Slow {
			e.opts.Log.Info("slow query", "took", took, "rows", rows, "err", err, "algebra", shorten(q.Algebra()))
		}
	}
}

func shorten(s string) string {
	if len(s) > 2000 {
		return s[:2000] + "..."
	}
	return s
}
