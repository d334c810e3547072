package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"odarchive/triplestore/kv"
)

// resourcesPerTxn bounds a transaction of Prepare.
const resourcesPerTxn = 200

// Prepare makes the search index where there is none, as in the directory of an older program, or where making it was
// interrupted; it says how many resources it went through. Nothing else may write meanwhile. An index of a newer program is an error.
func (a *Archive) Prepare(ctx context.Context) (indexed int, err error) {
	var state searchState
	empty := true
	err = a.view(func(t tables) error {
		var err error
		if state, _, err = t.searchState(); err != nil || state.Format != 0 {
			return err
		}
		empty, err = t.isEmpty(key(tableResource))
		return err
	})
	switch {
	case err != nil:
		return 0, err
	case state.Format > searchFormat:
		return 0, fmt.Errorf("the search index has format %d, and this program knows formats up to %d: use a newer odarchive", state.Format, searchFormat)
	case state.Format == searchFormat || empty:
		return 0, nil
	}
	if indexed, err = a.indexAll(ctx); err != nil {
		return indexed, fmt.Errorf("search index: %w", err)
	}
	return indexed, nil
}

// indexAll makes the index from the records. Its state says "unfinished" until the end.
func (a *Archive) indexAll(ctx context.Context) (n int, err error) {
	if err := a.db.DropSpace(kv.SpaceSearch); err != nil {
		return 0, err
	}
	batch := make([]record, 0, resourcesPerTxn)
	write := func(done bool) error {
		err := a.db.Update(ctx, func(txn *kv.Txn) error { return a.indexBatch(txn, batch, done) })
		n += len(batch)
		batch = batch[:0]
		return err
	}
	err = a.view(func(t tables) error {
		err := t.eachResource(ctx, "", func(r record) error {
			if batch = append(batch, r); len(batch) == cap(batch) {
				return write(false)
			}
			return nil
		})
		return errors.Join(err, ctx.Err())
	})
	if err != nil {
		return n, err
	}
	return n, write(true)
}

func (a *Archive) indexBatch(txn *kv.Txn, batch []record, done bool) error {
	t, err := a.writing(txn)
	if err != nil {
		return err
	}
	t.finding.state.Format = 0
	if done {
		t.finding.state.Format = searchFormat
	}
	for _, r := range batch {
		var names *columns
		if r.Versions > 0 {
			in, err := t.inside(latestID(r.Resource))
			if err != nil {
				return err
			}
			names = &columns{after: columnWords(in)}
		}
		if err := t.find(record{}, r, names); err != nil {
			return err
		}
	}
	if err := a.save(t); err != nil {
		return err
	}
	raw, err := json.Marshal(t.finding.state) // also where the last batch is empty
	if err != nil {
		return err
	}
	return txn.Set(kv.SpaceSearch, searchStateKey, raw)
}
