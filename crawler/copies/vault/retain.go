package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"odarchive/triplestore/bucket"
)

// retain deletes what no moment of the last Options.Keep needs: state files and log before the last state file that is
// older, and packs that were dropped from the archive before that time.
func (k *Keeper) retain(ctx context.Context) error {
	return k.prune(ctx, time.Now().Add(-k.opts.Keep), false)
}

// Forget tells the Keeper to look at once for what was withdrawn (see Source.Withdrawn).
func (k *Keeper) Forget() {
	select {
	case k.forgetting <- struct{}{}:
	default:
	}
}

// forget makes what was withdrawn leave the vault, if there is something: then moments before now can no longer be
// restored.
func (k *Keeper) forget(ctx context.Context) error {
	if k.src.Withdrawn == nil {
		return nil
	}
	if pending, err := k.src.Withdrawn(); err != nil || !pending {
		return err
	}
	s, err := k.src.DB.OpenState(ctx) // the archive itself has forgotten it, and so has the newest state file
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	if err := k.snapshot(ctx, true); err != nil {
		return err
	}
	k.mu.Lock()
	last := k.last
	k.mu.Unlock()
	if last.number < s.Position.Number {
		return fmt.Errorf("what was withdrawn stays until the backup has write set %d", s.Position.Number)
	}
	if err := k.prune(ctx, last.at.time().Add(time.Millisecond), true); err != nil {
		return err
	}
	k.log.Info("what was withdrawn has left the backup; earlier moments cannot be restored", "moment", last.at.time().Format(time.RFC3339))
	return k.src.Forgotten(ctx)
}

// prune deletes what no moment from a time on needs. With all, packs that the archive does not have go at once.
func (k *Keeper) prune(ctx context.Context, before time.Time, all bool) error {
	if err := k.writer.renew(ctx); err != nil { // a writer that was stopped for long must not delete what another one needs
		return err
	}
	h, err := read(ctx, k.b)
	if err != nil {
		return err
	}
	if err := k.judge(h); err != nil {
		return err
	}
	if len(h.damaged) > 0 {
		return errors.New("damaged objects are not set aside yet")
	}
	if h.isWhole() && !h.leads() { // before that, the first records may not be there yet
		return fmt.Errorf("%w: records are missing", errAgain)
	}
	keep := h.needed(milliOf(before))
	keep[tailKey(h.next-1)] = true // its place must stay taken
	for _, s := range h.spans {
		if !keep[s.key] {
			if err := k.b.Delete(ctx, s.key); err != nil {
				return err
			}
		}
	}
	k.merger.forget(func(s span) bool {
		return !keep[s.key] && s.last <= k.writer.At().Number && slices.ContainsFunc(h.spans, func(o span) bool { return o.key == s.key })
	})
	oldest := milliOf(before)
	for _, s := range h.snapshots {
		if keep[s.key] {
			oldest = min(oldest, s.at) // the first moment that can be restored
		} else if err := k.b.Delete(ctx, s.key); err != nil {
			return err
		}
	}
	for i, f := range h.fences { // the newest one keeps its place in the tail
		if i+1 < len(h.fences) && h.fences[i+1].At < milliOf(before) && !keep[tailKey(f.seq)] {
			if err := k.b.Delete(ctx, tailKey(f.seq)); err != nil {
				return err
			}
		}
	}
	for _, f := range h.late {
		if err := k.b.Delete(ctx, tailKey(f.seq)); err != nil {
			return err
		}
	}
	for info, err := range k.b.List(ctx, damagedDir, "") {
		if err == nil && (all || info.Modified.Before(before)) {
			err = k.b.Delete(ctx, info.Key)
		}
		if err != nil {
			return err
		}
	}
	if err := k.pruneFiles(ctx, milliOf(before)); err != nil {
		return err
	}
	return k.prunePacks(ctx, oldest, all)
}

// needed returns the keys of state files, log objects and fences that a moment from a time on needs.
func (h *History) needed(from milli) map[string]bool {
	keep := make(map[string]bool)
	all := h.branches()
	for i, b := range all {
		snapshots, first := h.snapshotsOf(b), 0
		for j, s := range snapshots {
			if s.at <= from {
				first = j
			}
		}
		ended := i+1 < len(all) && h.begins(all[i+1:]) <= from
		if len(snapshots) == 0 || ended {
			continue
		}
		for _, s := range snapshots[first:] {
			keep[s.key] = true
		}
		for _, s := range h.spansOf(b) {
			if s.last > snapshots[first].number {
				keep[s.key] = true
			}
		}
		for _, f := range b.epochs {
			keep[tailKey(f.seq)] = true
		}
	}
	return keep
}

// begins returns the time from which one of some histories can be restored.
func (h *History) begins(list []branch) milli {
	for _, b := range list {
		if h.hasBegun(b) {
			return h.snapshotsOf(b)[0].at
		}
	}
	return noLimit
}

// pruneFiles deletes copies of small files that were replaced before a time.
func (k *Keeper) pruneFiles(ctx context.Context, before milli) error {
	newest := make(map[string]string)
	for info, err := range k.b.List(ctx, filesDir, "") {
		if err != nil {
			return err
		}
		f, ok := parseFile(info.Key)
		if !ok {
			continue
		}
		if old := newest[f.name]; old != "" && f.at <= before {
			if err := k.b.Delete(ctx, old); err != nil {
				return err
			}
		}
		newest[f.name] = info.Key
	}
	return nil
}

// prunePacks deletes copies of packs that the archive dropped before a time, or with all, of all that it does not have.
// When a pack was dropped is known from an object that is made when its absence is noticed.
func (k *Keeper) prunePacks(ctx context.Context, before milli, all bool) error {
	there, err := listPacks(ctx, k.b) // first: what is made meanwhile is in the archive
	if err != nil {
		return err
	}
	gone := make(map[uint64][]string) // keys by number
	for _, w := range there.whole {
		gone[packNumber(w.name)] = append(gone[packNumber(w.name)], w.key)
	}
	for num, list := range there.pieces {
		for _, p := range list {
			gone[num] = append(gone[num], p.key)
		}
	}
	local, err := k.src.Content.Packs()
	if err != nil {
		return err
	}
	for _, p := range local {
		delete(gone, p.Number())
	}
	dropped := make(map[uint64]milli)
	for info, err := range k.b.List(ctx, droppedDir, "") {
		if err != nil {
			return err
		}
		if num, at, ok := parseDropped(info.Key); ok {
			dropped[num] = at
		}
	}
	for num, keys := range gone {
		at, known := dropped[num]
		if !known && !all {
			key := droppedKey(num, milliOf(time.Now()))
			if err := k.b.Put(ctx, key, 0, bytes.NewReader(nil), bucket.PutOptions{}); err != nil {
				return err
			}
			continue
		}
		if !all && at > before {
			continue
		}
		if known {
			keys = append(keys, droppedKey(num, at))
		}
		for _, key := range keys {
			if err := k.b.Delete(ctx, key); err != nil {
				return err
			}
		}
		k.packs.forget(num)
	}
	return nil
}

func droppedKey(num uint64, at milli) string {
	return fmt.Sprintf("%s%012d-%013d", droppedDir, num, at)
}

func parseDropped(key string) (num uint64, at milli, ok bool) {
	text, ok := strings.CutPrefix(key, droppedDir)
	number, when, ok2 := strings.Cut(text, "-")
	p := parser{}
	num, at = p.uint(number, 10), milli(p.uint(when, 10))
	return num, at, ok && ok2 && !p.failed
}
