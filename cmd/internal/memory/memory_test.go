package memory

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"testing"
)

// The tests change the limit of the process and so do not run in parallel.

func TestTheLimitFollowsWhatIsInUse(t *testing.T) {
	if got := limitFor(10 << 20); got != floor {
		t.Errorf("a small heap has a limit of %d, want %d", got, floor)
	}
	if got := limitFor(400 << 20); got != 600<<20 {
		t.Errorf("a heap of 400 MiB has a limit of %d, want half as much again", got)
	}
	if got := limitFor(800 << 20); got != 1056<<20 {
		t.Errorf("a heap of 800 MiB has a limit of %d, want 256 MiB more", got)
	}
	if got := limitFor(1 << 30); got != math.MaxInt64 {
		t.Errorf("a heap of 1 GiB has a limit of %d, want none", got)
	}
	kept := make([]byte, 64<<20)
	runtime.GC()
	if got := inUse(); got < 64<<20 {
		t.Errorf("%d bytes are in use, want 64 MiB at least", got)
	}
	runtime.KeepAlive(kept)
}

func TestTheLimitEndsWithItsContext(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "")
	t.Setenv("GOGC", "")
	before := debug.SetMemoryLimit(-1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	Govern(ctx)
	if after := debug.SetMemoryLimit(-1); after != before {
		t.Errorf("the limit is %d afterwards, %d before", after, before)
	}
}

func TestTheEnvironmentHasPrecedence(t *testing.T) {
	for _, name := range []string{"GOMEMLIMIT", "GOGC"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, "200")
			before := debug.SetMemoryLimit(math.MaxInt64)
			defer debug.SetMemoryLimit(before)
			Govern(t.Context()) // returns at once
			if got := debug.SetMemoryLimit(-1); got != math.MaxInt64 {
				t.Errorf("the limit is %d", got)
			}
		})
	}
}
