package archive

import (
	"context"
	"errors"
	"fmt"

	"odarchive/crawler/archive/describe"
	"odarchive/crawler/archive/joins"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
)

// joinsFormat is set once all latest versions are in the index of columns, or marked.
const (
	joinsFormatKey = "archive/joins"
	joinsFormat    = "4" // see crawler/archive/joins/FORMAT.md
)

// Upgrade brings the records of a directory that an older program wrote up to date. It makes the stored records where there
// are none. It makes the index of columns anew where an older program wrote it, or none: it empties it and marks the latest
// versions, for Join. It may be stopped at any time and goes on, or begins again, when called again; where there is nothing
// to do it is quick. Nothing else may write meanwhile.
func (a *Archive) Upgrade(ctx context.Context) error {
	if err := a.storeAll(ctx); err != nil {
		return fmt.Errorf("archive: stored records: %w", err)
	}
	var format []byte
	err := a.db.View(func(txn *kv.Txn) (err error) {
		format, _, err = txn.Get(kv.SpaceMeta, []byte(joinsFormatKey))
		return err
	})
	if err == nil && string(format) != joinsFormat {
		err = a.RebuildJoins(ctx)
	}
	if err == nil {
		err = a.countUnjoined(ctx)
	}
	if err != nil {
		return fmt.Errorf("archive: index columns: %w", err)
	}
	return nil
}

func (a *Archive) countUnjoined(ctx context.Context) error {
	n := int64(0)
	err := a.view(func(t tables) error {
		return t.scan(ctx, key(tableUnjoined), nil, func(_, _ []byte) (bool, error) { n++; return true, nil })
	})
	a.joining.left.Store(n)
	return err
}

// Bounds of a transaction of RebuildJoins.
const (
	clearedPerTxn = 100
	markedPerTxn  = 1000
)

// RebuildJoins empties the index of columns, takes its triples away, and marks the latest version of every resource for
// Join. Nothing else may write meanwhile.
func (a *Archive) RebuildJoins(ctx context.Context) error {
	for more := true; more; {
		var cleared []joins.Change
		err := a.db.View(func(txn *kv.Txn) (err error) {
			cleared, err = joins.Some(txn, clearedPerTxn)
			return errors.Join(err, ctx.Err())
		})
		if err != nil {
			return err
		}
		more = len(cleared) > 0
		err = a.triples.Update(ctx, func(txn *triplestore.Txn) error {
			for _, c := range cleared {
				if err := replace(txn, describe.Joins(a.mint, c.Before), nil); err != nil {
					return err
				}
			}
			return joins.Clear(txn.KV(), cleared)
		})
		if err != nil {
			return err
		}
	}
	if err := a.db.DropSpace(kv.SpaceJoins); err != nil {
		return err
	}
	for after, more := "", true; more; {
		err := a.db.Update(ctx, func(txn *kv.Txn) (err error) {
			after, more, err = tables{txn: txn}.markUnjoined(ctx, after)
			return err
		})
		if err != nil {
			return err
		}
	}
	return a.db.Update(ctx, func(txn *kv.Txn) error { return txn.Set(kv.SpaceMeta, []byte(joinsFormatKey), []byte(joinsFormat)) })
}

// markUnjoined marks the latest versions of some resources after the given id, and gives the last of them.
func (t tables) markUnjoined(ctx context.Context, after string) (last string, more bool, err error) {
	n := 0
	err = t.eachResource(ctx, after, func(r record) error {
		if n++; n > markedPerTxn {
			more = true
			return errStop
		}
		if last = r.ID; r.Versions == 0 {
			return nil
		}
		return t.mark(key(tableUnjoined, rid(r.ID), r.Versions-1))
	})
	if errors.Is(err, errStop) {
		err = nil
	}
	return last, more, err
}
