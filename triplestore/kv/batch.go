package kv

import (
	"context"
	"errors"
	"fmt"
)

// Batch collects writes and commits them in pieces. It is for bulk work whose parts nobody reads before all is done:
// entries become visible piece by piece and durable with Flush. A Batch must not be used concurrently; several batches
// may run at the same time, also with Update.
type Batch struct {
	db  *DB
	l   layer
	max int64
}

// Batch returns a new batch.
func (db *DB) Batch() *Batch { return &Batch{db: db, max: db.maxTxnBytes() / 2} }

// Set stores a copy of val.
func (b *Batch) Set(space Space, key, val []byte) error {
	return b.add(space, key, write{val: append(make([]byte, 0, len(val)), val...)})
}

// Delete removes a key.
func (b *Batch) Delete(space Space, key []byte) error { return b.add(space, key, write{deleted: true}) }

func (b *Batch) add(space Space, key []byte, w write) error {
	if err := checkEntry(space, key, w.val); err != nil {
		return err
	}
	b.l.set(string(fullKey(space, key)), w)
	if b.l.bytes >= b.max || int64(len(b.l.writes)) >= b.db.maxTxnEntries()-1 {
		return b.write()
	}
	return nil
}

// write commits the collected writes as one write set. Flush makes it durable.
func (b *Batch) write() error {
	if err := b.db.writable(); err != nil {
		return err
	}
	if err := b.db.writeLayer(&b.l, false); err != nil {
		return err
	}
	b.l = layer{}
	return nil
}

// Flush makes everything written so far visible and durable. The batch may be used again.
func (b *Batch) Flush() error {
	err := b.write()
	if err == nil {
		err = b.db.syncLog()
	}
	if err != nil {
		return fmt.Errorf("kv: batch: %w", err)
	}
	err = b.db.acknowledge(context.Background(), b.db.visible.Load())
	if late := (*unacknowledged)(nil); errors.As(err, &late) { // what needs the batch has not been written yet
		late.text = "kv: a larger write was stopped before its end: a part of it is in the log of this directory, but not known to be " +
			"anywhere else"
	}
	return err
}

// DeleteKeys deletes keys of a space in a batch.
func (db *DB) DeleteKeys(space Space, keys [][]byte) error {
	b := db.Batch()
	for _, k := range keys {
		if err := b.Delete(space, k); err != nil {
			return err
		}
	}
	return b.Flush()
}
