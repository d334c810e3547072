package diary

import (
	"context"
	"net/http"
	"slices"
	"time"

	"odarchive/crawler/catalog"
)

// Visit returns the visit that stored a version, by the time when it began, without its URL, unless it is forgotten or
// its record cannot be read. Its status is 200 if the server answered 304: that is the answer which the version has.
func (t Txn) Visit(resource string, start time.Time) (act catalog.Activity, ok bool, err error) {
	s, ok, err := t.stretch(resource, start.UnixMilli())
	v := visit{s.start, s.firstTook}
	if !ok && err == nil {
		s, v, ok, err = t.locate(context.Background(), resource, start.UnixMilli())
	}
	if isBad(err) {
		return act, false, nil
	}
	if !ok || err != nil {
		return act, false, err
	}
	if act = s.activity("", v); act.Status == http.StatusNotModified {
		act.Status = http.StatusOK
	}
	return act, true, nil
}

// Found returns the first visit of a resource after a time, and before another one (zero: no end), that found a version
// of which same is true unchanged, without its URL. Forgotten visits are skipped, except for the last one of a stretch.
func (t Txn) Found(ctx context.Context, resource string, after, before time.Time, same func(n int) bool) (act catalog.Activity, ok bool,
	err error) {
	from, end := after.UnixMilli(), int64(1)<<62-1
	if !before.IsZero() {
		end = before.UnixMilli()
	}
	err = t.scan(ctx, append([]byte{tableStretch}, resource...), nil, func(k, raw []byte) (bool, error) {
		s, err := decodeStretch(k, raw)
		if isBad(err) { // for checks to find
			return true, nil
		}
		if err != nil || s.outcome != catalog.Unchanged || s.version == 0 || s.start >= end || s.last.start <= from || !same(s.version-1) {
			return err == nil, err
		}
		visits, err := t.visits(ctx, s)
		if err != nil {
			return false, err
		}
		for _, v := range append(visits, s.last) {
			if v.start > from && v.start < end {
				if found := s.activity("", v); !ok || found.Start.Before(act.Start) {
					act, ok = found, true
				}
				break
			}
		}
		return true, nil
	})
	return act, ok, err
}

// HasFound reports whether a visit of a resource, which began at a moment or less than a time later, found a version of
// which same is true unchanged. forgotten says that a forgotten visit did perhaps, which may have been at any moment of
// its stretch.
func (t Txn) HasFound(ctx context.Context, resource string, at time.Time, within time.Duration, same func(n int) bool) (has, forgotten bool,
	err error) {
	from, to := at.UnixMilli(), at.Add(within).UnixMilli()
	err = t.scan(ctx, append([]byte{tableStretch}, resource...), stretchKey(resource, to), func(k, raw []byte) (bool, error) {
		s, err := decodeStretch(k, raw)
		if isBad(err) {
			return true, nil
		}
		if err != nil || s.outcome != catalog.Unchanged || s.version == 0 || s.last.start < from || !same(s.version-1) {
			return err == nil, err
		}
		forgotten = forgotten || s.forgotten > 0 && from >= s.start && from <= s.start+s.firstTook
		near := func(v visit) bool { return v.start >= from && v.start < to }
		if has = near(visit{start: s.start}) || slices.ContainsFunc(s.recent, near); has {
			return false, nil
		}
		err = t.scan(ctx, visitsPrefix(resource, s.start), visitsKey(resource, s.start, to), func(k, raw []byte) (bool, error) {
			older, err := decodeVisits(k, raw)
			if isBad(err) {
				return true, nil
			}
			has = slices.ContainsFunc(older, near)
			return err == nil && !has && older[0].start >= from, err
		})
		return !has, err
	})
	return has, forgotten, err
}

// IsLater reports whether a moment is certainly later than all visits of a resource, the last of which is in the
// stretch that began at current.
func (t Txn) IsLater(resource string, current int64, at time.Time) (bool, error) {
	s, ok, err := t.stretch(resource, current)
	if isBad(err) {
		return false, nil
	}
	return ok && !s.behind && s.last.start < at.UnixMilli(), err
}
