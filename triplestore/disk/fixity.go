package disk

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/time/rate"
)

// Damage is one place where stored bytes differ from their checksum, or a file that is missing. Names are stable: it is
// part of reports.
type Damage struct {
	File   string    `json:"file"`   // relative to the data directory, with slashes
	Offset int64     `json:"offset"` // in bytes; -1 if the damage has no one place
	Why    string    `json:"why"`
	Found  time.Time `json:"found"`
	Mended time.Time `json:"mended,omitzero"` // zero until the file is whole again, or gone and not needed
	How    string    `json:"how,omitempty"`   // what it was mended from: parity, log, snapshot, ...
	Lost   string    `json:"lost,omitempty"`  // what could not be brought back; empty if nothing is lost
}

// String says in one line what is wrong, and what was done about it.
func (d Damage) String() string {
	s := d.File
	if d.Offset >= 0 {
		s += fmt.Sprintf(" at byte %d", d.Offset)
	}
	s += ": " + d.Why
	if !d.Mended.IsZero() {
		s += "; mended from " + d.How
	}
	if d.Lost != "" {
		s += "; lost: " + d.Lost
	}
	return s
}

// Round is how far a scrub is: one pass over everything stored, and the passes before it. Names are stable.
type Round struct {
	Began    time.Time `json:"began,omitzero"`    // of the round under way; zero before the first
	Done     int64     `json:"done"`              // bytes of it
	Total    int64     `json:"total"`             // bytes
	Finished time.Time `json:"finished,omitzero"` // end of the last whole round; zero before the first
	Rounds   int       `json:"rounds"`            // whole ones since the process began
}

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
