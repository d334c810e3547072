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
	format    = "1" // see crawler/archive/joins/FORMAT.md
)

// Open counts the marked versions. If there is no index, or one of another format, it calls rebuild first. It starts
// over if it was interrupted, and is quick if there is nothing to do. Nothing else may write meanwhile.
func (q *Queue) Open(ctx context.Context) error {
	var written []byte
	err := q.db.View(func(txn *kv.Txn) (err error) {
		written, _, err = txn.Get(kv.SpaceMeta, []byte(formatKey))
		return err
	})
	if err == nil && string(written) != format {
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

func (q *Queue) countMarks(ctx context.Context) error {
	n := int64(0)
	err := q.db.View(func(txn *kv.Txn) error {
		return eachMark(ctx, txn, nil, func([]byte) (bool, error) { n++; return true, nil })
	})
	q.len.Store(n)
	return err
}

// Bounds of transactions of rebuild.
const (
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
