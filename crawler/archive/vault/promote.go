package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"odarchive/crawler/archive/content"
	"odarchive/triplestore/bucket"
	"odarchive/triplestore/disk"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/wal"
)

// Promoted says what Promote did.
type Promoted struct {
	Epoch   uint64 `json:"epoch"`
	Number  uint64 `json:"write_set"` // the last one
	Fetched uint64 `json:"fetched"`   // write sets that the replica lacked
}

// Promote makes the directory of a replica (triplestore/kv), which no process uses, one that can be written. First the
// candidate becomes the writer of the vault, so that the writer before acknowledges nothing more. Then the replica gets
// from the vault what it lacks: write sets and bytes of packs. What it has from the writer and the vault has not, it
// keeps. If Promote fails or is interrupted, it can be called again.
func Promote(ctx context.Context, b bucket.Bucket, dir string, me Candidate, log *slog.Logger, p Progress) (done Promoted, err error) {
	done, err = promote(ctx, b, dir, me, cmp.Or(log, slog.New(slog.DiscardHandler)), p)
	if err != nil {
		return done, fmt.Errorf("promote: %w", err)
	}
	return done, nil
}

func promote(ctx context.Context, b bucket.Bucket, dir string, me Candidate, log *slog.Logger, p Progress) (done Promoted, err error) {
	if !kv.IsReplica(dir) {
		return done, fmt.Errorf("%s is no replica", dir)
	}
	db, err := kv.Open(dir, kv.Options{Replica: true, Log: log})
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	h, err := open(ctx, b)
	if err != nil {
		return done, err
	}
	if _, err := h.lacks(ctx, db); err != nil { // before the present writer is disturbed
		return done, err
	}
	me.Force = true
	me.Continue = func(end wal.Position) (bool, wal.Position, error) { return false, end, nil }
	w, err := Take(ctx, b, me)
	if err != nil {
		return done, err
	}
	if w.IsNew() {
		return done, fmt.Errorf("%w: it has no complete copy of the archive", ErrNoMoment)
	}
	if h, err = open(ctx, b); err != nil {
		return done, err
	}
	done.Epoch = w.Epoch()
	if done.Fetched, err = h.catchUp(ctx, db, p); err != nil {
		return done, err
	}
	done.Number = db.Committed()
	need, err := content.PacksOf(db)
	if err != nil {
		return done, err
	}
	if err := h.fillPacks(ctx, w.Epoch(), filepath.Join(dir, "packs"), need, log, p); err != nil {
		return done, err
	}
	if err := os.Remove(filepath.Join(dir, kv.ReplicaFile)); err != nil {
		return done, err
	}
	if err := w.release(ctx); err != nil { // the server that starts now need not wait
		log.Debug("lease not given back", "error", err)
	}
	return done, disk.OS{}.SyncDir(dir)
}

// lacks returns the records that a replica lacks, as a target. It has none if the replica has all of them, and perhaps
// more. The error is kv.ErrOtherHistory if the replica is not one of the archive in the vault.
func (h *History) lacks(ctx context.Context, db *kv.DB) (t Target, err error) {
	all := h.branches()
	end, _, ok := h.end()
	if !ok || !h.isWhole() {
		return t, fmt.Errorf("%w: it has no complete copy of the archive", ErrNoMoment)
	}
	b := all[len(all)-1]
	at := db.Position()
	if at.Log != b.epochs[0].position().Log {
		return t, fmt.Errorf("%w: its log is not that in the vault, of which it has perhaps received nothing yet: let it follow the writer, or restore the backup to another directory", kv.ErrOtherHistory)
	}
	if at.Number >= end.Number {
		for _, err := range db.Records(ctx, end, false) {
			if err != nil && !errors.Is(err, kv.ErrLogTrimmed) { // a trimmed log cannot be compared, and its numbers suffice
				return t, err
			}
			break
		}
		return Target{Number: at.Number, from: snapshot{number: at.Number, sum: at.Sum}}, nil
	}
	way, last := path(h.spansOf(b), at.Number)
	if last < end.Number {
		return t, fmt.Errorf("%w: the vault has no write sets after %d any more; restore from the vault instead", ErrNoMoment, at.Number)
	}
	t = Target{Number: last, from: snapshot{number: at.Number, sum: at.Sum}, way: way}
	return t, h.continues(ctx, t)
}

// continues reads the first object of a target's way. The error is ErrParted if its records do not follow those that the replica has.
func (h *History) continues(ctx context.Context, t Target) error {
	if len(t.way) == 0 {
		return nil
	}
	o, err := getObject(ctx, h.b, t.way[0].key)
	if err != nil || o.batch == nil {
		return err // or the reader of the records says so
	}
	before := o.batch.before
	for _, e := range o.batch.entries {
		if e.Number == t.from.number && e.Sum != t.from.sum || e.Number == t.from.number+1 && before != t.from.sum {
			return fmt.Errorf("%w, up to %d", ErrParted, t.from.number)
		}
		before = e.Sum
	}
	return nil
}

// catchUp applies the records that a replica lacks.
func (h *History) catchUp(ctx context.Context, db *kv.DB, p Progress) (n uint64, err error) {
	t, err := h.lacks(ctx, db)
	if err != nil {
		return 0, err
	}
	before := db.Committed()
	err = h.apply(ctx, t, db, p)
	return db.Committed() - before, err
}

// fillPacks gets packs of which a directory has fewer bytes than the database counts.
func (h *History) fillPacks(ctx context.Context, epoch uint64, dir string, need map[uint64]int64, log *slog.Logger, p Progress) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	short := make(map[uint64]string) // packs that have too few bytes
	for _, e := range entries {
		num := packNumber(e.Name())
		if num == 0 {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if info.Size() >= need[num] {
			delete(need, num)
			delete(short, num)
		} else if need[num] > 0 {
			short[num] = e.Name()
		}
	}
	if err := h.restorePacks(ctx, Target{Epoch: epoch}, dir, need, log, p); err != nil {
		return err
	}
	for num, name := range short { // restorePacks has replaced it, unless the names differ
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Size() < need[num] {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				return err
			}
		}
	}
	return disk.OS{}.SyncDir(dir)
}
