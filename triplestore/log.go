package triplestore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/internal/index"
	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// The log has a record for every commit, keyed by its position. Opening a store builds the overlay from it, and Changes
// reads it as the change log. The record of a very large commit is only a head. Its changes are in parts, which are
// written before the head and mean nothing without it.
//
//	key of a record   position (8 bytes, big endian) 0 0 0 0
//	key of a part     position, number of the part from 1 on (4 bytes, big endian)

func recordKey(position uint64, part uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(nil, position), part)
}

func parseRecordKey(k []byte) (position uint64, part uint32, ok bool) {
	if len(k) != 12 {
		return 0, 0, false
	}
	return binary.BigEndian.Uint64(k), binary.BigEndian.Uint32(k[8:]), true
}

// head is the record of a very large commit.
type head struct {
	unixMilli int64
	parts     uint32
}

func (h head) encode() []byte {
	b := binary.AppendVarint([]byte{headVersion}, h.unixMilli)
	return segments.AppendSeal(binary.AppendUvarint(b, uint64(h.parts)), 0)
}

// decodeRecord decodes a record or part. One of commit and head is nil.
func decodeRecord(b []byte) (*commit, *head, error) {
	if len(b) > 0 && b[0] == partVersion {
		c, err := decodePart(b)
		return c, nil, err
	}
	if len(b) > 0 && b[0] == headVersion {
		body, err := segments.OpenSeal(b, 0)
		if err != nil {
			return nil, nil, err
		}
		r := fields.Reader{B: body[1:]}
		h := &head{unixMilli: r.Varint(), parts: uint32(r.Uvarint())}
		if r.End() != nil {
			return nil, nil, errBadRecord
		}
		return nil, h, nil
	}
	c, err := decodeCommit(b)
	return c, nil, err
}

// replay calls f with each record after a position. It returns the keys of parts without a head.
func replay(tx *kv.Snapshot, after uint64, f func(position uint64, c *commit, size int) error) (orphans [][]byte, err error) {
	var last uint64 // position of the last head
	err = tx.Scan(kv.SpaceTripleLog, nil, recordKey(after+1, 0), func(key, val []byte) (bool, error) {
		position, part, ok := parseRecordKey(key)
		if !ok {
			return false, fmt.Errorf("%w: log key %x", ErrDamaged, key)
		}
		if part > 0 {
			if position != last {
				orphans = append(orphans, slices.Clone(key))
			}
			return true, nil
		}
		last = position
		c, h, err := decodeRecord(val)
		if err == nil && h != nil {
			err = fmt.Errorf("%w: the blocks of a large commit are missing", errBadRecord)
		}
		if err != nil {
			return false, fmt.Errorf("%w: log record %d: %w", ErrDamaged, position, err)
		}
		return true, f(position, c, len(val))
	})
	return orphans, err
}

// partWriter writes the changes of a very large commit in parts: a byte partVersion, a byte 0 for removed or 1 for
// added, and a block of quads in GSPO order.
type partWriter struct {
	batch    *kv.Batch
	position uint64
	limit    int64 // bytes; a longer record is discarded; negative means no limit
	size     int64
	parts    uint32
	total    uint64 // number of changes
	removed  uint64 // number of removals among them
	pending  []term.IDQuad
	sign     int8 // sign of pending
	dropped  bool // the record exceeded limit and is discarded
}

// recordLimit returns the maximum length of one commit's record. By default only the upper bound of the whole log
// applies; trim shortens the log afterwards.
func (s *Store) recordLimit() int64 {
	if s.opts.KeepChanges != 0 {
		return s.opts.KeepChanges
	}
	return maxKeep
}

// add adds rows in GSPO order. All rows of one sign come before those of the other.
func (w *partWriter) add(rows []term.IDQuad, sign int8) error {
	w.total += uint64(len(rows))
	if sign < 0 {
		w.removed += uint64(len(rows))
	}
	if sign != w.sign {
		if err := w.write(); err != nil {
			return err
		}
		w.sign = sign
	}
	for len(rows) > 0 {
		n := min(len(rows), index.MaxRows-len(w.pending))
		w.pending = append(w.pending, rows[:n]...)
		rows = rows[n:]
		if len(w.pending) == index.MaxRows {
			if err := w.write(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *partWriter) write() error {
	if len(w.pending) == 0 || w.dropped {
		w.pending = w.pending[:0]
		return nil
	}
	w.parts++
	b := append([]byte{partVersion, byte(w.sign+1) / 2}, index.EncodeRows(w.pending)...)
	w.pending = w.pending[:0]
	w.size += int64(len(b))
	if w.limit >= 0 && w.size > w.limit {
		w.dropped = true
		return w.discard()
	}
	return w.batch.Set(kv.SpaceTripleLog, recordKey(w.position, w.parts), b)
}

func decodePart(b []byte) (*commit, error) {
	if len(b) < 2 || b[1] > 1 {
		return nil, errBadRecord
	}
	rows, err := index.DecodeRows(b[2:])
	if err != nil {
		return nil, err
	}
	c := &commit{}
	for _, q := range rows {
		c.changes = append(c.changes, index.Change{Quad: q, Sign: int8(b[1])*2 - 1})
	}
	return c, nil
}

// discard deletes the parts written so far.
func (w *partWriter) discard() error {
	for p := uint32(1); p <= w.parts; p++ {
		if err := w.batch.Delete(kv.SpaceTripleLog, recordKey(w.position, p)); err != nil {
			return err
		}
	}
	w.parts, w.size = 0, 0
	return unlessUnacknowledged(w.batch.Flush())
}

// unlessUnacknowledged returns err, or nil if it is about deleting what nothing names, which nobody has to wait for.
func unlessUnacknowledged(err error) error {
	if errors.Is(err, kv.ErrUnacknowledged) {
		return nil
	}
	return err
}

func (w *partWriter) finish() error {
	if err := w.write(); err != nil {
		return err
	}
	return w.batch.Flush()
}
