package diary

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// A timeline lists the visits of all resources by time. It is cut into pages, the leaves of a tree whose inner nodes
// are the database's own: the key of a page has its first visit, and a page that is full is split. The key that is the
// table's byte alone names the newest pages, where almost every visit belongs.

// point is a visit on a timeline.
type point struct {
	start    int64
	resource [records.IDLen / 2]byte
	outcome  byte // index in outcomes
}

// outcomes gives each outcome a number of three bits; 0 is any other.
var outcomes = [...]catalog.Outcome{"", catalog.Archived, catalog.Unchanged, catalog.NoVersion, catalog.Blocked, catalog.RobotsDenied,
	catalog.RetryLater}

const outcomeBits = 3

func (s Stretch) at(start int64) point {
	p := point{start: start}
	hex.Decode(p.resource[:], []byte(s.Resource)) // an id is hexadecimal
	p.outcome = byte(max(0, slices.Index(outcomes[:], s.outcome)))
	return p
}

func (p point) compare(q point) int {
	return cmp.Or(cmp.Compare(p.start, q.start), bytes.Compare(p.resource[:], q.resource[:]))
}

func (p point) id() string { return hex.EncodeToString(p.resource[:]) }

const pageKeyLen = 1 + 8 + records.IDLen/2

// key returns the key of a page that begins with the point.
func (p point) key(table byte) []byte {
	k := appendTime([]byte{table}, p.start)
	for _, b := range p.resource {
		k = append(k, ^b)
	}
	return k
}

// Bounds of the number of visits in a page: a page that is full at the end of a timeline is followed by another; one in
// the midst takes some stragglers before it is split.
const (
	perPage = 64
	maxPage = 96
)

// encodePage returns the record of a page; points are oldest first.
func encodePage(points []point) []byte {
	b := make([]byte, 1, 1+16*len(points))
	b[0] = stretchFormat
	from := points[0].start
	for _, p := range points {
		b = binary.AppendUvarint(b, uint64(p.start-from)<<outcomeBits|uint64(p.outcome))
		b = append(b, p.resource[:]...)
		from = p.start
	}
	return b
}

func decodePage(k, raw []byte) (points []point, err error) {
	r := fields.Reader{B: raw}
	if len(k) != pageKeyLen || r.Byte() != stretchFormat {
		return nil, badRecord(k)
	}
	at := timeAt(k[1:])
	for len(r.B) > 0 && !r.Bad() {
		n := r.Max(maxSpan << outcomeBits)
		at += n >> outcomeBits
		p := point{start: at, outcome: byte(n & (1<<outcomeBits - 1))}
		copy(p.resource[:], r.Bytes(len(p.resource)))
		points = append(points, p)
	}
	if r.End() != nil || len(points) == 0 {
		return nil, badRecord(k)
	}
	return points, nil
}

// maxNewest is how many of the newest pages a table's byte names. Visits that run side by side end in another order
// than they started, so some belong into a page before the newest.
const maxNewest = 8

// newest returns the keys of the newest pages of a timeline, newest first, without a gap.
func (t Txn) newest(table byte) (keys [][]byte, err error) {
	_, err = t.Read(kv.SpaceArchive, []byte{table}, func(raw []byte) error {
		for k := range slices.Chunk(bytes.Clone(raw), pageKeyLen) {
			keys = append(keys, k)
		}
		return nil
	})
	return keys, err
}

// setNewest sets what newest returns.
func (t Txn) setNewest(table byte, keys [][]byte) error {
	if len(keys) == 0 {
		return t.Delete(kv.SpaceArchive, []byte{table})
	}
	return t.Set(kv.SpaceArchive, []byte{table}, bytes.Join(keys[:min(len(keys), maxNewest)], nil))
}

// note adds a visit to a timeline.
func (t Txn) note(table byte, p point) error {
	newest, err := t.newest(table)
	if err != nil {
		return err
	}
	page, err := t.pageOf(table, newest, p)
	if err != nil {
		return err
	}
	var points []point
	if page != nil {
		_, err = t.Read(kv.SpaceArchive, page, func(raw []byte) (err error) {
			points, err = decodePage(page, raw)
			return err
		})
		if err != nil && !errors.Is(err, records.ErrBadRecord) {
			return err
		}
	}
	if len(points) == 0 { // there is no page so old, or it cannot be read
		return t.putPage(table, newest, []point{p})
	}
	at, _ := slices.BinarySearchFunc(points, p, point.compare)
	last := len(newest) > 0 && bytes.Equal(page, newest[0])
	switch {
	case len(points) < perPage || !last && len(points) < maxPage:
		return t.Set(kv.SpaceArchive, page, encodePage(slices.Insert(points, at, p)))
	case at == len(points) && last:
		return t.putPage(table, newest, []point{p})
	}
	points = slices.Insert(points, at, p)
	half := len(points) / 2
	if points[half] == points[0] { // one resource, one moment: the page stays whole
		return t.Set(kv.SpaceArchive, page, encodePage(points))
	}
	if err := t.Set(kv.SpaceArchive, page, encodePage(points[:half])); err != nil {
		return err
	}
	return t.putPage(table, newest, points[half:])
}

// pageOf returns the key of the page that a visit belongs into, nil if all pages are newer.
func (t Txn) pageOf(table byte, newest [][]byte, p point) (page []byte, err error) {
	k := p.key(table)
	for _, page := range newest {
		if bytes.Compare(k, page) <= 0 {
			return page, nil
		}
	}
	err = t.Scan(kv.SpaceArchive, []byte{table}, k, func(k, _ []byte) (bool, error) {
		page = bytes.Clone(k)
		return false, nil
	})
	return page, err
}

// putPage writes a page under the key of its first point. newest is what newest returned.
func (t Txn) putPage(table byte, newest [][]byte, points []point) error {
	k := points[0].key(table)
	if err := t.Set(kv.SpaceArchive, k, encodePage(points)); err != nil {
		return err
	}
	at, found := slices.BinarySearchFunc(newest, k, bytes.Compare)
	if found || at == len(newest) && at > 0 { // older than all of them
		return nil
	}
	return t.setNewest(table, slices.Insert(newest, at, k))
}

// eachPage calls f with the pages that may hold visits that started until a time, newest first.
func (t Txn) eachPage(ctx context.Context, table byte, until int64, f func(k []byte, points []point) (more bool, err error)) error {
	return t.scan(ctx, []byte{table}, appendTime([]byte{table}, until), func(k, raw []byte) (bool, error) {
		points, err := decodePage(k, raw)
		if err != nil {
			return false, err
		}
		return f(k, points)
	})
}

// reader reads a table of the diary backwards in time, a page at a time, so that several can be read side by side.
type reader struct {
	table byte
	next  []byte // where the next page begins; nil at the end
	left  []point
}

// fill reads pages until some point is left or the table ends.
func (r *reader) fill(ctx context.Context, t Txn, before int64) error {
	for len(r.left) == 0 && r.next != nil {
		from := r.next
		r.next = nil
		err := t.scan(ctx, []byte{r.table}, from, func(k, raw []byte) (bool, error) {
			switch {
			case len(k) != pageKeyLen:
				return true, nil
			}
			points, err := decodePage(k, raw)
			if err != nil {
				return false, err
			}
			for _, p := range slices.Backward(points) {
				if p.start < before {
					r.left = append(r.left, p)
				}
			}
			r.next = append(bytes.Clone(k), 0)
			return false, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Wanted reports whether a visit of a resource is wanted. outcome is "" if it is not known yet.
type Wanted func(resource string, outcome catalog.Outcome) (bool, error)

// Each calls f with the visits of all resources that started before a time (zero: all) and are wanted, newest first,
// until f returns false or an error. Those whose records cannot be read are left out, for Unreadable.
func (t Txn) Each(ctx context.Context, before time.Time, wanted Wanted, f func(catalog.Activity) (more bool, err error)) error {
	return t.merge(ctx, before, func(e point) (bool, error) {
		resource := e.id()
		outcome := outcomes[min(int(e.outcome), len(outcomes)-1)]
		if e.outcome == 0 {
			outcome = ""
		}
		if ok, err := wanted(resource, outcome); err != nil || !ok {
			return err == nil, err
		}
		act, ok, err := t.read(ctx, e)
		if isBad(err) {
			return true, nil
		}
		if err != nil || !ok {
			return err == nil, err
		}
		if outcome == "" {
			if ok, err := wanted(resource, act.Outcome); err != nil || !ok {
				return err == nil, err
			}
		}
		return f(act)
	})
}

// read returns the visit of an entry.
func (t Txn) read(ctx context.Context, e point) (act catalog.Activity, ok bool, err error) {
	s, v, ok, err := t.locate(ctx, e.id(), e.start)
	if err != nil || !ok {
		return act, false, err
	}
	r, known, err := records.Txn{Txn: t.Txn}.Resource(s.Resource)
	if err != nil || !known {
		return act, false, records.OrNotFound(err, "resource", s.Resource)
	}
	return s.activity(r.URL, v), true, nil
}

// VisitedSince calls f with the ids of the resources that were visited since a time, newest visit first, once for each
// visit, until f returns false.
func (t Txn) VisitedSince(ctx context.Context, since time.Time, f func(resource string) (more bool)) error {
	return t.merge(ctx, time.Time{}, func(e point) (bool, error) {
		return e.start >= since.UnixMilli() && f(e.id()), nil
	})
}

// merge calls f with the entries before a time, newest first, until f returns false or an error.
func (t Txn) merge(ctx context.Context, before time.Time, f func(point) (more bool, err error)) error {
	end := int64(1)<<62 - 1
	if !before.IsZero() {
		end = before.UnixMilli()
	}
	readers := [...]*reader{{table: tableFirst}, {table: tableMore}}
	for _, r := range readers {
		r.next = appendTime([]byte{r.table}, end-1)
	}
	for {
		var newest *reader
		for _, r := range readers {
			if err := r.fill(ctx, t, end); err != nil {
				return err
			}
			if len(r.left) > 0 && (newest == nil || r.left[0].compare(newest.left[0]) > 0) {
				newest = r
			}
		}
		if newest == nil {
			return nil
		}
		e := newest.left[0]
		newest.left = newest.left[1:]
		if more, err := f(e); err != nil || !more {
			return err
		}
	}
}
