package exec

import "sync/atomic"

// Workers counts the goroutines that run the queries of one store, so that a query gets helpers only while processors
// are idle. With as many queries as processors, each runs alone. Its methods may be called concurrently. A nil Workers
// gives no helpers.
type Workers struct {
	limit int32
	busy  atomic.Int32
}

// NewWorkers returns Workers for limit processors.
func NewWorkers(limit int) *Workers { return &Workers{limit: int32(limit)} }

// Limit returns how many goroutines may run.
func (w *Workers) Limit() int {
	if w == nil {
		return 1
	}
	return int(w.limit)
}

// enter counts a query's own goroutine. It never waits.
func (w *Workers) enter() {
	if w != nil {
		w.busy.Add(1)
	}
}

// try counts one more goroutine if a processor is idle.
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
