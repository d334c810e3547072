package crawler

import (
	"context"
	"errors"
	"sync"

	"odarchive/crawler/queue/supervise"

	"golang.org/x/sync/errgroup"
)

// SetWorkers changes how many hosts are fetched from at the same time, in runs that have begun, too. Workers that are
// too many end after the lease that they have.
func (p *Pipeline) SetWorkers(n int) { p.wanted.set(max(1, n)) }

// wanted is the number of workers that SetWorkers has set.
type wanted struct {
	mu      sync.Mutex // guards what follows
	n       int        // 0 before SetWorkers
	changed chan struct{}
}

func (w *wanted) set(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.n = n; w.changed != nil {
		close(w.changed)
		w.changed = nil
	}
}

// get returns the number, or initial before SetWorkers, and a channel that is closed when it changes.
func (w *wanted) get(initial int) (n int, changed <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.changed == nil {
		w.changed = make(chan struct{})
	}
	if w.n == 0 {
		return initial, w.changed
	}
	return w.n, w.changed
}

// errSurplus ends a worker that is one too many.
var errSurplus = errors.New("crawler: fewer workers are wanted")

// crew counts the workers of a run.
type crew struct {
	mu   sync.Mutex // guards live
	live int
	gone chan struct{} // closed when the last worker has ended
}

// keepCrew runs as many workers as are wanted, until one fails or all have ended.
func (r *run) keepCrew(ctx context.Context, work func(context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for {
		want, changed := r.wanted.get(r.Workers)
		for range r.crew.missing(want) {
			group.Go(func() error {
				err := supervise.Contain(func() error { return work(ctx) })
				if errors.Is(err, errSurplus) {
					return nil // it is not counted any more
				}
				r.crew.leave()
				return err
			})
		}
		select {
		case <-changed:
		case <-r.crew.gone:
			return group.Wait()
		case <-ctx.Done():
			return group.Wait()
		}
	}
}

// missing returns how many workers to start, and counts them.
func (c *crew) missing(want int) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.gone: // the run ends
		return 0
	default:
	}
	n = max(0, want-c.live)
	c.live += n
	return n
}

// dismiss reports whether there are more workers than wanted. Then it does not count the caller any more, who must end.
func (c *crew) dismiss(want int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.live <= want {
		return false
	}
	c.live--
	return true
}

func (c *crew) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.live--; c.live == 0 {
		close(c.gone)
	}
}
