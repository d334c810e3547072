// Package diary keeps the visits of resources, so that visits that find nothing new cost almost nothing.
//
// Visits of a resource that follow one another and find the same make one Stretch: a stretch of unchanged visits, or of
// failures of one kind. A stretch is one record and one activity in the triples, and the next visit that finds the same
// extends both. A visit that archives a version is a stretch of its own. The single visits of a stretch are kept beside
// it in a few bytes each, and in a timeline of all resources, until Forget drops the old ones. FORMAT.md describes the
// records.
//
// The package decides nothing: package archive says what a visit found.
package diary

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore/kv"
)

// The tables of the diary in the archive's keyspace, by first byte. Times in keys are complemented, so the newest come
// first.
const (
	tableStretch = 'b' // resource id, start of the first visit -> Stretch
	tableFirst   = 'u' // the timeline of first visits
	tableMore    = 'w' // the timeline of the other visits
	tableVisits  = 'y' // resource id, start of the stretch, start of the first of these visits -> visits
)

// Txn reads and writes the diary within one transaction.
type Txn struct{ *kv.Txn }

func appendTime(k []byte, ms int64) []byte { return binary.BigEndian.AppendUint64(k, ^uint64(ms)) }

func timeAt(k []byte) int64 { return int64(^binary.BigEndian.Uint64(k)) }

func stretchKey(resource string, start int64) []byte {
	return appendTime(append([]byte{tableStretch}, resource...), start)
}

func visitsKey(resource string, stretch, first int64) []byte {
	return appendTime(visitsPrefix(resource, stretch), first)
}

// visitsPrefix begins the keys of the visits of a stretch.
func visitsPrefix(resource string, stretch int64) []byte {
	return appendTime(append([]byte{tableVisits}, resource...), stretch)
}

const (
	stretchKeyLen = 1 + records.IDLen + 8
	visitsKeyLen  = 1 + records.IDLen + 8 + 8
)

// Add writes a visit. If it found the same as the visit before, it extends that one's stretch: before is the stretch
// without it and after the stretch with it. Otherwise it begins a stretch, and before is the zero Stretch. act starts
// at n.Start.
func (t Txn) Add(n Next, act catalog.Activity) (before, after Stretch, err error) {
	found := begin(n.resource, act)
	if n.last.Visits > 0 && n.last.continues(found) {
		if after, err = t.extend(n.last, found.last); err != nil {
			return before, after, err
		}
		return n.last, after, t.note(tableMore, after.at(found.start))
	}
	found.behind = n.behind
	if err := t.set(found); err != nil {
		return before, found, err
	}
	return before, found, t.note(tableFirst, found.at(found.start))
}

// maxRecent is the maximum number of visits in the record of a stretch; it moves them to a record of their own then.
const maxRecent = 64

// extend adds a visit to a stretch, but not to the timeline.
func (t Txn) extend(s Stretch, v visit) (Stretch, error) {
	if len(s.recent) >= maxRecent {
		if err := t.Set(kv.SpaceArchive, visitsKey(s.Resource, s.start, s.recent[0].start), encodeVisits(s.recent)); err != nil {
			return s, err
		}
		s.recent = nil
	}
	s.recent = append(slices.Clone(s.recent), v)
	s.Visits++
	s.last = v
	return s, t.set(s)
}

func (t Txn) set(s Stretch) error {
	return t.Set(kv.SpaceArchive, stretchKey(s.Resource, s.start), s.encode())
}

// stretch returns the stretch of a resource that began at a time.
func (t Txn) stretch(resource string, start int64) (s Stretch, ok bool, err error) {
	k := stretchKey(resource, start)
	ok, err = t.Read(kv.SpaceArchive, k, func(raw []byte) (err error) {
		s, err = decodeStretch(k, raw)
		return err
	})
	return s, ok, err
}

func badRecord(k []byte) error {
	return fmt.Errorf("archive: record %q: %w", k, records.ErrBadRecord)
}

// Stretches calls f with all stretches, resource by resource, the newest of a resource first, until f fails. Records
// that cannot be read are left out, for Unreadable.
func (t Txn) Stretches(ctx context.Context, f func(Stretch) error) error {
	return t.StretchesAfter(ctx, Stretch{}, func(s Stretch) (bool, error) { return true, f(s) })
}

// StretchesAfter does the same for those after one, the zero Stretch for all, until f returns false or an error.
func (t Txn) StretchesAfter(ctx context.Context, after Stretch, f func(Stretch) (more bool, err error)) error {
	var from []byte
	if after.Visits > 0 {
		from = append(stretchKey(after.Resource, after.start), 0)
	}
	return t.scan(ctx, []byte{tableStretch}, from, func(k, raw []byte) (bool, error) {
		s, err := decodeStretch(k, raw)
		if isBad(err) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		return f(s)
	})
}

// scan calls f with the keys that have the prefix, and their values, from a key on, until f returns false or an error.
func (t Txn) scan(ctx context.Context, prefix, from []byte, f func(k, v []byte) (more bool, err error)) error {
	return t.Scan(kv.SpaceArchive, prefix, from, func(k, v []byte) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		return f(k, v)
	})
}

// Of returns the visits of a resource that started before a time (zero: all), newest first, without those whose records
// cannot be read.
func (t Txn) Of(ctx context.Context, resource, url string, before time.Time) (all []catalog.Activity, err error) {
	end := int64(1)<<62 - 1
	if !before.IsZero() {
		end = before.UnixMilli()
	}
	err = t.scan(ctx, append([]byte{tableStretch}, resource...), nil, func(k, raw []byte) (bool, error) {
		s, err := decodeStretch(k, raw)
		if isBad(err) || err == nil && s.start >= end {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		visits, err := t.visits(ctx, s)
		if err != nil {
			return false, err
		}
		for _, v := range visits {
			if v.start < end {
				all = append(all, s.activity(url, v))
			}
		}
		return true, nil
	})
	slices.SortStableFunc(all, func(a, b catalog.Activity) int { return b.Start.Compare(a.Start) })
	return all, err
}

// visits returns the visits of a stretch that are listed one by one, oldest first. The first stands for the forgotten
// ones, too.
func (t Txn) visits(ctx context.Context, s Stretch) ([]visit, error) {
	all := []visit{{s.start, s.firstTook}}
	if s.Visits-1-s.forgotten > len(s.recent) {
		var older [][]visit
		err := t.eachVisits(ctx, s, func(_ []byte, some []visit) (bool, error) {
			older = append(older, some)
			return true, nil
		})
		if err != nil {
			return nil, err
		}
		for _, some := range slices.Backward(older) {
			all = append(all, some...)
		}
	}
	return append(all, s.recent...), nil
}

// eachVisits calls f with the records of a stretch's visits, the newest first, until f returns false or an error.
func (t Txn) eachVisits(ctx context.Context, s Stretch, f func(k []byte, some []visit) (more bool, err error)) error {
	return t.scan(ctx, visitsPrefix(s.Resource, s.start), nil, func(k, raw []byte) (bool, error) {
		some, err := decodeVisits(k, raw)
		if err != nil {
			return false, err
		}
		return f(k, some)
	})
}

// locate returns the stretch that lists a visit, and the visit. ok is false if none does any more.
func (t Txn) locate(ctx context.Context, resource string, start int64) (in Stretch, v visit, ok bool, err error) {
	prefix := append([]byte{tableStretch}, resource...)
	err = t.scan(ctx, prefix, stretchKey(resource, start), func(k, raw []byte) (bool, error) {
		s, err := decodeStretch(k, raw)
		if err != nil {
			return false, err
		}
		if s.start == start {
			in, v, ok = s, visit{s.start, s.firstTook}, true
			return false, nil
		}
		if start > s.last.start { // a clock that went back can put a visit between those of an older stretch
			return true, nil
		}
		visits, err := t.visits(ctx, s)
		if err != nil {
			return false, err
		}
		for _, one := range visits {
			if one.start == start {
				in, v, ok = s, one, true
			}
		}
		return !ok, nil
	})
	return in, v, ok, err
}

// versionID returns the id of version n-1 of a resource, or "" if n is 0.
func versionID(resource string, n int) string {
	if n == 0 {
		return ""
	}
	return ns.VersionID(resource, n-1)
}
