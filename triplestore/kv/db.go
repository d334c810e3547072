// Package kv is an ordered, transactional key-value database. It is this project's own: other packages of the project
// may use it, but it makes no promise of stability to anyone else.
//
// Keys live in Spaces, one byte each, which spaces.go lists. There are four ways to access them:
//
//   - Update runs a function in a write transaction: atomic, invisible until it is on disk, durable when Update
//     returns. Writers take turns. Several callers share one commit and one fsync; a function that fails loses only its
//     own writes.
//   - View and Snapshot read one unchanging state. They never block and are never blocked.
//   - Batch writes in bulk and splits itself. It is durable on Flush, but not atomic.
//   - Backup and Load copy everything, or what changed since an earlier backup.
//
// The database is a log (DIR/log), state files (DIR/snapshots) and Badger as a cache of both (DIR/db). A write set is
// appended to the log (package wal) and synced, which commits it, and then applied to Badger without a sync. When the
// log has grown, the background writes the whole database to a state file. It keeps the last two state files and the
// log from the older one on, so Badger's directory can be rebuilt at any time. Open verifies Badger's tables before it
// reads from them and rebuilds them if one is damaged. Scrub keeps verifying tables, log and state files, and repairs
// them.
//
// After a failed write to the log, the content of the disk is unknown. All writes then fail with ErrWritesStopped until
// the database is reopened; reads continue.
//
// Only this package imports Badger. It guards against Badger's traps: iterators that end silently at a damaged block,
// compactions that make the loss permanent, crashes on a full disk, large values torn in the value log. Values are
// limited to MaxValue and always stored in the LSM tree, and writes fail with ErrDiskFull while some space is left.
//
// The package does not interpret what it stores. Keys are limited to MaxKey. There is no reverse iteration and no
// expiry. FORMAT.md describes the files.
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

// Limits of one entry, in bytes.
const (
	MaxKey   = 16 << 10
	MaxValue = 1<<20 - 1
)

// Errors that callers may test for.
var (
	ErrLocked   = errors.New("the database is in use by another process")
	ErrDiskFull = errors.New("too little free disk space to write safely")
	ErrTooBig   = errors.New("transaction, key or value too big")
	ErrClosed   = errors.New("the database is closed")
	ErrMissing  = errors.New("the database is missing")
	ErrReadOnly = errors.New("write in a read-only transaction or database")
	ErrDamaged  = errors.New("damaged database")
	// Every write after StopWrites returns an error that wraps ErrWritesStopped and the cause.
	ErrWritesStopped = errors.New("the archive accepts no more writes until it is restarted")
)

// DB is an open database. All methods may be called concurrently.
type DB struct {
	dir   string
	opts  Options
	lock  *dirLock // nil in memory, and when reading while another process writes
	turns turns

	// Write sets go to the log and to the cache one at a time.
	writing sync.Mutex    // locked after taking the turn
	log     *wal.Log      // nil in memory
	records recordBuffers // of writeLayer
	visible atomic.Uint64 // number of the newest write set that readers see
	readers readers
	cache   atomic.Pointer[cache]
	over    *layers // write sets in the log but not in the tables; only if read-only

	states *states       // nil in memory
	saving sync.Mutex    // held while a state file is written
	grown  chan struct{} // receives a value when the log is long enough for a state file
	rarely atomic.Int32  // calls of SaveRarely that have not ended
	stop   context.CancelFunc
	wg     sync.WaitGroup

	holds holds

	purgeDue atomic.Bool // see PurgeDue
	of       *DB         // the database that this one is a state of; nil except for Pin
	pinned   *Snapshot   // nil except for Pin
	fixity   *disk.Fixity
	failed   atomic.Pointer[error] // the first cause passed to StopWrites
	closed   atomic.Bool
	once     sync.Once
	cerr     error // result of the first Close
}

// Files and directories of a database.
const (
	logDir    = "log"
	statesDir = "snapshots"
	cacheDir  = "db"
	madeDir   = "db.made" // prefix of caches being rebuilt
	tempDir   = "tmp"

	witnessName = "tip" // second copy of the log's tip
)

// Open opens the database in a directory and creates it if it does not exist. With Options.InMemory it does not use the
// directory, which may be "". If another process holds the database, Open returns an ErrLocked that names the process.
func Open(dir string, opts Options) (*DB, error) {
	opts = opts.withDefaults()
	ctx, stop := context.WithCancel(context.Background())
	db := &DB{dir: dir, opts: opts, stop: stop, fixity: new(disk.Fixity), grown: make(chan struct{}, 1)}
	err := db.checkReplica()
	switch {
	case err != nil:
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

// release closes what a failed Open has opened.
func (db *DB) release() error {
	var err error
	if db.log != nil {
		err = db.log.Close()
	}
	if c := db.cache.Load(); c != nil {
		c.shut()
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

// Close waits for the running transaction, stops background work and flushes memory to the files. Open snapshots must
// not be used afterwards. Close may be called twice.
func (db *DB) Close() error {
	db.once.Do(func() {
		if db.pinned != nil {
			db.closed.Store(true)
			db.pinned.Close()
			return
		}
		db.stop()
		db.wg.Wait()
		db.cerr = db.alone(func() error {
			db.writing.Lock() // batches do not take turns
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

// close closes everything, even if it is still being read.
func (db *DB) close() error {
	var err error
	written := db.log != nil && !db.opts.ReadOnly && db.WritesStopped() == nil
	if written {
		err = db.log.Sync()
		db.holds.mu.Lock()
		if len(db.holds.list) > 0 {
			db.storeHolds()
		}
		db.holds.mu.Unlock()
	}
	var content int64
	if c := db.cache.Load(); c != nil && c.flushes() && errors.Is(db.checkSpace(), ErrDiskFull) {
		return errors.Join(err, db.abandon())
	} else if c != nil {
		c.mu.Lock()
		if !c.retired {
			content = c.sizes().Content
			c.retired = true
			c.close()
		}
		c.mu.Unlock()
		<-c.closed
		if err = errors.Join(err, c.cerr); written && err == nil {
			db.swapInClosed(c.dir)
		}
	}
	if written && err == nil {
		err = db.trimFlushed(content)
	}
	if db.log != nil {
		err = errors.Join(err, db.log.Close())
	}
	if db.lock != nil {
		db.lock.release()
	}
	return err
}

// abandon closes only the log, on a full disk: Badger would write its memory through mapped files, see checkSpace. The
// log has all of that, and the next opening reads it, as after a kill. Badger goes on until the process ends, so its
// directory stays locked until then.
func (db *DB) abandon() error {
	db.opts.Log.Warn("the disk is full: the database is closed without writing what the log has", "dir", db.dir)
	if db.log == nil {
		return nil
	}
	return db.log.Close()
}

// Dir returns a directory for temporary files below the database's own, or "" in memory. Open empties it.
func (db *DB) Dir() string {
	if db.opts.InMemory || db.opts.CacheInMemory || db.opts.ReadOnly {
		return ""
	}
	return db.path(tempDir)
}

// Sizes are the sizes of the parts of the database on disk, in bytes.
type Sizes struct {
	Tables    int64 `json:"tables"`    // Badger's tables, without what is still in memory
	Content   int64 `json:"content"`   // the same tables, not compressed
	Log       int64 `json:"log"`       // write sets since the older state file
	Snapshots int64 `json:"snapshots"` // state files
}

// Sizes returns the sizes of the parts of the database. They are zero in memory.
func (db *DB) Sizes() (s Sizes) {
	c, leave := db.enter()
	if c == nil {
		return s
	}
	defer leave()
	if s = c.sizes(); c.dir == "" {
		return s
	}
	if db.log != nil {
		s.Log = db.log.Size()
	}
	if db.states != nil {
		s.Snapshots = db.states.size()
	}
	return s
}

// Size returns the size of tables, log and state files in bytes, or 0 in memory.
func (db *DB) Size() int64 {
	s := db.Sizes()
	return s.Tables + s.Log + s.Snapshots
}

// Compact merges all tables into one level, which reclaims the space of deleted and overwritten entries. Writers wait
// for part of that time.
func (db *DB) Compact() error {
	c, leave := db.enter()
	if c == nil {
		return ErrClosed
	}
	defer leave()
	err := db.alone(func() error {
		if err := db.maintain(); err != nil {
			return err
		}
		db.writing.Lock()
		defer db.writing.Unlock()
		c.badger.SetDiscardTs(db.readers.oldest(&db.visible))
		// Badger flushes its memory and its top level only when it drops a prefix that exists.
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
	if err == nil {
		err = db.saveIfCrowded(context.Background())
	}
	if err != nil {
		return fmt.Errorf("kv: compact: %w", err)
	}
	return nil
}

// DropSpace deletes all entries of a space at once and frees their disk space. Writers wait meanwhile. Open snapshots
// lose the entries too.
func (db *DB) DropSpace(s Space) error {
	var number uint64
	err := db.alone(func() error {
		if err := db.writable(); err != nil {
			return err
		}
		db.writing.Lock()
		defer db.writing.Unlock()
		if err := db.commitRecord(encodeDrop(s), true, func(c *cache, number uint64) error { return c.drop(s, number) }); err != nil {
			return fmt.Errorf("kv: drop space %s: %w", s, err)
		}
		number = db.visible.Load()
		return nil
	})
	if err != nil {
		return err
	}
	return db.acknowledge(context.Background(), number)
}

// recoverRead is deferred by reads that call Badger and a callback. It turns a panic into ErrDamaged, unless inCallback
// says that the callback panicked.
func (db *DB) recoverRead(doing string, space Space, inCallback *bool, err *error) {
	if r := recover(); r != nil {
		if *inCallback {
			panic(r)
		}
		*err = db.suspect(damage(doing+" "+space.String(), r))
	}
}

// recoverDamage turns a panic of Badger over damaged files into an error.
func recoverDamage(doing string, err *error) {
	if r := recover(); r != nil {
		*err = damage(doing, r)
	}
}

func damage(doing string, r any) error { return fmt.Errorf("kv: %s: %w: %.300v", doing, ErrDamaged, r) }
