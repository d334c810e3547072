package diary

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"odarchive/triplestore/kv"
)

// forgetPages is how many pages of the timeline one transaction of Forget drops.
const forgetPages = 16

// Forget drops the single visits that started before a time, except the first of each stretch, and returns their
// number. Stretches keep how many visits they had and when the last of them ended. It may be interrupted, and called
// again.
func Forget(ctx context.Context, db *kv.DB, before time.Time) (dropped int, err error) {
	for {
		some := 0
		err := db.Update(ctx, func(txn *kv.Txn) (err error) {
			some, err = Txn{txn}.forget(ctx, before.UnixMilli())
			return err
		})
		if err != nil {
			return dropped, fmt.Errorf("archive: forget visits: %w", err)
		}
		if dropped += some; some == 0 {
			return dropped, nil
		}
	}
}

// forget drops some pages of the timeline, and their visits from the stretches.
func (t Txn) forget(ctx context.Context, before int64) (dropped int, err error) {
	type stretch struct {
		resource string
		start    int64
	}
	var pages [][]byte
	trim := map[stretch]bool{}
	err = t.eachPage(ctx, tableMore, before, func(k []byte, points []point) (bool, error) {
		if points[len(points)-1].start >= before {
			return true, nil
		}
		pages = append(pages, bytes.Clone(k))
		dropped += len(points)
		for _, p := range points {
			s, _, ok, err := t.locate(ctx, p.id(), p.start)
			if err != nil && !isBad(err) {
				return false, err
			}
			if ok {
				trim[stretch{s.Resource, s.start}] = true
			}
		}
		return len(pages) < forgetPages, nil
	})
	if err != nil {
		return 0, err
	}
	for s := range trim {
		if err := t.trim(ctx, s.resource, s.start, before); err != nil {
			return 0, err
		}
	}
	for _, k := range pages {
		if err := t.Delete(kv.SpaceArchive, k); err != nil {
			return 0, err
		}
	}
	if len(pages) == 0 {
		return 0, nil
	}
	return dropped, t.findNewest(ctx, tableMore)
}

// findNewest makes a table's byte name the newest pages that are left.
func (t Txn) findNewest(ctx context.Context, table byte) error {
	var newest [][]byte
	err := t.scan(ctx, []byte{table}, []byte{table, 0}, func(k, _ []byte) (bool, error) {
		newest = append(newest, bytes.Clone(k))
		return len(newest) < maxNewest, nil
	})
	if err != nil {
		return err
	}
	return t.setNewest(table, newest)
}

// trim drops the single visits of a stretch that started before a time.
func (t Txn) trim(ctx context.Context, resource string, start, before int64) error {
	s, ok, err := t.stretch(resource, start)
	if err != nil || !ok {
		return err
	}
	var older [][]byte
	var last visit
	n := 0
	rest := false // some visits stay in records of their own
	err = t.eachVisits(ctx, s, func(k []byte, some []visit) (bool, error) {
		if some[len(some)-1].start >= before {
			rest = true
			return true, nil
		}
		if len(older) == 0 {
			last = some[len(some)-1]
		}
		older = append(older, bytes.Clone(k))
		n += len(some)
		return true, nil
	})
	if err != nil {
		return err
	}
	for _, k := range older {
		if err := t.Delete(kv.SpaceArchive, k); err != nil {
			return err
		}
	}
	for !rest && len(s.recent) > 0 && s.recent[0].start < before {
		last, s.recent = s.recent[0], s.recent[1:]
		n++
	}
	if n == 0 {
		return nil
	}
	s.forgotten += n
	s.firstTook = last.start + last.took - s.start
	return t.set(s)
}
