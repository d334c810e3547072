package memory

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"time"
)

// patience is how often in a row, every so long, memory must be tight before that is said.
const patience = 60

// Watch says once in the log, if it is so for a minute, that the limit which GOMEMLIMIT sets is too near to what is in
// use. It returns then, or when ctx ends, or at once if there is no such limit.
func Watch(ctx context.Context) {
	if os.Getenv("GOMEMLIMIT") == "" {
		return
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	var t tightness
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if now, limit := read().inUse, debug.SetMemoryLimit(-1); t.tooLong(now, limit) {
			const mib = 1 << 20
			slog.WarnContext(ctx, "the memory limit is too small for what is in use: collecting garbage takes much of the processor",
				"limit", fmt.Sprintf("%d MiB", limit/mib), "in use", fmt.Sprintf("%d MiB", now/mib), "set GOMEMLIMIT to at least",
				fmt.Sprintf("%d MiB", 2*now/mib))
			return
		}
	}
}

// tightness counts how often in a row more than three quarters of a limit were in use.
type tightness int

// tooLong reports whether that has lasted. Bytes in use are those of the last collection; a limit also holds what the
// runtime and garbage need.
func (t *tightness) tooLong(inUse uint64, limit int64) bool {
	if inUse/3 <= uint64(limit)/4 {
		*t = 0
		return false
	}
	*t++
	return *t >= patience
}
