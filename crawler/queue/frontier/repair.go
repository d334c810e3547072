package frontier

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"odarchive/triplestore/kv"
)

// repair repairs what the pass found. Each part reads the database again, since the frontier may be in use.
func (c *check) repair(ctx context.Context) error {
	for part := range slices.Chunk(slices.Sorted(maps.Keys(c.damaged)), perTxn) {
		if err := c.f.db.Update(ctx, func(txn *kv.Txn) error { return c.mendURLs(txn, part) }); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(c.orphans, perTxn) {
		if err := c.f.db.Update(ctx, func(txn *kv.Txn) error { return c.dropOrphans(txn, part) }); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(c.stray, perTxn) {
		if err := c.f.db.Update(ctx, func(txn *kv.Txn) error { return c.dropStray(txn, part) }); err != nil {
			return err
		}
	}
	for _, group := range slices.Sorted(maps.Keys(c.remake)) {
		err := c.f.db.Update(ctx, func(txn *kv.Txn) error {
			h, err := c.f.remake(txn, group, true)
			if err != nil {
				return err
			}
			return c.f.saveOrDrop(txn, h)
		})
		if err != nil {
			return err
		}
	}
	err := c.f.db.Update(ctx, func(txn *kv.Txn) error {
		for _, k := range c.junk {
			if err := txn.Delete(kv.SpaceHosts, k); err != nil {
				return err
			}
		}
		return retotal(txn)
	})
	c.f.forgetWindow()
	c.f.signal()
	return err
}

// mendURLs restores damaged and missing records of URLs, and marks the lost ones in the report.
func (c *check) mendURLs(txn *kv.Txn, keys []string) error {
	for _, key := range keys {
		as, group := c.whole[key], c.damaged[key]
		e := entry{key: key}
		if as != nil {
			e.due = ms(as.Due)
		}
		u, err := c.f.restore(txn, group, e, as)
		if err != nil {
			return err
		}
		if group != "" {
			c.remake[group] = true
		}
		if u != nil {
			c.remake[u.Group] = true
			continue
		}
		for i := range c.report.Faults {
			if fault := &c.report.Faults[i]; fault.What == "url" && fault.Name == key {
				fault.Lost = true
			}
		}
	}
	return nil
}

// dropOrphans deletes records of URLs that no entry references.
func (c *check) dropOrphans(txn *kv.Txn, keys [][]byte) error {
	for _, k := range keys {
		found := false
		if len(k) >= 8 {
			_, err := txn.Read(kv.SpaceFrontier, k[8:], func(at []byte) error { found = bytes.Equal(at, k[:8]); return nil })
			if err != nil {
				return err
			}
		}
		if found {
			continue
		}
		if err := txn.Delete(kv.SpaceDue, k); err != nil {
			return err
		}
	}
	return nil
}

// dropStray deletes queue entries that no record confirms.
func (c *check) dropStray(txn *kv.Txn, keys [][]byte) error {
	for _, k := range keys {
		if group, lane, e, ok := splitQueueKey(k); ok {
			if valid, err := isQueued(txn, group, lane, e); valid || err != nil {
				if err != nil {
					return err
				}
				continue
			}
		}
		if err := txn.Delete(kv.SpaceQueue, k); err != nil {
			return err
		}
	}
	return nil
}

// forgetWindow empties the window, so that the index is read again.
func (f *Frontier) forgetWindow() {
	f.leasing.Lock()
	defer f.leasing.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	size := f.window.size
	f.window = newWindow()
	f.window.size = size
}
