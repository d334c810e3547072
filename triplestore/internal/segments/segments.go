// Package segments stores the values of immutable, numbered segments, of which an index consists, and the list of the
// segments. A segment never changes; a new one takes the place of others in the moment in which the list is replaced.
// Values that no segment of the list has, such as those of an interrupted write, are deleted afterwards.
//
// Every value ends with a checksum, which is bound to its key. Values are read through a cache of a bounded size.
package segments

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// ErrNewer means that a newer version of the program wrote an index.
var ErrNewer = errors.New("the index was written by a newer version of the program")

// PartBytes is the size of the parts in which long values are stored.
const PartBytes = 256 << 10

const keyBytes = 17

var listKey = []byte("segments")

// Values are the values of one index. Its methods may be called concurrently, but only one goroutine may write.
type Values struct {
	db      *kv.DB
	space   kv.Space
	name    string // for errors
	letters string // the first bytes of keys
	keep    bool
	cache   *Cache[[]byte]

	mu     sync.RWMutex
	memory map[string][]byte // values, if they are not stored
}

// Open returns the values in a space whose keys begin with one of letters. If keep is not set, they stay in memory.
// name is the name of the index in errors, and cacheBytes the memory for values that were read.
func Open(db *kv.DB, space kv.Space, name, letters string, keep bool, cacheBytes int64) *Values {
	return &Values{db: db, space: space, name: name, letters: letters, keep: keep, cache: NewCache[[]byte](cacheBytes),
		memory: map[string][]byte{}}
}

// Key returns the key of a value: a letter, the number of the segment, and the number of the value within it.
func Key(letter byte, segment, n uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64([]byte{letter}, segment), n)
}

// seal is the number that the checksum of a value is bound to.
func seal(key []byte) uint64 {
	return uint64(key[0])<<56 ^ binary.BigEndian.Uint64(key[1:])<<24 ^ binary.BigEndian.Uint64(key[9:])
}

// Reader returns the value of a key. The bytes must not be changed.
type Reader func(key []byte) ([]byte, error)

// Reader returns a Reader of the values in a snapshot, which must be newer than the list of segments.
func (v *Values) Reader(snap *kv.Snapshot) Reader {
	return func(k []byte) ([]byte, error) {
		n := seal(k) * 0x9E3779B97F4A7C15
		if b, ok := v.cache.Get(n); ok {
			return b, nil
		}
		v.mu.RLock()
		b, ok := v.memory[string(k)]
		v.mu.RUnlock()
		if ok {
			return OpenSeal(b, seal(k))
		}
		b, ok, err := snap.Get(v.space, k)
		if err == nil && !ok {
			err = errors.New("missing")
		}
		if err == nil {
			b, err = OpenSeal(b, seal(k))
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %s: value %q: %w", ErrDamaged, v.name, k, err)
		}
		v.cache.Put(n, b, int64(len(b)+64))
		return b, nil
	}
}

// Parts reads a value that Writer.PutParts has stored in parts.
func Parts(r Reader, letter byte, segment, from, size uint64) ([]byte, error) {
	var b []byte
	for n := from; uint64(len(b)) < size; n++ {
		part, err := r(Key(letter, segment, n))
		if err != nil {
			return nil, err
		}
		if len(part) == 0 {
			break
		}
		b = append(b, part...)
	}
	if uint64(len(b)) != size {
		return nil, fmt.Errorf("%w: segment %d: the length of a value", ErrDamaged, segment)
	}
	return b, nil
}

// Writer writes values. They may be read after Flush.
type Writer struct {
	v      *Values
	batch  *kv.Batch
	memory map[string][]byte
}

// Write returns a new Writer.
func (v *Values) Write() *Writer {
	return &Writer{v: v, batch: v.db.Batch(), memory: map[string][]byte{}}
}

// Put stores a copy of val.
func (w *Writer) Put(key, val []byte) error {
	b := AppendSeal(slices.Clone(val), seal(key))
	if w.v.keep {
		return w.batch.Set(w.v.space, key, b)
	}
	w.memory[string(key)] = b
	return nil
}

// PutParts stores a long value in parts, the first of which has the number from. It returns the number after the last.
func (w *Writer) PutParts(letter byte, segment, from uint64, val []byte) (next uint64, err error) {
	for part := range slices.Chunk(val, PartBytes) {
		if err := w.Put(Key(letter, segment, from), part); err != nil {
			return 0, err
		}
		from++
	}
	return from, nil
}

// Flush makes the values durable and readable.
func (w *Writer) Flush() error {
	if w.v.keep {
		return w.batch.Flush()
	}
	w.v.mu.Lock()
	defer w.v.mu.Unlock()
	for k, b := range w.memory {
		w.v.memory[k] = b
	}
	return nil
}

// Forget drops the values in memory.
func (v *Values) Forget() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.memory = map[string][]byte{}
}

// SetList replaces the list of segments, whatever its format.
func (v *Values) SetList(ctx context.Context, list []byte) error {
	if !v.keep {
		return nil
	}
	return v.db.Update(ctx, func(kt *kv.Txn) error { return kt.Set(v.space, listKey, AppendSeal(slices.Clone(list), 0)) })
}

// List returns the stored list of segments. ok is false if there is none.
func (v *Values) List(snap *kv.Snapshot) (list []byte, ok bool, err error) {
	return List(snap, v.space, v.name)
}

// List returns the list of segments in a space.
func List(snap *kv.Snapshot, space kv.Space, name string) (list []byte, ok bool, err error) {
	raw, ok, err := snap.Get(space, listKey)
	if err != nil || !ok {
		return nil, false, err
	}
	list, err = OpenSeal(raw, 0)
	if err != nil {
		return nil, false, fmt.Errorf("%w: %s: list of segments: %w", ErrDamaged, name, err)
	}
	return list, true, nil
}

// Mark returns what the index in a space was marked with, of a list that begins with its version and the mark as text.
// ok is false if there is no list.
func Mark(db *kv.DB, space kv.Space, name string, version byte) (mark []byte, ok bool, err error) {
	snap := db.Snapshot()
	defer snap.Close()
	list, ok, err := List(snap, space, name)
	if err != nil || !ok {
		return nil, false, err
	}
	r := fields.Reader{B: list}
	if r.Byte() > version {
		return nil, false, ErrNewer
	}
	mark = slices.Clone(r.Bytes(r.Count(1)))
	return mark, !r.Bad(), nil
}

// DeleteOthers deletes the values of segments that are not in keep: merged ones, and those of an interrupted write.
func (v *Values) DeleteOthers(keep map[uint64]bool) error {
	v.mu.Lock()
	for k := range v.memory {
		if !keep[binary.BigEndian.Uint64([]byte(k)[1:])] {
			delete(v.memory, k)
		}
	}
	v.mu.Unlock()
	if !v.keep {
		return nil
	}
	snap := v.db.Snapshot()
	defer snap.Close()
	var old [][]byte
	for _, letter := range []byte(v.letters) {
		var from []byte
		for {
			found := false
			err := snap.Scan(v.space, []byte{letter}, from, func(k, _ []byte) (bool, error) {
				if len(k) != keyBytes {
					return true, nil
				}
				number := binary.BigEndian.Uint64(k[1:])
				if keep[number] { // continue behind it
					from, found = Key(letter, number+1, 0), true
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
	return v.db.DeleteKeys(v.space, old)
}
