package vault

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sort"
	"sync"
	"time"
)

// Gate stands between the commits of a database and their acknowledgement (kv.Options.Acknowledge). It notes when
// commits happened, and lets their callers wait until a Keeper has copied them. It is made before the database is
// opened.
type Gate struct {
	mu      sync.Mutex    // guards the fields below
	stamps  []stamp       // of write sets that are not copied yet, ascending
	reached uint64        // number of the last write set in the vault
	waiting bool          // commits wait until the vault has them
	held    bool          // commits wait until that is taken back
	failed  error         // no commit may be acknowledged any more
	trouble string        // why the Keeper copies nothing at present; "" if it does
	log     *slog.Logger  // of the Keeper; nil until there is one
	slow    bool          // a commit has said that it waits for long
	moved   chan struct{} // closed and replaced when something above changes that commits wait for
	wake    chan struct{} // receives a value after a commit
}

// stamp says when a write set, and those before it, had been committed.
type stamp struct {
	number uint64
	at     milli
}

// maxStamps bounds the stamps in memory. When there are more, every second one goes.
const maxStamps = 1 << 16

// NewGate returns a gate through which commits pass at once, until a Keeper makes them wait.
func NewGate() *Gate {
	return &Gate{moved: make(chan struct{}), wake: make(chan struct{}, 1)}
}

// Acknowledge notes a commit. If commits wait, it returns when a Keeper has copied this one. The error is ErrFenced if
// another process has become the writer. A commit that waits for long says so in the log; others that do meanwhile do
// not.
func (g *Gate) Acknowledge(ctx context.Context, number uint64) error {
	g.note(number, milliOf(time.Now()))
	select {
	case g.wake <- struct{}{}:
	default:
	}
	began := time.Now()
	timer := time.NewTimer(slowAfter)
	defer timer.Stop()
	said := false
	defer func() {
		if said {
			g.endSlow(number, began)
		}
	}()
	for {
		g.mu.Lock()
		failed, done, moved := g.failed, !g.held && (!g.waiting || g.reached >= number), g.moved
		g.mu.Unlock()
		if failed != nil {
			return failed
		}
		if done {
			return nil
		}
		select {
		case <-moved:
		case <-timer.C:
			said = g.saySlow(number)
		case <-ctx.Done():
			return g.tired(context.Cause(ctx))
		}
	}
}

// slowAfter is how long a commit waits before it says so.
const slowAfter = 5 * time.Second

// saySlow logs what a commit waits for. It reports whether it did: not if another one has, and still waits.
func (g *Gate) saySlow(number uint64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.slow || g.log == nil {
		return false
	}
	g.slow = true
	what := cmp.Or(g.trouble, "an upload that has not ended")
	g.log.Warn("a commit waits for the backup", "write set", number, "in the backup up to", g.reached, "waits for", what)
	return true
}

// endSlow logs that the commit of saySlow waits no longer.
func (g *Gate) endSlow(number uint64, began time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.slow = false
	if !g.held && (!g.waiting || g.reached >= number) {
		g.log.Warn("the commit that waited for the backup is through", "write set", number, "waited",
			time.Since(began).Round(time.Millisecond))
	}
}

// setLog sets where slow commits are logged.
func (g *Gate) setLog(log *slog.Logger) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.log = log
}

// lets reports whether a commit may be acknowledged now.
func (g *Gate) lets(number uint64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.failed == nil && !g.held && (!g.waiting || g.reached >= number)
}

// tired returns the error of a caller that waits no longer.
func (g *Gate) tired(cause error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.trouble == "" {
		return cause
	}
	return fmt.Errorf("%w; the backup copies nothing: %s", cause, g.trouble)
}

// setTrouble says why nothing is copied, "" if something is.
func (g *Gate) setTrouble(why string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.trouble = why
}

func (g *Gate) note(number uint64, at milli) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := len(g.stamps)
	switch {
	case number <= g.reached || n > 0 && g.stamps[n-1].number >= number:
	case n > 0 && g.stamps[n-1].at >= at:
		g.stamps[n-1].number = number
	default:
		if n >= maxStamps {
			for i := range n / 2 {
				g.stamps[i] = g.stamps[2*i+1]
			}
			g.stamps = g.stamps[:n/2]
		}
		g.stamps = append(g.stamps, stamp{number, at})
	}
}

// timeOf returns when a write set was committed, or a bit later.
func (g *Gate) timeOf(number uint64) milli {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := sort.Search(len(g.stamps), func(i int) bool { return g.stamps[i].number >= number })
	if i < len(g.stamps) {
		return g.stamps[i].at
	}
	return milliOf(time.Now())
}

// oldest returns when the first write set was committed that is not copied yet. ok is false if there is none.
func (g *Gate) oldest() (at milli, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.stamps) == 0 {
		return 0, false
	}
	return g.stamps[0].at, true
}

// reach says that the vault has a write set and all before it.
func (g *Gate) reach(number uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.reached = max(g.reached, number)
	n := 0
	for n < len(g.stamps) && g.stamps[n].number <= number {
		n++
	}
	g.stamps = append(g.stamps[:0], g.stamps[n:]...)
	g.move()
}

// setWaiting makes commits wait or not.
func (g *Gate) setWaiting(wait bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = wait
	g.move()
}

// hold lets no commit pass, or takes that back.
func (g *Gate) hold(held bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held = held
	g.move()
}

func (g *Gate) holds() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.held
}

// fail makes every commit fail from now on.
func (g *Gate) fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.failed == nil {
		g.failed = err
	}
	g.move()
}

// move wakes those who wait. The caller holds mu.
func (g *Gate) move() {
	close(g.moved)
	g.moved = make(chan struct{})
}
