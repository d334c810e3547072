package diary

import (
	"bytes"
	"context"
	"encoding/hex"
	"slices"

	"odarchive/crawler/archive/records"
	"odarchive/triplestore/kv"
)

// Folding brings a diary of format 1 up to date, in two rounds, each in small transactions that say where the next one
// begins. The first round goes from resource to resource: it makes stretches of the visits, and leaves a mark of one byte
// where the record of a visit was. The second round makes the timelines of the marks. Between two transactions the diary
// can be read. An interrupted folding continues where it was.

// Marks of the first round, in tableOld.
const (
	markFirst = 'f' // the first visit of a stretch
	markMore  = 'm' // another one
)

// Folding is what one transaction did to a stretch. Those in which nothing changed are left out, except for the last
// stretch of a resource.
type Folding struct {
	Before  Stretch  // as it was; the first visit alone if the transaction began the stretch
	After   Stretch  // as it is
	Removed []string // ids of visits that were activities of their own
}

// FoldStretches is a transaction of the first round: it makes stretches of about limit visits from a key on (nil: the
// first). next is the key to continue from, nil at the end. visits counts what it folded.
func (t Txn) FoldStretches(ctx context.Context, from []byte, limit int) (folded []Folding, visits int, next []byte, err error) {
	var starts []int64 // of the visits of one resource that are in format 1, newest first
	var resource string
	fold := func(max int) error {
		slices.Reverse(starts)
		n := min(len(starts), max)
		some, err := t.foldResource(ctx, resource, starts[:n])
		folded = append(folded, some...)
		visits += n
		starts = starts[:0]
		return err
	}
	type found struct {
		key  []byte
		none bool
	}
	var keys []found
	err = t.scan(ctx, []byte{tableStretch}, from, func(k, raw []byte) (bool, error) {
		if len(k) != stretchKeyLen {
			return false, badRecord(k)
		}
		if len(keys) >= limit && string(k[1:1+records.IDLen]) != string(keys[len(keys)-1].key[1:1+records.IDLen]) {
			next = bytes.Clone(k)
			return false, nil
		}
		keys = append(keys, found{bytes.Clone(k), len(raw) == 0})
		return true, nil
	})
	if err != nil {
		return nil, 0, nil, err
	}
	for i, f := range keys {
		of := string(f.key[1 : 1+records.IDLen])
		if of != resource {
			if err := fold(len(starts)); err != nil {
				return nil, 0, nil, err
			}
			resource = of
		}
		if f.none {
			starts = append(starts, timeAt(f.key[1+records.IDLen:]))
		}
		if i == len(keys)-1 {
			more, before := len(starts) > 2*limit, len(folded)
			if err = fold(2 * limit); more && len(folded) > before { // more visits than a transaction takes: the oldest first
				next = stretchKey(resource, int64(1)<<62)
			}
		}
	}
	return folded, visits, next, err
}

// foldResource makes stretches of visits of a resource in format 1, oldest first.
func (t Txn) foldResource(ctx context.Context, resource string, starts []int64) (folded []Folding, err error) {
	if len(starts) == 0 {
		return nil, nil
	}
	var last Folding // whose stretch grows
	if last.After, err = t.stretchBefore(ctx, resource, starts[0]); err != nil {
		return nil, err
	}
	last.Before = last.After
	did := false
	for _, start := range starts {
		act, err := t.oldActivity(resource, start)
		if isBad(err) { // it stays as it is, for checks to find
			continue
		}
		if err != nil {
			return nil, err
		}
		s := begin(resource, act)
		s.start, s.last.start = start, start
		did = true
		mark := byte(markFirst)
		if last.After.Visits > 0 && last.After.continues(s) {
			mark = markMore
			last.Removed = append(last.Removed, s.ID())
			if last.After, err = t.extend(last.After, s.last); err == nil {
				err = t.Delete(kv.SpaceArchive, stretchKey(resource, start))
			}
		} else {
			if last.After.Visits > last.Before.Visits {
				folded = append(folded, last)
			}
			last = Folding{Before: s, After: s}
			err = t.set(s)
		}
		if err == nil {
			err = t.Set(kv.SpaceArchive, oldKey(resource, start), []byte{mark})
		}
		if err != nil {
			return nil, err
		}
	}
	if did {
		folded = append(folded, last)
	}
	return folded, nil
}

// stretchBefore returns the newest stretch of a resource that began before a time and that an earlier transaction made.
func (t Txn) stretchBefore(ctx context.Context, resource string, start int64) (s Stretch, err error) {
	err = t.scan(ctx, append([]byte{tableStretch}, resource...), stretchKey(resource, start-1), func(k, raw []byte) (bool, error) {
		if len(raw) > 0 {
			s, err = decodeStretch(k, raw)
		}
		return false, err
	})
	return s, err
}

// FoldTimelines is a transaction of the second round: it moves about limit marks to the timelines. next is the key to
// continue from, nil at the end.
func (t Txn) FoldTimelines(ctx context.Context, from []byte, limit int) (next []byte, err error) {
	marks := map[byte][]point{} // by timeline, newest first
	var keys [][]byte
	err = t.scan(ctx, []byte{tableOld}, from, func(k, raw []byte) (bool, error) {
		if len(keys) >= limit {
			next = bytes.Clone(k)
			return false, nil
		}
		table := byte(tableFirst)
		switch {
		case len(k) != oldKeyLen || len(raw) != 1: // not a mark
			return true, nil
		case raw[0] == markMore:
			table = tableMore
		}
		p := point{start: timeAt(k[1:])}
		if _, err := hex.Decode(p.resource[:], k[9:]); err != nil {
			return false, badRecord(k)
		}
		marks[table] = append(marks[table], p)
		keys = append(keys, bytes.Clone(k))
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	for table, points := range marks {
		slices.SortFunc(points, point.compare)
		if err := t.putAll(ctx, table, points); err != nil {
			return nil, err
		}
	}
	for _, k := range keys {
		if err := t.Delete(kv.SpaceArchive, k); err != nil {
			return nil, err
		}
	}
	return next, nil
}

// putAll adds visits, oldest first, to a timeline: in pages of their own if they are older than all others.
func (t Txn) putAll(ctx context.Context, table byte, points []point) error {
	older := false
	err := t.scan(ctx, []byte{table}, points[len(points)-1].key(table), func([]byte, []byte) (bool, error) {
		older = true
		return false, nil
	})
	if err != nil {
		return err
	}
	if older {
		for _, p := range points {
			if err := t.note(table, p); err != nil {
				return err
			}
		}
		return nil
	}
	for len(points) > 0 {
		n := min(len(points), perPage)
		newest, err := t.newest(table)
		if err != nil {
			return err
		}
		if err := t.putPage(table, newest, points[:n]); err != nil {
			return err
		}
		points = points[n:]
	}
	return nil
}

// HasOld reports whether the diary has visits in format 1.
func (t Txn) HasOld(ctx context.Context) (has bool, err error) {
	err = t.scan(ctx, []byte{tableOld}, nil, func([]byte, []byte) (bool, error) {
		has = true
		return false, nil
	})
	return has, err
}
