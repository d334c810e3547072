package archive

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"odarchive/crawler/archive/faults"
	"odarchive/crawler/queue/supervise"
	"odarchive/triplestore/kv"
)

// together commits visits that wait for the turn to write in one transaction. What many visits change, such as tallies,
// the ends of logs and the newest triples, is then written once.
type together struct {
	lead chan struct{} // held by the one caller that waits for the turn, until it has taken the shares

	coming atomic.Int64  // visits that were announced and do not wait yet
	all    chan struct{} // has an element after the last of them has come

	mu      sync.Mutex // guards waiting
	waiting []*share   // first come, first served
}

// share is one visit's part of a transaction.
type share struct {
	ctx      context.Context // of the caller
	resource string          // no transaction has two shares of one resource
	size     int             // about how many bytes it writes
	run      func(*update) error
	forget   func()        // stops waiting for the end of ctx; nil if nobody does
	err      error         // valid once done is closed
	done     chan struct{} // closed when run is committed, or will never be
}

// Bounds of one transaction. Other writers wait while it is prepared.
const (
	maxShares     = 64
	maxShareBytes = 256 << 10
	bareShare     = 2 << 10 // bytes of a visit without a version
)

func newTogether() together {
	return together{lead: make(chan struct{}, 1), all: make(chan struct{}, 1)}
}

// gatherTime is how long a transaction waits for visits that were announced.
const gatherTime = 20 * time.Millisecond

// announced is a visit that was announced.
type announced struct{ came func() }

type announcedKey struct{}

// Announce announces a visit that is going to be committed soon with the context that is returned: visits that were
// announced wait for each other a moment, and then form one transaction. over must be called once the commit has
// returned, or is not going to be made.
func (a *Archive) Announce(ctx context.Context) (_ context.Context, over func()) {
	t := &a.together
	t.coming.Add(1)
	came := sync.OnceFunc(func() {
		if t.coming.Add(-1) > 0 {
			return
		}
		select {
		case t.all <- struct{}{}:
		default:
		}
	})
	return context.WithValue(ctx, announcedKey{}, announced{came}), came
}

// gather waits a moment for visits that were announced. Its caller, who has the share own, holds t.lead.
func (t *together) gather(own *share) {
	if t.coming.Load() <= 0 {
		return
	}
	timer := time.NewTimer(gatherTime)
	defer timer.Stop()
	for t.coming.Load() > 0 {
		select {
		case <-t.all:
		case <-timer.C:
			return
		case <-own.ctx.Done():
			return
		}
	}
}

func (t *together) add(s *share) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting = append(t.waiting, s)
}

// remove reports whether the share was still waiting.
func (t *together) remove(s *share) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, other := range t.waiting {
		if other == s {
			t.waiting = append(t.waiting[:i:i], t.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// take removes the shares of one transaction from the queue.
func (t *together) take() (taken []*share) {
	t.mu.Lock()
	defer t.mu.Unlock()
	size, of := 0, map[string]bool{}
	for _, s := range t.waiting {
		if size += s.size; len(taken) == maxShares || of[s.resource] || size > maxShareBytes && len(taken) > 0 {
			break
		}
		of[s.resource] = true
		taken = append(taken, s)
	}
	t.waiting = append(t.waiting[:0:0], t.waiting[len(taken):]...)
	return taken
}

// end reports the outcome to the share's caller.
func (s *share) end(err error) {
	if s.forget != nil {
		s.forget()
	}
	s.err = err
	close(s.done)
}

// commitTogether runs a share in a transaction, perhaps with those of other callers, and returns its error: one of the
// share itself, or of the commit. A share that fails is not committed, and the others are. If the share's context ends
// before the share was taken, it is not run.
func (a *Archive) commitTogether(s *share) error {
	t := &a.together
	t.add(s)
	if v, ok := s.ctx.Value(announcedKey{}).(announced); ok {
		v.came()
	}
	for {
		select {
		case <-s.done:
			return s.err
		case <-s.ctx.Done():
			if t.remove(s) {
				return fmt.Errorf("waiting to write: %w", context.Cause(s.ctx))
			}
			<-s.done
			return s.err
		case t.lead <- struct{}{}:
			if err := a.commitWaiting(s); err != nil && t.remove(s) {
				return err
			}
		}
	}
}

// commitWaiting commits the shares that wait when the turn comes, and ends them. Its caller, who has the share own,
// holds t.lead. The error is why no share was taken.
func (a *Archive) commitWaiting(own *share) error {
	t := &a.together
	leads := true
	release := func() {
		if leads {
			leads = false
			<-t.lead
		}
	}
	defer release()
	select {
	case <-own.done: // another caller has just taken it
		return nil
	default:
	}
	t.gather(own)
	ctx, end := context.WithCancelCause(context.WithoutCancel(own.ctx))
	defer end(nil)
	alone := context.AfterFunc(own.ctx, func() { end(context.Cause(own.ctx)) })
	defer alone()
	var batch []*share
	failed, err := a.runShares(ctx, func() []*share {
		if !alone() {
			return nil // the turn is not wanted any more
		}
		batch = t.take()
		release()
		endWithAll(batch, end)
		return batch
	})
	if len(batch) == 0 {
		return err
	}
	for err != nil && len(batch) > 1 {
		if failed < 0 {
			a.commitEach(ctx, batch, err)
			return nil
		}
		batch[failed].end(err)
		batch = append(batch[:failed:failed], batch[failed+1:]...)
		failed, err = a.runShares(ctx, func() []*share { return batch })
	}
	for _, s := range batch {
		s.end(err)
	}
	return nil
}

// endWithAll calls end once the contexts of all shares have ended.
func endWithAll(batch []*share, end context.CancelCauseFunc) {
	var left atomic.Int64
	left.Store(int64(len(batch)))
	for _, s := range batch {
		stop := context.AfterFunc(s.ctx, func() {
			if left.Add(-1) == 0 {
				end(context.Cause(s.ctx))
			}
		})
		s.forget = func() { stop() }
	}
}

// commitEach commits shares one by one after a transaction of all of them failed with an error that is no share's own.
func (a *Archive) commitEach(ctx context.Context, batch []*share, err error) {
	again := !faults.IsOwn(ctx, err) && !errors.Is(err, kv.ErrUnacknowledged) // else it is committed, or fails again
	for _, s := range batch {
		if again {
			_, err = a.runShares(ctx, func() []*share { return []*share{s} })
		}
		s.end(err)
	}
}

// runShares runs the shares that take returns as one transaction. failed is the one that returned the error, or -1.
func (a *Archive) runShares(ctx context.Context, take func() []*share) (failed int, err error) {
	failed = -1
	err = supervise.Contain(func() error {
		return a.update(ctx, func(u *update) error {
			for i, s := range take() {
				if err := supervise.Contain(func() error { return s.run(u) }); err != nil {
					failed = i
					return err
				}
			}
			return nil
		})
	})
	return failed, err
}
