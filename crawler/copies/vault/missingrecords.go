package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"odarchive/triplestore/kv"
	"odarchive/triplestore/wal"
)

// lacks returns the records that a replica lacks, as a target. It has none if the replica has all of them, and perhaps
// more. The error is kv.ErrOtherHistory if the replica is not one of the archive in the vault. If a record is damaged
// or missing, the target has those before it.
func (h *History) lacks(ctx context.Context, db *kv.DB, known sums) (t Target, err error) {
	all := h.branches()
	end, _, ok := h.end()
	at := db.Position()
	t = Target{Number: at.Number, from: snapshot{number: at.Number, sum: at.Sum}}
	var damage error
	if len(h.damaged) > 0 {
		damage = fmt.Errorf("%w: %s", ErrBroken, h.damaged[0].text)
	}
	if !ok || !h.isWhole() {
		return t, cmp.Or(damage, fmt.Errorf("%w: it has no complete copy of the archive", ErrNoMoment))
	}
	b := all[len(all)-1]
	if at.Log != b.epochs[0].position().Log {
		return t, cmp.Or(damage,
			fmt.Errorf("%w: its log is not that in the vault, of which it has perhaps received nothing yet: let it follow the writer",
				kv.ErrOtherHistory))
	}
	if at.Number >= end.Number {
		return t, cmp.Or(damage, h.parted(ctx, db, end))
	}
	way, last := path(h.spansOf(b), at.Number)
	sound, err := h.continues(ctx, Target{from: t.from, way: way}, known)
	if t.way = way[:sound]; sound > 0 {
		t.Number = way[sound-1].last
	}
	switch {
	case err != nil && (damage == nil || !isForWant(err)):
		return t, err
	case damage != nil || last >= end.Number:
		return t, damage
	case h.leads(): // it began anew behind what the replica has
		return t,
			fmt.Errorf(
				"%w: the vault has not all write sets after %d any more, but a state file of a later moment: 'odarchive restore' of the "+
					"backup "+
					"to an empty directory has all of it, and is served with --promote", ErrNoMoment, last)
	}
	return t, fmt.Errorf("%w: the vault has not all write sets after %d any more", ErrNoMoment, last)
}

// parted returns an error if a replica that is not behind the end of the vault does not have it.
func (h *History) parted(ctx context.Context, db *kv.DB, end wal.Position) error {
	at := db.Position()
	for _, err := range db.Records(ctx, end, false) {
		if errors.Is(err, kv.ErrOtherHistory) {
			return fmt.Errorf("%w, up to %d", ErrParted, at.Number)
		}
		if errors.Is(err, kv.ErrLogTrimmed) && at != end { // it began with a state file of a later moment
			return fmt.Errorf(
				"%w: the log of the replica does not reach back to the end of the backup, write set %d, so nobody can tell whether it "+
					"has what the backup has", ErrParted, end.Number)
		}
		if err != nil && !errors.Is(err, kv.ErrLogTrimmed) {
			return err
		}
		break
	}
	return nil
}

// behind returns how many records the vault counts behind a position of its newest history.
func (h *History) behind(at wal.Position) uint64 {
	end, _, ok := h.end()
	if !ok || end.Log != at.Log {
		return 0
	}
	return max(end.Number, at.Number) - at.Number
}

// sums has the checksum of the record before the first one of objects of the log that were read, and are sound, by key.
type sums map[string]uint32

// continues reads the records of a target, as far as they were not read before, and returns how many of its objects are
// sound: those before the first one that is not. The error is ErrParted if they do not follow those that the replica
// has, and ErrBroken if they cannot be read.
func (h *History) continues(ctx context.Context, t Target, known sums) (sound int, err error) {
	var unread []span
	var places []int // of them on the way
	for i, s := range t.way {
		if s.sound {
			known[s.key] = s.before
		}
		if _, ok := known[s.key]; !ok || s.clipped || i == 0 && s.first <= t.from.number {
			unread, places = append(unread, s), append(places, i)
		}
	}
	sumOf := make(map[uint64]uint32) // of single records: the replica's last one, and the last ones that count of objects with more
	sound, n := len(t.way), 0
	for s, get := range h.objects(ctx, unread) {
		o, failed := get()
		if failed == nil && o.batch == nil {
			failed = fmt.Errorf("%w: %s has no records", ErrBroken, s.key)
		}
		if failed != nil {
			sound, err = places[n], failed
			break
		}
		n++
		known[s.key] = o.batch.before
		for _, e := range o.batch.entries {
			if e.Number == t.from.number || e.Number == s.last {
				sumOf[e.Number] = e.Sum
			}
		}
	}
	at, sum := t.from.number, t.from.sum
	for i, s := range t.way[:sound] {
		before := known[s.key]
		if i == 0 && s.first <= at {
			before = sumOf[at]
		}
		switch {
		case i > 0 && s.first <= at: // it has records of the one before, too
		case before != sum && i == 0:
			return 0, fmt.Errorf("%w, up to %d", ErrParted, at)
		case before != sum:
			return i, fmt.Errorf("%w: %s does not follow record %d", ErrBroken, s.key, at)
		}
		if at, sum = s.last, s.sum; s.clipped {
			sum = sumOf[at]
		}
	}
	return sound, err
}
