package joining

import (
	"context"
	"fmt"

	"odarchive/crawler/archive/joins"
	"odarchive/crawler/archive/records"
	"odarchive/ns"
	"odarchive/triplestore/kv"
)

// Remove takes a version out of the index, with its triples and sketches, or out of the queue if it waits there. It
// does nothing if the version is in neither.
func (q *Queue) Remove(ctx context.Context, version string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	resource, n, ok := ns.SplitVersionID(version)
	if !ok {
		return nil
	}
	gone := joins.Replacement{Old: version}
	var update *joins.Update
	var marks [][]byte
	err := records.View(q.db, func(t records.Txn) (err error) {
		mark := records.VersionKey(table, resource, n)
		waits, err := t.Txn.Read(kv.SpaceArchive, mark, func([]byte) error { return nil })
		if err != nil {
			return err
		}
		if waits {
			marks = append(marks, mark)
			if n > 0 { // it has not replaced the version before yet
				gone.Old = ns.VersionID(resource, n-1)
			}
		}
		update, err = joins.NewPass().Prepare(t.Txn, new(sketches).in(t), []joins.Replacement{gone})
		return err
	})
	if err == nil {
		err = q.write(ctx, update, marks, []joins.Replacement{gone})
	}
	if err != nil {
		return fmt.Errorf("archive: remove the columns of version %s: %w", version, err)
	}
	q.forget(joins.Replacement{New: version})
	return nil
}
