package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"odarchive/triplestore/bucket"
)

// A writer acknowledges only what a restore would find. Its objects may be lost while it runs: somebody empties the
// bucket, the file system of the backup is not mounted any more, or the object store comes back as it was an hour ago.
// Nobody deletes the newest object of the tail, so its absence shows that. Then the Keeper takes the archive again,
// which finds out what is there.

// notThere is the error for a vault that is gone.
func notThere() error {
	return fmt.Errorf("%w: if it comes back, such as a file system that was not mounted, a server that runs goes on by itself; "+
		"if it was removed on purpose, stop what writes here, and after 'odarchive backup --detach' it begins anew", ErrNotThere)
}

// has returns errAgain if an object is missing without which nothing can be restored, and ErrFenced if that is so
// because another process is the writer: it merges and deletes what this one has put.
func (w *Writer) has(ctx context.Context, key string) error {
	_, err := w.b.Stat(ctx, key)
	if errors.Is(err, bucket.ErrNotFound) {
		return w.lacks(ctx, key+" is missing")
	}
	return err
}

// hasBefore is has for the object before a place of the tail that is this writer's next one, or was it. Another one
// under the same name is of another vault: somebody has emptied this one, and begun it anew.
func (w *Writer) hasBefore(ctx context.Context, seq uint64) error {
	w.mu.Lock()
	prev := w.prev
	w.mu.Unlock()
	nonce, err := nonceOf(ctx, w.b, seq-1)
	switch {
	case errors.Is(err, bucket.ErrNotFound):
		return w.lacks(ctx, tailKey(seq-1)+", which nobody may delete, is missing")
	case errors.Is(err, ErrBroken):
		return w.lacks(ctx, err.Error())
	case err == nil && nonce != prev:
		return w.lacks(ctx, tailKey(seq-1)+" is not what was put there")
	}
	return err
}

// errElsewhere says that a vault has nothing of this writer: it is another one, or an earlier state of it.
var errElsewhere = errors.New("the backup does not know this process")

// lacks finds out why an object is not there.
func (w *Writer) lacks(ctx context.Context, what string) error {
	again := fmt.Errorf("%w: %s", errAgain, what)
	h, err := readAgain(ctx, w.b, w.known)
	switch {
	case errors.Is(err, ErrNoVault):
		return errors.Join(again, err)
	case err != nil:
		return err
	}
	if f, ok := h.newest(); ok && f.Epoch > w.epoch {
		return w.setFenced(w.fencedBy(h.writer))
	}
	if !h.hasBegunBy(w.nonce) {
		return errors.Join(again, errElsewhere)
	}
	return again
}

// put puts an object into a place of the tail, unless there is one, and looks meanwhile whether the object before it is
// there. If there is no vault at all, or this writer has begun nothing in it, the new one is removed. Else it must
// stay, since a candidate may have read it.
func (w *Writer) put(ctx context.Context, seq uint64, raw []byte) error {
	before := make(chan error, 1)
	go func() { before <- w.hasBefore(ctx, seq) }()
	err := w.b.Put(ctx, tailKey(seq), int64(len(raw)), bytes.NewReader(raw), bucket.PutOptions{IfAbsent: true})
	there := <-before
	if err == nil && (errors.Is(there, ErrNoVault) || errors.Is(there, errElsewhere)) {
		there = errors.Join(there, w.b.Delete(ctx, tailKey(seq)))
	}
	if err != nil {
		return err
	}
	return there
}

// isThere returns errAgain if the newest object of the tail is missing.
func (w *Writer) isThere(ctx context.Context) error {
	for {
		w.mu.Lock()
		seq := w.seq
		w.mu.Unlock()
		err := w.hasBefore(ctx, seq)
		w.mu.Lock()
		same := w.seq == seq
		w.mu.Unlock()
		if err == nil || same { // else it was merged meanwhile
			return err
		}
	}
}

// isThere returns errAgain if an object is missing without which nothing can be restored: the description of the vault,
// the newest state file, the fence, or the newest object of the tail.
func (k *Keeper) isThere(ctx context.Context) error {
	k.mu.Lock()
	state := k.last.key
	k.mu.Unlock()
	for _, key := range []string{archiveKey, state, tailKey(k.writer.place)} {
		if key == "" {
			continue
		}
		if err := k.writer.has(ctx, key); err != nil {
			return err
		}
	}
	return k.writer.isThere(ctx)
}
