package kv

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/klauspost/compress/s2"
)

// A record of the log is one write set: a byte for its kind, then the fields that FORMAT.md describes.
const (
	kindWrites     = 1 // entries, compressed with S2
	kindFew        = 2 // entries as they are
	kindDropSpace  = 3 // a space; deletes all its entries
	kindPurge      = 4 // no entries; replicas purge their files, too
	compressBeyond = 256
)

// maxWriteSet limits the unpacked size of a record.
const maxWriteSet = 64 << 20

// encodeWrites returns the record of a layer. Each entry is the length of its key (uvarint), the key with its space, 0
// for a deletion or the value's length + 1 (uvarint), and the value.
func encodeWrites(l *layer) []byte { return new(recordBuffers).encode(l) }

// recordBuffers are the memory for the records of one writer, one after the other. The zero value is ready to use.
type recordBuffers struct{ plain, packed []byte }

// maxRecordBuffer is the size of a buffer that is kept for the next record: enough for a batch of a list of URLs.
const maxRecordBuffer = 4 << 20

// encode does what encodeWrites does. The record is valid until the next call.
func (r *recordBuffers) encode(l *layer) []byte {
	plain := append(slices.Grow(r.plain[:0], int(l.bytes)+8*len(l.writes)+1), kindFew)
	for k, w := range l.all() {
		plain = binary.AppendUvarint(plain, uint64(len(k)))
		plain = append(plain, k...)
		if w.deleted {
			plain = append(plain, 0)
			continue
		}
		plain = binary.AppendUvarint(plain, uint64(len(w.val))+1)
		plain = append(plain, w.val...)
	}
	r.plain = nil
	if cap(plain) <= maxRecordBuffer {
		r.plain = plain
	}
	if len(plain) < compressBeyond {
		return plain
	}
	packed := slices.Grow(r.packed[:0], 1+s2.MaxEncodedLen(len(plain)-1))
	packed = packed[:cap(packed)]
	r.packed = nil
	if cap(packed) <= maxRecordBuffer {
		r.packed = packed
	}
	packed[0] = kindWrites
	return packed[:1+len(s2.Encode(packed[1:], plain[1:]))]
}

func encodeDrop(s Space) []byte { return []byte{kindDropSpace, byte(s)} }

// writeSet is a decoded record.
type writeSet struct {
	drop    Space // 0 for none
	purge   bool
	entries []byte
}

func decodeWriteSet(record []byte, buf []byte) (w writeSet, err error) {
	if len(record) == 0 {
		return w, fmt.Errorf("%w: empty log record", ErrDamaged)
	}
	body := record[1:]
	switch record[0] {
	case kindFew:
		w.entries = body
	case kindWrites:
		n, err := s2.DecodedLen(body)
		if err != nil || n > maxWriteSet {
			return w, fmt.Errorf("%w: log record of %d bytes", ErrDamaged, n)
		}
		if w.entries, err = s2.Decode(buf, body); err != nil {
			return w, fmt.Errorf("%w: log record: %w", ErrDamaged, err)
		}
	case kindDropSpace:
		if len(body) != 1 || body[0] == 0 {
			return w, fmt.Errorf("%w: malformed drop in a log record", ErrDamaged)
		}
		w.drop = Space(body[0])
	case kindPurge:
		if len(body) != 0 {
			return w, fmt.Errorf("%w: malformed purge in a log record", ErrDamaged)
		}
		w.purge = true
	default:
		return w, fmt.Errorf("kv: log record of kind %d: %w", record[0], ErrNewer)
	}
	return w, nil
}

// each calls f with every entry. The slices are parts of the record.
func (w writeSet) each(f func(key, val []byte, deleted bool) error) error {
	for b := w.entries; len(b) > 0; {
		n, used := binary.Uvarint(b)
		if used <= 0 || n == 0 || n > uint64(len(b)-used) {
			return fmt.Errorf("%w: malformed key in a log record", ErrDamaged)
		}
		key := b[used : used+int(n)]
		b = b[used+int(n):]
		n, used = binary.Uvarint(b)
		if used <= 0 || n > uint64(len(b)-used)+1 {
			return fmt.Errorf("%w: malformed value in a log record", ErrDamaged)
		}
		b = b[used:]
		if n == 0 {
			if err := f(key, nil, true); err != nil {
				return err
			}
			continue
		}
		if err := f(key, b[:n-1], false); err != nil {
			return err
		}
		b = b[n-1:]
	}
	return nil
}
