package exec

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// The limits of a query.
var (
	ErrMemory  = errors.New("memory")
	ErrRows    = errors.New("rows")
	ErrTimeout = errors.New("time")
)

// LimitError reports the limit that ended a query: ErrMemory with Value in bytes, ErrRows with Value in rows, or
// ErrTimeout with Value in nanoseconds.
type LimitError struct {
	Limit error
	Value int64
}

func (e *LimitError) Error() string {
	switch e.Limit {
	case ErrMemory:
		return fmt.Sprintf("exec: the query needs more memory than its limit of %d MB", e.Value>>20)
	case ErrRows:
		return fmt.Sprintf("exec: the query has more than its limit of %d rows", e.Value)
	case ErrTimeout:
		return fmt.Sprintf("exec: the query runs longer than its limit of %s", time.Duration(e.Value))
	}
	return "exec: " + e.Limit.Error()
}

// Unwrap returns the limit.
func (e *LimitError) Unwrap() error { return e.Limit }

// budget counts the bytes that the operators of one query hold. All goroutines of the query share it.
type budget struct {
	used, peak atomic.Int64
	limit      int64
}

func (b *budget) reserve(n int) error {
	used := b.used.Add(int64(n))
	for peak := b.peak.Load(); used > peak && !b.peak.CompareAndSwap(peak, used); peak = b.peak.Load() {
	}
	if used > b.limit {
		return &LimitError{Limit: ErrMemory, Value: b.limit}
	}
	return nil
}

func (b *budget) release(n int) { b.used.Add(-int64(n)) }

// check returns why the query's context is done, or nil. Operators call it at least once for each batch that they read
// or return.
func (q *query) check() error {
	select {
	case <-q.ctx.Done():
		return context.Cause(q.ctx)
	default:
		return nil
	}
}
