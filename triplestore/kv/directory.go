package kv

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"odarchive/triplestore/disk"
)

// lockDirectory locks the directory.
func (db *DB) lockDirectory() error {
	if db.opts.CacheInMemory {
		return nil
	}
	if err := disk.MakeDir(disk.OS{}, db.dir, 0o700); err != nil {
		return err
	}
	lock, err := lockDir(db.dir)
	if err != nil {
		return err
	}
	db.lock = lock
	return nil
}

// clean deletes temporary files, and completes or deletes caches that were being rebuilt.
func (db *DB) clean() error {
	if db.opts.CacheInMemory {
		return nil
	}
	if err := db.emptyTemp(); err != nil {
		return err
	}
	made, err := filepath.Glob(db.path(madeDir + "*")) // sorted by time of creation
	if err != nil {
		return err
	}
	for i := len(made) - 1; i >= 0; i-- {
		if _, err := os.Stat(filepath.Join(made[i], wholeName)); err == nil {
			if err := db.swapIn(made[i]); err != nil {
				return err
			}
			made = made[:i]
			break
		}
	}
	for _, dir := range made {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// emptyTemp deletes the temporary files, but not their directory, which may be a mount point or a link to another disk.
func (db *DB) emptyTemp() error {
	dir := db.path(tempDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range left {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// swapInClosed gives the name of the cache to one that was built while the database was open, and that is closed now:
// until then, whoever only reads the directory finds no cache, and reads everything into memory. If the former cache is
// not gone yet, the next opening does that.
func (db *DB) swapInClosed(made string) {
	if made == "" || made == db.path(cacheDir) {
		return
	}
	if _, err := os.Stat(db.path(cacheDir)); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err := db.swapIn(made); err != nil {
		db.opts.Log.Warn("the rebuilt database gets its name at the next opening", "dir", made, "error", err)
	}
}

// swapIn replaces the cache by a rebuilt one.
func (db *DB) swapIn(made string) error {
	if err := os.RemoveAll(db.path(cacheDir)); err != nil {
		return err
	}
	if err := os.Rename(made, db.path(cacheDir)); err != nil {
		return err
	}
	if err := os.Remove(db.path(filepath.Join(cacheDir, wholeName))); err != nil {
		return err
	}
	return disk.OS{}.SyncDir(db.dir)
}

// asideDir, in the cache's directory, holds Badger's own write-ahead log while the cache is opened without it.
const asideDir = "aside"

// ofBadgersLog reports whether a file of the cache belongs to Badger's own log: the tables or our log have its content.
func ofBadgersLog(name string) bool {
	return strings.HasSuffix(name, ".mem") || strings.HasSuffix(name, ".vlog") || name == "DISCARD" || name == "KEYREGISTRY"
}

// setAside moves Badger's own log into asideDir.
func (r *recovery) setAside() error {
	if err := r.restoreAside(); err != nil { // left by a killed process
		return err
	}
	dir := r.path(cacheDir)
	if err := os.MkdirAll(filepath.Join(dir, asideDir), 0o700); err != nil {
		return err
	}
	return moveFiles(dir, filepath.Join(dir, asideDir))
}

// restoreAside moves Badger's own log back, over the files that an opening without it has made.
func (r *recovery) restoreAside() error {
	dir := r.path(cacheDir)
	if _, err := os.Stat(filepath.Join(dir, asideDir)); err != nil {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if ofBadgersLog(e.Name()) {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	if err := moveFiles(filepath.Join(dir, asideDir), dir); err != nil {
		return err
	}
	return r.dropAside()
}

func (r *recovery) dropAside() error { return os.RemoveAll(r.path(filepath.Join(cacheDir, asideDir))) }

func moveFiles(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !ofBadgersLog(e.Name()) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		name := filepath.Join(from, e.Name())
		if info.Size() == 0 { // left by a kill; Badger would refuse to open it
			err = os.Remove(name)
		} else {
			err = os.Rename(name, filepath.Join(to, e.Name()))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
