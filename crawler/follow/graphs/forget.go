package graphs

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"odarchive/triplestore"
	"odarchive/triplestore/kv"
)

// Forget removes the graph of the document to which a resource leads if it has the statements of one of some versions,
// which were withdrawn, even if other resources lead to it, too. The next version of any of them makes a new graph.
// done is false if there was nothing to remove.
func (s *Store) Forget(txn *triplestore.Txn, resource string, withdrawn map[string]bool) (done bool, err error) {
	id, r, has, err := tables{s, txn.KV()}.of(resource, withdrawn)
	if err != nil || !has {
		return false, err
	}
	_, err = s.drop(txn, id, r)
	return err == nil, err
}

// Has reports whether the graph of the document to which a resource leads has the statements of one of some versions.
func (s *Store) Has(resource string, versions map[string]bool) (has bool, err error) {
	err = s.db.View(func(txn *kv.Txn) error {
		_, _, has, err = tables{s, txn}.of(resource, versions)
		return err
	})
	return has, err
}

// of returns the graph of the document to which a resource leads; has is false if it is not that of one of some
// versions.
func (t tables) of(resource string, versions map[string]bool) (id graphID, r record, has bool, err error) {
	id, known, err := t.leadsTo(resource)
	if err != nil || !known {
		return id, r, false, err
	}
	r, known, err = t.record(id)
	return id, r, known && versions[r.Version], err
}

// Purge removes all graphs that have the statements of one of some versions, whoever leads to them, each in a
// transaction of update, and the parts of contents that no record names. It reads the records of all graphs.
func (s *Store) Purge(ctx context.Context, withdrawn map[string]bool, update func(func(*triplestore.Txn) error) error) error {
	var found []graphID
	err := s.db.View(func(txn *kv.Txn) error {
		_, err := tables{s, txn}.records(ctx, func(id graphID, r record) {
			if withdrawn[r.Version] {
				found = append(found, id)
			}
		})
		return err
	})
	for _, id := range found {
		if err == nil {
			err = update(func(txn *triplestore.Txn) error {
				r, known, err := tables{s, txn.KV()}.record(id)
				if err != nil || !known || !withdrawn[r.Version] {
					return err
				}
				_, err = s.drop(txn, id, r)
				return err
			})
		}
	}
	if err == nil {
		err = s.dropAllStray(ctx)
	}
	if err != nil {
		return fmt.Errorf("graphs: purge: %w", err)
	}
	return nil
}

// strayAtOnce is how many parts one transaction deletes.
const strayAtOnce = 200

// dropAllStray deletes the parts of contents that no record names: Prepare has written them for a visit that was
// refused, or did not come to its end. Put writes them again if the visit is still in progress.
func (s *Store) dropAllStray(ctx context.Context) error {
	for after := []byte(nil); ; {
		var stray [][]byte
		err := s.db.View(func(txn *kv.Txn) (err error) {
			stray, err = tables{s, txn}.stray(ctx, after)
			return err
		})
		if err == nil && len(stray) > 0 {
			err = s.db.Update(ctx, func(txn *kv.Txn) error { return tables{s, txn}.dropStray(stray) })
		}
		if err != nil {
			return err
		}
		if len(stray) < strayAtOnce {
			return nil
		}
		after = stray[len(stray)-1]
	}
}

// stray returns the keys of parts behind a key, nil for the first ones, that no record names, at most strayAtOnce.
func (t tables) stray(ctx context.Context, after []byte) (keys [][]byte, err error) {
	prefix := key(tableContent)
	err = t.txn.Scan(kv.SpaceGraphs, prefix, after, func(k, _ []byte) (bool, error) {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		named, err := t.names(k)
		if err == nil && !named {
			keys = append(keys, bytes.Clone(k))
		}
		return len(keys) < strayAtOnce, err
	})
	return keys, err
}

// names reports whether the record of a graph names the part with a key.
func (t tables) names(k []byte) (bool, error) {
	var id graphID
	if len(k) < 1+len(id)+2 {
		return false, nil
	}
	r, known, err := t.record(graphID(k[1 : 1+len(id)]))
	if errors.Is(err, errBad) { // check says so, and may need its parts
		return true, nil
	}
	return known && r.Digest != "" && bytes.HasPrefix(k, partsKey(graphID(k[1:1+len(id)]), r.Digest)), err
}

// dropStray deletes the parts with some keys that still are named by no record.
func (t tables) dropStray(keys [][]byte) error {
	for _, k := range keys {
		named, err := t.names(k)
		if err == nil && !named {
			err = t.txn.Delete(kv.SpaceGraphs, k)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
