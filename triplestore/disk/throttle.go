package disk

import (
	"context"

	"golang.org/x/time/rate"
)

// Throttle lets n bytes through at a time, so that a scrub leaves the disk to others. nil does not throttle.
type Throttle struct{ limiter *rate.Limiter }

// maxBurst is how many bytes a Throttle lets through at once.
const maxBurst = 4 << 20

// NewThrottle limits to some bytes per second; nil if that is not positive.
func NewThrottle(bytesPerSecond int64) *Throttle {
	if bytesPerSecond <= 0 {
		return nil
	}
	return &Throttle{rate.NewLimiter(rate.Limit(bytesPerSecond), maxBurst)}
}

// Wait returns when n more bytes may be read, or the cause of ctx's end.
func (t *Throttle) Wait(ctx context.Context, n int) error {
	for t != nil && n > 0 {
		some := min(n, maxBurst)
		if err := t.limiter.WaitN(ctx, some); err != nil {
			return context.Cause(ctx)
		}
		n -= some
	}
	return context.Cause(ctx)
}
