package vault

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"odarchive/crawler/archive/content"
	"odarchive/triplestore/disk"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/wal"
)

// Progress is called with what is being read and the bytes read since the last call. It may be nil.
type Progress func(step string, n int64)

func (p Progress) add(step string, n int64) {
	if p != nil {
		p(step, n)
	}
}

// unfinished is the file by which a directory is known to be left by a restore that was interrupted. It has the target.
const unfinished = "unfinished-restore"

// Restore makes a data directory of the archive as it was at a target. The directory must not exist or must be empty.
// Until everything is written and checked, its name is dir + ".restoring"; a restore of the same target that was
// interrupted continues with the packs that it has.
//
// The directory has a history of its own: its lineage differs from that of the archive in the vault.
func (h *History) Restore(ctx context.Context, t Target, dir string, log *slog.Logger, p Progress) error {
	if err := h.restore(ctx, t, filepath.Clean(dir), cmp.Or(log, slog.New(slog.DiscardHandler)), p); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return nil
}

func (h *History) restore(ctx context.Context, t Target, dir string, log *slog.Logger, p Progress) error {
	if len(t.Holes) > 0 && !t.GoOn {
		return fmt.Errorf("%w: what was acknowledged is missing: %s", ErrBroken, sentences(t.Holes))
	}
	for _, text := range append(t.Holes, h.flaws...) {
		log.Warn("the backup is damaged", "what", text)
	}
	if left, err := os.ReadDir(dir); err == nil && len(left) > 0 {
		return fmt.Errorf("%w: %s is not empty", ErrExists, dir)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	work := dir + ".restoring"
	if err := prepare(work, t); err != nil {
		return err
	}
	db, err := h.restoreDatabase(ctx, t, work, log, p)
	if err != nil {
		return err
	}
	need, err := content.PacksOf(db)
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	if err := h.restorePacks(ctx, t, filepath.Join(work, "packs"), need, log, p); err != nil {
		return err
	}
	if err := h.restoreFiles(ctx, t, work, log); err != nil {
		return err
	}
	if err := h.noteRestored(t, work); err != nil {
		return err
	}
	if err := (disk.OS{}).SyncDir(work); err != nil {
		return err
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // it is empty
		return err
	}
	if err := os.Rename(work, dir); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(dir, unfinished)); err != nil {
		return err
	}
	return disk.OS{}.SyncDir(filepath.Dir(dir))
}

// prepare makes the directory of a restore. It continues one that was interrupted, without its database.
func prepare(work string, t Target) error {
	mark, err := json.Marshal(struct {
		Epoch, Number uint64
		Sum           uint32
	}{t.Epoch, t.Number, t.from.sum})
	if err != nil {
		return err
	}
	left, err := os.ReadDir(work)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(left) > 0 {
		old, err := os.ReadFile(filepath.Join(work, unfinished))
		if err != nil {
			return fmt.Errorf("%w: %s is not what an interrupted restore has left; move it away", ErrExists, work)
		}
		for _, e := range left {
			if e.Name() == unfinished || e.Name() == "packs" && bytes.Equal(old, mark) {
				continue
			}
			if err := os.RemoveAll(filepath.Join(work, e.Name())); err != nil {
				return err
			}
		}
	}
	if err := os.MkdirAll(filepath.Join(work, "packs"), 0o700); err != nil {
		return err
	}
	if err := os.Chmod(work, 0o700); err != nil {
		return err
	}
	return disk.WriteFile(disk.OS{}, filepath.Join(work, unfinished), mark, 0o600)
}

// restoreDatabase makes the database, and returns it opened.
func (h *History) restoreDatabase(ctx context.Context, t Target, work string, log *slog.Logger, p Progress) (*kv.DB, error) {
	if err := h.follow(ctx, t, work, log, p); err != nil {
		return nil, err
	}
	db, err := kv.Open(work, kv.Options{Log: log})
	if err != nil {
		return nil, err
	}
	if err := db.BeginHistory(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// applyBytes is about how many bytes of records are applied together.
const applyBytes = 4 << 20

// follow makes a database of a state file and the records after it.
func (h *History) follow(ctx context.Context, t Target, work string, log *slog.Logger, p Progress) (err error) {
	mark := filepath.Join(work, kv.ReplicaFile)
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		return err
	}
	at := wal.Position{Log: t.log, Number: t.from.number, Sum: t.from.sum}
	var state io.Reader = bytes.NewReader(nil)
	if t.from.number > 0 {
		r, _, err := h.b.Get(ctx, t.from.key, 0, -1)
		if err != nil {
			return err
		}
		defer r.Close()
		state = &counted{r: r, f: func(n int64) { p.add("state", n) }}
	}
	if err := kv.CreateReplica(ctx, work, kv.Options{Log: log}, state, at); err != nil {
		return err
	}
	db, err := kv.Open(work, kv.Options{Replica: true, Log: log})
	if err != nil {
		return err
	}
	if err := errors.Join(h.apply(ctx, t, db, p), db.Close()); err != nil {
		return err
	}
	return os.Remove(mark)
}

// apply applies the records of a target to a replica.
func (h *History) apply(ctx context.Context, t Target, db *kv.DB, p Progress) error {
	var list []wal.Record
	size := 0
	for e, err := range h.records(ctx, t) {
		if err != nil {
			if len(list) > 0 {
				err = errors.Join(err, db.Apply(ctx, list))
			}
			return err
		}
		list, size = append(list, e.Record), size+len(e.Body)
		p.add("log", int64(len(e.Body)))
		if size < applyBytes {
			continue
		}
		if err := db.Apply(ctx, list); err != nil {
			return err
		}
		list, size = nil, 0
	}
	if len(list) == 0 {
		return nil
	}
	return db.Apply(ctx, list)
}

type counted struct {
	r io.Reader
	f func(n int64)
}

// Read implements io.Reader.
func (c *counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.f(int64(n))
	return n, err
}

// restoreFiles writes the small files as they were at the target: the last ones that were copied before it, or else the
// first ones after it. Damaged or missing ones are named, and left out: an archive can be opened without them.
func (h *History) restoreFiles(ctx context.Context, t Target, work string, log *slog.Logger) error {
	all, err := listFiles(ctx, h.b)
	if err != nil {
		return err
	}
	for _, name := range h.writer.Files {
		if len(all[name]) == 0 {
			log.Warn("the backup has no copy of a file", "file", name)
		}
	}
	for name, list := range all {
		best := list[0]
		for _, f := range list {
			if f.at <= milliOf(t.Time) {
				best = f
			}
		}
		data, _, err := get(ctx, h.b, best.key, maxSmall)
		if err == nil {
			err = best.check(data)
		}
		if errors.Is(err, ErrBroken) {
			log.Warn("the backup has no sound copy of a file", "file", name, "error", err)
			continue
		}
		if err == nil {
			err = disk.WriteFile(disk.OS{}, filepath.Join(work, name), data, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
