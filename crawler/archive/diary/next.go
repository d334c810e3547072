package diary

import (
	"context"
	"fmt"
	"time"

	"odarchive/triplestore/kv"
)

// Next is where a visit of a resource goes.
type Next struct {
	Start time.Time // of the visit

	resource string
	last     Stretch // the stretch of the visit before; Visits is 0 if there is none
	behind   bool    // the resource may have visits that are later
}

// Bounds of how a start may differ from the clock, so that no two visits of a resource have the same.
const (
	sameMoment = 1000   // milliseconds
	maxBump    = 10_000 // milliseconds
)

// Next returns where a visit of a resource goes that starts at a time. current is the start of the stretch that the
// visit before belongs to, in milliseconds since 1970, 0 if there is none. If that moment has a visit already, the
// start moves to the first millisecond after it that has none.
func (t Txn) Next(ctx context.Context, resource string, current int64, start time.Time) (Next, error) {
	n := Next{Start: start, resource: resource}
	if current != 0 {
		s, ok, err := t.stretch(resource, current)
		if err != nil && !isBad(err) { // a record that cannot be read is left to checks, and not extended
			return n, err
		}
		if ok && err == nil {
			n.last = s
		}
	}
	ms := start.UnixMilli()
	wentBack := n.last.Visits > 0 && ms <= n.last.last.start
	if n.behind = wentBack || n.last.behind; n.last.Visits > 0 && !n.behind {
		return n, nil // it is later than all others
	}
	if wentBack && n.last.last.start-ms < sameMoment {
		n.Start = start.Add(time.Duration(n.last.last.start+1-ms) * time.Millisecond)
	}
	return t.free(ctx, n)
}

// free moves the start to a moment that has no visit.
func (t Txn) free(ctx context.Context, n Next) (Next, error) {
	for range maxBump {
		taken, err := t.taken(ctx, n.resource, n.Start.UnixMilli(), n.behind)
		if err != nil || !taken {
			return n, err
		}
		n.Start = n.Start.Add(time.Millisecond)
	}
	return n, fmt.Errorf("archive: visits of %s: %d in a row began at one moment", n.resource, maxBump)
}

// NextPast is Next for a visit of another archive, which may be older than others of the resource: it goes on with the
// stretch that began last before it, if that one found the same and has no later visit.
func (t Txn) NextPast(ctx context.Context, resource string, start time.Time) (Next, error) {
	n := Next{Start: start, resource: resource}
	err := t.scan(ctx, append([]byte{tableStretch}, resource...), stretchKey(resource, start.UnixMilli()),
		func(k, raw []byte) (bool, error) {
			s, err := decodeStretch(k, raw)
			if n.behind = isBad(err); err == nil {
				n.last, n.behind = s, s.behind || start.UnixMilli() <= s.last.start
			}
			if isBad(err) {
				err = nil
			}
			return false, err
		})
	if err != nil {
		return n, err
	}
	return t.free(ctx, n)
}

// taken reports whether a visit of a resource starts at a moment. Unless all visits are asked for, only those that
// begin a stretch count: no other starts later than the visit before.
func (t Txn) taken(ctx context.Context, resource string, start int64, all bool) (bool, error) {
	taken, err := t.Read(kv.SpaceArchive, stretchKey(resource, start), func([]byte) error { return nil })
	if err != nil || taken || !all {
		return taken, err
	}
	_, _, taken, err = t.locate(ctx, resource, start)
	if isBad(err) {
		return false, nil
	}
	return taken, err
}
