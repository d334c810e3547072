package disk

import (
	"context"

	"golang.org/x/time/rate"
)

// Throttle limits the rate of reading, so that a scrub leaves disk bandwidth to others. A nil Throttle does not limit.
type Throttle struct{ limiter *rate.Limiter }

// maxBurst is the number of bytes that a Throttle allows at once.
const maxBurst = 4 << 20

// NewThrottle returns a Throttle with a limit of bytesPerSecond, or nil if that is not positive.
func NewThrottle(bytesPerSecond int64) *Throttle {
	if bytesPerSecond <= 0 {
		return nil
	}
	return &Throttle{rate.NewLimiter(rate.Limit(bytesPerSecond), maxBurst)}
}

// Wait returns when n more bytes may be read, or with the cause if ctx ends.
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
