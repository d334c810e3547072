package kv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"odarchive/triplestore/disk"
	"odarchive/triplestore/wal"
)

// ReplicaFile is the name of the file that makes a directory the replica of another one. Open refuses to write to such
// a directory, except with Options.Replica. This package does not read the file; who removes it promotes the replica.
const ReplicaFile = "replica.json"

var (
	// Open returns ErrReplica for a directory that has a ReplicaFile, without Options.Replica. Every write to a replica
	// except Apply returns it, too. It wraps ErrReadOnly.
	ErrReplica = fmt.Errorf("%w: it is a replica", ErrReadOnly)
	// ErrNewer means that a record was written by a newer program: this one must be upgraded first.
	ErrNewer = errors.New("written by a newer program")
)

// IsReplica reports whether a directory is that of a replica.
func IsReplica(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, ReplicaFile))
	return err == nil
}

// checkReplica compares the options with the directory.
func (db *DB) checkReplica() error {
	switch is := IsReplica(db.dir); {
	case db.opts.ReadOnly || db.opts.InMemory || is == db.opts.Replica:
		return nil
	case is:
		return ErrReplica
	default:
		return fmt.Errorf("there is no %s: it is no replica", ReplicaFile)
	}
}

// Replica reports whether the database was opened with Options.Replica.
func (db *DB) Replica() bool { return db.opts.Replica }

// Apply appends write sets of another database to the log of a replica, syncs it, and applies them. They are durable
// and visible together when Apply returns nil. They must continue Position; otherwise the error is ErrOtherHistory, and
// nothing behind the first record that does not is applied. If the disk is full, the error is ErrDiskFull and Apply may
// be called again. After the write set of a purge, PurgeDue is true until Purge has been called. A malformed record is
// refused with ErrDamaged, one of a newer program with ErrNewer, and none of the call is applied.
//
// Only one goroutine may call Apply at a time.
func (db *DB) Apply(ctx context.Context, records []Record) error {
	if !db.opts.Replica {
		return errors.New("kv: apply: the database is no replica")
	}
	sets := make([]writeSet, len(records))
	for i, r := range records {
		var err error
		if sets[i], err = checkRecord(r); err != nil {
			return fmt.Errorf("kv: apply: write set %d: %w", r.Number, err)
		}
	}
	err := db.alone(func() error {
		db.writing.Lock()
		defer db.writing.Unlock()
		if err := db.intact(); err != nil {
			return err
		}
		return db.applyRecords(ctx, records, sets)
	})
	if err != nil {
		return fmt.Errorf("kv: apply: %w", err)
	}
	return nil
}

// applyRecords does the work of Apply. The caller holds db.writing.
func (db *DB) applyRecords(ctx context.Context, records []Record, sets []writeSet) error {
	n := 0
	var failed error
	for _, r := range records {
		if failed = context.Cause(ctx); failed == nil {
			failed = db.log.Chain(r)
		}
		if failed != nil {
			break
		}
		n++
	}
	if errors.Is(failed, wal.ErrOther) {
		failed = fmt.Errorf("%w: %w", ErrOtherHistory, failed)
	} else if failed != nil && context.Cause(ctx) == nil {
		failed = db.logFailed(failed)
	}
	if err := db.WritesStopped(); err != nil || n == 0 {
		return errors.Join(err, failed)
	}
	if err := db.log.Sync(); err != nil {
		return db.logFailed(err)
	}
	c := db.cache.Load()
	err := c.damaged()
	if err == nil {
		err = c.applySets(records[:n], sets)
	}
	if err != nil {
		err = fmt.Errorf("write sets are in the log and become visible when the archive is reopened: %w", err)
		db.StopWrites(err)
		return err
	}
	for i := range n {
		if sets[i].purge {
			db.purgeDue.Store(true)
		}
	}
	db.visible.Store(records[n-1].Number)
	c.badger.SetDiscardTs(db.readers.oldest(&db.visible))
	db.checkGrowth(0)
	return failed
}

// applySets applies decoded records to the cache.
func (c *cache) applySets(records []Record, sets []writeSet) error {
	r := c.replayer()
	r.drop = c.deleteSpace
	for i := range records {
		if err := r.applySet(records[i].Number, sets[i]); err != nil {
			return errors.Join(err, r.wait())
		}
	}
	return r.wait()
}

// checkRecord decodes a record from another process and checks every entry.
func checkRecord(r Record) (writeSet, error) {
	w, err := decodeWriteSet(r.Body, nil)
	if err != nil {
		return w, err
	}
	if w.drop != 0 && !isContent([]byte{byte(w.drop)}) {
		return w, fmt.Errorf("%w: it drops space %s", ErrDamaged, w.drop)
	}
	return w, w.each(func(key, val []byte, _ bool) error {
		if !isContent(key) || len(key) > MaxKey+1 || len(val) > MaxValue || r.Number > maxVersion {
			return fmt.Errorf("%w: an entry of %d and %d bytes", ErrDamaged, len(key), len(val))
		}
		return nil
	})
}

// maintain returns the reason why the files cannot be rewritten now, or nil. Unlike writable, it allows that in a
// replica.
func (db *DB) maintain() error {
	if db.opts.ReadOnly {
		return fmt.Errorf("kv: %w", ErrReadOnly)
	}
	return db.intact()
}

// intact returns ErrWritesStopped, ErrDiskFull or nil.
func (db *DB) intact() error {
	if err := db.WritesStopped(); err != nil {
		return fmt.Errorf("kv: %w", err)
	}
	return db.checkSpace()
}

// removeDamagedStates deletes the state files that a verification found damaged.
func (db *DB) removeDamagedStates(found []disk.Damage) error {
	for _, f := range db.states.files() {
		for _, d := range found {
			if d.File == statesDir+"/"+f.name {
				if err := db.states.remove(f); err != nil {
					return fmt.Errorf("kv: %w", err)
				}
				break
			}
		}
	}
	return nil
}
