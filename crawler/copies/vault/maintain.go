package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"odarchive/triplestore/bucket"
)

// When a Keeper does what is not urgent.
const (
	maintainEvery = 10 * time.Second
	retainEvery   = time.Hour
	snapshotEvery = 24 * time.Hour
	snapshotLog   = 64 << 20 // bytes of the log that are always worth less than another state file
)

// maintain does what is not urgent until ctx ends: it merges, copies closed packs and state files, and deletes what is
// old. A failure is tried again. It calls again, and returns, after errAgain.
func (k *Keeper) maintain(ctx context.Context, again func(error)) {
	retained := time.Time{}
	pause := time.Duration(0)
	for {
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-k.forgetting:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		timer.Stop()
		pause = maintainEvery
		err := k.maintainOnce(ctx)
		if err == nil {
			err = k.forget(ctx)
		}
		if err == nil && time.Since(retained) >= retainEvery {
			if err = k.retain(ctx); err == nil {
				retained = time.Now()
			}
			k.packs.lookAgain()
		}
		if errors.Is(err, errAgain) {
			k.log.Warn("the backup is damaged", "error", err)
			again(err)
			return
		}
		if err != nil && ctx.Err() == nil {
			k.failed(err)
			k.log.Warn("backup not tidied; trying again", "error", err)
		}
	}
}

func (k *Keeper) maintainOnce(ctx context.Context) error {
	if err := k.isThere(ctx); err != nil {
		return err
	}
	if err := k.copyFiles(ctx); err != nil {
		return err
	}
	if err := k.packs.closeAll(ctx); err != nil {
		return err
	}
	if err := k.setAside(ctx); err != nil {
		return err
	}
	damage, err := k.merger.all(ctx, k.writer.Epoch())
	if err != nil {
		return err
	}
	if damage != nil {
		h, err := read(ctx, k.b)
		if err == nil {
			err = k.judge(h)
		}
		if err != nil {
			return err
		}
		// The present state needs nothing of what is before it.
		k.log.Warn("records in the backup are damaged: another state file is copied, and some moments before it cannot be restored",
			"error", damage)
	}
	return k.snapshot(ctx, damage != nil)
}

// judge returns errAgain if an object of the tail is damaged that the present history may need.
func (k *Keeper) judge(h *History) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, one := range h.damaged {
		if !slices.Contains(k.spoiled, one) {
			return fmt.Errorf("%w: %s", errAgain, one.text)
		}
	}
	return nil
}

// setAside moves damaged objects of the tail away, once the present history needs nothing that was before it. They
// would make each restore, and each start of a writer, ask what they had.
func (k *Keeper) setAside(ctx context.Context) error {
	if !k.State().Whole {
		return nil
	}
	k.mu.Lock()
	list := k.spoiled
	k.mu.Unlock()
	for _, one := range list {
		if err := moveAside(ctx, k.b, one.key); err != nil {
			return err
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.spoiled = nil
	return nil
}

// moveAside moves an object of the tail that no history needs.
func moveAside(ctx context.Context, b bucket.Bucket, key string) error {
	raw, _, err := get(ctx, b, key, maxObject)
	if err == nil {
		err = b.Put(ctx, damagedDir+key, int64(len(raw)), bytes.NewReader(raw), bucket.PutOptions{})
	}
	if err != nil && !errors.Is(err, bucket.ErrNotFound) && !errors.Is(err, ErrBroken) { // one that is too long is none of ours
		return fmt.Errorf("set a damaged object aside: %w", err)
	}
	return b.Delete(ctx, key)
}

// copyFiles copies the small files that have changed.
func (k *Keeper) copyFiles(ctx context.Context) error {
	if err := k.files.copy(ctx); err != nil {
		return err
	}
	k.writer.setFiles(k.files.names())
	return nil
}

// snapshot copies the newest state file, if that is due or must be. The log in the vault has its last write set, unless
// it is the first of a history, which then begins with it.
func (k *Keeper) snapshot(ctx context.Context, must bool) error {
	k.mu.Lock()
	last := k.last
	logged := k.state.LogBytes - k.sinceLog
	k.mu.Unlock()
	base := k.writer.IsNew() && last.epoch != k.writer.Epoch()
	due := must || time.Since(last.at.time()) >= snapshotEvery || logged >= max(last.size, snapshotLog)
	if !due {
		return nil
	}
	s, err := k.src.DB.OpenState(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	at := s.Position
	if !base && (at.Number <= last.number || at.Number > k.writer.At().Number) {
		return nil
	}
	if base {
		k.src.DB.Hold(holdName, at.Number)
		if err := k.packs.copyNew(ctx); err != nil { // what the state names
			return err
		}
	}
	// The time may be a bit later than that of the write set: then a restore to a moment between begins with an older
	// file.
	one := snapshot{epoch: k.writer.Epoch(), number: at.Number, sum: at.Sum, at: k.writer.lastTime(), size: s.Size}
	if base {
		one.at = max(one.at, milliOf(time.Now()))
	}
	one.key = one.name()
	body := io.ReadSeeker(bytes.NewReader(nil))
	if s.Size > 0 {
		body = io.NewSectionReader(s, 0, s.Size)
	}
	if err := k.b.Put(ctx, one.key, s.Size, body, bucket.PutOptions{}); err != nil {
		return err
	}
	if base {
		k.writer.beginAt(at, one.at)
		k.gate.reach(at.Number)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last = one
	k.sinceLog = k.state.LogBytes
	k.state.StateBytes += s.Size
	k.state.Objects++
	return nil
}
