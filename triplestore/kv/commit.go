package kv

import (
	"errors"
	"fmt"
	"sync"

	"odarchive/triplestore/disk"
	"odarchive/triplestore/wal"
)

// writeLayer writes a layer as one write set, first to the log and then to the cache. With sync, it and everything
// written before are durable on return.
func (db *DB) writeLayer(l *layer, sync bool) error {
	if len(l.writes) == 0 {
		return nil
	}
	db.writing.Lock()
	defer db.writing.Unlock()
	var record []byte
	if db.log != nil {
		record = db.records.encode(l)
	}
	err := db.commitRecord(record, sync, func(c *cache, number uint64) error { return c.apply(l, number) })
	if err != nil {
		return fmt.Errorf("kv: commit: %w", err)
	}
	return nil
}

// commitRecord appends a record to the log and applies it to the cache. The caller holds db.writing.
func (db *DB) commitRecord(record []byte, sync bool, apply func(c *cache, number uint64) error) error {
	if db.closed.Load() {
		return ErrClosed
	}
	if err := db.WritesStopped(); err != nil {
		return err
	}
	number := db.visible.Load() + 1
	if db.log != nil {
		n, err := db.log.Append(record)
		if err == nil && n != number {
			err = fmt.Errorf("log record %d should be write set %d", n, number) // a bug: nothing may be built on this
		}
		if err == nil && sync {
			err = db.log.Sync()
		}
		if err != nil {
			return db.logFailed(err)
		}
	}
	c := db.cache.Load()
	if err := c.damaged(); err != nil { // the log has the record; the cache is being rebuilt
		err = fmt.Errorf("the write set is in the log and becomes visible when the archive is reopened: %w", err)
		db.StopWrites(err)
		return err
	}
	if err := apply(c, number); err != nil {
		err = fmt.Errorf("the write set is in the log and becomes visible when the archive is reopened: %w", err)
		db.StopWrites(err)
		return err
	}
	db.visible.Store(number)
	if number%discardEvery == 0 {
		c.badger.SetDiscardTs(db.readers.oldest(&db.visible))
	}
	db.checkGrowth(number)
	return nil
}

// discardEvery is the number of write sets between two calls of SetDiscardTs, which lets Badger drop old versions.
const discardEvery = 64

// logFailed stops all writes, unless the log was only out of space and is unchanged.
func (db *DB) logFailed(err error) error {
	if disk.IsFull(err) && !errors.Is(err, wal.ErrFailed) {
		return fmt.Errorf("%w: %w", ErrDiskFull, err)
	}
	db.StopWrites(err)
	return db.WritesStopped()
}

// syncLog makes everything written so far durable.
func (db *DB) syncLog() error {
	if db.log == nil {
		return nil
	}
	db.writing.Lock()
	defer db.writing.Unlock()
	if err := db.WritesStopped(); err != nil {
		return err
	}
	if err := db.log.Sync(); err != nil {
		return db.logFailed(err)
	}
	return nil
}

// saveAt returns how much the log grows before the next state file: as much as the last one has, and at least
// Options.SaveAt. Each state file reads and compresses the whole database, so they must become rarer as it grows: then
// all of them together cost twice what the last one does. At two fifths of the size it was three and a half times, a
// fifth of the processor time of registering 400,000 URLs. See also SaveRarely.
func (db *DB) saveAt() int64 {
	size := max(db.opts.SaveAt, db.states.newest().size)
	if db.rarely.Load() == 0 {
		return size
	}
	rare := max(rarely*size, 8*rarely*db.opts.SaveAt)
	if free, ok := freeSpace(db.dir); ok {
		return max(size, min(rare, free/4)) // a state file makes room: the log before it is deleted
	}
	return rare
}

// rarely is how many times as much the log grows between state files while SaveRarely is in force.
const rarely = 16

// SaveRarely makes state files rarer until the returned function is called, for bulk work that makes the database many
// times larger. The log grows to sixteen times the last state file meanwhile, and at least to 512 MiB (with the default
// of Options.SaveAt), or to a quarter of the free space; a database whose tables are lost is rebuilt from both. A large
// load writes little more than the one at its end: at three times, the files before it took as much processor time
// again.
func (db *DB) SaveRarely() (end func()) {
	db.rarely.Add(1)
	var once sync.Once
	return func() {
		once.Do(func() {
			db.rarely.Add(-1)
			db.checkGrowth(0)
		})
	}
}

const defaultSaveAt = 4 << 20

// checkEvery is the number of write sets after which the growth of the log is checked.
const checkEvery = 16

func (db *DB) checkGrowth(number uint64) {
	if db.states == nil || number%checkEvery != 0 {
		return
	}
	if db.hasGrown() {
		select {
		case db.grown <- struct{}{}:
		default:
		}
	}
}

// hasGrown reports whether the log is long enough for a state file.
func (db *DB) hasGrown() bool {
	return db.log.SizeFrom(db.states.newest().number+1) >= db.saveAt()
}
