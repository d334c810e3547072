package kv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"odarchive/triplestore/disk"
	"odarchive/triplestore/wal"
)

// openForWriting makes log, state files and cache consistent:
//
//   - Usually the cache is sound, and the log holds the write sets that it lacks.
//   - If the cache is damaged or missing, it is rebuilt from a state file and the log.
//   - If the log or the state files are damaged, the cache has their content; a new state file is written.
//   - If there is no log, the directory is new or in format 1.
//
// Badger's own write-ahead log is not synced and therefore not trusted. It is read only if our log has lost its end.
func (db *DB) openForWriting(ctx context.Context) error {
	if err := db.lockDirectory(); err != nil {
		return err
	}
	if err := db.checkSpace(); err != nil {
		return err
	}
	if err := db.clean(); err != nil {
		return err
	}
	o := wal.Options{FS: db.opts.FS, NoSync: db.opts.NoSync, Segment: min(db.opts.SaveAt/2, 4<<20), Witness: db.path(witnessName),
		Chained: db.opts.Replica, Log: db.opts.Log}
	log, found, err := wal.Open(db.path(logDir), o)
	if err != nil {
		return err
	}
	db.log = log
	if db.states, err = openStates(db.opts.FS, db.path(statesDir), true); err != nil {
		return err
	}
	db.loadHolds()
	r := &recovery{DB: db, found: found}
	if err := r.run(ctx); err != nil || !db.opts.Replica {
		return err
	}
	return db.findPurge(ctx)
}

// recovery is one opening for writing.
type recovery struct {
	*DB
	found   wal.Found
	unknown string // what is lost if both log and tables are lost
}

func (r *recovery) run(ctx context.Context) error {
	if newest := r.states.newest().number; !r.found.Empty && r.found.Damage == nil && newest >= r.found.Next {
		r.found.Damage = fmt.Errorf("%w: it ends with write set %d, the newest snapshot with %d", wal.ErrDamaged, r.found.Next-1, newest)
	}
	if r.opts.CacheInMemory {
		return r.fromLog(ctx, nil)
	}
	bad, err := r.verifyCache(ctx)
	if err != nil {
		return err
	}
	if r.found.Empty {
		return r.withoutLog(ctx, bad)
	}
	if r.fresh() {
		return r.fromLog(ctx, nil)
	}
	if bad != nil {
		return r.fromLog(ctx, bad)
	}
	lost := r.found.Damage
	if err := r.setAside(); err != nil {
		return err
	}
	c, err := r.openCache(r.path(cacheDir))
	if err != nil {
		return r.fromLog(ctx, err)
	}
	holds, err := c.holds()
	if err != nil {
		c.shut()
		return r.fromLog(ctx, fmt.Errorf("%w: %w", ErrDamaged, err))
	}
	if lost == nil && holds+1 < r.found.Next { // check that the log is readable before building on it
		lost = r.log.Read(ctx, holds+1, func(uint64, []byte) error { return nil })
		if errors.Is(lost, wal.ErrGap) {
			c.shut()
			return r.fromLog(ctx, fmt.Errorf("%w: its tables end with write set %d, before the log begins", ErrDamaged, holds))
		}
	}
	if lost == nil && holds >= r.found.Next {
		lost = fmt.Errorf("%w: it ends with write set %d, the tables with %d", wal.ErrDamaged, r.found.Next-1, holds)
	}
	if lost != nil {
		c.shut()
		return r.withDamagedLog(ctx, lost)
	}
	if err := r.replay(ctx, c, holds); err != nil {
		c.retire()
		return err
	}
	r.install(c, r.found.Next-1)
	return r.dropAside()
}

// fresh reports whether the database was just made by CreateReplica, and has no cache yet.
func (r *recovery) fresh() bool {
	if !r.opts.Replica || r.found.Damage != nil || r.states.newest().number+1 != r.found.Next {
		return false
	}
	_, err := os.Stat(r.path(cacheDir))
	return errors.Is(err, fs.ErrNotExist)
}

// verifyCache verifies every table that MANIFEST lists, unless an earlier opening did (see verifiedName). bad is the
// fault found. It is nil if the cache is sound, or if
// there is none and none is expected.
func (r *recovery) verifyCache(ctx context.Context) (bad, err error) {
	dir := r.path(cacheDir)
	tables, err := manifest(dir)
	if errors.Is(err, fs.ErrNotExist) {
		left, _ := filepath.Glob(filepath.Join(dir, "*.sst"))
		if len(left) == 0 && (r.found.Empty || r.found.Next == 1) {
			return nil, nil
		}
		return fmt.Errorf("%w: %s is missing", ErrDamaged, filepath.Join(cacheDir, "MANIFEST")), nil
	}
	if errors.Is(err, ErrDamaged) {
		return err, nil
	}
	if err != nil {
		return nil, err
	}
	if r.found.Empty { // nothing else says what the database holds
		if err := allNamed(dir, tables); err != nil {
			return err, nil
		}
	}
	progress := newProgress(r.opts.Log, "verifying the database")
	list, err := verifyUnlisted(ctx, dir, dir, tables, true, progress.add)
	if err != nil {
		return nil, err
	}
	for _, b := range list {
		r.fixity.Note(disk.Damage{File: cacheDir + "/" + b.name, Offset: b.offset, Why: b.err.Error()})
		bad = fmt.Errorf("table %s: %w", b.name, b.err)
	}
	return bad, nil
}

// withoutLog opens a directory that is new, in format 1, or has lost its log.
func (r *recovery) withoutLog(ctx context.Context, bad error) error {
	newest := r.states.newest()
	if bad != nil && newest.number > 0 {
		return r.fromLog(ctx, bad)
	}
	if bad != nil {
		return errNothingElse(bad)
	}
	_, err := os.Stat(r.path(filepath.Join(cacheDir, "MANIFEST")))
	isNew := errors.Is(err, fs.ErrNotExist)
	if isNew && newest.number == 0 && r.opts.MustExist {
		return ErrMissing
	}
	c, err := r.openCache(r.path(cacheDir))
	if err != nil {
		return err
	}
	number := c.badger.MaxVersion()
	if (isNew || number == 0) && newest.number == 0 {
		r.install(c, 0)
		return r.log.Reset(1, false)
	}
	r.install(c, number)
	if newest.number > 0 {
		r.fixity.Note(disk.Damage{File: logDir, Offset: -1, Why: "the log is missing"})
	} else {
		r.opts.Log.Info("the database gets a log")
	}
	if newest.number > number { // the tables lack write sets that the state file has
		c.shut()
		r.unknown = fmt.Sprintf("what was written after write set %d", newest.number)
		return r.fromLog(ctx, fmt.Errorf("%w: log and tables are missing", ErrDamaged))
	}
	return r.beginAnew(ctx, number, "tables", "")
}

// withDamagedLog recovers from the tables and Badger's own write-ahead log when our log has lost its end.
func (r *recovery) withDamagedLog(ctx context.Context, why error) error {
	r.fixity.Note(disk.Damage{File: logDir, Offset: -1, Why: why.Error()})
	if err := r.restoreAside(); err != nil {
		return err
	}
	c, err := r.openCache(r.path(cacheDir))
	if err != nil {
		return err
	}
	holds, err := c.holds()
	if err != nil {
		c.shut()
		return r.fromLog(ctx, fmt.Errorf("%w: %w", ErrDamaged, err))
	}
	newest := r.states.newest().number
	last := max(r.found.Next-1, r.found.Tip, newest)
	if holds < newest { // and the log does not lead there
		c.shut()
		if last > newest {
			r.unknown = fmt.Sprintf("what was written after write set %d", newest)
		}
		return r.fromLog(ctx, fmt.Errorf("%w: its tables end with write set %d, the newest snapshot with %d", ErrDamaged, holds, newest))
	}
	if holds < last { // apply what is readable of the log
		err := r.replay(ctx, c, holds)
		if err != nil && !errors.Is(err, wal.ErrDamaged) && !errors.Is(err, wal.ErrGap) {
			c.retire()
			return err
		}
		if holds, err = c.holds(); err != nil {
			c.retire()
			return err
		}
	}
	if c.badger.MaxVersion() > holds { // the log has lost the rest of it
		c.shut()
		return r.fromLog(ctx, fmt.Errorf("%w: its newest write set is incomplete", ErrDamaged))
	}
	lost := ""
	if holds < last {
		lost = fmt.Sprintf("%d write sets, %d to %d", last-holds, holds+1, last)
		r.opts.Log.Error("the log is damaged and the tables lack some of its write sets", "lost", lost)
	}
	number := max(last, holds)
	r.install(c, number)
	return r.beginAnew(ctx, number, "tables", lost)
}

// beginAnew writes a state file of the given number and starts a new log after it.
func (r *recovery) beginAnew(ctx context.Context, number uint64, from, lost string) error {
	if err := r.writeState(ctx, nil, func() error { return nil }); err != nil { // the log may be damaged; it ends here
		return err
	}
	if err := r.log.Reset(number+1, lost != ""); err != nil {
		return err
	}
	if err := r.states.keepNewest(1); err != nil { // the log does not lead from the older state files to here
		return err
	}
	r.fixity.Mended(logDir, from, lost)
	return nil
}

// fromLog rebuilds the cache from the newest sound state file and the log after it.
func (r *recovery) fromLog(ctx context.Context, bad error) error {
	if bad != nil {
		r.fixity.Note(disk.Damage{File: cacheDir, Offset: -1, Why: bad.Error()})
		r.opts.Log.Warn("the database is damaged; rebuilding it from snapshot and log", "error", bad)
	}
	dir := r.path(madeDir)
	if r.opts.CacheInMemory {
		dir = ""
	}
	c, number, from, err := r.buildCache(ctx, dir, r.found.Damage == nil)
	if err != nil {
		return errors.Join(bad, err)
	}
	number = max(number, r.found.Tip)
	if r.opts.CacheInMemory {
		r.install(c, number)
		switch {
		case r.found.Empty && number == 0:
			return r.log.Reset(1, false)
		case r.found.Empty || r.found.Damage != nil:
			return r.beginAnew(ctx, number, from, "")
		}
		return nil
	}
	c.shut() // reopened below under its final name
	if c.cerr != nil {
		return c.cerr
	}
	if err := r.swapIn(dir); err != nil {
		return err
	}
	if c, err = r.openCache(r.path(cacheDir)); err != nil {
		return err
	}
	lost := ""
	holds, err := c.holds()
	if err != nil {
		c.shut()
		return err
	}
	if holds < number {
		lost = fmt.Sprintf("%d write sets, %d to %d", number-holds, holds+1, number)
	} else if r.unknown != "" {
		lost = r.unknown
	}
	r.install(c, number)
	if bad != nil {
		r.fixity.Mended(cacheDir, from, lost)
		r.opts.Log.Info("the database is repaired", "from", from, "write_sets", number, "lost", lost)
	}
	if r.found.Empty || r.found.Damage != nil || lost != "" {
		return r.beginAnew(ctx, number, from, lost)
	}
	return nil
}

// replay applies the log records after a number to a cache.
func (db *DB) replay(ctx context.Context, c *cache, after uint64) error {
	r := c.replayer()
	progress := newProgress(db.opts.Log, "replaying the log")
	total := db.log.SizeFrom(after + 1)
	err := db.log.Read(ctx, after+1, func(number uint64, record []byte) error {
		progress.add(int64(len(record)), total)
		return r.apply(number, record)
	})
	return errors.Join(err, r.wait())
}

func (db *DB) install(c *cache, number uint64) {
	db.visible.Store(number)
	if !db.opts.ReadOnly {
		c.badger.SetDiscardTs(number) // there are no readers of older states yet
	}
	db.cache.Store(c)
}

func (db *DB) openCache(dir string) (*cache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	b, err := openBadger(badgerOptions(dir, db.opts))
	if err != nil {
		return nil, err
	}
	return newCache(b, dir), nil
}
