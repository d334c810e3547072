package exec

import "sync/atomic"

// Workers counts the goroutines that run the queries of one store, so that queries start helpers only while processors
// are idle. If there are as many queries as processors, none gets a helper. Its methods may be called concurrently. A
// nil Workers allows no helpers.
type Workers struct {
	limit int32
	busy  atomic.Int32
}

// NewWorkers returns Workers for limit processors.
func NewWorkers(limit int) *Workers { return &Workers{limit: int32(limit)} }

// Limit returns the number of processors, 1 for a nil Workers.
func (w *Workers) Limit() int {
	if w == nil {
		return 1
	}
	return int(w.limit)
}

// enter counts a query's own goroutine.
func (w *Workers) enter() {
	if w != nil {
		w.busy.Add(1)
	}
}

// try counts a helper and returns true if a processor is idle.
func (w *Workers) try() bool {
	if w == nil {
		return false
	}
	for {
		n := w.busy.Load()
		if n >= w.limit {
			return false
		}
		if w.busy.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (w *Workers) leave() {
	if w != nil {
		w.busy.Add(-1)
	}
}
