package kv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"sync"
	"time"

	"odarchive/triplestore/disk"
)

// suspect makes the scrub look at the tables soon because of err, which it returns, and the next opening, should that
// come first.
func (db *DB) suspect(err error) error {
	if c := db.cache.Load(); c != nil && c.dir != "" && c.lock == nil {
		forgetVerified(c.dir)
	}
	db.fixity.Wake()
	return err
}

// Damages returns the last hundred damages found at and since opening, mended ones included.
func (db *DB) Damages() []disk.Damage { return db.fixity.Damages() }

// Scrubbed returns the progress of the scrub.
func (db *DB) Scrubbed() disk.Round { return db.fixity.Scrubbed() }

type verifyOptions struct {
	throttle *disk.Throttle
	progress func(n int64) // may be called by several goroutines
}

// counting returns a function that adds up bytes and calls progress, one call at a time, with the sum and the size of
// the database.
func (db *DB) counting(progress func(done, total int64)) func(n int64) {
	total := db.Size()
	var mu sync.Mutex
	var done int64
	return func(n int64) {
		mu.Lock()
		defer mu.Unlock()
		done += n
		progress(done, max(total, done))
	}
}

// VerifyAll reads every file of the database (tables, log, snapshots), compares it with its checksums, and returns what
// is damaged now. It calls progress, if not nil, with bytes, one call at a time. Mend repairs what it finds.
func (db *DB) VerifyAll(ctx context.Context, progress func(done, total int64)) ([]disk.Damage, error) {
	if progress == nil {
		return db.verify(ctx, verifyOptions{})
	}
	return db.verify(ctx, verifyOptions{progress: db.counting(progress)})
}

func (db *DB) verify(ctx context.Context, o verifyOptions) (found []disk.Damage, err error) {
	defer func() {
		for _, d := range found {
			db.fixity.Note(d)
		}
	}()
	now := time.Now()
	c, leave := db.enter()
	if c == nil {
		return nil, ErrClosed
	}
	bad, err := c.verify(ctx, o)
	leave()
	if err != nil {
		return nil, fmt.Errorf("kv: %w", err)
	}
	for _, b := range bad {
		found = append(found, disk.Damage{File: cacheDir + "/" + b.name, Offset: b.offset, Why: b.err.Error(), Found: now})
	}
	if db.log == nil {
		return found, nil
	}
	inLog, err := db.log.Verify(ctx, o.throttle, o.progress)
	if err != nil {
		return found, fmt.Errorf("kv: %w", err)
	}
	found = append(found, inLog...)
	for _, f := range db.states.files() {
		err := db.states.read(ctx, f, o.throttle, nil)
		if errors.Is(err, ErrDamaged) && slices.Contains(db.states.files(), f) {
			found = append(found, disk.Damage{File: statesDir + "/" + f.name, Offset: -1, Why: err.Error(), Found: now})
		} else if err != nil && !errors.Is(err, ErrDamaged) {
			return found, fmt.Errorf("kv: snapshot %s: %w", f.name, err)
		}
		if o.progress != nil {
			o.progress(f.size)
		}
	}
	return found, nil
}

// Mend verifies everything and repairs what is damaged. It returns the damage it could not repair.
func (db *DB) Mend(ctx context.Context) (left []disk.Damage, err error) {
	found, err := db.VerifyAll(ctx, nil)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	if err := db.mend(ctx, found); err != nil {
		return found, err
	}
	return db.VerifyAll(ctx, nil)
}

// mend rebuilds the cache from snapshot and log, and these from the cache.
func (db *DB) mend(ctx context.Context, found []disk.Damage) error {
	if err := db.maintain(); err != nil {
		return fmt.Errorf("cannot repair damage: %w", err)
	}
	var table, log, state error
	for _, d := range found {
		err := fmt.Errorf("%w: %s", ErrDamaged, d)
		switch path.Dir(d.File) {
		case cacheDir:
			table = err
		case logDir:
			log = err
		default:
			state = err
		}
	}
	if table != nil {
		if err := db.mendCache(ctx, table); err != nil {
			return err
		}
	}
	if log == nil && state == nil {
		return nil
	}
	return db.mendLog(ctx, found)
}

// mendCache rebuilds the cache. Meanwhile reads fail and writers wait.
func (db *DB) mendCache(ctx context.Context, why error) error {
	return db.alone(func() error {
		db.writing.Lock()
		defer db.writing.Unlock()
		if err := db.log.Sync(); err != nil {
			return db.logFailed(err)
		}
		old := db.cache.Load()
		old.bad.Store(&why)
		db.opts.Log.Warn("the database is damaged; rebuilding it from snapshot and log; reads fail until then", "error", why)
		from, err := db.rebuildCache(ctx)
		if err != nil {
			err = fmt.Errorf("cannot rebuild the damaged database: %w", err)
			db.StopWrites(err)
			return err
		}
		db.fixity.Mended(cacheDir, from, "")
		db.opts.Log.Info("the database is repaired", "from", from, "write_sets", db.visible.Load())
		return nil
	})
}

// rebuildCache replaces the cache by one that is built from a state file and the log, and retires it: it deletes its
// files when its last reader leaves. from names the source for reports. The caller holds db.writing and has the
// writers' turn.
func (db *DB) rebuildCache(ctx context.Context) (from string, err error) {
	dir := db.path(fmt.Sprintf("%s.%d", madeDir, time.Now().UnixNano()))
	c, number, from, err := db.buildCache(ctx, dir, true)
	if err == nil && number != db.visible.Load() {
		c.remove = true
		c.shut()
		err = fmt.Errorf("its last write set is %d, not %d", number, db.visible.Load())
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	old := db.cache.Load()
	old.remove = true // the next opening renames the new directory
	db.cache.Store(c)
	old.retire()
	return from, nil
}

// mendLog writes a new state file from the cache, which replaces the damaged log or state files, and deletes these.
func (db *DB) mendLog(ctx context.Context, found []disk.Damage) error {
	if err := db.removeDamagedStates(found); err != nil { // one may be of the current number
		return err
	}
	if err := db.writeEmpty(); err != nil { // the newest state file may be of the current number
		return err
	}
	if err := db.saveState(ctx, nil); err != nil {
		return err
	}
	newest := db.states.newest()
	for _, f := range db.states.files() {
		if f.number != newest.number { // the log may not lead on from the sound ones either
			if err := db.states.remove(f); err != nil {
				return fmt.Errorf("kv: %w", err)
			}
		}
	}
	db.writing.Lock()
	defer db.writing.Unlock()
	if err := db.dropLog(newest.number); err != nil {
		return err
	}
	for _, d := range found {
		if path.Dir(d.File) != cacheDir {
			db.fixity.Mended(d.File, "database", "")
		}
	}
	return nil
}

// writeEmpty writes an empty write set, so that the current state gets a new number.
func (db *DB) writeEmpty() error {
	return db.alone(func() error {
		db.writing.Lock()
		defer db.writing.Unlock()
		return db.commitEmpty()
	})
}

// commitEmpty does the work of writeEmpty for a caller that holds db.writing and has the writers' turn.
func (db *DB) commitEmpty() error {
	if db.opts.Replica { // a replica's write sets are those of another database
		return nil
	}
	return db.commitRecord(encodeWrites(&layer{}), true, func(c *cache, number uint64) error { return c.apply(&layer{}, number) })
}

// dropLog deletes the segments of the log that have only write sets up to a number, which the last one need not end
// with. The caller holds db.writing.
func (db *DB) dropLog(upTo uint64) error {
	if err := db.log.Roll(); err != nil {
		return db.logFailed(err)
	}
	if err := db.log.Trim(upTo); err != nil {
		return fmt.Errorf("kv: %w", err)
	}
	return nil
}

// scrubRest is the pause between two rounds of a scrub.
const scrubRest = time.Minute

// Scrub verifies everything repeatedly, reading at most bytesPerSecond (0 means no limit), and repairs what it finds.
// It returns nil when ctx ends.
func (db *DB) Scrub(ctx context.Context, bytesPerSecond int64) error {
	throttle := disk.NewThrottle(bytesPerSecond)
	for {
		err := db.scrubOnce(ctx, throttle)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			db.opts.Log.Error("cannot verify the database", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-db.fixity.Woken():
			if err := db.scrubOnce(ctx, nil); err != nil && ctx.Err() == nil {
				db.opts.Log.Error("cannot verify the database", "error", err)
			}
		case <-time.After(scrubRest):
		}
	}
}

func (db *DB) scrubOnce(ctx context.Context, throttle *disk.Throttle) error {
	db.fixity.BeginRound(db.Size())
	found, err := db.verify(ctx, verifyOptions{throttle: throttle, progress: db.counting(db.fixity.Progress)})
	if err != nil {
		return err
	}
	db.fixity.EndRound()
	if len(found) == 0 {
		return nil
	}
	for _, d := range found {
		db.opts.Log.Error("stored bytes are damaged", "file", d.File, "offset", d.Offset, "error", d.Why)
	}
	return db.mend(ctx, found)
}

// Verify reads every table and compares it with its checksums.
func (db *DB) Verify() error {
	c, leave := db.enter()
	if c == nil {
		return ErrClosed
	}
	defer leave()
	bad, err := c.verify(context.Background(), verifyOptions{})
	if err == nil && len(bad) > 0 {
		err = fmt.Errorf("%w: table %s: %w", ErrDamaged, bad[0].name, bad[0].err)
	}
	if err != nil {
		return fmt.Errorf("kv: %w", err)
	}
	return nil
}
