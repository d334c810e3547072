package exec

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// The limits a query can run into.
var (
	ErrMemory  = errors.New("memory")
	ErrRows    = errors.New("rows")
	ErrTimeout = errors.New("time")
)

// LimitError says which limit ended a query: one of ErrMemory (Value in bytes), ErrRows (rows), ErrTimeout (nanoseconds).
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

// Unwrap lets errors.Is find the limit.
func (e *LimitError) Unwrap() error { return e.Limit }

// budget counts the bytes that the operators of one query hold. All its goroutines share it.
type budget struct {
	used, peak atomic.Int64
	limit      int64
}

func (b *budget) take(n int) error {
	used := b.used.Add(int64(n))
	for peak := b.peak.Load(); used > peak && !b.peak.CompareAndSwap(peak, used); peak = b.peak.Load() {
	}
	if used > b.limit {
		return &LimitError{Limit: ErrMemory, Value: b.limit}
	}
	return nil
}

func (b *budget) give(n int) { b.used.Add(-int64(n)) }

// check ends a query whose context is done. Operators call it at least once for each batch they read or hand out.
func (q *query) check() error {
	select {
	case <-q.ctx.Done():
		return context.Cause(q.ctx)
	default:
		return nil
	}
}
