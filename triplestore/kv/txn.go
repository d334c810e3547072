package kv

import (
	"bytes"
	"fmt"
)

// Txn is a transaction. Inside Update it reads and writes, inside View it only reads. It must be used only in the
// goroutine of the function it is passed to, and not after that function returns. Reads see the transaction's own
// writes.
type Txn struct {
	db     *DB
	base   *Snapshot
	over   *layers // nil in View
	commit []func()
	abort  []func(error)
	last   bool                 // see CommitNow
	series map[seriesID]*series // nil unless in ViewAscending
}

// Get returns a copy of a value. ok is false if the key does not exist.
func (t *Txn) Get(space Space, key []byte) (val []byte, ok bool, err error) {
	ok, err = t.Read(space, key, func(v []byte) error { val = bytes.Clone(v); return nil })
	return val, ok, err
}

// Read calls f with a value without copying it. The slice is valid only during the call and must not be modified.
func (t *Txn) Read(space Space, key []byte, f func(val []byte) error) (ok bool, err error) {
	if t.series != nil {
		if known, ok, err := t.readSeries(space, key, f); known {
			return ok, err
		}
	}
	full := fullKey(space, key)
	if t.over != nil {
		if w, ok := t.over.get(full); ok {
			if w.deleted {
				return false, nil
			}
			return true, f(w.val)
		}
	}
	return t.base.read(full, f)
}

// Set stores a copy of val. It returns ErrTooBig if the key, the value or the whole transaction is too big.
func (t *Txn) Set(space Space, key, val []byte) error {
	return t.write(space, key, write{val: append(make([]byte, 0, len(val)), val...)})
}

// Delete removes a key. Deleting a key that does not exist is no error.
func (t *Txn) Delete(space Space, key []byte) error {
	return t.write(space, key, write{deleted: true})
}

func (t *Txn) write(space Space, key []byte, w write) error {
	if t.over == nil {
		return ErrReadOnly
	}
	if err := checkEntry(space, key, w.val); err != nil {
		return err
	}
	own := t.over.own
	own.set(string([]byte{byte(space)})+string(key), w)
	if own.bytes > t.db.maxTxnBytes() || int64(len(own.writes)) > t.db.maxTxnEntries() {
		return fmt.Errorf("kv: %w: a transaction of %d entries, %d bytes", ErrTooBig, len(own.writes), own.bytes)
	}
	return nil
}

func checkEntry(space Space, key, val []byte) error {
	if len(key) > MaxKey {
		return fmt.Errorf("kv: %w: key of %d bytes in %s", ErrTooBig, len(key), space)
	}
	if len(val) > MaxValue {
		return fmt.Errorf("kv: %w: value of %d bytes in %s", ErrTooBig, len(val), space)
	}
	return nil
}

// Scan calls f with every entry whose key begins with prefix and is not less than from, in key order, until f returns
// false or an error. A nil from means the beginning. Keys do not include the space. Both slices are valid only during
// the call. f may write; the scan may not see these writes.
func (t *Txn) Scan(space Space, prefix, from []byte, f func(key, val []byte) (more bool, err error)) error {
	over := t.over
	if over == nil {
		over = t.base.over
	}
	return t.base.scan(over, space, prefix, from, f)
}

// CommitNow makes the transaction commit before the next writer's function runs. Callers need it while they hold
// something that such a function may wait for.
func (t *Txn) CommitNow() { t.last = true }

// OnCommit registers f to be called when the transaction is on disk, before Update returns and before the next writer
// runs. If f, or an OnAbort function, panics, writes stop, because memory and disk may differ.
func (t *Txn) OnCommit(f func()) { t.commit = append(t.commit, f) }

// OnAbort registers f to be called if the transaction's function or its commit fails, before the next writer runs.
func (t *Txn) OnAbort(f func(error)) { t.abort = append(t.abort, f) }

// maxTxnBytes and maxTxnEntries return the limits of one transaction. Badger's own are lower; see cache.apply.
func (db *DB) maxTxnBytes() int64   { return max(leastTxn, 3*db.opts.MemTable/20) }
func (db *DB) maxTxnEntries() int64 { return db.maxTxnBytes() / 100 }

// leastTxn is the size in bytes that a transaction may have with any Options.MemTable.
const leastTxn = 9 << 19 // 4.5 MiB
