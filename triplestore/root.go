package triplestore

import (
	"encoding/binary"
	"fmt"
	"slices"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/kv"
)

// root describes the blocks of a store. It is one record, so that replacing it commits a merge or a bulk load.
type root struct {
	nextID   uint64   // the last number assigned to a block, page, run or list
	merged   uint64   // position of the last commit that is in blocks
	trimmed  uint64   // the change log holds the commits after this position
	logBytes int64    // approximate size of the log up to merged
	removed  uint64   // quads removed since the last sweep whose removal is no longer in the log
	lists    []uint64 // lists of obsolete keys that may not be deleted yet
	index    []byte   // see index.OpenBase; empty if there are no blocks
	dict     []byte   // see dict.OpenView; empty if there are no terms
}

const rootVersion = 1

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
	return segments.AppendSeal(b, 0)
}

func decodeRoot(b []byte) (*root, error) {
	body, err := segments.OpenSeal(b, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: root: %w", ErrDamaged, err)
	}
	if body[0] != rootVersion {
		return nil, fmt.Errorf("%w: format %d, not %d", ErrNewer, body[0], rootVersion)
	}
	r := fields.Reader{B: body[1:]}
	out := &root{nextID: r.Uvarint(), merged: r.Uvarint(), trimmed: r.Uvarint(), logBytes: int64(r.Uvarint())}
	for range r.Count(1) {
		out.lists = append(out.lists, r.Uvarint())
	}
	out.removed = r.Uvarint()
	for _, part := range [2]*[]byte{&out.index, &out.dict} {
		*part = slices.Clone(r.Bytes(r.Count(1)))
	}
	if r.End() != nil {
		return nil, fmt.Errorf("%w: root: %w", ErrDamaged, errBadRecord)
	}
	return out, nil
}

// Keys that a new root makes obsolete are first written to a numbered list, and deleted once the root is committed. If
// the process ends in between, the next Open deletes the keys of the lists that the root names.
//
//	key    'o', number of the list (8 bytes), part (4 bytes)
//	value  space (1 byte), then for each key its length (1 byte) and the key
func obsoleteKey(list uint64, part uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64([]byte{'o'}, list), part)
}

const obsoletePart = 32 << 10 // maximum keys in one value

// writeObsolete writes a list of obsolete keys, by space.
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

// deleteListed deletes the keys in the numbered lists, and then all lists except those in later, which belong to roots
// that are not visible yet or not tidied up yet.
func deleteListed(db *kv.DB, numbers, later []uint64) error {
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
		lists = append(lists, slices.Clone(key))
		if !listed {
			return true, nil // of a merge that was not finished
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
	return db.DeleteKeys(kv.SpaceTripleMeta, lists)
}

// deleteUnfinished deletes the blocks, pages and runs of merges that were not finished: those with numbers above
// nextID.
func deleteUnfinished(db *kv.DB, nextID uint64) error {
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
