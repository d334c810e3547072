package exec

import (
	"sync"
	"sync/atomic"
)

// Pool is the memory that all queries of an engine may hold together. Its methods may be called concurrently. A nil
// Pool has no limit.
type Pool struct {
	limit int64
	used  atomic.Int64
}

// NewPool returns a Pool of limit bytes.
func NewPool(limit int64) *Pool { return &Pool{limit: limit} }

// Used returns how many bytes queries hold or have reserved.
func (p *Pool) Used() int64 { return p.used.Load() }

// Reserve reserves n bytes for something other than rows that a query keeps. It returns false if the pool is exhausted.
func (p *Pool) Reserve(n int64) bool { return p.take(n) }

// Release gives back what Reserve has taken.
func (p *Pool) Release(n int64) { p.used.Add(-n) }

func (p *Pool) take(n int64) bool {
	if p.used.Add(n) <= p.limit {
		return true
	}
	p.used.Add(-n)
	return false
}

// budget counts the bytes that the operators of one query hold. All goroutines of the query share it. It takes memory
// from the pool in larger pieces.
type budget struct {
	used, peak atomic.Int64
	limit      int64
	over       atomic.Pointer[LimitError] // set by charge

	pool *Pool
	held atomic.Int64 // taken from the pool
	mu   sync.Mutex   // held while held changes
}

// poolPiece is how much a budget takes from the pool at a time, and the most that it keeps without need, in bytes.
const poolPiece = 1 << 20

// reserve counts n more bytes. The caller has to release them even if there is an error, which is a *LimitError.
func (b *budget) reserve(n int) error {
	used := b.used.Add(int64(n))
	if used > b.limit {
		return &LimitError{Limit: ErrMemory, Value: b.limit}
	}
	for peak := b.peak.Load(); used > peak && !b.peak.CompareAndSwap(peak, used); peak = b.peak.Load() {
	}
	if b.pool != nil && used > b.held.Load() {
		return b.take()
	}
	return nil
}

// take takes what is missing from the pool.
func (b *budget) take() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	missing := b.used.Load() - b.held.Load()
	if missing <= 0 {
		return nil
	}
	if b.pool.take(missing + poolPiece) {
		b.held.Add(missing + poolPiece)
	} else if b.pool.take(missing) {
		b.held.Add(missing)
	} else {
		return &LimitError{Limit: ErrMemory, Value: b.pool.limit, Shared: true}
	}
	return nil
}

// share is how many bytes one operator holds before it moves rows to a file.
func (b *budget) share() int { return int(b.limit / 4) }

// charge is reserve for callers that cannot fail: check returns the error soon after.
func (b *budget) charge(n int) {
	if err := b.reserve(n); err != nil {
		b.over.CompareAndSwap(nil, err.(*LimitError))
	}
}

func (b *budget) release(n int) {
	used := b.used.Add(-int64(n))
	if b.pool != nil && b.held.Load()-used > 4*poolPiece {
		b.giveBack(poolPiece)
	}
}

// giveBack returns to the pool what the query holds beyond keep bytes more than it uses.
func (b *budget) giveBack(keep int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if spare := b.held.Load() - max(0, b.used.Load()) - keep; spare > 0 {
		b.held.Add(-spare)
		b.pool.used.Add(-spare)
	}
}

// close returns everything to the pool.
func (b *budget) close() {
	b.used.Store(0)
	if b.pool != nil {
		b.giveBack(0)
	}
}
