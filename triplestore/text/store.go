package text

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/kv"
)

// The list of segments: version, mark, number of the next segment, and of each segment its number, the length of its
// head and its languages. Mark is what the caller gave to Flush.
const listVersion = 1

// Load reads the list of segments and returns the mark of the last Flush. ok is false if nothing was stored. After an
// error the index is empty and can be built again, except after segments.ErrNewer.
func (x *Index) Load() (mark []byte, ok bool, err error) {
	snap := x.db.Snapshot()
	defer snap.Close()
	body, ok, err := x.values.List(snap)
	if err != nil || !ok {
		return nil, false, err
	}
	r := fields.Reader{B: body}
	if v := r.Byte(); v > listVersion {
		return nil, false, segments.ErrNewer
	}
	mark = slices.Clone(r.Bytes(r.Count(1)))
	next := r.Uvarint()
	var segs []*segment
	for range r.Count(3) {
		number, size := r.Uvarint(), r.Uvarint()
		var langs []string
		for range r.Count(1) {
			langs = append(langs, r.Text())
		}
		if r.Bad() {
			break
		}
		s, err := openSegment(x.values.Reader(snap), number, size, langs)
		if err != nil {
			return nil, false, err
		}
		segs = append(segs, s)
	}
	if r.End() != nil {
		return nil, false, fmt.Errorf("%w: text index: list of segments", segments.ErrDamaged)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.segs, x.next = segs, next
	return mark, true, nil
}

// Mark returns the mark of the index that is stored in db. ok is false if there is none.
func Mark(db *kv.DB) (mark []byte, ok bool, err error) {
	return segments.Mark(db, kv.SpaceText, "text index", listVersion)
}

// Reset empties the index in memory. What is stored stays until the next Flush.
func (x *Index) Reset() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.segs, x.frozen, x.grow = nil, nil, newGrowing()
	x.values.Forget()
}

// Flush stores the segment in memory, merges it with others of similar size, and records mark: what the index covers.
func (x *Index) Flush(ctx context.Context, mark []byte) error {
	if err := x.flush(ctx, mark); err != nil {
		return fmt.Errorf("text index: store: %w", err)
	}
	return nil
}

func (x *Index) flush(ctx context.Context, mark []byte) (err error) {
	x.mu.Lock()
	if len(x.grow.docs.ids) > 0 {
		x.frozen, x.grow = x.grow, newGrowing()
	}
	frozen := x.frozen
	list := slices.Clone(x.segs)
	x.mu.Unlock()
	defer func() {
		if err != nil && frozen != nil {
			x.thaw(frozen)
		}
	}()
	to := x.values.Write()
	snap := x.db.Snapshot()
	defer snap.Close()
	if frozen != nil {
		sources := []source{frozen}
		size := len(frozen.docs.ids)
		for len(list) > 0 && len(list[len(list)-1].docs.ids) < fanout*size {
			last := list[len(list)-1]
			size += len(last.docs.ids)
			sources = append([]source{last}, sources...)
			list = list[:len(list)-1]
		}
		x.mu.Lock()
		number := x.next
		x.next++
		x.mu.Unlock()
		made, err := writeSegment(ctx, number, x.values.Reader(snap), sources, to)
		if err != nil {
			return err
		}
		list = append(list, made)
	}
	if err := to.Flush(); err != nil {
		return err
	}
	if err := x.values.SetList(ctx, x.encodeList(mark, list)); err != nil {
		return err
	}
	keep := map[uint64]bool{}
	for _, s := range list {
		keep[s.number] = true
	}
	x.mu.Lock() // waits for the searches that use the old list
	x.segs, x.frozen = list, nil
	x.mu.Unlock()
	return x.values.DeleteOthers(keep)
}

// thaw puts a segment that could not be stored back, with what was added meanwhile.
func (x *Index) thaw(frozen *growing) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.grow.docs.ids) == 0 && x.frozen == frozen {
		x.grow, x.frozen = frozen, nil
	}
}

func (x *Index) encodeList(mark []byte, list []*segment) []byte {
	x.mu.RLock()
	defer x.mu.RUnlock()
	b := []byte{listVersion}
	b = fields.AppendText(b, string(mark))
	b = binary.AppendUvarint(b, x.next)
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = binary.AppendUvarint(b, s.number)
		b = binary.AppendUvarint(b, s.headSize())
		b = binary.AppendUvarint(b, uint64(len(s.langs)))
		for _, l := range s.langs {
			b = fields.AppendText(b, l)
		}
	}
	return b
}

// Verify reads every stored value and compares the checksums, and the postings with the number of documents.
func (x *Index) Verify(ctx context.Context) error {
	x.mu.RLock()
	defer x.mu.RUnlock()
	snap := x.db.Snapshot()
	defer snap.Close()
	read := x.values.Reader(snap)
	for _, s := range x.segs {
		last := ""
		for e, err := range s.each(read, "") {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			n := 0
			sound := readPostings(e.list.b, uint32(len(s.docs.ids)), func(uint32, []uint32) { n++ })
			if !sound || n != e.list.docs || e.term < last {
				return s.damaged(fmt.Sprintf("postings of %q", e.term))
			}
			last = e.term
		}
	}
	return nil
}
