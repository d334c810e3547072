package access

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Turn is the time of one query on the processors. The first milliseconds of a query, and all of a cheap one, need no
// place; after that the query computes only while it holds a place of the processors' Gate, and passes it on after a
// while to the query that waits next. So a cheap query never waits for costly ones.
//
// Begin and End enclose what one goroutine computes for the query. Yield may be called by all its goroutines.
type Turn struct {
	gate   *Gate
	client string

	next atomic.Int64 // when Yield has something to do, in nanoseconds of the clock below

	mu      sync.Mutex // guards what follows; held while the query waits for its place, which stops all its goroutines
	ctx     context.Context
	working bool
	free    time.Duration // what is left of the time without a place
	since   time.Time     // when Begin was called, or the place was taken
	leave   func()        // gives the place back; nil without one
}

const (
	// freeTime is how long a query computes without a place.
	freeTime = 30 * time.Millisecond
	// quantum is how long a query keeps its place while others wait.
	quantum = 20 * time.Millisecond
	// breath is how often a query lets other goroutines run. Without it they wait for 10 ms, until the runtime
	// preempts.
	breath = time.Millisecond
)

// NewTurn returns the Turn of a query. A cheap query, by its estimated cost, begins without a place.
func NewTurn(processors *Gate, client string) *Turn {
	return &Turn{gate: processors, client: client, free: freeTime}
}

// Costly takes the time without a place from a query, because of its estimated cost.
func (t *Turn) Costly() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free = 0
}

// Begin waits until the query may compute. The caller calls End.
func (t *Turn) Begin(ctx context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ctx, t.working, t.since = ctx, true, time.Now()
	if t.free <= 0 {
		t.take()
	}
	t.next.Store(time.Now().Add(breath).UnixNano())
}

// End gives the place back.
func (t *Turn) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.working = false
	if t.free > 0 {
		t.free -= time.Since(t.since)
	}
	t.drop()
}

// Yield lets others compute, if it is time. A query calls it often.
func (t *Turn) Yield() {
	if time.Now().UnixNano() < t.next.Load() {
		return
	}
	runtime.Gosched()
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	defer func() { t.next.Store(time.Now().Add(breath).UnixNano()) }()
	switch {
	case !t.working:
	case t.leave != nil:
		if now.Sub(t.since) > quantum && t.gate.Waiting() {
			t.drop()
			t.take()
		}
	case now.Sub(t.since) > t.free:
		t.free = 0
		t.take()
	}
}

// take waits for a place. If the query ends meanwhile, it goes on without one and notices its end itself.
func (t *Turn) take() {
	if t.leave != nil {
		return
	}
	if leave, err := t.gate.Enter(t.ctx, t.client); err == nil {
		t.leave = leave
	}
	t.since = time.Now()
}

func (t *Turn) drop() {
	if t.leave != nil {
		t.leave()
		t.leave = nil
	}
}
