package files

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"odarchive/crawler/archive"
)

// planPart is how many records one goroutine plans at a time.
const planPart = 256

// planRecords measures the heads, and finds or computes the block digests. It returns for each record a digest of all
// that determines it. It reads the versions in the order of their ids, as they are stored.
func (w *WARC) planRecords(ctx context.Context, contents Blocks) (marks [][32]byte, err error) {
	marks = make([][32]byte, len(w.entries))
	order := make([]int, len(w.entries))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(w.entries[a].ID, w.entries[b].ID) })
	planners, ctx := errgroup.WithContext(ctx)
	planners.SetLimit(runtime.GOMAXPROCS(0))
	for part := range slices.Chunk(order, planPart) {
		planners.Go(func() error { return w.planSome(ctx, part, marks, contents) })
	}
	return marks, planners.Wait()
}

// undigested is a record whose block digest is not known.
type undigested struct {
	at      int
	version archive.Fetched
	head    []byte // of HTTP
}

// planSome plans the records at some indexes. It computes digests only when it no longer holds the archive's state.
func (w *WARC) planSome(ctx context.Context, part []int, marks [][32]byte, contents Blocks) error {
	failed := func(i int, err error) error {
		return &EntryError{Name: w.entries[i].URL, Version: w.iri(i), Err: err}
	}
	ids := make([]string, len(part))
	for k, i := range part {
		ids[k] = w.entries[i].ID
	}
	var without []undigested
	read := 0
	err := w.source.EachFetched(ids, func(k int, f archive.Fetched, digest func(head [8]byte) ([32]byte, bool, error)) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		i := part[k]
		r := &w.records[i]
		known := true
		var head []byte
		if r.status = statusOf(f); r.status == 0 {
			r.block = w.entries[i].Ref.SHA256
		} else {
			var err error
			head = httpHead(f)
			if r.block, known, err = digest(headMark(head)); err != nil {
				return err
			}
		}
		if known {
			marks[i] = w.planHead(i, f, head)
		} else {
			without = append(without, undigested{i, f, head})
		}
		read++
		return nil
	})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return failed(part[min(read, len(part)-1)], err)
	}
	var fresh []archive.BlockDigest
	for _, u := range without {
		sum, err := digestBlock(ctx, u.head, contents, w.entries[u.at].Ref.SHA256)
		if err != nil {
			return failed(u.at, err)
		}
		w.records[u.at].block = sum
		marks[u.at] = w.planHead(u.at, u.version, u.head)
		fresh = append(fresh, archive.BlockDigest{Version: w.entries[u.at].ID, Head: headMark(u.head), SHA256: sum})
	}
	if len(fresh) == 0 {
		return nil
	}
	return w.source.KeepBlockDigests(ctx, fresh)
}

// planHead makes the heads of a record, keeps them if there is room, and returns their digest. inner is the HTTP head.
func (w *WARC) planHead(i int, f archive.Fetched, inner []byte) [32]byte {
	head := w.head(i, f, inner)
	w.records[i].head = uint32(len(head))
	if w.room.Add(-int64(len(head))) >= 0 {
		w.records[i].kept = head
	}
	return sha256.Sum256(head)
}

// headMark returns what identifies an HTTP head among the remembered digests.
func headMark(head []byte) [8]byte {
	sum := sha256.Sum256(head)
	return [8]byte(sum[:8])
}

// digestBlock reads a version to compute the SHA-256 of an HTTP head and the bytes.
func digestBlock(ctx context.Context, head []byte, contents Blocks, sha [32]byte) (sum [32]byte, err error) {
	if ctx.Err() != nil {
		return sum, context.Cause(ctx)
	}
	body, err := contents.Open(sha)
	if err != nil {
		return sum, err
	}
	defer body.Close()
	h := sha256.New()
	h.Write(head)
	if _, err := io.Copy(h, body); err != nil {
		return sum, err
	}
	return [32]byte(h.Sum(nil)), nil
}

// number sets the offsets, the ETag and the warcinfo record.
func (w *WARC) number(marks [][32]byte) {
	all, tag := sha256.New(), sha256.New()
	for i := range w.entries {
		e := &w.entries[i]
		w.rawSize += e.Ref.Size
		if e.At.After(w.modified) {
			w.modified = e.At
		}
		all.Write(marks[i][:])
		var b []byte // segments may be cut differently in two archives that hold the same versions
		b = binary.AppendUvarint(b, uint64(e.Ref.DeflateSize))
		b = binary.AppendUvarint(b, e.Ref.Layout)
		tag.Write(b)
	}
	fmt.Fprintf(all, "%q %q", w.meta.Base, w.meta.Query)
	sum := all.Sum(nil)
	w.infoID = recordID("urn:odarchive:warcinfo:" + hex.EncodeToString(sum))
	w.info = w.infoMember()
	tag.Write([]byte("odarchive warc 2")) // raise the number with every change of how the bytes are made
	tag.Write(w.info)
	tag.Write(sum)
	w.etag = `"` + hex.EncodeToString(tag.Sum(nil)[:16]) + `"`
	at := int64(len(w.info))
	for i := range w.records {
		w.records[i].offset = at
		at += w.memberSize(i)
	}
	w.size = at
}
