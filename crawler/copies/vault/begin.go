package vault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"odarchive/triplestore/bucket"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/wal"
)

// Begin makes this process the writer, before it accepts writes. The error is permanent: ErrNotOwner if another
// directory writes the vault, ErrUnknownWriter if nothing says which one does, ErrBehind if the vault has commits that
// the archive lacks, and bucket.ErrRefused or one of its own if the bucket cannot be used: it does not exist, the keys
// are wrong, or it has other objects. If the process that wrote last has not ended well,
// Begin waits for half of a lease to see whether it lives; the error is ErrInUse if it does, and Begin does not return
// before that is known. If the object store cannot be reached at all, Begin returns nil after some seconds, and Run
// goes on trying, but not with Options.Take.
func (k *Keeper) Begin(ctx context.Context) error {
	k.packs.start()
	if k.opts.Wait {
		k.gate.setWaiting(true) // until it is known whether there is a whole copy
	}
	for doubt := false; ; {
		err := k.beginOnce(ctx, &doubt)
		switch {
		case err == nil || isPermanent(err) || errors.Is(err, ErrNotThere) || isHopeless(err) && !k.opts.Begun:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
		k.failed(err)
		if errors.Is(err, errNotNoted) { // known to be the writer
			k.log.Warn("nothing is acknowledged yet; trying again in the background", "error", err)
			return nil
		}
		if !doubt && k.opts.Take { // who replaces another writer must be able to tell
			return err
		}
		if !doubt {
			k.log.Warn("the backup cannot be reached, or not be written; trying again in the background", "error", err)
			return nil
		}
		k.log.Warn("the backup went away before it was seen whether another process writes it; nothing is written until that is known",
			"error", err)
		if !rest(ctx, min(retryEvery, k.opts.Lease)) {
			return context.Cause(ctx)
		}
	}
}

// beginOnce tries to make this process the writer. doubt becomes true while it waits to see whether another process is
// one, and false when it has seen that none is.
func (k *Keeper) beginOnce(ctx context.Context, doubt *bool) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	timer := time.AfterFunc(k.patience, stop)
	defer timer.Stop()
	alive := func() { timer.Reset(k.patience) }
	k.b.answered.Store(&alive)
	defer k.b.answered.Store(nil)
	k.waiting = func(d time.Duration) {
		timer.Reset(d + k.patience)
		if *doubt = d > 0; !*doubt {
			return
		}
		k.log.Info("waiting to see whether another process writes this backup: the last one has not given its lease back", "for", d)
	}
	defer func() { k.waiting = nil }()
	return k.take(ctx)
}

// isHopeless reports whether an error is a mistake of whoever named the bucket, so that the first start with it fails.
// Later ones, and a Keeper that runs, go on trying: permissions can be given back.
func isHopeless(err error) bool {
	return errors.Is(err, errOccupied) || errors.Is(err, bucket.ErrRefused)
}

func isPermanent(err error) bool { return MustNotWrite(err) || errors.Is(err, ErrNewer) }

func (k *Keeper) take(ctx context.Context) error {
	w, err := k.becomeWriter(ctx)
	if err != nil {
		return err
	}
	h, err := read(ctx, k.b)
	if err != nil {
		return err
	}
	if err := k.packs.list(ctx, w.Epoch(), h.inLastBranch); err != nil {
		return err
	}
	if err := k.noteTaken(h.id); err != nil {
		return err
	}
	if err := forgetRestored(k.src.Dir, h); err != nil {
		return err
	}
	k.merger.begin(h)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.writer, k.taken = w, nil
	k.state.Lost = false
	k.last, k.files.last = snapshot{}, nil // they may be gone
	if k.spoiled = nil; len(h.damaged) > 0 && w.IsNew() {
		k.spoiled = h.damaged
		k.log.Warn("an object of the backup is damaged, and its history begins anew: earlier moments may need what the object had",
			"objects", len(h.damaged), "first", h.damaged[0].text)
	}
	for _, s := range h.snapshots {
		if s.number >= k.last.number {
			k.last = s
		}
	}
	k.state.Epoch = w.Epoch()
	if !w.IsNew() {
		k.gate.reach(w.At().Number)
	}
	k.log.Info("this process writes the backup", "epoch", w.Epoch(), "after", w.At().Number, "new", w.IsNew(), "because", w.why)
	return nil
}

// becomeWriter takes the archive, unless this process is the writer already.
func (k *Keeper) becomeWriter(ctx context.Context) (*Writer, error) {
	if k.taken != nil {
		return k.taken, k.taken.renew(ctx)
	}
	if k.opts.Check != nil {
		if err := k.opts.Check(ctx, k.b); err != nil {
			return nil, err
		}
	}
	w, err := Take(ctx, k.b, Candidate{Holder: k.opts.Holder, URL: k.opts.URL, Lease: k.opts.Lease, Force: k.opts.Take, check: k.check,
		Begun: k.opts.Begun && !k.opts.Take || k.was != "", was: k.was, Waiting: k.waiting,
		Epoch: max(k.opts.Epoch, k.State().Epoch)})
	if err != nil {
		return nil, err
	}
	k.taken, k.was = w, w.id()
	k.opts.Take = false // another process that takes the archive from this one shall keep it
	return w, nil
}

// errNotNoted is the error of a process that is the writer and whose Options.Taken failed.
var errNotNoted = errors.New("this process writes the backup, but could not note that")

// noteTaken calls Options.Taken, and lets no commit pass while that fails.
func (k *Keeper) noteTaken(id string) error {
	if k.opts.Taken == nil {
		return nil
	}
	err := k.opts.Taken(k.taken.Epoch(), id)
	k.gate.hold(err != nil)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotNoted, err)
	}
	return nil
}

// check decides whether the log of this archive continues that of the vault.
func (k *Keeper) check(ctx context.Context, h *History) (isNew bool, at wal.Position, err error) {
	end, _, ok := h.end()
	isNew, at, err = k.continues(ctx, end)
	if err == nil && isNew && ok {
		err = lacksSince(k.src.Dir, h, end)
	}
	return isNew, at, err
}

// continues decides by the end of the vault's log alone.
func (k *Keeper) continues(ctx context.Context, end wal.Position) (isNew bool, at wal.Position, err error) {
	at = k.src.DB.Position()
	if end == (wal.Position{}) {
		return true, at, nil
	}
	for _, e := range k.src.DB.Records(ctx, end, false) {
		err = e
		break
	}
	switch {
	case err == nil:
		return false, end, nil
	case errors.Is(err, kv.ErrLogTrimmed):
		k.log.Warn("the log does not reach back to the end of the backup, which begins anew")
		return true, at, nil
	case errors.Is(err, kv.ErrOtherHistory) && end.Log == at.Log && !k.opts.Take:
		return false, at, parted(at.Number, end.Number)
	case errors.Is(err, kv.ErrOtherHistory):
		k.log.Warn("the archive has another history than the backup, which begins anew", "error", err)
		return true, at, nil
	}
	return false, at, err
}

// parted returns the error for a directory that lacks commits of the vault. here and there are the numbers of the last
// write sets.
func parted(here, there uint64) error {
	if here < there {
		return fmt.Errorf("%w but is older: it ends with write set %d, and the backup with %d; restore the archive from the backup",
			ErrBehind, here, there)
	}
	return fmt.Errorf("%w: each has commits that the other lacks, the directory up to write set %d and the backup up to %d; "+
		"restore the backup elsewhere and compare before you choose: with --promote, the backup goes on from this directory", ErrBehind,
		here, there)
}
