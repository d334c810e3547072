package vault

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

func TestCommitsThatWaitForLongSaySoOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		g := NewGate()
		g.setLog(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelWarn})))
		g.setWaiting(true)
		var group sync.WaitGroup
		commit := func(numbers ...uint64) {
			for _, n := range numbers {
				group.Go(func() {
					if err := g.Acknowledge(t.Context(), n); err != nil {
						t.Error(err)
					}
				})
			}
		}
		commit(1, 2, 3)
		time.Sleep(4 * time.Second)
		g.reach(3)
		group.Wait()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if out.Len() > 0 {
			t.Errorf("commits of four seconds: %s", &out)
		}
		commit(4, 5, 6)
		g.setTrouble("connection refused")
		time.Sleep(time.Minute)
		synctest.Wait()
		if text := out.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "connection refused") {
			t.Errorf("commits of a minute: %s", text)
		}
		g.reach(6)
		group.Wait()
		if text := out.String(); strings.Count(text, "\n") != 2 || !strings.Contains(text, "is through") ||
			!strings.Contains(text, "waited=1m0s") {
			t.Errorf("commits that are through: %s", text)
		}
		commit(7)
		time.Sleep(time.Minute)
		synctest.Wait()
		if text := out.String(); strings.Count(text, "\n") != 3 {
			t.Errorf("the next one: %s", text)
		}
		g.reach(7)
		group.Wait()
	})
}

func TestACommitThatWaitsInVainSaysWhyNothingIsCopied(t *testing.T) {
	t.Parallel()
	g := NewGate()
	g.setWaiting(true)
	g.setTrouble("SignatureDoesNotMatch")
	late := errors.New("late")
	ctx, end := context.WithCancelCause(t.Context())
	end(late)
	if err := g.Acknowledge(ctx, 1); !errors.Is(err, late) || !strings.Contains(err.Error(), "SignatureDoesNotMatch") {
		t.Error(err)
	}
	g.setTrouble("")
	if err := g.Acknowledge(ctx, 2); err != late {
		t.Error(err)
	}
}

func TestADirectoryIsOnlyCalledOlderIfItIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		here, there uint64
		older       bool
	}{{20, 21, true}, {34, 21, false}, {21, 21, false}} {
		if err := parted(c.here, c.there); !errors.Is(err, ErrBehind) || strings.Contains(err.Error(), "older") != c.older {
			t.Error(err)
		}
	}
}
