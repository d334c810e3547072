package sparql

import (
	"errors"
	"io"
	"slices"
	"time"

	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// Kind of Results: which method reads them.
type Kind byte

const (
	Solutions Kind = iota // SELECT: rows, by Next
	Boolean               // ASK: by Boolean
	Triples               // CONSTRUCT and DESCRIBE: by Triple
)

// Results stream the answer to a query. They belong to one goroutine. The caller must close them.
type Results struct {
	Kind     Kind
	Vars     []string          // of Solutions, without "?"
	Prefixes map[string]string // declared by the query, for writers
	Warnings []string          // those of Query.Warnings

	solutions solutions
	triples   interface {
		next() (term.Quad, error)
		ready() bool
		close()
	}
	boolean bool
	work    *work
	max, n  int64
	done    bool
	closed  func(rows int64, err error)
	err     error
}

// solutions are the rows of a running plan. A row is valid until the next call of Next.
type solutions interface {
	Next() ([]term.Key, error) // io.EOF after the last
	Ready() bool
	Close()
	Explain() string
	Lines() plan.Line
}

// Boolean returns the answer to an ASK.
func (r *Results) Boolean() bool { return r.boolean }

// Next returns the next row: a term for each of Vars, "" if it is unbound. After the last row it returns io.EOF. The
// slice is valid until the next call.
func (r *Results) Next() ([]term.Key, error) {
	if r.Kind != Solutions || r.err != nil {
		return nil, r.end(io.EOF)
	}
	if !r.solutions.Ready() {
		r.work.begin()
		defer r.work.end()
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

// Triple returns the next triple of a graph. After the last one it returns io.EOF. Each triple comes once.
func (r *Results) Triple() (term.Quad, error) {
	if r.Kind != Triples || r.err != nil {
		return term.Quad{}, r.end(io.EOF)
	}
	if !r.triples.ready() {
		r.work.begin()
		defer r.work.end()
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

// Ready reports whether the next row or triple is available without computing. If it is not, this is a good moment to
// flush what has been written.
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

// end keeps the first error and returns it.
func (r *Results) end(err error) error {
	if r.err == nil {
		r.err = err
	}
	return r.err
}

// LateWarnings returns what the query has found out so far that may be wrong with its answer, a sentence each: that
// another endpoint may have left out rows. After the last row they are complete.
func (r *Results) LateWarnings() []string {
	r.work.mu.Lock()
	defer r.work.mu.Unlock()
	return slices.Clone(r.work.warnings)
}

// Explain prints the query's plan, an operator a line. With QueryOptions.Explain, it includes what has been measured
// so far: call it after the last row.
func (r *Results) Explain() string { return r.solutions.Explain() }

// Close frees what the query holds. It may be called twice.
func (r *Results) Close() {
	if r.done {
		return
	}
	r.done = true
	if r.triples != nil {
		r.triples.close()
	}
	r.solutions.Close()
	err := r.err
	if errors.Is(err, io.EOF) {
		err = nil
	}
	r.work.close()
	if r.closed != nil {
		r.closed(r.n, err)
	}
}

// readBoolean reads whether the query has a solution.
func (r *Results) readBoolean() error {
	r.work.begin()
	defer r.work.end()
	_, err := r.solutions.Next()
	if errors.Is(err, io.EOF) {
		return nil
	}
	r.boolean = err == nil
	return err
}

// logIfSlow makes Close log the query if it was slow.
func (r *Results) logIfSlow(e *Engine, q *Query, began time.Time) {
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
