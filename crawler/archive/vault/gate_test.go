package vault

import (
	"context"
	"errors"
	"strings"
	"testing"
)

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
