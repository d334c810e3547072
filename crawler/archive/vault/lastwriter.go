package vault

import (
	"context"
	"encoding/hex"
	"errors"

	"odarchive/triplestore/bucket"
)

// findWriter decides who wrote last. writer.json and the last fence say it together: one of them may be lost, and writer.json
// may be an older copy that came back. If neither is as new as the other objects, nobody is taken for the writer.
func (h *History) findWriter(ctx context.Context) error {
	told := h.writer.Holder != ""
	n := len(h.fences)
	if n > 0 {
		if f := h.fences[n-1]; f.Epoch > h.writer.Epoch || f.Epoch == h.writer.Epoch && f.Holder != h.writer.Holder {
			h.stale = told
			h.writer = writerState{Epoch: f.Epoch, Holder: f.Holder, At: f.At.time()}
		}
	}
	newest := h.writer.Epoch
	for _, s := range h.spans {
		newest = max(newest, s.epoch)
	}
	for _, s := range h.snapshots {
		newest = max(newest, s.epoch)
	}
	hidden := !told && n > 0 && h.spoiledAfter(h.fences[n-1]) // perhaps the fence of another holder
	others := false
	if newest == 0 || h.next == 1 || hidden {
		of, any, err := newestEpoch(ctx, h.b)
		if err != nil {
			return err
		}
		newest, others = max(newest, of), any
	}
	h.unknown = newest > h.writer.Epoch || hidden || h.writer.Holder == "" && others
	switch {
	case h.unknown:
		h.flaw("nothing says any more which directory writes the backup")
		h.writer = writerState{Epoch: newest}
	case h.stale:
		h.flaw("%s is older than the last epoch", writerKey)
	case n > 0 && h.writerTag == "":
		h.flaw("%s is missing", writerKey)
	}
	return nil
}

// spoiledAfter reports whether an object behind a fence cannot be read.
func (h *History) spoiledAfter(f fence) bool {
	for _, s := range h.damaged {
		if seq, ok := parseTailKey(s.key); ok && seq > f.seq {
			return true
		}
	}
	return false
}

// newestEpoch returns the greatest epoch that the key of an object names, and whether there are objects besides the
// description of the vault: then there has been a writer.
func newestEpoch(ctx context.Context, b bucket.Bucket) (newest uint64, others bool, err error) {
	for info, err := range b.List(ctx, "", "") {
		if err != nil {
			return 0, false, err
		}
		others = others || info.Key != archiveKey
		if s, ok := parseSpan(info.Key, info.Size); ok {
			newest = max(newest, s.epoch)
		} else if s, ok := parseSnapshot(info.Key, info.Size); ok {
			newest = max(newest, s.epoch)
		} else if w, ok := parseWhole(info.Key, info.Size); ok {
			newest = max(newest, w.epoch)
		} else if c, ok := parsePiece(info.Key, info.Size); ok {
			newest = max(newest, c.epoch)
		}
	}
	return newest, others, nil
}

// lastWriterOf asks a vault who writes it, or wrote it last. The error is ErrNoVault if there is no vault, and ErrUnknownWriter if
// the vault has had a writer and does not say any more which one.
func lastWriterOf(ctx context.Context, b bucket.Bucket) (s writerState, err error) {
	_, s, _, err = look(ctx, b)
	if err == nil {
		if sure, err := isNewest(ctx, b, s); err != nil || sure {
			return s, err
		}
	} else if !errors.Is(err, bucket.ErrNotFound) && !errors.Is(err, ErrBroken) {
		return s, err
	}
	h, err := read(ctx, b)
	if err != nil {
		return s, err
	}
	if h.unknown {
		return h.writer, ErrUnknownWriter
	}
	return h.writer, nil
}

// isNewest reports whether the last object of the tail shows that no epoch is newer than the one of writer.json. If it does
// not, everything must be read to know.
func isNewest(ctx context.Context, b bucket.Bucket, s writerState) (bool, error) {
	last := ""
	for info, err := range b.List(ctx, tailDir, "") {
		if err != nil {
			return false, err
		}
		if _, ok := parseTailKey(info.Key); ok {
			last = info.Key
		}
	}
	if last == "" {
		return false, nil
	}
	o, err := getObject(ctx, b, last)
	if errors.Is(err, ErrBroken) || errors.Is(err, bucket.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	epoch := o.epoch()
	return epoch < s.Epoch || epoch == s.Epoch && hex.EncodeToString(o.nonce[:]) == s.Nonce, nil
}

// epoch returns the epoch of the process that made an object.
func (o object) epoch() uint64 {
	if o.fence != nil {
		return o.fence.Epoch
	}
	return o.batch.epoch
}
