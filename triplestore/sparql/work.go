package sparql

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Turn decides when a query computes, for callers that share the processors among their clients. Begin and End enclose
// the computing of the goroutine that reads the results; Yield is called often by all goroutines of the query.
type Turn interface {
	Begin(ctx context.Context) // may wait
	End()
	Yield() // may wait
}

// work is the time in which a query computes, or waits for its Turn or for another endpoint. It counts against the time
// limit. The time in which nobody reads the results does not.
type work struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	turn    Turn          // nil if the query may always compute
	limit   time.Duration // 0 if the time is not measured, because ctx has a deadline
	left    time.Duration
	since   time.Time
	timer   *time.Timer
	working bool
	release func() // gives back the memory of documents; nil if there is none

	mu       sync.Mutex // guards warnings
	warnings []string   // found while the query runs, each once
}

// maxLateWarnings bounds the warnings of one query.
const maxLateWarnings = 20

// warn notes what may be wrong with the answer. It returns false if that is known.
func (w *work) warn(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.warnings) == maxLateWarnings || slices.Contains(w.warnings, text) {
		return false
	}
	w.warnings = append(w.warnings, text)
	return true
}

// begin starts the time. It does nothing between begin and end.
func (w *work) begin() {
	if w.working || w.limit == 0 {
		return
	}
	w.working, w.since = true, time.Now()
	if w.timer == nil {
		w.timer = time.AfterFunc(w.left, func() { w.cancel(timeLimit(w.limit)) })
	} else {
		w.timer.Reset(w.left)
	}
	if w.turn != nil {
		w.turn.Begin(w.ctx)
	}
}

// end stops the time.
func (w *work) end() {
	if !w.working {
		return
	}
	w.working = false
	if w.turn != nil {
		w.turn.End()
	}
	w.timer.Stop()
	w.left = max(w.left-time.Since(w.since), 0)
}

func (w *work) yield() {
	if w.turn != nil {
		w.turn.Yield()
	}
}

// idle calls wait, in which the query does not compute.
func (w *work) idle(wait func()) {
	if w.turn == nil || !w.working {
		wait()
		return
	}
	w.turn.End()
	wait()
	w.turn.Begin(w.ctx)
}

// yields returns yield, or nil if there is no Turn.
func (w *work) yields() func() {
	if w.turn == nil {
		return nil
	}
	return w.turn.Yield
}

// close ends the query.
func (w *work) close() {
	w.end()
	w.cancel(context.Canceled)
	if w.release != nil {
		w.release()
		w.release = nil
	}
}

// newWork returns the work of a query that asks for a time limit.
func (e *Engine) newWork(ctx context.Context, o QueryOptions) *work {
	w := &work{turn: o.Turn, limit: e.limit(o.Timeout)}
	w.left = w.limit
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	return w
}
