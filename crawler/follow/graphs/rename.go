package graphs

import (
	"context"
	"errors"

	"odarchive/triplestore/kv"
)

// Names calls f with the name of each graph, in no particular order. Records that cannot be read are left out: Verify
// finds them.
func (s *Store) Names(ctx context.Context, f func(name string)) error {
	return s.db.View(func(txn *kv.Txn) error {
		_, err := tables{s, txn}.records(ctx, func(_ graphID, r record) { f(r.Name) })
		return err
	})
}

// renamedAtOnce is how many records one transaction of Rename writes.
const renamedAtOnce = 1000

// Rename gives graphs the names that rename returns for theirs, in the records only: the caller renames the graphs in
// the store. It returns how many were renamed. Calling it again after a failure continues.
func (s *Store) Rename(ctx context.Context, rename func(name string) string) (renamed int, err error) {
	var ids []graphID
	err = s.db.View(func(txn *kv.Txn) error {
		_, err := tables{s, txn}.records(ctx, func(id graphID, r record) {
			if rename(r.Name) != r.Name {
				ids = append(ids, id)
			}
		})
		return err
	})
	for err == nil && len(ids) > 0 {
		some := ids[:min(len(ids), renamedAtOnce)]
		ids = ids[len(some):]
		err = s.db.Update(ctx, func(txn *kv.Txn) error {
			t := tables{s, txn}
			for _, id := range some {
				r, known, err := t.record(id)
				if err != nil {
					return err
				}
				if !known {
					continue
				}
				r.Name = rename(r.Name)
				if err := t.setRecord(id, r); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil {
			renamed += len(some)
		}
	}
	return renamed, err
}

// records calls f with all records, and returns how many cannot be read.
func (t tables) records(ctx context.Context, f func(graphID, record)) (bad int, err error) {
	err = t.txn.Scan(kv.SpaceGraphs, []byte{tableGraph}, nil, func(k, _ []byte) (bool, error) {
		if len(k) != 1+len(graphID{}) {
			return true, nil
		}
		id := graphID(k[1:])
		r, known, err := t.record(id)
		switch {
		case errors.Is(err, errBad):
			bad++
		case err != nil:
			return false, err
		case known:
			f(id, r)
		}
		return true, ctx.Err()
	})
	return bad, err
}
