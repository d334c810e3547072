package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
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
	Vault   string `json:"-"`              // its id
	Number  uint64 `json:"write_set"`      // the last one
	Fetched uint64 `json:"fetched"`        // write sets that the replica lacked
	Anew    string `json:"anew,omitempty"` // why the backup begins anew with the replica as it was; "" if it goes on
	Lost    uint64 `json:"lost,omitempty"` // write sets that the backup counts, behind those of the replica, if it begins anew
}

// PromoteOptions configure Promote. The zero value is ready to use.
type PromoteOptions struct {
	// AsItIs makes the replica the writer with what it has, if the vault cannot tell what it lacks: the history in the
	// vault begins anew with it. It gets the records before the first damaged or missing one. What only the vault or
	// another directory has besides is lost for the archive; moments before stay in the vault.
	AsItIs   bool
	Log      *slog.Logger // nil discards
	Progress Progress
}

// Promote makes the directory of a replica (triplestore/kv), which no process uses, one that can be written. First the
// replica gets from the vault what it lacks: write sets and bytes of packs. If the vault has not all of that, or some
// is damaged, Promote fails, and no writer is disturbed. Then the candidate becomes the writer of the vault, so that
// the writer before acknowledges nothing more, and the replica gets what that one has put meanwhile. What it has from
// the writer and the vault has not, it keeps. If Promote fails or is interrupted, it can be called again.
func Promote(ctx context.Context, b bucket.Bucket, dir string, me Candidate, o PromoteOptions) (done Promoted, err error) {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	done, err = promote(ctx, b, dir, me, o)
	if err != nil {
		return done, fmt.Errorf("promote: %w", err)
	}
	return done, nil
}

func promote(ctx context.Context, b bucket.Bucket, dir string, me Candidate, o PromoteOptions) (done Promoted, err error) {
	if !kv.IsReplica(dir) {
		return done, fmt.Errorf("%s is no replica", dir)
	}
	db, err := kv.Open(dir, kv.Options{Replica: true, Log: o.Log})
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	known := make(sums)
	me.known = &tailCache{room: recordsKept}
	done.Fetched, err = getAhead(ctx, b, me.known, dir, db, known, o)
	if err != nil && !(o.AsItIs && (isForWant(err) || errors.Is(err, ErrNoVault))) { // Take would begin a vault
		return done, err
	}
	var want error // what the replica lacks and the vault has not, as far as only getting it shows
	if errors.Is(err, errPacks) {
		want = err
	}
	var h *History // as it was when the writer before had put its last object
	var t Target   // what the replica lacks; none if it goes on as it is
	me.Force = true
	me.check = func(ctx context.Context, now *History) (isNew bool, at wal.Position, err error) {
		h, done.Anew, done.Lost = now, "", 0
		if t, err = now.lacks(ctx, db, known); errors.Is(err, bucket.ErrNotFound) { // the writer has merged it since
			if now, err = read(ctx, b); err == nil {
				t, err = now.lacks(ctx, db, known)
			}
		}
		err = cmp.Or(err, want)
		if err == nil {
			at, _, _ = now.end()
			return false, at, nil
		}
		if !o.AsItIs || !isForWant(err) {
			return false, at, err
		}
		had := db.Committed()
		if err := now.apply(ctx, t, db, o.Progress); err != nil {
			return false, at, err
		}
		done.Fetched += db.Committed() - had
		t, done.Anew, done.Lost = Target{}, err.Error(), now.behind(db.Position())
		return true, db.Position(), nil
	}
	w, err := Take(ctx, b, me)
	if err != nil {
		return done, err
	}
	done.Epoch, done.Vault = w.Epoch(), h.id
	if done.Anew != "" {
		o.Log.Warn("the replica becomes the writer as it is, and the backup begins anew", "because", done.Anew, "fetched", done.Fetched,
			"lost", done.Lost)
	} else {
		n, err := h.catchUp(ctx, w, db, t, known, o.Progress)
		if done.Fetched += n; err != nil {
			return done, err
		}
	}
	done.Number = db.Committed()
	need, err := content.PacksOf(db)
	if err != nil {
		return done, err
	}
	if err := h.fillPacks(ctx, w.Epoch(), filepath.Join(dir, "packs"), need, o.Log, o.Progress); err != nil {
		if done.Anew == "" {
			return done, err
		}
		o.Log.Error("the replica lacks bytes of files that the backup has not either: 'odarchive check' names them", "error", err)
	}
	if err := os.Remove(filepath.Join(dir, kv.ReplicaFile)); err != nil {
		return done, err
	}
	if err := w.release(ctx); err != nil { // the server that starts now need not wait
		o.Log.Debug("lease not given back", "error", err)
	}
	return done, disk.OS{}.SyncDir(dir)
}

// errPacks is the error for bytes of packs that a replica lacks, and the vault, too.
var errPacks = errors.New("the backup has not all bytes of files that the replica lacks")

// getAhead gives a replica what it lacks and the vault has now. n is the number of records.
func getAhead(ctx context.Context, b bucket.Bucket, tail *tailCache, dir string, db *kv.DB, known sums, o PromoteOptions) (n uint64,
	err error) {
	before := db.Committed()
	last := uint64(math.MaxUint64)
	for range aheadTries {
		had := db.Committed()
		err = getAheadOnce(ctx, b, tail, known, dir, db, o)
		if err != nil && !errors.Is(err, bucket.ErrNotFound) { // else the writer merges what is being read
			break
		}
		got := db.Committed() - had
		if err == nil && (got == 0 || got > last/2) { // a writer that goes on is never at its end
			break
		}
		last = got
	}
	if errors.Is(err, bucket.ErrNotFound) { // it is faster; it will wait for whoever has signed
		err = nil
	}
	return db.Committed() - before, err
}

// recordsKept is how many bytes of records of the tail a promotion keeps in memory, so that it need not read them
// twice.
const recordsKept = 64 << 20

// aheadTries bounds how often getAhead looks what there is.
const aheadTries = 8

func getAheadOnce(ctx context.Context, b bucket.Bucket, tail *tailCache, known sums, dir string, db *kv.DB, o PromoteOptions) error {
	h, err := readAgain(ctx, b, tail)
	if err != nil {
		return err
	}
	t, err := h.lacks(ctx, db, known)
	if err != nil && !(o.AsItIs && isForWant(err)) {
		return err
	}
	failed := h.apply(ctx, t, db, o.Progress)
	if tail.release(db.Committed()); failed != nil || err != nil {
		return cmp.Or(failed, err)
	}
	need, err := content.PacksOf(db)
	if err != nil {
		return err
	}
	last, _ := h.newest()
	err = h.fillPacks(ctx, last.Epoch, filepath.Join(dir, "packs"), need, o.Log, o.Progress)
	if errors.Is(err, ErrBroken) {
		err = fmt.Errorf("%w: %w", errPacks, err)
	}
	return err
}

// catchUp applies the records that a replica lacks: t, unless the writer before has merged some since the vault was
// read.
func (h *History) catchUp(ctx context.Context, w *Writer, db *kv.DB, t Target, known sums, p Progress) (n uint64, err error) {
	if !w.IsNew() {
		now, err := readAgain(ctx, h.b, w.known)
		if err != nil {
			return 0, err
		}
		if t, err = now.lacks(ctx, db, known); err != nil {
			return 0, err
		}
	}
	before := db.Committed()
	err = h.apply(ctx, t, db, p)
	return db.Committed() - before, err
}

// isForWant reports whether an error of lacks says that the vault cannot tell what a replica lacks.
func isForWant(err error) bool {
	return errors.Is(err, errPacks) || errors.Is(err, ErrNoMoment) || errors.Is(err, ErrParted) || errors.Is(err, ErrBroken) ||
		errors.Is(err, ErrUnknownWriter) || errors.Is(err, kv.ErrOtherHistory)
}

// WithAsItIs adds to an error of Promote how the replica can become the writer nevertheless, if it can.
func WithAsItIs(err error) error {
	if !isForWant(err) && !errors.Is(err, ErrNoVault) {
		return err
	}
	return fmt.Errorf(
		"%w; 'odarchive promote --as-it-is' makes it the writer with what it has, and the backup begins anew with that, if this is the "+
			"best copy that is left", err)
}
