// Package dict gives every term of a store a small number and turns numbers back into terms.
//
// Terms that carry their value in their id (term.Inline) are never stored. All others get consecutive numbers, the
// payload of their id, from 1 on; a number is never given to another term. The newest terms are only in memory
// (Recent; the commit log has them). A Builder writes them, or a bulk load's, into blocks of 64 consecutive numbers,
// sorted and front-coded within, and into a run of hashes that leads from terms to numbers. Runs of similar size are
// merged, so that there are only a few. Sweep and Hollow forget terms that nothing uses any more.
//
// A View is one unchanging state of the dictionary as far as blocks go; the Recent it refers to grows. An id that a
// snapshot holds can be looked up in the view of that snapshot.
package dict

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"odarchive/triplestore/internal/lru"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// Errors that callers tell apart.
var (
	ErrUnknownID = errors.New("unknown term id")
	ErrDamaged   = errors.New("damaged dictionary")
)

// Reader reads what is stored; a kv.Snapshot or kv.Txn.
type Reader interface {
	Read(space kv.Space, key []byte, f func(val []byte) error) (bool, error)
}

// Cache keeps decoded blocks of terms and blocks of runs, for all views of one dictionary.
type Cache struct{ lru *lru.Cache[cached] }

type cached struct {
	terms  *termBlock
	hashes *indexedBlock
}

// NewCache makes a cache of about so many bytes.
func NewCache(bytes int64) *Cache { return &Cache{lru.New[cached](bytes)} }

// View of a dictionary. Methods may be called concurrently.
type View struct {
	Cache   *Cache
	Recent  *Recent // terms from number flushed on
	flushed uint64  // terms before this number are in blocks
	runs    []*run  // largest first
	holes   uint64  // numbers before flushed that no run leads to
	swept   bool    // some of the holes still have their text
	hot     *hot    // found by commits lately; of a later view with the same terms maybe
}

// New is the view of an empty dictionary.
func New(c *Cache) *View { return &View{Cache: c, Recent: NewRecent(1), flushed: 1, hot: newHot()} }

// Flushed is the number of the first term that is not in blocks.
func (v *View) Flushed() uint64 { return v.flushed }

// Next is the number the next new term will get.
func (v *View) Next() uint64 { return v.Recent.Next() }

// Undo forgets the terms from a number on, which others will get: their commit has failed.
func (v *View) Undo(next uint64) {
	v.Recent.truncate(next)
	v.hot.clear() // commits behind it may have found them in blocks
}

// WithRecent is the view with other recent terms.
func (v *View) WithRecent(r *Recent) *View {
	w := *v
	w.Recent = r
	return &w
}

// Lookup finds a term's id; ok is false where the term is neither inline nor in the dictionary.
func (v *View) Lookup(r Reader, k term.Key) (id term.ID, ok bool, err error) {
	if id, ok := term.Inline(k); ok {
		return id, true, nil
	}
	if id, ok := v.Recent.lookup(k); ok {
		return id, true, nil
	}
	if len(v.runs) == 0 || k == "" {
		return 0, false, nil
	}
	return v.lookupBlocks(r, k, hashOf(k))
}

func (v *View) lookupBlocks(r Reader, k term.Key, hash uint64) (id term.ID, ok bool, err error) {
	for i := len(v.runs) - 1; i >= 0 && !ok && err == nil; i-- {
		err = v.runs[i].find(r, v.Cache, hash, func(number uint64) (bool, error) {
			key, err := v.stored(r, number)
			if err == nil && key == k {
				id, ok = term.Make(tagOf(k), number), true
			}
			return !ok, err
		})
	}
	return id, ok, err
}

// Keys turns ids into terms, keys[i] for ids[i]. An id without a term is ErrUnknownID.
func (v *View) Keys(r Reader, ids []term.ID, keys []term.Key) error {
	var block *termBlock
	var at uint64 // the block's number
	for i, id := range ids {
		if k, ok := id.Key(); ok {
			keys[i] = k
			continue
		}
		n := id.Payload()
		if id.Kind() == term.KindNone || n == 0 {
			return fmt.Errorf("dict: %w: %#x", ErrUnknownID, uint64(id))
		}
		if n >= v.flushed {
			k, ok := v.Recent.key(n)
			if !ok || tagOf(k) != id.Tag() {
				return fmt.Errorf("dict: %w: %#x", ErrUnknownID, uint64(id))
			}
			keys[i] = k
			continue
		}
		if block == nil || at != n/BlockTerms {
			var err error
			at = n / BlockTerms
			if block, err = v.block(r, at); err != nil {
				return err
			}
		}
		k, err := v.keyIn(r, block, n)
		if err != nil {
			return err
		}
		if tagOf(k) != id.Tag() {
			return fmt.Errorf("dict: %w: %#x", ErrUnknownID, uint64(id))
		}
		keys[i] = k
	}
	return nil
}

// stored gives the term of a number that is in blocks.
func (v *View) stored(r Reader, n uint64) (term.Key, error) {
	if n == 0 || n >= v.flushed {
		return "", fmt.Errorf("%w: number %d, of %d", ErrDamaged, n, v.flushed)
	}
	t, err := v.block(r, n/BlockTerms)
	if err != nil {
		return "", err
	}
	return v.keyIn(r, t, n)
}

func (v *View) keyIn(r Reader, t *termBlock, n uint64) (term.Key, error) {
	k, long := t.key(int(n % BlockTerms))
	if k != "" {
		return k, nil
	}
	if !long { // swept since; an older snapshot still has it
		ok, err := r.Read(kv.SpaceDict, termsKey(n/BlockTerms), func(b []byte) error {
			own, err := decodeBlock(b, n/BlockTerms, BlockTerms)
			if err == nil && int(n%BlockTerms) < own.len() {
				k, long = own.key(int(n % BlockTerms))
			}
			return err
		})
		if err != nil || !ok || !long {
			return k, err
		}
	}
	ok, err := r.Read(kv.SpaceDict, longKey(n), func(b []byte) error {
		body, err := checked(b, n)
		k = term.Key(body)
		return err
	})
	if err == nil && !ok {
		err = errors.New("it is missing")
	}
	if err != nil {
		return "", fmt.Errorf("%w: long term %d: %w", ErrDamaged, n, err)
	}
	return k, nil
}

func termsKey(block uint64) []byte { return binary.BigEndian.AppendUint64([]byte{'t'}, block) }
func longKey(number uint64) []byte { return binary.BigEndian.AppendUint64([]byte{'l'}, number) }

// block gives a block of terms, as many of them as are valid in this view.
func (v *View) block(r Reader, n uint64) (*termBlock, error) {
	limit := int(min(BlockTerms, v.flushed-n*BlockTerms))
	if c, ok := v.Cache.lru.Get(n); ok && c.terms.len() >= limit {
		return c.terms, nil
	}
	var t *termBlock
	ok, err := r.Read(kv.SpaceDict, termsKey(n), func(b []byte) error {
		var err error
		// What is stored behind limit may stem from a commit that never happened: it must not get into the cache.
		t, err = decodeBlock(b, n, limit)
		return err
	})
	switch {
	case err == nil && !ok:
		err = errors.New("it is missing")
	case err == nil && t.len() < limit:
		err = fmt.Errorf("it has %d terms instead of %d", t.len(), limit)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: block %d: %w", ErrDamaged, n, err)
	}
	v.Cache.lru.Put(n, cached{terms: t}, int64(len(t.text)+4*len(t.at)+128))
	return t, nil
}

func tagOf(k term.Key) term.Tag {
	switch k.Kind() {
	case term.KindIRI:
		return term.TagIRI
	case term.KindBlank:
		return term.TagBlank
	case term.KindLiteral:
		return term.TagLiteral
	case term.KindTriple:
		return term.TagTriple
	}
	return term.TagNone
}

// Recent holds the terms that are not in blocks yet. It is safe for concurrent use; adding is for one writer at a time.
type Recent struct {
	mu    sync.RWMutex // guards what follows
	ids   map[term.Key]term.ID
	first uint64 // number of keys[0]
	keys  []term.Key
	bytes int64 // of keys
}

// NewRecent is empty and goes on at a number.
func NewRecent(first uint64) *Recent { return &Recent{ids: map[term.Key]term.ID{}, first: first} }

func (d *Recent) lookup(k term.Key) (term.ID, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	id, ok := d.ids[k]
	return id, ok
}

func (d *Recent) key(n uint64) (term.Key, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if i := n - d.first; i < uint64(len(d.keys)) {
		return d.keys[i], true
	}
	return "", false
}

// Next is the number the next term will get.
func (d *Recent) Next() uint64 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.first + uint64(len(d.keys))
}

// Bytes is the length of all terms together.
func (d *Recent) Bytes() int64 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.bytes
}

// Range gives the terms with numbers in [from, to).
func (d *Recent) Range(from, to uint64) []term.Key {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return slices.Clone(d.keys[from-d.first : to-d.first])
}

// Append adds terms under consecutive numbers, the first of which must be Next.
func (d *Recent) Append(first uint64, keys []term.Key) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if next := d.first + uint64(len(d.keys)); first != next {
		return fmt.Errorf("dict: terms from number %d on where %d is next", first, next)
	}
	for i, k := range keys {
		d.ids[k] = term.Make(tagOf(k), first+uint64(i))
		d.bytes += int64(len(k))
	}
	d.keys = append(d.keys, keys...)
	return nil
}

func (d *Recent) truncate(next uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := next - d.first
	for _, k := range d.keys[n:] {
		delete(d.ids, k)
		d.bytes -= int64(len(k))
	}
	d.keys = slices.Clip(d.keys[:n])
}

// From is a copy without the terms before a number.
func (d *Recent) From(first uint64) *Recent {
	d.mu.RLock()
	defer d.mu.RUnlock()
	e := NewRecent(first)
	e.keys = slices.Clone(d.keys[first-d.first:])
	for i, k := range e.keys {
		e.ids[k] = term.Make(tagOf(k), first+uint64(i))
		e.bytes += int64(len(k))
	}
	return e
}
