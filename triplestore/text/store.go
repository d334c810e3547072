package text

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/internal/sealed"
	"odarchive/triplestore/kv"
)

// The list of segments: version, mark, number of the next segment, and of each segment its number, the length of its
// head and its languages. Mark is what the caller gave to Flush.
var listKey = []byte("segments")

const listVersion = 1

// ErrNewer means that a newer version of the program wrote the index.
var ErrNewer = errors.New("the text index was written by a newer version of the program")

// Load reads the list of segments and returns the mark of the last Flush. ok is false if nothing was stored. After an
// error the index is empty and can be built again, except after ErrNewer.
func (x *Index) Load() (mark []byte, ok bool, err error) {
	snap := x.db.Snapshot()
	defer snap.Close()
	raw, ok, err := snap.Get(kv.SpaceText, listKey)
	if err != nil || !ok {
		return nil, false, err
	}
	body, err := sealed.Open(raw, 0)
	if err != nil {
		return nil, false, fmt.Errorf("%w: text index: list of segments: %w", sealed.ErrDamaged, err)
	}
	r := fields.Reader{B: body}
	if v := r.Byte(); v > listVersion {
		return nil, false, ErrNewer
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
		s, err := openSegment(x.reader(snap), number, size, langs)
		if err != nil {
			return nil, false, err
		}
		segs = append(segs, s)
	}
	if r.End() != nil {
		return nil, false, fmt.Errorf("%w: text index: list of segments", sealed.ErrDamaged)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.segs, x.next = segs, next
	return mark, true, nil
}

// Mark returns the mark of the index that is stored in db. ok is false if there is none.
func Mark(db *kv.DB) (mark []byte, ok bool, err error) {
	snap := db.Snapshot()
	defer snap.Close()
	raw, ok, err := snap.Get(kv.SpaceText, listKey)
	if err != nil || !ok {
		return nil, false, err
	}
	body, err := sealed.Open(raw, 0)
	if err != nil {
		return nil, false, fmt.Errorf("%w: text index: list of segments: %w", sealed.ErrDamaged, err)
	}
	r := fields.Reader{B: body}
	if r.Byte() > listVersion {
		return nil, false, ErrNewer
	}
	mark = slices.Clone(r.Bytes(r.Count(1)))
	return mark, !r.Bad(), nil
}

// Reset empties the index in memory. What is stored stays until the next Flush.
func (x *Index) Reset() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.segs, x.frozen, x.grow = nil, nil, newGrowing()
	x.memory = map[string][]byte{}
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
	batch := x.db.Batch()
	memory := map[string][]byte{}
	put := func(k, v []byte) error {
		if x.keep {
			return batch.Set(kv.SpaceText, k, v)
		}
		memory[string(k)] = v
		return nil
	}
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
		made, err := writeSegment(ctx, number, x.reader(snap), sources, put)
		if err != nil {
			return err
		}
		list = append(list, made)
	}
	if x.keep {
		if err := batch.Flush(); err != nil {
			return err
		}
		if err := x.db.Update(ctx, func(kt *kv.Txn) error { return kt.Set(kv.SpaceText, listKey, x.encodeList(mark, list)) }); err != nil {
			return err
		}
	}
	x.mu.Lock()
	x.segs, x.frozen = list, nil
	for k, v := range memory {
		x.memory[k] = v
	}
	x.mu.Unlock()
	return x.deleteOthers(list)
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
	return sealed.Append(b, 0)
}

// deleteOthers deletes the values of segments that are not in the list: merged ones, and those of an interrupted Flush.
func (x *Index) deleteOthers(list []*segment) error {
	keep := map[uint64]bool{}
	for _, s := range list {
		keep[s.number] = true
	}
	if !x.keep {
		x.mu.Lock()
		defer x.mu.Unlock()
		for k := range x.memory {
			if !keep[binary.BigEndian.Uint64([]byte(k)[1:])] {
				delete(x.memory, k)
			}
		}
		return nil
	}
	snap := x.db.Snapshot()
	defer snap.Close()
	var old [][]byte
	for _, letter := range []byte{'w', 'p', 'd'} {
		var from []byte
		for {
			found := false
			err := snap.Scan(kv.SpaceText, []byte{letter}, from, func(k, _ []byte) (bool, error) {
				if len(k) != 17 {
					return true, nil
				}
				number := binary.BigEndian.Uint64(k[1:])
				if keep[number] { // continue behind it
					from, found = key(letter, number+1, 0), true
					return false, nil
				}
				old = append(old, slices.Clone(k))
				return true, nil
			})
			if err != nil {
				return err
			}
			if !found {
				break
			}
		}
	}
	if len(old) == 0 {
		return nil
	}
	return x.db.DeleteKeys(kv.SpaceText, old)
}

// Verify reads every stored value and compares the checksums, and the postings with the number of documents.
func (x *Index) Verify(ctx context.Context) error {
	x.mu.RLock()
	defer x.mu.RUnlock()
	snap := x.db.Snapshot()
	defer snap.Close()
	read := x.reader(snap)
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
