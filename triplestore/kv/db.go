// Package kv is the only door to Badger: one ordered, transactional key-value database per data directory.
//
// Keys live in Spaces, one byte each, listed in spaces.go. There are four ways in:
//
//   - Update runs a function in a write transaction: atomic, seen by nobody before it is on disk, fsynced when
//     Update returns. Writers take turns; several callers share one commit and one fsync, and a function that
//     fails takes only its own writes with it.
//   - View and Snapshot read one unchanging state; they block nobody and nobody blocks them.
//   - Batch writes in bulk and splits itself: durable on Flush, not atomic.
//   - Backup and Restore copy everything, or what changed since an earlier backup.
//
// The package hides what was measured to go wrong with Badger: empty memtable files after a kill, silent
// corruption with default options, the crash on a full disk, large values torn through the value log. Values
// are therefore limited to MaxValue and always live in the LSM tree, every block read from a file is verified
// against its checksum, and writes are refused with ErrDiskFull while space is still left.
//
// It does not know what is stored. Keys are at most MaxKey bytes. No iteration backwards, no expiry.
package kv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	badger "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
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
	ErrReadOnly = errors.New("write in a read-only transaction or database")
	ErrDamaged  = errors.New("damaged database")
	// ErrWritesStopped is in the chain of every error of a write after StopWrites; the cause is in it, too.
	ErrWritesStopped = errors.New("the archive accepts no more writes until it is started again")
)

// DB is an open database. All methods may be called concurrently.
type DB struct {
	dir    string
	opts   Options
	badger *badger.DB
	lock   *dirLock // nil in memory
	turns  turns
	drop   sync.RWMutex // held for reading while entries are committed, for writing while a space is dropped
	closed atomic.Bool
	failed atomic.Pointer[error] // what StopWrites was given first
	once   sync.Once
	cerr   error
}

// Open opens the database in a directory and makes it if it is missing. With Options.InMemory the directory
// is not used and may be "". The error is ErrLocked where another process holds it, and names that process.
func Open(dir string, opts Options) (*DB, error) {
	opts = opts.withDefaults()
	db := &DB{dir: dir, opts: opts}
	if !opts.InMemory {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fmt.Errorf("kv: %w", err)
		}
		lock, err := lockDir(dir)
		if err != nil {
			return nil, fmt.Errorf("kv: open %s: %w", dir, err)
		}
		db.lock = lock
		if err := db.checkSpace(); err != nil {
			db.unlock()
			return nil, fmt.Errorf("kv: open %s: %w", dir, err)
		}
		if err := removeLeftovers(dir); err != nil {
			db.unlock()
			return nil, fmt.Errorf("kv: open %s: %w", dir, err)
		}
	}
	b, err := openBadger(badgerOptions(dir, opts))
	if err != nil {
		db.unlock()
		return nil, fmt.Errorf("kv: open %s: %w", dir, err)
	}
	db.badger = b
	return db, nil
}

// openBadger turns the panics with which Badger meets a damaged table's index into errors.
func openBadger(o badger.Options) (b *badger.DB, err error) {
	defer func() {
		if r := recover(); r != nil {
			b, err = nil, fmt.Errorf("%w: %.300v", ErrDamaged, r)
		}
	}()
	return badger.Open(o)
}

func badgerOptions(dir string, opts Options) badger.Options {
	if opts.InMemory {
		dir = ""
	}
	o := badger.DefaultOptions(dir).
		WithInMemory(opts.InMemory).
		WithBypassLockGuard(ownLock).
		WithLogger(badgerLog{opts.Log}).
		WithMetricsEnabled(false).
		WithSyncWrites(!opts.NoSync).
		WithDetectConflicts(false). // writers take turns
		WithCompression(options.None).
		WithBlockCacheSize(0). // without compression a block is a piece of a mapped file
		WithIndexCacheSize(0).
		// Each block is verified whenever it is read from its file, also by compactions. Verifying whole
		// tables on opening too would make opening as slow as reading everything; Verify does that on request.
		WithChecksumVerificationMode(options.OnBlockRead).
		WithVerifyValueChecksum(true).
		WithMemTableSize(opts.MemTable).
		WithNumMemtables(3).
		WithBaseTableSize(8 << 20).
		WithBaseLevelSize(64 << 20).
		WithNumLevelZeroTables(4).
		WithNumLevelZeroTablesStall(12).
		WithNumCompactors(2).
		WithNumGoroutines(2).
		WithValueThreshold(MaxValue + 1). // nothing but a log header ever reaches the value log
		WithValueLogFileSize(4 << 20)
	return o
}

// removeLeftovers deletes the zero-length NNNNN.mem a kill can leave between the creation of the file and
// its first page, because of which Badger would refuse to open once, and what a killed backup left. Neither holds data. We hold the lock.
func removeLeftovers(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if left, _ := filepath.Match(backupTemp, e.Name()); left { // of a backup that was killed
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
			continue
		}
		if !strings.HasSuffix(e.Name(), ".mem") {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if info.Size() == 0 {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close waits for the running transaction and writes what is in memory to its files. It may be called twice.
func (db *DB) Close() error {
	db.once.Do(func() {
		db.cerr = db.alone(func() error {
			db.drop.Lock() // batches too
			defer db.drop.Unlock()
			db.closed.Store(true)
			defer db.unlock()
			if err := db.badger.Close(); err != nil {
				return fmt.Errorf("kv: close %s: %w", db.dir, err)
			}
			return nil
		})
	})
	return db.cerr
}

// Dir is the directory of the database, "" in memory.
func (db *DB) Dir() string {
	if db.opts.InMemory {
		return ""
	}
	return db.dir
}

// Size of the database's files in bytes, as Badger last measured them (once a minute); 0 in memory.
func (db *DB) Size() int64 {
	if db.closed.Load() {
		return 0
	}
	lsm, log := db.badger.Size()
	return lsm + log
}

// Verify reads every table and compares it with its checksums.
func (db *DB) Verify() (err error) {
	defer recoverDamage("verify", &err)
	if db.closed.Load() {
		return ErrClosed
	}
	if err := db.badger.VerifyChecksum(); err != nil {
		return fmt.Errorf("kv: %w: %w", ErrDamaged, err)
	}
	return nil
}

// Compact merges all tables into one level, which gives the space of deleted and overwritten entries back. Writers wait
// for a part of the time it takes.
func (db *DB) Compact() error {
	// Badger merges what is in memory and in its top level only when it drops a prefix that something has.
	err := db.Update(context.Background(), func(tx *Txn) error { return tx.Set(spaceScratch, nil, nil) })
	if err == nil {
		err = db.DropSpace(spaceScratch)
	}
	if err == nil {
		err = db.badger.Flatten(2)
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
		db.drop.Lock()
		defer db.drop.Unlock()
		if err := db.badger.DropPrefix([]byte{byte(s)}); err != nil {
			return fmt.Errorf("kv: drop space %s: %w", s, err)
		}
		return nil
	})
}

func (db *DB) unlock() {
	if db.lock != nil {
		db.lock.release()
	}
}

// recoverDamage turns a panic of Badger's over damaged file contents into an error.
func recoverDamage(doing string, err *error) {
	if r := recover(); r != nil {
		*err = damage(doing, r)
	}
}

// recoverIn is recoverDamage for what is done so often that its name is put together only when it is needed.
func recoverIn(doing string, space Space, err *error) {
	if r := recover(); r != nil {
		*err = damage(doing+" "+space.String(), r)
	}
}

func damage(doing string, r any) error { return fmt.Errorf("kv: %s: %w: %.300v", doing, ErrDamaged, r) }
