package crawl

import (
	"context"
	"fmt"
	"time"
)

// clockWatch notices that the archive's clock was set: it compares the clock with the time that has passed.
type clockWatch struct {
	clock   func() time.Time
	passed  func() time.Duration // since any moment, whatever the clock says
	shown   time.Time            // by clock, at the last call of jump
	elapsed time.Duration        // at the same moment
}

// watchClock returns a watch that begins now.
func watchClock(clock func() time.Time, passed func() time.Duration) *clockWatch {
	w := &clockWatch{clock: clock, passed: passed}
	w.shown, w.elapsed = w.now()
	return w
}

func (w *clockWatch) now() (shown time.Time, elapsed time.Duration) {
	return w.clock().Round(0), w.passed() // without Round, Sub would take the time that has passed
}

// jump returns by how much the clock was set since the last call, negative if it was set back, and what it showed then.
func (w *clockWatch) jump() (by time.Duration, from time.Time) {
	shown, elapsed := w.now()
	by, from = shown.Sub(w.shown)-(elapsed-w.elapsed), w.shown
	w.shown, w.elapsed = shown, elapsed
	return by, from
}

const (
	clockEvery = time.Minute // how often an endless crawl looks at the clock
	leastJump  = time.Minute // smaller corrections are not worth a message
)

// keepStraight looks at the clock now, and then every clockEvery until ctx ends.
func (c *Crawl) keepStraight(ctx context.Context) error {
	began := time.Now()
	watch := watchClock(c.store.Clock, func() time.Duration { return time.Since(began) })
	tick := time.NewTicker(clockEvery)
	defer tick.Stop()
	for {
		if err := c.checkClock(ctx, watch); err != nil {
			return fmt.Errorf("clock: %w", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// checkClock logs if the clock was set, and reschedules what a clock that was ahead has planned too late. That costs
// two look-ups if there is nothing, so it is done even if no jump was seen: the clock may have been ahead for seconds
// only.
func (c *Crawl) checkClock(ctx context.Context, watch *clockWatch) error {
	switch by, from := watch.jump(); {
	case by >= leastJump:
		c.store.Log.Warn("the clock was set forward, or the machine slept: visits become due earlier, and are dated by the new time", "by",
			by.Round(time.Second), "from", from.UTC(), "to", watch.shown.UTC())
	case by <= -leastJump:
		c.store.Log.Warn("the clock was set back: visits made before that may bear dates that have not come yet", "by",
			-by.Round(time.Second), "from", from.UTC(), "to", watch.shown.UTC())
	}
	return c.straighten(ctx)
}
