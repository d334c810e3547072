package vault

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"odarchive/triplestore/bucket"
)

// How a process finds out whether another one of the same holder lives: a copy of the data directory, or one that was
// not killed. A writer renews writer.json three times in each lease.
const (
	looksPerLease = 20
	looks         = 11               // for a bit more than half of a lease: longer than the pause between two renewals
	longestLease  = 2 * time.Minute  // of a writer.json that says more
	minLease      = 15 * time.Second // of a writer.json that says nothing: that of the program
)

// awaitSilence returns when no other process renews writer.json, by this process's own clock: at once if the last one
// has given the lease back, or if there has been none. If writer.json is missing, damaged or older than the last fence,
// a living writer puts it there again. The error is ErrInUse if another process lives.
func (w *Writer) awaitSilence(ctx context.Context, h *History) error {
	other := h.writer
	unknown := other.Nonce == "" && len(h.fences) > 0
	lease := time.Duration(other.Lease) * time.Millisecond
	switch {
	case unknown:
		lease = max(w.me.Lease, minLease)
	case other.Released || other.Nonce == "" || other.Nonce == w.me.was || lease <= 0:
		return nil
	}
	pause := min(lease, longestLease) / looksPerLease
	if w.me.Waiting != nil {
		w.me.Waiting(looks * pause)
	}
	sign := ""
	for quiet := 0; quiet < looks; { // looks are counted, since this process may be stopped between two of them
		now, found, _, err := look(ctx, w.b)
		if errors.Is(err, bucket.ErrNotFound) || errors.Is(err, ErrBroken) || err == nil && found.Epoch < other.Epoch {
			now, found, err = "unknown", writerState{}, nil
		}
		switch {
		case err != nil:
			quiet = 0 // the other process cannot renew either
			sign = ""
			if ctx.Err() != nil || !errors.Is(err, bucket.ErrUnavailable) {
				return err
			}
		case found.Released:
			quiet = looks
			continue
		case sign == "":
			sign = now
		case now != sign:
			return fmt.Errorf(
				"%w: epoch %d%s, directory %s, seen alive now. If this directory is a copy of that one, start it with another backup, or "+
					"with --backup-to none; if it shall replace that one, start it with --promote", ErrInUse, found.Epoch, at(found.URL),
				found.Holder)
		default:
			quiet++
		}
		if !rest(ctx, pause) {
			return context.Cause(ctx)
		}
	}
	if w.me.Waiting != nil {
		w.me.Waiting(0)
	}
	return nil
}

// id returns the nonce as writer.json has it.
func (w *Writer) id() string { return hex.EncodeToString(w.nonce[:]) }
