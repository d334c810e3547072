package kv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	badger "github.com/dgraph-io/badger/v4"

	"odarchive/triplestore/disk"
	"odarchive/triplestore/wal"
)

// readTries is how often opening for reading retries because the writing process has moved files meanwhile.
const readTries = 5

// openReadOnly opens the state at the end of the log without writing to the directory. It opens Badger in a temporary
// directory with Badger's tables and keeps newer records of the log in memory, over the tables. If no process is
// writing, none can start until this one ends, and the tables are links. Otherwise they are copies: Badger truncates
// the tables that it deletes, which would crash a process that has them mapped. If there is no place for such a
// directory, or a table is damaged, everything is read into memory.
func (db *DB) openReadOnly(ctx context.Context) error {
	if _, err := db.opts.FS.Stat(db.dir); err != nil {
		return err
	}
	if !db.opts.CacheInMemory {
		lock, err := lockForReading(db.dir)
		if err != nil {
			return err
		}
		db.lock = lock
	}
	var err error
	for try := range readTries {
		if err = db.tryReadOnly(ctx, try == readTries-1); err == nil {
			return nil
		}
		if db.log != nil {
			db.log.Close()
			db.log = nil
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, wal.ErrGap) && !errors.Is(err, errMoved) {
			return err
		}
	}
	return err
}

// errMoved means that a table changed while it was copied; the writing process may have deleted it.
var errMoved = errors.New("a table was deleted while it was copied")

func (db *DB) tryReadOnly(ctx context.Context, lastTry bool) error {
	log, found, err := wal.Open(db.path(logDir), wal.Options{FS: db.opts.FS, ReadOnly: true, Log: db.opts.Log})
	if err != nil {
		return err
	}
	db.log = log
	if db.states, err = openStates(db.opts.FS, db.path(statesDir), false); err != nil {
		return err
	}
	if found.Damage != nil {
		db.fixity.Note(disk.Damage{File: logDir, Offset: -1, Why: found.Damage.Error()})
		db.opts.Log.Warn("the log is damaged; showing what the rest of the database holds", "error", found.Damage)
	}
	if db.opts.CacheInMemory {
		return db.readIntoMemory(ctx, found, nil)
	}
	c, err := db.linkCache(ctx, found, lastTry)
	if errors.Is(err, errMoved) || errors.Is(err, errNoRoom) {
		return err
	}
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) && found.Empty {
			return fmt.Errorf("there is no database: %w", err)
		}
		return db.readIntoMemory(ctx, found, err)
	}
	holds, err := c.holds()
	if err != nil {
		c.retire()
		return db.readIntoMemory(ctx, found, err)
	}
	if found.Empty { // format 1 does not have the key applied
		holds = max(holds, c.badger.MaxVersion())
	}
	if err := db.overlay(ctx, holds); err != nil {
		c.retire()
		if errors.Is(err, wal.ErrGap) {
			return err
		}
		return db.readIntoMemory(ctx, found, err)
	}
	last := max(holds, found.Next-1)
	if last < found.Tip {
		db.opts.Log.Error("the newest write sets are damaged and not shown", "from", last+1, "to", found.Tip)
	}
	db.install(c, last)
	return nil
}

// linkCache opens Badger on links to, or copies of, the tables that MANIFEST lists.
func (db *DB) linkCache(ctx context.Context, found wal.Found, lastTry bool) (*cache, error) {
	from := db.path(cacheDir)
	tables, err := manifest(from)
	if err != nil {
		return nil, err
	}
	removeAbandoned()
	dir, err := os.MkdirTemp("", readPrefix)
	if err != nil {
		return nil, err
	}
	mine, err := lockDir(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	c, err := db.linkInto(ctx, dir, from, tables, found, lastTry)
	if err != nil {
		mine.release()
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	c.remove, c.lock = true, mine
	return c, nil
}

// readPrefix begins the names of the temporary directories in which tables are read.
const readPrefix = "odarchive-read-"

// removeAbandoned deletes the temporary directories of killed processes, whose locks are free.
func removeAbandoned() {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), readPrefix+"*"))
	for _, dir := range left {
		if lock, err := lockDir(dir); err == nil {
			_ = os.RemoveAll(dir) // may belong to another user
			lock.release()
		}
	}
}

// linkInto opens Badger in dir. lastTry makes it report a damaged copy as damage, and not as errMoved.
func (db *DB) linkInto(ctx context.Context, dir, from string, tables []uint64, found wal.Found, lastTry bool) (*cache, error) {
	absolute, err := filepath.Abs(from)
	if err != nil {
		return nil, err
	}
	// If our log is damaged or does not exist yet, Badger's own log has the newest entries. Badger must write in order
	// to read it, so everything must be a copy.
	own := found.Empty || found.Damage != nil
	if err := db.takeTables(dir, absolute, tables, !own && (db.lock != nil || readOnlyDisk(absolute))); err != nil {
		return nil, err
	}
	if own {
		logs, _ := filepath.Glob(filepath.Join(absolute, "*.mem"))
		for _, name := range logs {
			if err := copyFile(filepath.Join(dir, filepath.Base(name)), name); err != nil {
				return nil, err
			}
		}
	}
	if found.Empty {
		if err := allNamed(from, tables); err != nil {
			return nil, err
		}
	}
	raw, err := os.ReadFile(filepath.Join(from, badger.ManifestFilename))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, badger.ManifestFilename), wholeEntries(raw), 0o600)
	}
	if err != nil {
		return nil, err
	}
	if tables, err = manifest(dir); err != nil {
		return nil, err
	}
	// Links lead to the files that the list is about. Copies are new files, so all of them are read.
	bad, err := verifyUnlisted(ctx, dir, from, tables, false, func(_, _ int64) {})
	if err != nil {
		return nil, err
	}
	if len(bad) > 0 && db.lock == nil && !lastTry {
		return nil, errMoved
	}
	if len(bad) > 0 {
		db.fixity.Note(disk.Damage{File: cacheDir + "/" + bad[0].name, Offset: bad[0].offset, Why: bad[0].err.Error()})
		return nil, fmt.Errorf("table %s: %w", bad[0].name, bad[0].err)
	}
	b, err := openBadger(badgerOptions(dir, db.opts).WithReadOnly(!own))
	if err != nil {
		return nil, err
	}
	return newCache(b, dir), nil
}

// takeTables links or copies tables into a directory. Links require that no process is writing.
func (db *DB) takeTables(dir, from string, tables []uint64, links bool) error {
	if links {
		for _, id := range tables {
			if err := os.Symlink(filepath.Join(from, tableName(id)), filepath.Join(dir, tableName(id))); err != nil {
				return err
			}
		}
		return nil
	}
	var total int64
	for _, id := range tables {
		info, err := os.Stat(filepath.Join(from, tableName(id)))
		if err != nil {
			return err
		}
		total += info.Size()
	}
	if free, ok := freeSpace(dir); ok && free < total+spareForCopies {
		return fmt.Errorf("%w: %d MiB of tables, %d MiB left in %s; query that process (--endpoint), or set TMPDIR", errNoRoom, total>>20,
			free>>20, os.TempDir())
	}
	for _, id := range tables {
		if err := copyFile(filepath.Join(dir, tableName(id)), filepath.Join(from, tableName(id))); err != nil {
			return err
		}
	}
	return nil
}

// errNoRoom means that there is no disk space for the copies.
var errNoRoom = errors.New("no disk space to read the archive while another process holds it")

// spareForCopies is the space in the temporary directory, in bytes, that copies must leave free.
const spareForCopies = 64 << 20

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// overlay reads the log records after a number into memory, over the tables.
func (db *DB) overlay(ctx context.Context, after uint64) error {
	over := &layers{own: &layer{}, group: &layer{}}
	err := db.log.Read(ctx, after+1, func(number uint64, record []byte) error {
		w, err := decodeWriteSet(record, nil)
		if err != nil {
			return err
		}
		if w.drop != 0 {
			return errDropped
		}
		return w.each(func(key, val []byte, deleted bool) error {
			if deleted {
				over.own.set(string(key), write{deleted: true, version: number})
			} else {
				over.own.set(string(key), write{val: append([]byte{}, val...), version: number})
			}
			return nil
		})
	})
	over.own.sort()
	if len(over.own.writes) > 0 {
		db.over = over
	}
	return err
}

// errDropped means that the end of the log drops a space, which an overlay cannot represent.
var errDropped = errors.New("a space is dropped")

// readIntoMemory rebuilds the state from a state file and the log, in memory.
func (db *DB) readIntoMemory(ctx context.Context, found wal.Found, why error) error {
	db.over = nil
	if found.Empty && len(db.states.files()) == 0 {
		return errNothingElse(why)
	}
	if why != nil {
		db.opts.Log.Warn("reading the whole database into memory, from snapshot and log", "because", why)
	}
	db.opts.CacheInMemory = true
	c, number, _, err := db.buildCache(ctx, "", found.Damage == nil)
	if err != nil {
		return errors.Join(why, err)
	}
	db.install(c, number)
	return nil
}
