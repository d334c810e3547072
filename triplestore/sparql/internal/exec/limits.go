package exec

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// The limits of a query.
var (
	ErrMemory  = errors.New("memory")
	ErrRows    = errors.New("rows")
	ErrTimeout = errors.New("time")
)

// ErrTemp means that the disk of temporary files is full or fails.
var ErrTemp = errors.New("temporary files")

// LimitError reports the limit that ended a query: ErrMemory with Value in bytes, ErrRows with Value in rows, or
// ErrTimeout with Value in nanoseconds.
type LimitError struct {
	Limit  error
	Value  int64
	Shared bool // the limit is that of all queries together
	Disk   bool // the limit is that of temporary files
}

func (e *LimitError) Error() string {
	switch {
	case e.Disk:
		return fmt.Sprintf(
			"exec: the queries that run now need more temporary files than their common limit of %d MB (--total-temp); try again later, "+
				"or ask for less at a time", e.Value>>20)
	case e.Shared:
		return fmt.Sprintf(
			"exec: the queries that run now need more memory than their common limit of %d MB (--total-memory); try again later",
			e.Value>>20)
	case e.Limit == ErrMemory:
		return fmt.Sprintf(
			"exec: the query needs more memory than its limit of %d MB: ask for less at a time, or raise the limit (--query-memory)",
			e.Value>>20)
	case e.Limit == ErrRows:
		return fmt.Sprintf("exec: the query has more than its limit of %d rows", e.Value)
	case e.Limit == ErrTimeout:
		return fmt.Sprintf("exec: the query runs longer than its limit of %s", time.Duration(e.Value))
	}
	return "exec: " + e.Limit.Error()
}

// Unwrap returns the limit.
func (e *LimitError) Unwrap() error { return e.Limit }

// check returns why the query must end, or nil: its context is done, or its buffers need too much memory. Operators
// call it at least once for each batch that they read or return.
func (q *query) check() error {
	if q.opts.Yield != nil {
		q.opts.Yield()
	}
	select {
	case <-q.ctx.Done():
		return context.Cause(q.ctx)
	default:
	}
	if err := q.budget.over.Load(); err != nil {
		return err
	}
	return nil
}
