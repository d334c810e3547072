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

// buildCache builds a cache from the newest sound state file and the log, in dir, or in memory if dir is "". number is
// that of the last write set. With whole, the log must be readable to its end. from names the source for reports.
func (db *DB) buildCache(ctx context.Context, dir string, whole bool) (c *cache, number uint64, from string, err error) {
	list := db.states.files()
	if db.log.First() == 1 { // the log alone has everything
		list = append([]stateFile{{}}, list...)
	}
	if len(list) == 0 {
		return nil, 0, "", fmt.Errorf("%w: the log begins with write set %d and there is no earlier snapshot", ErrDamaged, db.log.First())
	}
	var errs error
	for i := len(list) - 1; i >= 0; i-- {
		c, number, err := db.buildFrom(ctx, dir, list[i], whole)
		if err == nil {
			from := "log"
			if list[i].number > 0 {
				from = "snapshot and log"
			}
			return c, number, from, nil
		}
		db.opts.Log.Warn("a snapshot cannot be used", "snapshot", list[i].name, "error", err)
		if errs = errors.Join(errs, err); !errors.Is(err, ErrDamaged) && !errors.Is(err, wal.ErrDamaged) && !errors.Is(err, wal.ErrGap) {
			break
		}
	}
	return nil, 0, "", fmt.Errorf(
		"cannot rebuild the database, and its files are unchanged; restore a backup, or list what the packs hold with 'odarchive check "+
			"--packs-only': %w", errs)
}

// wholeName is the name of the file that marks a cache in madeDir as complete.
const wholeName = "WHOLE"

func (db *DB) buildFrom(ctx context.Context, dir string, state stateFile, whole bool) (_ *cache, number uint64, err error) {
	if dir != "" {
		if err := os.RemoveAll(dir); err != nil {
			return nil, 0, err
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, 0, err
		}
	}
	b, err := openBadger(badgerOptions(dir, db.opts).WithBaseTableSize(tableSize(state.size)))
	if err != nil {
		return nil, 0, err
	}
	c := newCache(b, dir)
	defer func() {
		if err != nil {
			c.shut()
		}
	}()
	if state.number > 0 {
		progress := newProgress(db.opts.Log, "rebuilding the database")
		unchecked := 0 // bytes since the last look at the free space
		err := c.fill(func(add func(key, val []byte, version uint64) error) error {
			return db.states.read(ctx, state, nil, func(key, val []byte, version uint64) error {
				progress.add(int64(len(key)+len(val)), 0)
				if unchecked += len(key) + len(val); unchecked > fillBuffer && db.cache.Load() != nil { // beside other writers
					unchecked = 0
					if err := db.checkSpace(); err != nil {
						return err
					}
				}
				return add(key, val, version)
			})
		})
		if err == nil {
			err = c.apply(&layer{}, state.number) // the newest entry may belong to an earlier write set
		}
		if err != nil {
			return nil, 0, fmt.Errorf("snapshot %s: %w", state.name, err)
		}
	}
	number = max(state.number, db.log.Next()-1)
	if err := db.replay(ctx, c, state.number); err != nil && (whole || !errors.Is(err, wal.ErrDamaged)) {
		return nil, 0, err
	}
	if dir == "" {
		return c, number, nil
	}
	return c, number, disk.WriteFile(disk.OS{}, filepath.Join(dir, wholeName), nil, 0o644)
}
