package search

import (
	"context"
	"errors"
	"fmt"

	"odarchive/crawler/archive/records"
	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// resourcesPerTxn bounds a transaction of Build.
const resourcesPerTxn = 200

// Build builds the index if there is none, or if building it was interrupted.
// It returns the number of resources that it indexed; their texts follow (IndexTexts). Nothing else may write
// meanwhile. An index of another format is an error.
func (x *Index) Build(ctx context.Context) (indexed int, err error) {
	var s state
	hasResources := false
	err = records.View(x.db, func(t records.Txn) error {
		var err error
		if s, _, err = readState(t.Txn); err != nil || s.Format >= format {
			return err
		}
		hasResources, err = t.HasResources()
		return err
	})
	switch {
	case err != nil:
		return 0, err
	case s.Format > format:
		return 0, fields.OtherFormat("the search index", uint64(s.Format), format)
	case s.Format == format || !hasResources:
		return 0, nil
	}
	if indexed, err = x.build(ctx); err != nil {
		return indexed, fmt.Errorf("search index: %w", err)
	}
	return indexed, nil
}

// build builds the index from the records. Its state says "unfinished" until the end.
func (x *Index) build(ctx context.Context) (n int, err error) {
	if err := x.db.DropSpace(kv.SpaceSearch); err != nil {
		return 0, err
	}
	batch := make([]records.Resource, 0, resourcesPerTxn)
	write := func(done bool) error {
		err := x.db.Update(ctx, func(txn *kv.Txn) error { return x.addBatch(txn, batch, done) })
		n += len(batch)
		batch = batch[:0]
		return err
	}
	err = records.View(x.db, func(t records.Txn) error {
		err := t.EachResource(ctx, "", func(r records.Resource) (bool, error) {
			if batch = append(batch, r); len(batch) == cap(batch) {
				return true, write(false)
			}
			return true, nil
		})
		return errors.Join(err, ctx.Err())
	})
	if err != nil {
		return n, err
	}
	return n, write(true)
}

func (x *Index) addBatch(txn *kv.Txn, batch []records.Resource, done bool) error {
	u := x.Begin(txn)
	if err := u.readState(); err != nil {
		return err
	}
	u.state.Format = 0
	if done {
		u.state.Format = format
	}
	for _, r := range batch {
		if err := u.SetResource(records.Resource{}, r); err != nil {
			return err
		}
		if r.Versions == 0 {
			continue
		}
		in, err := LatestInside(u.txn, r)
		if err != nil {
			return err
		}
		if err := u.SetColumns(r.ID, nil, in); err != nil {
			return err
		}
	}
	if err := u.Write(); err != nil {
		return err
	}
	return u.writeState() // Write skips it if the batch is empty
}
