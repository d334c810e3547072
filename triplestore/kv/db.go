// Package kv is an ordered, transactional key-value database: a log, state files, and Badger as a cache of both.
//
// Keys live in Spaces, one byte each, listed in spaces.go. There are four ways in:
//
//   - Update runs a function in a write transaction: atomic, seen by nobody before it is on disk, durable when Update
//     returns. Writers take turns; several callers share one commit and one fsync, and a function that fails takes only
//     its own writes with it.
//   - View and Snapshot read one unchanging state; they block nobody and nobody blocks them.
//   - Batch writes in bulk and splits itself: durable on Flush, not atomic.
//   - Backup and Load copy everything, or what changed since an earlier backup.
//
// The database is DIR/log and DIR/snapshots. A write set is appended to the log (package wal) and synced; that is the
// moment at which it exists. Then it goes into Badger, in DIR/db, without a sync. When the log has grown, the whole
// database is written to a state file in DIR/snapshots, in the background; two are kept, and the log behind the older one.
// So Badger's directory can be thrown away at any time. Open verifies its tables before anything is read from them and
// makes them anew if one is damaged; Scrub goes on verifying, the log and the state files too, and mends what it finds.
//
// After a failed write to the log nobody knows what is on the disk. Then all writes fail with ErrWritesStopped until the
// database is opened again; reading goes on.
//
// Only this package imports Badger, whose traps it hides: iterators that end silently at a damaged block, compactions that
// make that permanent, the crash on a full disk, large values torn through the value log. Values are limited to MaxValue and
// always live in the LSM tree, and writes are refused with ErrDiskFull while space is still left.
//
// It does not know what is stored. Keys are at most MaxKey bytes. No iteration backwards, no expiry. FORMAT.md describes the
// files.
package kv

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"

	"odarchive/triplestore/disk"
	"odarchive/triplestore/wal"
)

// Limits of one entry.
const (
	MaxKey   = 16 << 10
	MaxValue = 1<<20 - 1
)

// What a caller may want to decide on.
var (
	ErrLocked   = errors.New("the database is in use by another process")
	ErrDiskFull = errors.New("too little free disk space to write safely")
	ErrTooBig   = errors.New("transaction, key or value too big")
	ErrClosed   = errors.New("the database is closed")
	ErrMissing  = errors.New("the database is missing")
	ErrReadOnly = errors.New("write in a read-only transaction or database")
	ErrDamaged  = errors.New("damaged database")
	// ErrWritesStopped is in the chain of every error of a write after StopWrites; the cause is in it, too.
	ErrWritesStopped = errors.New("the archive accepts no more writes until it is started again")
)

// DB is an open database. All methods may be called concurrently.
type DB struct {
	dir   string
	opts  Options
	lock  *dirLock // nil in memory, and read-only beside a process that writes
	turns turns

	// One write set at a time goes to the log and into the cache.
	writing sync.Mutex // taken after the turn
	log     *wal.Log   // nil in memory
	visible atomic.Uint64
	readers readers
	cache   atomic.Pointer[cache]
	over    *layers // what the log holds and the tables do not; only read-only

	states *states // nil in memory
	saving sync.Mutex
	grown  chan struct{} // the log has grown enough for a state file
	stop   context.CancelFunc
	wg     sync.WaitGroup

	fixity disk.Fixity
	failed atomic.Pointer[error] // what StopWrites was given first
	closed atomic.Bool
	once   sync.Once
	cerr   error
}

// What lies where in the directory of a database.
const (
	logDir    = "log"
	statesDir = "snapshots"
	cacheDir  = "db"
	madeDir   = "db.made" // a cache that is being made anew
	tempDir   = "tmp"

	witnessName = "tip" // the second tip of the log
)

// Open opens the database in a directory and makes it if it is missing. With Options.InMemory the directory
// is not used and may be "". The error is ErrLocked if another process holds it, and names that process.
func Open(dir string, opts Options) (*DB, error) {
	opts = opts.withDefaults()
	ctx, stop := context.WithCancel(context.Background())
	db := &DB{dir: dir, opts: opts, stop: stop, grown: make(chan struct{}, 1)}
	var err error
	switch {
	case opts.InMemory:
		err = db.openInMemory()
	case opts.ReadOnly:
		err = db.openReadOnly(ctx)
	default:
		err = db.openForWriting(ctx)
	}
	if err != nil {
		stop()
		return nil, errors.Join(fmt.Errorf("kv: open %s: %w", dir, err), db.release())
	}
	if db.states != nil && !opts.ReadOnly {
		db.wg.Go(func() { db.saveWhenGrown(ctx) })
	}
	return db, nil
}

// release closes what is open.
func (db *DB) release() error {
	var err error
	if db.log != nil {
		err = db.log.Close()
	}
	if c := db.cache.Load(); c != nil {
		c.retire()
		<-c.closed
		err = errors.Join(err, c.cerr)
	}
	if db.lock != nil {
		db.lock.release()
	}
	return err
}

func (db *DB) openInMemory() error {
	b, err := openBadger(badgerOptions("", db.opts))
	if err == nil {
		db.cache.Store(newCache(b, ""))
	}
	return err
}

func (db *DB) path(name string) string { return filepath.Join(db.dir, name) }

// Close waits for the running transaction and writes what is in memory to its files. It may be called twice. Snapshots
// that are open must not be used any more.
func (db *DB) Close() error {
	db.once.Do(func() {
		db.stop()
		db.wg.Wait()
		db.cerr = db.alone(func() error {
			db.writing.Lock() // batches too
			defer db.writing.Unlock()
			db.closed.Store(true)
			if err := db.close(); err != nil {
				return fmt.Errorf("kv: close %s: %w", db.dir, err)
			}
			return nil
		})
	})
	return db.cerr
}

// close closes what is open, whether it is still read from or not.
func (db *DB) close() error {
	var err error
	written := db.log != nil && !db.opts.ReadOnly && db.WritesStopped() == nil
	if written {
		err = db.log.Sync()
	}
	if c := db.cache.Load(); c != nil {
		c.mu.Lock()
		if !c.gone {
			c.gone = true
			c.close()
		}
		c.mu.Unlock()
		<-c.closed
		err = errors.Join(err, c.cerr)
	}
	if written && err == nil {
		err = db.trimFlushed()
	}
	if db.log != nil {
		err = errors.Join(err, db.log.Close())
	}
	if db.lock != nil {
		db.lock.release()
	}
	return err
}

// Dir returns a directory below the database's for temporary files, "" in memory. It is emptied when the database is opened.
func (db *DB) Dir() string {
	if db.opts.InMemory || db.opts.CacheInMemory || db.opts.ReadOnly {
		return ""
	}
	return db.path(tempDir)
}

// Sizes are the bytes that parts of the database take.
type Sizes struct {
	Tables    int64 `json:"tables"`    // of Badger's; what it has only in memory is not counted
	Log       int64 `json:"log"`       // write sets since the older state file
	Snapshots int64 `json:"snapshots"` // state files
}

// Sizes returns the bytes that the parts of the database take; nothing in memory.
func (db *DB) Sizes() (s Sizes) {
	c, leave := db.enter()
	if c == nil {
		return s
	}
	defer leave()
	if c.dir == "" {
		return s
	}
	for _, t := range c.badger.Tables() {
		s.Tables += int64(t.OnDiskSize)
	}
	if db.log != nil {
		s.Log = db.log.Size()
	}
	if db.states != nil {
		s.Snapshots = db.states.size()
	}
	return s
}

// Size returns the bytes of tables, log and state files; 0 in memory.
func (db *DB) Size() int64 {
	s := db.Sizes()
	return s.Tables + s.Log + s.Snapshots
}

// Compact merges all tables into one level, which gives the space of deleted and overwritten entries back. Writers wait
// for a part of the time it takes.
func (db *DB) Compact() error {
	c, leave := db.enter()
	if c == nil {
		return ErrClosed
	}
	defer leave()
	err := db.alone(func() error {
		if err := db.writable(); err != nil {
			return err
		}
		db.writing.Lock()
		defer db.writing.Unlock()
		c.badger.SetDiscardTs(db.readers.oldest(&db.visible))
		// Badger merges what is in memory and in its top level only when it drops a prefix that something has.
		scratch := &layer{}
		scratch.set(string(fullKey(spaceScratch, nil)), write{})
		if err := c.apply(scratch, db.visible.Load()); err != nil {
			return err
		}
		return c.badger.DropPrefix([]byte{byte(spaceScratch)})
	})
	if err == nil {
		err = c.badger.Flatten(2)
	}
	if err != nil {
		return fmt.Errorf("kv: compact: %w", err)
	}
	return nil
}

// DropSpace deletes every entry of a space at once, with its disk space. Writers wait meanwhile. Readers that
// hold a snapshot lose the space's entries too.
func (db *DB) DropSpace(s Space) error {
	return db.alone(func() error {
		if err := db.writable(); err != nil {
			return err
		}
		db.writing.Lock()
		defer db.writing.Unlock()
		if err := db.commitRecord(encodeDrop(s), true, func(c *cache, number uint64) error { return c.drop(s, number) }); err != nil {
			return fmt.Errorf("kv: drop space %s: %w", s, err)
		}
		return nil
	})
}

// recoverDamage turns a panic of Badger's over damaged file contents into an error.
func recoverDamage(doing string, err *error) {
	if r := recover(); r != nil {
		*err = damage(doing, r)
	}
}

func damage(doing string, r any) error { return fmt.Errorf("kv: %s: %w: %.300v", doing, ErrDamaged, r) }
