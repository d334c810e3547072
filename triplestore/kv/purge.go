package kv

import (
	"context"
	"fmt"
	"path/filepath"

	"odarchive/triplestore/disk"
)

// Purge removes from disk what was deleted or overwritten before: from the log, the state files and Badger, which all
// keep it for some time otherwise. It writes a state file of what is left, drops older ones and the log before it, and
// builds Badger anew. It needs the space of a second Badger meanwhile, and as much time as writing the whole database
// takes. Writers wait; readers do not, but Purge waits for the Snapshots that are open. So its caller must not hold
// one.
//
// Without that space, the error is ErrDiskFull. If Purge fails, or its process ends before it returns, nothing is lost,
// and it must be called again.
func (db *DB) Purge(ctx context.Context) error {
	if db.log == nil || db.states == nil { // in memory
		return nil
	}
	old, err := db.rewriteAll(ctx)
	if err != nil {
		return fmt.Errorf("kv: purge: %w", err)
	}
	select {
	case <-old.closed:
		return old.cerr
	case <-ctx.Done():
		return fmt.Errorf("kv: purge: a reader still uses the old tables: %w", context.Cause(ctx))
	}
}

// RoomToPurge returns ErrDiskFull if there is too little space for Purge, so that a caller with other work before it
// can know that first.
func (db *DB) RoomToPurge() error {
	if db.log == nil || db.states == nil { // in memory
		return nil
	}
	return db.roomFor(max(db.states.newest().size, db.cacheBytes()))
}

// cacheBytes returns about the size of the tables of a cache that is built anew. Those in use may be denser
// (Options.Dense).
func (db *DB) cacheBytes() int64 {
	c := db.cache.Load()
	if c == nil || c.dir == "" {
		return 0
	}
	now := tableBytes(c.dir)
	return max(now, min(now*5/4, c.sizes().Content))
}

// rewriteAll does the work of Purge, and returns the former cache, which deletes its files when its last reader leaves.
func (db *DB) rewriteAll(ctx context.Context) (old *cache, err error) {
	err = db.alone(func() error {
		if err := db.maintain(); err != nil {
			return err
		}
		if err := db.RoomToPurge(); err != nil {
			return err
		}
		db.writing.Lock()
		defer db.writing.Unlock()
		if err := db.commitPurge(); err != nil { // the state must have a number without a state file
			return err
		}
		db.waitForReaders(ctx, db.visible.Load())
		if err := db.saveState(ctx, nil); disk.IsFull(err) {
			return fmt.Errorf("%w: %w", ErrDiskFull, err)
		} else if err != nil {
			return err
		}
		if err := db.states.keepNewest(1); err != nil {
			return err
		}
		if err := db.dropLog(db.states.newest().number); err != nil {
			return err
		}
		if err := db.dropDamaged(); err != nil {
			return err
		}
		if err := db.roomFor(db.cacheBytes()); err != nil {
			return err
		}
		old = db.cache.Load()
		if _, err := db.rebuildCache(ctx); err != nil {
			return err
		}
		db.purgeDue.Store(false)
		return nil
	})
	return old, err
}

// commitPurge writes the empty write set that lets replicas purge their files, too.
func (db *DB) commitPurge() error {
	if db.opts.Replica {
		return nil
	}
	return db.commitRecord([]byte{kindPurge}, true, func(c *cache, number uint64) error { return c.apply(&layer{}, number) })
}

// PurgeDue reports whether the writer of this replica has purged its files, and Purge was not called here since.
func (db *DB) PurgeDue() bool { return db.purgeDue.Load() }

// findPurge sets purgeDue if the log of a replica still has the record of a purge: Purge trims the log.
func (db *DB) findPurge(ctx context.Context) error {
	return db.log.Read(ctx, db.log.First(), func(_ uint64, record []byte) error {
		if len(record) == 1 && record[0] == kindPurge {
			db.purgeDue.Store(true)
		}
		return nil
	})
}

// dropDamaged deletes the damaged segments of the log that a recovery has kept.
func (db *DB) dropDamaged() error {
	names, err := filepath.Glob(db.path(filepath.Join(logDir, "*.damaged")))
	for _, name := range names {
		if err == nil {
			err = db.opts.FS.Remove(name)
		}
	}
	return err
}
