// Package dict is the dictionary of a store: it assigns numbers to terms and translates both ways.
//
// Terms that carry their value in their id (term.Inline) are not stored. All others get consecutive numbers from 1,
// which are the payload of their id. A number is never reused for another term. The newest terms are only in memory
// (Recent); the commit log has them. A Builder writes them, or those of a bulk load, into blocks of 64 consecutive
// numbers, sorted and front-coded, and into a run of hashes that leads from terms to numbers. It merges runs of similar
// size, so that there are only a few. Sweep and Hollow remove unused terms.
//
// A View is one state of the dictionary. Its blocks do not change, but the Recent it refers to grows. The ids of a
// snapshot can be looked up in the view of that snapshot.
package dict

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

var errUnknownID = errors.New("unknown term id")

// Reader reads stored values. kv.Snapshot and kv.Txn implement it.
type Reader interface {
	Read(space kv.Space, key []byte, f func(val []byte) error) (bool, error)
}

// Cache holds decoded blocks of terms and of runs, for all views of one dictionary.
type Cache struct{ lru *segments.Cache[cached] }

type cached struct {
	terms  *termBlock
	hashes *indexedBlock
}

// NewCache returns a cache of about the given number of bytes.
func NewCache(bytes int64) *Cache { return &Cache{segments.NewCache[cached](bytes)} }

// View is a state of a dictionary. Its methods may be called concurrently.
type View struct {
	Cache   *Cache
	Recent  *Recent // terms with numbers from flushed on
	flushed uint64  // terms with lower numbers are in blocks
	runs    []*run  // largest first
	holes   uint64  // numbers below flushed that no run leads to
	swept   bool    // some of the holes still have text
	hot     *hot    // terms that commits looked up recently; shared with other views of the same terms
	maybe   *filter // of all hashes in runs, and perhaps of others; nil for a small dictionary. Shared with other views
}

// New returns a view of an empty dictionary.
func New(c *Cache) *View {
	return &View{Cache: c, Recent: NewRecent(1), flushed: 1, hot: newHot(hotTerms)}
}

// Flushed returns the lowest number whose term is not in blocks.
func (v *View) Flushed() uint64 { return v.flushed }

// Next returns the number of the next new term.
func (v *View) Next() uint64 { return v.Recent.Next() }

// Undo removes the terms from number next on, whose commit has failed. The numbers will be assigned again.
func (v *View) Undo(next uint64) {
	v.Recent.truncate(next)
	v.hot.clear() // later commits may have found these terms in blocks
}

// WithRecent returns a copy of the view with other recent terms.
func (v *View) WithRecent(r *Recent) *View {
	w := *v
	w.Recent = r
	return &w
}

// Lookup returns the id of a term. ok is false if the term is neither inline nor in the dictionary.
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
	hash := hashOf(k)
	if v.maybe != nil && !v.maybe.may(hash) {
		return 0, false, nil
	}
	return v.lookupBlocks(r, k, hash)
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

// Keys sets keys[i] to the term of ids[i]. It returns errUnknownID for an id without a term.
func (v *View) Keys(r Reader, ids []term.ID, keys []term.Key) error {
	var block *termBlock
	var at uint64 // number of block
	for i, id := range ids {
		if k, ok := id.Key(); ok {
			keys[i] = k
			continue
		}
		n := id.Payload()
		if id.Kind() == term.KindNone || n == 0 {
			return fmt.Errorf("dict: %w: %#x", errUnknownID, uint64(id))
		}
		if n >= v.flushed {
			k, ok := v.Recent.key(n)
			if !ok || tagOf(k) != id.Tag() {
				return fmt.Errorf("dict: %w: %#x", errUnknownID, uint64(id))
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
			return fmt.Errorf("dict: %w: %#x", errUnknownID, uint64(id))
		}
		keys[i] = k
	}
	return nil
}

// stored returns the term of a number that is in blocks.
func (v *View) stored(r Reader, n uint64) (term.Key, error) {
	if n == 0 || n >= v.flushed {
		return "", fmt.Errorf("%w: number %d, of %d", segments.ErrDamaged, n, v.flushed)
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
	if !long { // swept since; a snapshot from before still has it
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
		body, err := segments.OpenSeal(b, n)
		k = term.Key(body)
		return err
	})
	if err == nil && !ok {
		err = errors.New("missing")
	}
	if err != nil {
		return "", fmt.Errorf("%w: long term %d: %w", segments.ErrDamaged, n, err)
	}
	return k, nil
}

func termsKey(block uint64) []byte { return binary.BigEndian.AppendUint64([]byte{'t'}, block) }
func longKey(number uint64) []byte { return binary.BigEndian.AppendUint64([]byte{'l'}, number) }

// block returns a block of terms, at least those that are valid in this view.
func (v *View) block(r Reader, n uint64) (*termBlock, error) {
	limit := int(min(BlockTerms, v.flushed-n*BlockTerms))
	if c, ok := v.Cache.lru.Get(n); ok && c.terms.len() >= limit {
		return c.terms, nil
	}
	var t *termBlock
	ok, err := r.Read(kv.SpaceDict, termsKey(n), func(b []byte) error {
		var err error
		// Terms from limit on may belong to a commit that failed; they must not be cached.
		t, err = decodeBlock(b, n, limit)
		return err
	})
	switch {
	case err == nil && !ok:
		err = errors.New("missing")
	case err == nil && t.len() < limit:
		err = fmt.Errorf("%d terms instead of %d", t.len(), limit)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: block %d: %w", segments.ErrDamaged, n, err)
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

// Recent holds the terms that are not in blocks yet. It may be used concurrently, but by only one writer at a time.
type Recent struct {
	mu    sync.RWMutex // guards the fields below
	ids   map[term.Key]term.ID
	first uint64 // number of keys[0]
	keys  []term.Key
	bytes int64 // total length of keys
}

// NewRecent returns an empty Recent whose next term gets the number first.
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

// Next returns the number of the next new term.
func (d *Recent) Next() uint64 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.first + uint64(len(d.keys))
}

// Bytes returns the total length of the terms.
func (d *Recent) Bytes() int64 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.bytes
}

// Range returns the terms with numbers in [from, to).
func (d *Recent) Range(from, to uint64) []term.Key {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return slices.Clone(d.keys[from-d.first : to-d.first])
}

// Append adds terms with consecutive numbers from first on, which must be Next.
func (d *Recent) Append(first uint64, keys []term.Key) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if next := d.first + uint64(len(d.keys)); first != next {
		return fmt.Errorf("dict: appending terms from number %d, not %d", first, next)
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

// From returns a copy without the terms with numbers below first.
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
