package backup

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"odarchive/triplestore/kv"
)

// Restore creates the data directory dir, which must not exist or must be empty, from a full backup and the incremental
// backups that continue it, in order. Until everything is written and checked, its name is dir + ".restoring". Packs
// that were damaged when they were backed up stay as they are; the Info of the last backup, which Restore returns,
// names them.
func Restore(ctx context.Context, dir string, paths []string, p Progress) (info Info, err error) {
	dir = filepath.Clean(dir)
	if len(paths) == 0 {
		return info, errors.New("restore: no backup is given")
	}
	if left, err := os.ReadDir(dir); err == nil && len(left) > 0 {
		return info, fmt.Errorf("restore: %w: %s is not empty", ErrExists, dir)
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		return info, fmt.Errorf("restore: %w", err)
	}
	work := dir + ".restoring"
	if err := prepare(work); err != nil {
		return info, fmt.Errorf("restore: %w", err)
	}
	defer func() {
		if err != nil {
			os.RemoveAll(work)
		}
	}()
	for _, path := range paths {
		if info, err = applyBackup(ctx, work, path, info.ID, p); err != nil {
			return info, fmt.Errorf("restore: %s: %w", path, err)
		}
	}
	if err := checkPacks(filepath.Join(work, packsDir), info); err != nil {
		return info, fmt.Errorf("restore: %w", err)
	}
	if len(paths) > 1 {
		if err := dropOverwritten(ctx, work); err != nil {
			return info, fmt.Errorf("restore: %w", err)
		}
	}
	if err := syncDir(work); err != nil {
		return info, fmt.Errorf("restore: %w", err)
	}
	os.Remove(dir) // it is empty
	if err := os.Rename(work, dir); err != nil {
		return info, fmt.Errorf("restore: %w", err)
	}
	os.Remove(filepath.Join(dir, unfinished)) // it does no harm there
	return info, syncDir(filepath.Dir(dir))
}

// unfinished is the file by which a directory is known to be left by a restore that was killed.
const unfinished = "unfinished-restore"

// prepare makes a directory for a restore. It removes one that a killed restore has left, and no other.
func prepare(work string) error {
	left, err := os.ReadDir(work)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if len(left) > 0 {
		if _, err := os.Lstat(filepath.Join(work, unfinished)); err != nil {
			return fmt.Errorf("%w: %s is not what an interrupted restore has left; move it away", ErrExists, work)
		}
		if err := os.RemoveAll(work); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(work, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(work, unfinished), nil, 0o600); err != nil {
		return err
	}
	return os.Mkdir(filepath.Join(work, packsDir), 0o700)
}

// applyBackup applies one backup to a directory. before is the ID of the last one that was applied, "" if there is
// none.
func applyBackup(ctx context.Context, work, path, before string, p Progress) (info Info, err error) {
	if info, err = Inspect(path); err != nil { // fails for a truncated one before anything is written
		return info, err
	}
	if info.Base != before {
		if before == "" {
			return info, fmt.Errorf("%w: it is not a full backup", ErrChain)
		}
		return info, ErrChain
	}
	f, err := os.Open(path)
	if err != nil {
		return info, err
	}
	defer f.Close()
	in := &reader{ctx: ctx, r: bufio.NewReaderSize(f, 1<<20), progress: p}
	if err := in.begin(); err != nil {
		return info, err
	}
	for {
		kind, name, body, err := in.nextSection()
		if err != nil {
			return info, err
		}
		switch kind {
		case kindDatabase:
			err = loadDatabase(work, body)
		case kindPack:
			err = restorePack(filepath.Join(work, packsDir), name, body, slices.Contains(info.Damaged, name))
		case kindFile:
			err = restoreFile(work, name, body, nil)
		case kindInfo:
			data, err := readInfo(body)
			if err != nil {
				return info, err
			}
			var last Info
			if err := json.Unmarshal(data, &last); err != nil || last.ID != info.ID {
				return info, fmt.Errorf("%w: its two descriptions differ", ErrBroken)
			}
			return info, nil
		default:
			err = fmt.Errorf("%w: a section has the unknown kind %q", ErrBroken, kind)
		}
		if err == nil {
			_, err = io.Copy(io.Discard, body)
		}
		if err != nil {
			return info, err
		}
	}
}

func loadDatabase(dir string, body io.Reader) error {
	db, err := kv.Open(dir, kv.Options{})
	if err != nil {
		return err
	}
	return errors.Join(db.Load(body), db.Close())
}

// dropOverwritten removes from the files of the database what later backups of a chain have overwritten or deleted: it
// may have been withdrawn since the first one.
func dropOverwritten(ctx context.Context, dir string) error {
	db, err := kv.Open(dir, kv.Options{})
	if err != nil {
		return err
	}
	return errors.Join(db.Purge(ctx), db.Close())
}

// restorePack writes a pack. One that was damaged when it was backed up need not match its name.
func restorePack(dir, name string, body io.Reader, damaged bool) error {
	sum := sha256.New()
	if err := restoreFile(dir, name, body, sum); err != nil {
		return err
	}
	base, closed := strings.CutSuffix(name, closedSuffix)
	if !closed {
		return nil
	}
	if !damaged && !nameMatches(name, sum) {
		return fmt.Errorf("%w: pack %s does not match its name", ErrBroken, name)
	}
	num, _, _ := strings.Cut(base, "-")
	if err := os.Remove(filepath.Join(dir, num+".open")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err // the open pack of an earlier backup
	}
	return nil
}

// restoreFile writes one file in dir, durably. sum, if not nil, receives its bytes.
func restoreFile(dir, name string, body io.Reader, sum hash.Hash) error {
	if !filepath.IsLocal(name) || strings.ContainsAny(name, `/\`) || name == packsDir {
		return fmt.Errorf("%w: a file named %q", ErrBroken, name)
	}
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	var w io.Writer = f
	if sum != nil {
		w = io.MultiWriter(f, sum)
	}
	if _, err = io.Copy(w, body); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// checkPacks compares the packs with the list of the last backup, and removes those that were dropped since an earlier
// one.
func checkPacks(dir string, info Info) error {
	wanted := make(map[string]int64)
	for _, p := range info.Packs {
		wanted[p.Name] = p.Size
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		size, ok := wanted[e.Name()]
		if !ok {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
			continue
		}
		fi, err := e.Info()
		if err != nil {
			return err
		}
		if fi.Size() != size {
			return fmt.Errorf("%w: pack %s has %d bytes, not %d", ErrBroken, e.Name(), fi.Size(), size)
		}
		delete(wanted, e.Name())
	}
	for name := range wanted {
		return fmt.Errorf("%w: pack %s is in none of the backups", ErrBroken, name)
	}
	return syncDir(dir)
}
