package triplestore

import (
	"encoding/binary"
	"fmt"
	"slices"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/internal/index"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// The log has a record for every commit, under its position. It is what an overlay is made of when a store is opened,
// and the change log that Changes reads. Of a very large commit the record is only a head; its changes are in parts,
// which were written beforehand and mean nothing without the head.
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
	return appendSum(binary.AppendUvarint(b, uint64(h.parts)))
}

// decodeRecord reads a record or part; one of the two is nil.
func decodeRecord(b []byte) (*commit, *head, error) {
	if len(b) > 0 && b[0] == partVersion {
		c, err := decodePart(b)
		return c, nil, err
	}
	if len(b) > 0 && b[0] == headVersion {
		body, err := checkSum(b)
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

// replay reads the records after a position and calls f with each; parts without a head are returned.
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

// partWriter writes the changes of a very large commit in parts: a byte partVersion, a byte 0 for removed or 1 for added,
// and a block of quads in GSPO order.
type partWriter struct {
	batch    *kv.Batch
	position uint64
	limit    int64 // bytes; beyond that nothing is kept
	size     int64
	parts    uint32
	total    uint64 // changes
	removed  uint64 // of them
	pending  []term.IDQuad
	sign     int8 // of pending
	dropped  bool
}

// recordLimit is how long the record of one commit may be. Without a setting it is written in any case; what is too much
// for the new state is trimmed then.
func (s *Store) recordLimit() int64 {
	if s.opts.KeepChanges != 0 {
		return s.opts.KeepChanges
	}
	return mostKeep
}

// add takes rows in GSPO order, all of one sign before those of the other.
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
		return w.forget()
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

// forget deletes the parts written so far.
func (w *partWriter) forget() error {
	for p := uint32(1); p <= w.parts; p++ {
		if err := w.batch.Delete(kv.SpaceTripleLog, recordKey(w.position, p)); err != nil {
			return err
		}
	}
	w.parts, w.size = 0, 0
	return w.batch.Flush()
}

func (w *partWriter) finish() error {
	if err := w.write(); err != nil {
		return err
	}
	return w.batch.Flush()
}
