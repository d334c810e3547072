package triplestore

import (
	"encoding/binary"
	"fmt"
	"slices"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// root says what the blocks of a store are. It is one record: a merge or bulk load happens the moment it is replaced.
type root struct {
	nextID   uint64   // the last number given to a block, page, run or list
	merged   uint64   // position of the last commit that is in blocks
	trimmed  uint64   // the change log holds the commits after this position
	logBytes int64    // about the size of the log up to merged
	removed  uint64   // quads that went, and that the log does not name any more, since the last sweep
	lists    []uint64 // lists of keys that are obsolete, if they are still there
	index    []byte   // index.OpenBase; empty for no blocks
	dict     []byte   // dict.OpenView; empty likewise
}

const rootVersion = 2

var rootKey = []byte("root")

func (r *root) encode() []byte {
	b := []byte{rootVersion}
	for _, v := range []uint64{r.nextID, r.merged, r.trimmed, uint64(max(0, r.logBytes)), uint64(len(r.lists))} {
		b = binary.AppendUvarint(b, v)
	}
	for _, l := range r.lists {
		b = binary.AppendUvarint(b, l)
	}
	b = binary.AppendUvarint(b, r.removed)
	b = binary.AppendUvarint(b, uint64(len(r.index)))
	b = append(b, r.index...)
	b = binary.AppendUvarint(b, uint64(len(r.dict)))
	b = append(b, r.dict...)
	return appendSum(b)
}

func decodeRoot(b []byte) (*root, error) {
	body, err := checkSum(b)
	if err != nil {
		return nil, fmt.Errorf("%w: root: %w", ErrDamaged, err)
	}
	if body[0] > rootVersion {
		return nil, fmt.Errorf("%w: format %d, this program knows %d", ErrNewer, body[0], rootVersion)
	}
	r := fields.Reader{B: body[1:]}
	out := &root{nextID: r.Uvarint(), merged: r.Uvarint(), trimmed: r.Uvarint(), logBytes: int64(r.Uvarint())}
	for range r.Count(1) {
		out.lists = append(out.lists, r.Uvarint())
	}
	if body[0] > 1 { // version 1 did not count them
		out.removed = r.Uvarint()
	}
	for _, part := range [2]*[]byte{&out.index, &out.dict} {
		*part = slices.Clone(r.Bytes(r.Count(1)))
	}
	if r.End() != nil {
		return nil, fmt.Errorf("%w: root: %w", ErrDamaged, errBadRecord)
	}
	return out, nil
}

// Keys that a new root makes obsolete are written down before it is, in a list with a number, and deleted after. If
// the process ends in between, the next opening goes on from the list, if the root names it.
//
//	key    'o', number of the list (8 bytes), part (4 bytes)
//	value  space (1 byte), then for each key its length (1 byte) and the key
func obsoleteKey(list uint64, part uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64([]byte{'o'}, list), part)
}

const obsoletePart = 32 << 10 // keys in one value

// writeObsolete stores the lists of keys, by space.
func writeObsolete(db *kv.DB, list uint64, keys map[kv.Space][][]byte) error {
	b := db.Batch()
	part := uint32(0)
	for space, keys := range keys {
		for len(keys) > 0 {
			val := []byte{byte(space)}
			n := min(len(keys), obsoletePart)
			for _, k := range keys[:n] {
				val = append(append(val, byte(len(k))), k...)
			}
			keys = keys[n:]
			if err := b.Set(kv.SpaceTripleMeta, obsoleteKey(list, part), val); err != nil {
				return err
			}
			part++
		}
	}
	return b.Flush()
}

// sweep deletes the keys that the numbered lists name, and then all lists but the later ones: those of a large commit that
// readers do not see yet, or whose own sweep is still to come.
func sweep(db *kv.DB, numbers, later []uint64) error {
	snap := db.Snapshot()
	defer snap.Close()
	b := db.Batch()
	var lists [][]byte
	err := snap.Scan(kv.SpaceTripleMeta, []byte{'o'}, nil, func(key, val []byte) (bool, error) {
		if len(key) != 13 || len(val) == 0 {
			return false, fmt.Errorf("%w: list of obsolete keys %x", ErrDamaged, key)
		}
		number := binary.BigEndian.Uint64(key[1:])
		listed := slices.Contains(numbers, number)
		if !listed && slices.Contains(later, number) {
			return true, nil
		}
		lists = append(lists, append([]byte(nil), key...))
		if !listed {
			return true, nil // of a merge that did not come to its end
		}
		space, rest := kv.Space(val[0]), val[1:]
		for len(rest) > 0 {
			n := int(rest[0])
			if n >= len(rest) {
				return false, fmt.Errorf("%w: list of obsolete keys %x", ErrDamaged, key)
			}
			if err := b.Delete(space, rest[1:1+n]); err != nil {
				return false, err
			}
			rest = rest[1+n:]
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	for _, k := range lists {
		if err := b.Delete(kv.SpaceTripleMeta, k); err != nil {
			return err
		}
	}
	return b.Flush()
}

// sweepUnborn deletes blocks, pages and runs with numbers that no root has known: of merges that did not come to
// their end.
func sweepUnborn(db *kv.DB, nextID uint64) error {
	snap := db.Snapshot()
	defer snap.Close()
	b := db.Batch()
	for _, kind := range []struct {
		space  kv.Space
		letter byte
	}{{kv.SpaceTripleIndex, 'b'}, {kv.SpaceTripleIndex, 'p'}, {kv.SpaceDict, 'h'}, {kv.SpaceDict, 'r'}} {
		from := binary.BigEndian.AppendUint64([]byte{kind.letter}, nextID+1)
		err := snap.Scan(kind.space, []byte{kind.letter}, from, func(key, _ []byte) (bool, error) {
			return true, b.Delete(kind.space, key)
		})
		if err != nil {
			return err
		}
	}
	return b.Flush()
}
