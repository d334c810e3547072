package content

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"odarchive/triplestore/kv"
)

// packFile is what the writer needs of a file that is opened for appending.
type packFile interface {
	io.Writer
	Sync() error
	Truncate(size int64) error
	Close() error
}

func createPack(name string) (packFile, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
}

func openName(num uint64) string { return fmt.Sprintf("%012d", num) + openSuffix }

// parsePackName gives the number of a pack and what its name says of its SHA-256, "" while it is open.
func parsePackName(name string) (num uint64, hash string, ok bool) {
	base, closed := strings.CutSuffix(name, closedSuffix)
	if closed {
		if base, hash, ok = strings.Cut(base, "-"); !ok || len(hash) != hashDigits {
			return 0, "", false
		}
	} else if base, ok = strings.CutSuffix(name, openSuffix); !ok {
		return 0, "", false
	}
	num, err := strconv.ParseUint(base, 10, 48)
	return num, hash, err == nil && num > 0
}

// openWriter finishes what a crash may have left: every open pack is cut off at its last commit, and the newest of them
// with room left is written on.
func openWriter(s *Store) (*writer, error) {
	w := &writer{s: s, in: make(map[*byte]uint64)}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		num, hash, ok := parsePackName(e.Name())
		if !ok {
			continue
		}
		s.packs.add(num, e.Name())
		if hash != "" {
			continue
		}
		if w.f != nil { // an older one that was given up
			if err := w.closePack(); err != nil {
				return nil, err
			}
		}
		if err := w.reopen(num, e.Name()); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func (w *writer) reopen(num uint64, name string) error {
	var rec packRecord
	err := w.s.db.View(func(tx *kv.Txn) (err error) {
		rec, _, err = readPack(tx, num)
		return err
	})
	if err != nil {
		return err
	}
	path := filepath.Join(w.s.dir, name)
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if rec.end <= packHead && info.Size() < packHead { // not even begun
		w.s.packs.remove(num)
		return os.Remove(path)
	}
	f, err := w.s.opts.openPack(path)
	if err != nil {
		return err
	}
	end := max(rec.end, packHead)
	switch {
	case info.Size() > end:
		if err := f.Truncate(end); err != nil {
			f.Close()
			return fmt.Errorf("cut pack %s off after its last commit: %w", name, err)
		}
		w.s.log.Info("pack cut off after its last commit", "pack", name, "bytes", info.Size()-end)
	case info.Size() < end:
		w.s.log.Error("pack is shorter than what was committed: content is lost", "pack", name, "bytes", end-info.Size())
		end = info.Size()
	}
	w.num, w.f, w.end = num, f, end
	return nil
}
