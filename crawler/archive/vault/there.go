package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"odarchive/triplestore/bucket"
)

// A writer acknowledges only what a restore would find. Its objects may be lost while it runs: somebody empties the bucket, the file
// system of the backup is not mounted any more, or the object store comes back as it was an hour ago. Nobody deletes the newest
// object of the tail, so its absence shows that. Then the Keeper takes the archive again, which finds out what is there.

// notThere is the error for a vault that is gone.
func notThere() error {
	return fmt.Errorf("%w: if it comes back, such as a file system that was not mounted, a server that runs goes on by itself; "+
		"if it was removed on purpose, stop what writes here, and after 'odarchive backup --detach' it begins anew", ErrNotThere)
}

// has returns errAgain if an object is missing without which nothing can be restored, and ErrFenced if that is so because another
// process is the writer: it merges and deletes what this one has put.
func (w *Writer) has(ctx context.Context, key string) error {
	_, err := w.b.Stat(ctx, key)
	if !errors.Is(err, bucket.ErrNotFound) {
		return err
	}
	h, err := read(ctx, w.b)
	if err == nil {
		if n := len(h.fences); n > 0 && h.fences[n-1].Epoch > w.epoch {
			return w.setFenced(fencedBy(h.writer))
		}
	} else if !errors.Is(err, ErrNoVault) {
		return err
	}
	return errors.Join(fmt.Errorf("%w: %s, which nobody may delete, is missing", errAgain, key), err)
}

// put puts an object into a place of the tail, unless there is one, and looks meanwhile whether the object before it is there. If there
// is no vault at all, the new one is removed. Else it must stay, since a candidate may have read it.
func (w *Writer) put(ctx context.Context, seq uint64, raw []byte) error {
	before := make(chan error, 1)
	go func() { before <- w.has(ctx, tailKey(seq-1)) }()
	err := w.b.Put(ctx, tailKey(seq), int64(len(raw)), bytes.NewReader(raw), bucket.PutOptions{IfAbsent: true})
	there := <-before
	if errors.Is(there, ErrNoVault) && err == nil {
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
		err := w.has(ctx, tailKey(seq-1))
		w.mu.Lock()
		same := w.seq == seq
		w.mu.Unlock()
		if err == nil || same { // else it was merged meanwhile
			return err
		}
	}
}

// isThere returns errAgain if an object is missing without which nothing can be restored: the description of the vault, the newest
// state file, or the newest object of the tail.
func (k *Keeper) isThere(ctx context.Context) error {
	k.mu.Lock()
	state := k.last.key
	k.mu.Unlock()
	for _, key := range []string{archiveKey, state} {
		if key == "" {
			continue
		}
		if err := k.writer.has(ctx, key); err != nil {
			return err
		}
	}
	return k.writer.isThere(ctx)
}
