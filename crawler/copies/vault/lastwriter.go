package vault

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"

	"odarchive/triplestore/bucket"
)

// findWriter decides who wrote last. writer.json and the last fence say it together: one of them may be lost, and
// writer.json may be an older copy that came back, or that of a candidate that was stopped before its fence. If neither
// is as new as the other objects, nobody is taken for the writer.
func (h *History) findWriter(ctx context.Context) error {
	told := h.writer.Holder != ""
	f, fenced := h.newest()
	if fenced {
		h.candidate = f.Epoch < h.writer.Epoch && !h.hasWritten(h.writer) && !h.spoiledAfter(f)
		h.stale = told && (f.Epoch > h.writer.Epoch || f.Epoch == h.writer.Epoch && !f.isOf(h.writer))
		if h.candidate || h.stale || !told && f.Epoch >= h.writer.Epoch {
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
	hidden := !told && fenced && h.spoiledAfter(f) // perhaps the fence of another holder
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
	case fenced && h.writerTag == "":
		h.flaw("%s is missing", writerKey)
	}
	return nil
}

// isOf reports whether a fence is of the process that signed writer.json, or of its directory, if that does not name a
// process.
func (f fence) isOf(s writerState) bool {
	return f.Holder == s.Holder && (s.Nonce == "" || s.Nonce == f.id())
}

// hasWritten reports whether the process that signed writer.json has been the writer: it says so, or there are objects
// of its epoch.
func (h *History) hasWritten(s writerState) bool {
	return s.Number > 0 || s.Released || s.Left != "" ||
		slices.ContainsFunc(h.spans, func(o span) bool { return o.epoch >= s.Epoch }) ||
		slices.ContainsFunc(h.snapshots, func(o snapshot) bool { return o.epoch >= s.Epoch })
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

// lastWriterOf asks a vault who writes it, or wrote it last. The error is ErrNoVault if there is no vault, and
// ErrUnknownWriter if the vault has had a writer and does not say any more which one.
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

// isNewest reports whether the last object of the tail is of the process that signed writer.json. If it is not,
// everything must be read to know.
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
	return hex.EncodeToString(o.nonce[:]) == s.Nonce, nil
}
