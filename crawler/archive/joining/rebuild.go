package joining

import (
	"context"
	"errors"
	"fmt"

	"odarchive/crawler/archive/describe"
	"odarchive/crawler/archive/joins"
	"odarchive/crawler/archive/records"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
)

// formatKey in SpaceMeta holds the format of the index, once all latest versions are in the index or marked.
const (
	formatKey = "archive/joins"
	format    = "7" // see crawler/archive/joins/FORMAT.md
	headless  = "6" // the same without the heads of sets
	unpruned  = "5" // and with more entries than needed
)

// Upgrade counts the marked versions. If an older program wrote the index, or none did, it calls rebuild first. It
// continues or starts over if it was interrupted, and is quick if there is nothing to do. Nothing else may write
// meanwhile.
func (q *Queue) Upgrade(ctx context.Context) error {
	var written []byte
	err := q.db.View(func(txn *kv.Txn) (err error) {
		written, _, err = txn.Get(kv.SpaceMeta, []byte(formatKey))
		return err
	})
	switch {
	case err != nil || string(written) == format:
	case string(written) == unpruned:
		if err = q.prune(ctx); err == nil {
			err = q.addHeads(ctx)
		}
	case string(written) == headless:
		err = q.addHeads(ctx)
	default:
		err = q.rebuild(ctx)
	}
	if err == nil {
		err = q.countMarks(ctx)
	}
	if err != nil {
		return fmt.Errorf("archive: index columns: %w", err)
	}
	return nil
}

// prune drops what format 5 has and this one has not. If it is interrupted, it starts over.
func (q *Queue) prune(ctx context.Context) error {
	var last []byte
	for {
		var next []byte
		err := q.db.Update(ctx, func(txn *kv.Txn) (err error) {
			if next, err = joins.Prune(txn, last); err == nil && next == nil {
				err = txn.Set(kv.SpaceMeta, []byte(formatKey), []byte(headless))
			}
			return err
		})
		if err != nil || next == nil {
			return err
		}
		last = next
	}
}

// addHeads adds what format 6 has not. If it is interrupted, it starts over.
func (q *Queue) addHeads(ctx context.Context) error {
	for from := uint32(0); ; {
		var next uint32
		err := q.db.Update(ctx, func(txn *kv.Txn) (err error) {
			if next, err = joins.AddHeads(txn, from, headsPerTxn); err == nil && next == 0 {
				err = txn.Set(kv.SpaceMeta, []byte(formatKey), []byte(format))
			}
			return err
		})
		if err != nil || next == 0 {
			return err
		}
		from = next
	}
}

func (q *Queue) countMarks(ctx context.Context) error {
	n := int64(0)
	err := q.db.View(func(txn *kv.Txn) error {
		return eachMark(ctx, txn, nil, func([]byte) (bool, error) { n++; return true, nil })
	})
	q.len.Store(n)
	return err
}

// Bounds of transactions of Upgrade.
const (
	headsPerTxn   = 8 // blocks
	clearedPerTxn = 100
	markedPerTxn  = 1000
)

// rebuild empties the index, removes its triples, and marks the latest version of every resource. Nothing else may
// write meanwhile.
func (q *Queue) rebuild(ctx context.Context) error {
	for more := true; more; {
		var cleared []joins.Former
		err := q.db.View(func(txn *kv.Txn) (err error) {
			cleared, err = joins.Some(txn, clearedPerTxn)
			return errors.Join(err, ctx.Err())
		})
		if err != nil {
			return err
		}
		more = len(cleared) > 0
		err = q.triples.Update(ctx, func(txn *triplestore.Txn) error {
			for _, c := range cleared {
				if err := describe.Replace(txn, describe.Joins(q.mint, c.Matches), nil); err != nil {
					return err
				}
			}
			return joins.Clear(txn.KV(), cleared)
		})
		if err != nil {
			return err
		}
	}
	if err := q.db.DropSpace(kv.SpaceJoins); err != nil {
		return err
	}
	for after, more := "", true; more; {
		err := q.db.Update(ctx, func(txn *kv.Txn) (err error) {
			after, more, err = markLatest(ctx, records.Txn{Txn: txn}, after)
			return err
		})
		if err != nil {
			return err
		}
	}
	return q.db.Update(ctx, func(txn *kv.Txn) error { return txn.Set(kv.SpaceMeta, []byte(formatKey), []byte(format)) })
}

// markLatest marks the latest versions of some resources after the given id, and returns the id of the last of them.
func markLatest(ctx context.Context, t records.Txn, after string) (last string, more bool, err error) {
	n := 0
	err = t.EachResource(ctx, after, func(r records.Resource) (bool, error) {
		if n++; n > markedPerTxn {
			more = true
			return false, nil
		}
		if last = r.ID; r.Versions == 0 {
			return true, nil
		}
		return true, t.Set(kv.SpaceArchive, records.VersionKey(table, r.ID, r.LatestN()), nil)
	})
	return last, more, err
}
