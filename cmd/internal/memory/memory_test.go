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
	if got := limitFor(1 << 30); got != 1280<<20 {
		t.Errorf("a heap of 1 GiB has a limit of %d, want 256 MiB more", got)
	}
	if got := limitFor(4 << 30); got != 5<<30 {
		t.Errorf("a heap of 4 GiB has a limit of %d, want a quarter more", got)
	}
	if got := limitFor(math.MaxUint64); got != math.MaxInt64 {
		t.Errorf("a heap without end has a limit of %d, want none", got)
	}
	kept := make([]byte, 64<<20)
	runtime.GC()
	if got := read().inUse; got < 64<<20 {
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

func TestCachesAreAPartOfALimit(t *testing.T) {
	before := debug.SetMemoryLimit(320 << 20)
	defer debug.SetMemoryLimit(before)
	t.Setenv("GOMEMLIMIT", "")
	if got := ForCache(128<<20, 8); got != 128<<20 {
		t.Errorf("without GOMEMLIMIT a cache has %d bytes, want 128 MiB", got)
	}
	t.Setenv("GOMEMLIMIT", "320MiB")
	for part, want := range map[int64]int64{8: 40 << 20, 2: 128 << 20, 1000: leastCache} {
		if got := ForCache(128<<20, part); got != want {
			t.Errorf("a cache that may have a part in %d of 320 MiB has %d bytes, want %d", part, got, want)
		}
	}
}

func TestALargeHeapIsCollectedWhenNothingElseDoes(t *testing.T) {
	var idle idleness
	due := func(f figures) (ticks int) {
		for ticks = range 3 * quiet {
			if idle.garbage(f) {
				return ticks
			}
		}
		return -1
	}
	idle.garbage(figures{cycles: 1, heap: 1 << 30})
	if got := due(figures{cycles: 1, heap: 1 << 30, allocated: few + 1}); got != quiet-1 {
		t.Errorf("a heap of 1 GiB is collected after %d ticks, want %d", got, quiet-1)
	}
	if got := due(figures{cycles: 2, heap: 1 << 30, allocated: few + 1}); got != -1 {
		t.Errorf("a heap that is as the collection left it is collected again after %d ticks", got)
	}
	if got := due(figures{cycles: 3, heap: floor, allocated: 1 << 30}); got != -1 {
		t.Errorf("a small heap is collected after %d ticks", got)
	}
}

func TestFiguresFollowTheRuntime(t *testing.T) {
	before := read()
	garbage := make([]byte, 64<<20)
	after := read()
	runtime.KeepAlive(garbage)
	if after.allocated < before.allocated+64<<20 || after.heap < 64<<20 {
		t.Errorf("%+v after an allocation of 64 MiB, before %+v", after, before)
	}
	debug.FreeOSMemory()
	if last := read(); last.cycles <= after.cycles || last.heap > after.heap-32<<20 {
		t.Errorf("%+v after a collection, before %+v", last, after)
	}
}

func TestALimitThatIsTooNearToWhatIsInUseIsSaidOnlyIfThatLasts(t *testing.T) {
	const limit = 100 << 20
	var now tightness
	for range patience - 1 {
		if now.tooLong(80<<20, limit) {
			t.Fatal("too early")
		}
	}
	if now.tooLong(70<<20, limit) {
		t.Error("said although a collection has freed enough")
	}
	for i := range patience {
		if got, want := now.tooLong(80<<20, limit), i == patience-1; got != want {
			t.Errorf("after %d times: %v", i+1, got)
		}
	}
	if now.tooLong(1<<40, math.MaxInt64) {
		t.Error("said without a limit")
	}
}
