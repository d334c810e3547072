package crawler

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

// TestTheNumberOfWorkersMayChangeWhileTheyWork counts workers that wait for work, as those of a run do.
func TestTheNumberOfWorkersMayChangeWhileTheyWork(t *testing.T) {
	t.Parallel()
	r := &run{Pipeline: &Pipeline{Workers: 3}, crew: crew{gone: make(chan struct{})}}
	var mu sync.Mutex
	working, changed := 0, sync.NewCond(&mu)
	end := make(chan struct{})
	count := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		working += n
		changed.Broadcast()
	}
	work := func(ctx context.Context) error {
		count(1)
		defer count(-1)
		for {
			if want, _ := r.wanted.get(r.Workers); r.crew.dismiss(want) {
				return errSurplus
			}
			select {
			case <-end:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Millisecond):
			}
		}
	}
	until := func(n int) {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		for working != n {
			changed.Wait() // the test's time limit ends what never comes
		}
	}
	done := make(chan error, 1)
	go func() { done <- r.keepCrew(t.Context(), work) }()
	for _, n := range []int{3, 7, 1, 40, 2} {
		if n != 3 {
			r.SetWorkers(n)
		}
		until(n)
	}
	close(end)
	if err := <-done; err != nil {
		t.Error(err)
	}
	until(0)
	if r.crew.missing(5) != 0 {
		t.Error("a run that has ended gets workers")
	}
}

func TestAWorkerThatFailsEndsTheOthers(t *testing.T) {
	t.Parallel()
	r := &run{Pipeline: &Pipeline{Workers: 5}, crew: crew{gone: make(chan struct{})}}
	want := errors.New("the disk is gone")
	one := make(chan struct{}, 1)
	one <- struct{}{}
	err := r.keepCrew(t.Context(), func(ctx context.Context) error {
		select {
		case <-one:
			return want
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	if !errors.Is(err, want) {
		t.Error(err)
	}
}
