package kv

import (
	"context"
	"errors"
	"fmt"
	"time"

	badger "github.com/dgraph-io/badger/v4"

	"odarchive/triplestore/disk"
)

// saveRest is the pause after a failure to write a state file.
const saveRest = time.Minute

// saveLate is when to write a state file that an earlier process should have written.
const saveLate = 10 * time.Second

// saveWhenGrown writes a state file whenever the log has grown enough, until ctx ends.
func (db *DB) saveWhenGrown(ctx context.Context) {
	late := time.After(saveLate)
	for {
		select {
		case <-ctx.Done():
			return
		case <-late:
			db.checkGrowth(0)
			continue
		case <-db.grown:
		}
		if !db.hasGrown() { // what was noticed while the last one was written
			continue
		}
		err := db.save(ctx)
		if err == nil || ctx.Err() != nil {
			continue
		}
		db.opts.Log.Error("cannot write a snapshot of the database; keeping the log instead", "error", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(saveRest):
		}
	}
}

// save writes a state file. It then deletes all but the newest two (all but the newest one if log and state files are
// larger than what the tables contain), and the part of the log that neither a state file nor Badger needs.
func (db *DB) save(ctx context.Context) error { return db.saveAndTrim(ctx, false) }

// saveAndTrim does the work of save. crowded says that only the newest state file shall stay in any case.
func (db *DB) saveAndTrim(ctx context.Context, crowded bool) error {
	if err := db.maintain(); err != nil {
		return err
	}
	if err := db.saveState(ctx, nil); err != nil {
		return err
	}
	if err := db.states.keepNewest(statesKept); err != nil {
		return fmt.Errorf("kv: %w", err)
	}
	sizes := db.Sizes()
	if list := db.states.files(); len(list) > 0 {
		sizes.Log = min(sizes.Log, db.log.SizeFrom(list[0].number+1)) // what comes before is trimmed below
	}
	if crowded = crowded || sizes.crowded(); crowded {
		if err := db.states.keepNewest(1); err != nil {
			return fmt.Errorf("kv: %w", err)
		}
	}
	list := db.states.files()
	if len(list) == 1 && db.log.First() == 1 && !crowded {
		return nil // the log from its beginning replaces an older state file
	}
	// Keep the log of what Badger has only in memory, so that a killed process need not rebuild everything.
	c, leave := db.enter()
	if c == nil {
		return ErrClosed
	}
	defer leave()
	return db.trimLog(min(list[0].number, c.flushed()))
}

// crowded reports whether log and state files are larger than what the tables contain: many entries were deleted, or
// they hardly compress. It does not compare with the tables as compressed, which two compressed state files nearly
// always exceed: with one state file left, damage in it and a lost Badger directory would be the end of the database.
func (s Sizes) crowded() bool { return s.Content > 0 && s.Log+s.Snapshots > s.Content }

// saveIfCrowded writes a state file if older ones, and the log, take more space than what the tables contain. The
// tables must be flushed.
func (db *DB) saveIfCrowded(ctx context.Context) error {
	if s := db.Sizes(); db.states == nil || s.Log+s.Snapshots <= s.Content {
		return nil
	}
	return db.saveAndTrim(ctx, true)
}

// trimFlushed deletes the part of the log that the oldest state file covers. Unlike save, it runs after Badger is
// closed, when Badger has nothing in memory. content is the Sizes.Content before Badger was closed.
func (db *DB) trimFlushed(content int64) error {
	if db.states == nil {
		return nil
	}
	list := db.states.files()
	switch {
	case len(list) == 0:
		return nil
	case len(list) == 1 && db.log.First() == 1 && db.log.Size()+db.states.size() <= max(content, tableBytes(db.path(cacheDir))):
		return nil // as in save
	}
	return db.trimLog(list[0].number)
}

// saveState syncs the log and writes a state file of what readers see now. Batches are visible before they are durable:
// without the sync, a power cut could leave a state file that is ahead of the log.
func (db *DB) saveState(ctx context.Context, throttle *disk.Throttle) error {
	return db.writeState(ctx, throttle, db.log.Sync)
}

// writeState writes a state file of what readers see now, unless the newest one is that. It calls sync once it has
// chosen the state, and before the state file is durable.
func (db *DB) writeState(ctx context.Context, throttle *disk.Throttle, sync func() error) error {
	db.saving.Lock()
	defer db.saving.Unlock()
	s := db.Snapshot()
	defer s.Close()
	if err := s.acquire(); err != nil {
		return err
	}
	defer s.release()
	if s.number > 0 && db.states.newest().number == s.number {
		return nil
	}
	if err := sync(); err != nil { // the log takes no more after an error, so the next commit reports it, too
		return fmt.Errorf("kv: snapshot: %w", err)
	}
	each := func(add func(key, val []byte, version uint64) error) error {
		return s.each(ctx, func(key, val []byte, version uint64) error {
			if err := throttle.Wait(ctx, len(key)+len(val)); err != nil {
				return err
			}
			return add(key, val, version)
		})
	}
	// A Badger iterator ends at a damaged block as if it were the last. So the entries count only if every table is
	// sound afterwards.
	check := func() error {
		bad, err := s.cache.verify(ctx, verifyOptions{throttle: throttle})
		if err == nil && len(bad) > 0 {
			err = db.suspect(fmt.Errorf("%w: table %s: %w", ErrDamaged, bad[0].name, bad[0].err))
		}
		return err
	}
	if err := db.states.save(s.number, !db.opts.NoSync, each, check); err != nil {
		return fmt.Errorf("kv: snapshot: %w", err)
	}
	return nil
}

// each calls f with every entry of the snapshot, in ascending order of keys, and with the number of the write set that
// wrote it. The caller must hold the snapshot (see acquire).
func (s *Snapshot) each(ctx context.Context, f func(key, val []byte, version uint64) error) (err error) {
	defer recoverDamage("read", &err)
	it := s.txn.NewIterator(badger.IteratorOptions{})
	defer it.Close()
	pend := s.over.from("", "")
	n := 0
	for it.Rewind(); ; {
		if n++; n%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for it.Valid() && !isContent(it.Item().Key()) {
			it.Next()
		}
		next, has := pend.peek()
		switch {
		case !it.Valid() && !has:
			return s.cache.damaged()
		case has && (!it.Valid() || next.key <= string(it.Item().Key())):
			pend.next()
			if it.Valid() && next.key == string(it.Item().Key()) {
				it.Next()
			}
			if next.deleted {
				continue
			}
			if err := f([]byte(next.key), next.val, next.version); err != nil {
				return err
			}
		default:
			item := it.Item()
			var inner error
			err := item.Value(func(val []byte) error { inner = f(item.Key(), val, item.Version()); return nil })
			if err = errors.Join(err, inner); err != nil {
				return err
			}
			it.Next()
		}
	}
}
