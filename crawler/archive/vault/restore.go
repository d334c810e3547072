package vault

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"odarchive/crawler/archive/content"
	"odarchive/triplestore/bucket"
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
	return disk.WriteFile(disk.OS{}, filepath.Join(work, unfinished), mark, 0o640)
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
	if err := os.WriteFile(mark, nil, 0o640); err != nil {
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

// restorePacks writes the packs that a database needs, with as many bytes as it needs.
func (h *History) restorePacks(ctx context.Context, t Target, dir string, need map[uint64]int64, log *slog.Logger, p Progress) error {
	if err := h.eachPack(ctx, t, need, func(one packPlan) error { return h.restorePack(ctx, dir, one, log, p) }); err != nil {
		return err
	}
	return disk.OS{}.SyncDir(dir)
}

// eachPack plans each pack that a database needs, and calls f with the plan. The writer may replace objects by others
// meanwhile: then f is called again with another plan. Restore and Verify read what the plans name, and nothing else.
func (h *History) eachPack(ctx context.Context, t Target, need map[uint64]int64, f func(packPlan) error) error {
	there, err := listPacks(ctx, h.b)
	if err != nil {
		return err
	}
	for _, num := range sortedKeys(need) {
		for try := 0; ; try++ {
			var one packPlan
			if one, err = h.planPack(there, t, num, need[num]); err == nil {
				err = f(one)
			}
			if !errors.Is(err, bucket.ErrNotFound) || try == 3 {
				break
			}
			if there, err = listPacks(ctx, h.b); err != nil {
				return err
			}
		}
		if err != nil {
			return fmt.Errorf("pack %d: %w", num, err)
		}
	}
	return nil
}

// packPlan says how a pack is made of objects.
type packPlan struct {
	name  string // of the file
	size  int64
	parts []part // written in this order
}

// planPack plans a pack of which a database counts some bytes. The error is ErrBroken if there are fewer.
func (h *History) planPack(there packsThere, t Target, num uint64, need int64) (packPlan, error) {
	parts := h.partsOf(there, t, num)
	if len(parts) == 0 {
		return packPlan{}, fmt.Errorf("%w: no object has it", ErrBroken)
	}
	if top := parts[len(parts)-1]; top.whole.name != "" && top.length >= need {
		return packPlan{name: top.whole.name, size: top.length, parts: []part{top}}, nil
	}
	one := packPlan{name: fmt.Sprintf("%012d%s", num, openSuffix), size: need}
	for _, p := range parts {
		if p.offset < need {
			one.parts = append(one.parts, p)
		}
	}
	if covered := coverage(one.parts); covered < need {
		return packPlan{}, fmt.Errorf("%w: it needs %d bytes, and there are %d", ErrBroken, need, covered)
	}
	return one, nil
}

func sortedKeys(m map[uint64]int64) []uint64 {
	keys := make([]uint64, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// part is bytes of a pack in the vault: a piece or the whole.
type part struct {
	epoch          uint64
	offset, length int64
	crc            uint32
	whole          wholePack // if it has a name
	key            string
}

// partsOf returns what a vault has of a pack, by epoch: where two have the same bytes, the later one counts. A writer that
// was replaced may have copied bytes that it never committed. A whole pack that was damaged when it was copied counts least:
// pieces may be older than the damage. Histories that began after the target are left out unless
// nothing else has the pack.
func (h *History) partsOf(there packsThere, t Target, num uint64) (list []part) {
	var later []part
	after := h.nextHistory(t.Epoch)
	add := func(p part) {
		if p.epoch >= after {
			later = append(later, p)
		} else {
			list = append(list, p)
		}
	}
	for _, w := range there.whole {
		if packNumber(w.name) == num {
			add(part{epoch: w.epoch, length: w.size, whole: w, key: w.key})
		}
	}
	for _, p := range there.pieces[num] {
		add(part{epoch: p.epoch, offset: p.offset, length: p.length, crc: p.crc, key: p.key})
	}
	damaged := func(p part) int {
		if p.whole.damaged {
			return 1
		}
		return 0
	}
	byEpoch := func(a, b part) int {
		return cmp.Or(-cmp.Compare(damaged(a), damaged(b)), cmp.Compare(a.epoch, b.epoch), cmp.Compare(len(a.whole.name), len(b.whole.name)), cmp.Compare(a.offset, b.offset))
	}
	slices.SortStableFunc(list, byEpoch)
	slices.SortStableFunc(later, byEpoch)
	if len(list) == 0 {
		return later
	}
	return append(later, list...) // painted over by what comes last
}

// nextHistory returns the first epoch of the history after that of an epoch.
func (h *History) nextHistory(epoch uint64) uint64 {
	for _, b := range h.branches() {
		if b.epochs[0].Epoch > epoch {
			return b.epochs[0].Epoch
		}
	}
	return noLimit
}

// restorePack writes one pack, unless an interrupted restore has done so.
func (h *History) restorePack(ctx context.Context, dir string, one packPlan, log *slog.Logger, p Progress) error {
	path := filepath.Join(dir, one.name)
	if info, err := os.Stat(path); err == nil && info.Size() == one.size { // it got its name when it was complete
		return nil
	}
	f, err := os.OpenFile(path+".part", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o640)
	if err != nil {
		return err
	}
	defer f.Close()
	for _, one := range one.parts {
		if err := h.copyPart(ctx, f, one, log, p); err != nil {
			return err
		}
	}
	if err := f.Truncate(one.size); err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}

// coverage returns how many bytes parts have, from the start on and without gaps.
func coverage(parts []part) (n int64) {
	sorted := slices.Clone(parts)
	slices.SortFunc(sorted, func(a, b part) int { return cmp.Compare(a.offset, b.offset) })
	for _, p := range sorted {
		if p.offset <= n {
			n = max(n, p.offset+p.length)
		}
	}
	return n
}

// copyPart writes bytes of a pack to their place, and compares them with their checksum.
func (h *History) copyPart(ctx context.Context, w io.WriterAt, one part, log *slog.Logger, p Progress) error {
	r, _, err := h.b.Get(ctx, one.key, 0, -1)
	if err != nil {
		return err
	}
	defer r.Close()
	sum, crc := sha256.New(), crc32.New(castagnoli)
	n, err := io.Copy(io.MultiWriter(io.NewOffsetWriter(w, one.offset), sum, crc), &counted{r: r, f: func(n int64) { p.add("packs", n) }})
	switch {
	case err != nil:
		return err
	case n != one.length:
		return fmt.Errorf("%w: %s has %d bytes", ErrBroken, one.key, n)
	case one.whole.damaged:
		log.Warn("the pack was already damaged when it was copied", "pack", one.whole.name)
	case one.whole.name != "" && !nameMatches(one.whole.name, sum.Sum(nil)), one.whole.name == "" && crc.Sum32() != one.crc:
		return fmt.Errorf("%w: %s differs from its checksum", ErrBroken, one.key)
	}
	return nil
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
			err = disk.WriteFile(disk.OS{}, filepath.Join(work, name), data, 0o640)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
