package supervise

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var errTest = errors.New("the disk is on fire")

func TestAJobThatFailsIsRunAgainWithBackOffAndTheOthersGoOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		jobs := New(Options{})
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		var tries []time.Duration
		began, ticks := time.Now(), 0
		group.Go(func() {
			jobs.Run(ctx, "failing", func(context.Context) error {
				tries = append(tries, time.Since(began))
				if len(tries)%2 == 0 {
					panic("at the disco")
				}
				return errTest
			})
		})
		group.Go(func() {
			jobs.Run(ctx, "sound", func(ctx context.Context) error {
				for {
					select {
					case <-time.After(time.Minute):
						ticks++
					case <-ctx.Done():
						return ctx.Err()
					}
				}
			})
		})
		time.Sleep(time.Hour)
		synctest.Wait()
		for i, want := range []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second, 15 * time.Second} {
			if tries[i] != want {
				t.Errorf("try %d after %s, want %s", i, tries[i], want)
			}
		}
		if n := len(tries); tries[n-1]-tries[n-2] != maxPause {
			t.Errorf("the last pause was %s, want %s", tries[n-1]-tries[n-2], maxPause)
		}
		if ticks != 59 && ticks != 60 {
			t.Errorf("the other job ticked %d times in an hour", ticks)
		}
		list := jobs.List()
		if len(list) != 2 || list[0].State != Waiting || list[0].Failures != len(tries) || list[0].Error == "" ||
			list[0].Next.Sub(list[0].FailedAt) != maxPause ||
			list[1].State != Running || list[1].Failures != 0 {
			t.Errorf("jobs: %+v", list)
		}
		cancel()
		group.Wait()
		if list := jobs.List(); list[0].State != Done || list[1].State != Done {
			t.Errorf("after the end: %+v", list)
		}
	})
}

func TestAJobThatRanForLongBeginsAgainWithTheShortestPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var ended time.Time
		tries := 0
		err := New(Options{}).Run(ctx, "job", func(context.Context) error {
			if tries++; tries == 6 {
				time.Sleep(maxPause)
			}
			if tries == 7 {
				if got := time.Since(ended); got != minPause {
					t.Errorf("paused %s after a long run, want %s", got, minPause)
				}
				cancel()
			}
			ended = time.Now()
			return errTest
		})
		if err != nil || tries != 7 {
			t.Errorf("%v after %d tries", err, tries)
		}
	})
}

func TestAFinalErrorStopsAJobForGood(t *testing.T) {
	t.Parallel()
	jobs := New(Options{Final: func(err error) bool { return errors.Is(err, errTest) }})
	tries := 0
	err := jobs.Run(t.Context(), "job", func(context.Context) error { tries++; return errTest })
	if list := jobs.List(); !errors.Is(err, errTest) || tries != 1 || list[0].State != Stopped || !list[0].Next.IsZero() {
		t.Errorf("%v after %d tries: %+v", err, tries, list)
	}
}

func TestAPanicIsLoggedOnceWithItsStack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		jobs := New(Options{Log: slog.New(slog.NewTextHandler(&out, nil))})
		tries := 0
		if err := jobs.Run(t.Context(), "planning", func(context.Context) error {
			if tries++; tries == 1 {
				panic(errTest)
			}
			return nil
		}); err != nil || tries != 2 {
			t.Errorf("%v after %d tries", err, tries)
		}
		text := out.String()
		if strings.Count(text, "level=ERROR") != 1 || !strings.Contains(text, "job=planning") ||
			!strings.Contains(text, "supervise_test.go") || !strings.Contains(text, errTest.Error()) {
			t.Errorf("log: %s", text)
		}
	})
}

func TestANilSetRunsAJobUnlisted(t *testing.T) {
	t.Parallel()
	var jobs *Jobs
	ran := false
	if err := jobs.Run(t.Context(), "job", func(context.Context) error { ran = true; return nil }); err != nil || !ran ||
		jobs.List() != nil {
		t.Error(err, ran, jobs.List())
	}
}
