package vault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"odarchive/crawler/archive/content"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/wal"
)

// Anew compares a directory that has written a vault with another one's history there: perhaps with a vault that does
// not know it any more (ErrForgotten).
type Anew struct {
	ID    string    // of the vault; another one than before if somebody has begun it anew
	Epoch uint64    // in which the newest history began
	Began time.Time // that history
	After uint64    // the last write set before that history
	// Has says that the history has all write sets of the directory, and Bytes that the vault has as many bytes of
	// packs as the directory counts; whether they are sound is not looked at.
	Has, Bytes bool
	// More is how many write sets the directory has after After, if it has that one, and Has is false; else 0.
	More uint64
}

// Anew says what the newest history of the vault is, not compared with a directory.
func (h *History) Anew() Anew {
	a := Anew{ID: h.id}
	if all := h.branches(); len(all) > 0 {
		began := all[len(all)-1].epochs[0]
		a.Epoch, a.Began, a.After = began.Epoch, began.At.time(), began.Number
	}
	return a
}

// CompareAnew is Anew with what the database of a directory has more, or less.
func (h *History) CompareAnew(ctx context.Context, db *kv.DB) (a Anew, err error) {
	a = h.Anew()
	all := h.branches()
	if len(all) == 0 {
		return a, nil
	}
	last := all[len(all)-1]
	began, at := last.epochs[0], db.Position()
	if began.position().Log != at.Log {
		return a, nil
	}
	sum, known, err := h.sumOf(ctx, last, at.Number)
	if err != nil {
		return a, fmt.Errorf("backup: %w", err)
	}
	if a.Has = known && sum == at.Sum; !a.Has && at.Number > began.Number && hasRecord(ctx, db, began.position()) {
		a.More = at.Number - began.Number
	}
	if a.Bytes, err = h.hasPacks(ctx, db); err != nil {
		return a, fmt.Errorf("backup: %w", err)
	}
	return a, nil
}

// hasPacks reports whether the objects of packs have as many bytes as a database counts.
func (h *History) hasPacks(ctx context.Context, db *kv.DB) (bool, error) {
	need, err := content.PacksOf(db)
	if err != nil {
		return false, err
	}
	there, err := listPacks(ctx, h.b)
	if err != nil {
		return false, err
	}
	last, _ := h.newest()
	for num, size := range need {
		if _, err := h.planPack(there, Target{Epoch: last.Epoch}, num, size); errors.Is(err, ErrBroken) {
			return false, nil
		} else if err != nil {
			return false, err
		}
	}
	return true, nil
}

// hasRecord reports whether a database has a record, and its log reaches back to it.
func hasRecord(ctx context.Context, db *kv.DB, at wal.Position) bool {
	for _, err := range db.Records(ctx, at, false) {
		return err == nil
	}
	return true // it is the last one
}

// sumOf returns the checksum of a record of a history. ok is false if the vault does not have it.
func (h *History) sumOf(ctx context.Context, b branch, number uint64) (sum uint32, ok bool, err error) {
	for _, f := range b.epochs {
		if f.Number == number {
			return f.Sum, true, nil
		}
	}
	for _, s := range h.snapshotsOf(b) {
		if s.number == number {
			return s.sum, true, nil
		}
	}
	for _, s := range h.spansOf(b) {
		if number < s.first || number > s.last {
			continue
		}
		o, err := getObject(ctx, h.b, s.key)
		if errors.Is(err, ErrBroken) {
			continue
		}
		if err != nil {
			return 0, false, err
		}
		if o.batch != nil && number >= o.batch.entries[0].Number && number-o.batch.entries[0].Number < uint64(len(o.batch.entries)) {
			return o.batch.entries[number-o.batch.entries[0].Number].Sum, true, nil
		}
	}
	return 0, false, nil
}
