package vault

import (
	"cmp"
	"encoding/hex"
	"slices"

	"odarchive/triplestore/wal"
)

// branch is a run of epochs each of which continues the one before.
type branch struct {
	epochs []fence
	limits []uint64 // number of the last record of each epoch that counts
}

const noLimit = 1<<63 - 1

func (h *History) branches() (list []branch) {
	for _, f := range h.fences {
		if f.New || len(list) == 0 {
			list = append(list, branch{})
		}
		b := &list[len(list)-1]
		if n := len(b.epochs); n > 0 {
			b.limits[n-1] = f.Number
		}
		b.epochs, b.limits = append(b.epochs, f), append(b.limits, noLimit)
	}
	return list
}

// limit returns the number of the last record of an epoch that belongs to the branch. ok is false if the epoch does
// not.
func (b branch) limit(epoch uint64) (last uint64, ok bool) {
	for i, f := range b.epochs {
		if f.Epoch == epoch {
			return b.limits[i], true
		}
	}
	return 0, false
}

// inLastBranch reports whether an epoch belongs to the newest history.
func (h *History) inLastBranch(epoch uint64) bool {
	all := h.branches()
	if len(all) == 0 {
		return false
	}
	_, ok := all[len(all)-1].limit(epoch)
	return ok
}

// isWhole reports whether the newest history can be restored.
func (h *History) isWhole() bool {
	all := h.branches()
	return len(all) > 0 && h.hasBegun(all[len(all)-1])
}

// hasBegun reports whether a history can be restored: it has a state file, and the records after that up to where the
// history began. The state file of a small archive is empty, and all of it is in the records, which are copied later.
func (h *History) hasBegun(b branch) bool {
	list := h.snapshotsOf(b)
	if len(list) == 0 {
		return false
	}
	_, last := path(h.spansOf(b), list[0].number)
	return max(last, list[len(list)-1].number) >= b.epochs[0].Number
}

// leads reports whether the end of the newest history can be restored: some state file of it is followed by all records
// up to there.
func (h *History) leads() bool {
	all := h.branches()
	end, _, ok := h.end()
	if !ok {
		return false
	}
	b := all[len(all)-1]
	spans := h.spansOf(b)
	for _, s := range h.snapshotsOf(b) {
		if _, last := path(spans, s.number); max(last, s.number) >= end.Number {
			return true
		}
	}
	return false
}

// spansOf returns the objects of a branch, by first record. Overlapping ones have the same records.
func (h *History) spansOf(b branch) (list []span) {
	for _, s := range h.spans {
		if limit, ok := b.limit(s.epoch); ok && s.first <= limit {
			if s.last > limit {
				s.last, s.clipped = limit, true
			}
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b span) int { return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(b.last, a.last)) })
	return list
}

// snapshotsOf returns the state files of a branch, by number.
func (h *History) snapshotsOf(b branch) (list []snapshot) {
	for _, s := range h.snapshots {
		if limit, ok := b.limit(s.epoch); ok && s.number <= limit {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b snapshot) int { return cmp.Compare(a.number, b.number) })
	return list
}

// path returns objects with all records after from, without gaps, as far as that is possible, and the last one's
// number.
func path(spans []span, from uint64) (list []span, last uint64) {
	last = from
	for _, s := range spans {
		switch {
		case s.last <= last:
		case s.first > last+1:
			return list, last
		default:
			list, last = append(list, s), s.last
		}
	}
	return list, last
}

// end returns the position after the last record, and its time. ok is false if there has been no epoch.
func (h *History) end() (at wal.Position, when milli, ok bool) {
	all := h.branches()
	if len(all) == 0 {
		return at, 0, false
	}
	b := all[len(all)-1]
	last := b.epochs[len(b.epochs)-1]
	at, when = last.position(), last.Last
	for _, s := range h.snapshotsOf(b) {
		if s.number >= at.Number {
			at.Number, at.Sum, when = s.number, s.sum, max(when, s.at)
		}
	}
	for _, s := range h.spansOf(b) {
		if s.last > at.Number {
			at.Number, at.Sum, when = s.last, s.sum, max(when, s.to)
		}
	}
	return at, when, true
}

func (f fence) position() wal.Position {
	at := wal.Position{Number: f.Number, Sum: f.Sum}
	if raw, err := hex.DecodeString(f.Log); err == nil && len(raw) == len(at.Log) {
		copy(at.Log[:], raw)
	}
	return at
}
