// Package dict gives every term of a store a small number and turns numbers back into terms.
//
// Terms that carry their value in their id (term.Inline) are never stored. All others get consecutive numbers, the
// payload of their id, in the order in which commits bring them; a number is never given to another term.
package dict

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"odarchive/triplestore/term"
)

// ErrUnknownID is returned for an id that no term of the dictionary has.
var ErrUnknownID = errors.New("unknown term id")

// Dictionary is safe for concurrent use; adding is for one writer at a time.
type Dictionary struct {
	mu     sync.RWMutex // guards recent, keys
	recent map[term.Key]term.ID
	first  uint64     // number of keys[0]
	keys   []term.Key // terms not yet in blocks, by number
}

// New makes an empty dictionary.
func New() *Dictionary { return &Dictionary{recent: map[term.Key]term.ID{}, first: 1} }

// Lookup finds a term's id; ok is false where the term is neither inline nor in the dictionary.
func (d *Dictionary) Lookup(k term.Key) (id term.ID, ok bool, err error) {
	if id, ok := term.Inline(k); ok {
		return id, true, nil
	}
	d.mu.RLock()
	id, ok = d.recent[k]
	d.mu.RUnlock()
	return id, ok, nil
}

// Keys turns ids into terms, keys[i] for ids[i]. An id without a term is ErrUnknownID.
func (d *Dictionary) Keys(ids []term.ID, keys []term.Key) error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for i, id := range ids {
		k, ok := id.Key()
		if !ok && id.Kind() != term.KindNone {
			if n := id.Payload() - d.first; n < uint64(len(d.keys)) {
				k = d.keys[n]
				ok = tagOf(k) == id.Tag()
			}
		}
		if !ok {
			return fmt.Errorf("dict: %w: %#x", ErrUnknownID, uint64(id))
		}
		keys[i] = k
	}
	return nil
}

// Next is the number the next new term will get.
func (d *Dictionary) Next() uint64 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.first + uint64(len(d.keys))
}

// Append adds terms under consecutive numbers, the first of which must be Next.
func (d *Dictionary) Append(first uint64, keys []term.Key) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if next := d.first + uint64(len(d.keys)); first != next {
		return fmt.Errorf("dict: terms from number %d on where %d is next", first, next)
	}
	for i, k := range keys {
		d.recent[k] = term.Make(tagOf(k), first+uint64(i))
	}
	d.keys = append(d.keys, keys...)
	return nil
}

// Truncate forgets the terms from a number on: their commit has failed.
func (d *Dictionary) Truncate(next uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := next - d.first
	for _, k := range d.keys[n:] {
		delete(d.recent, k)
	}
	d.keys = slices.Clip(d.keys[:n])
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

// Adder collects the new terms of one commit. Until Settle their ids are provisional.
type Adder struct {
	d     *Dictionary
	first uint64
	ids   map[term.Key]term.ID
	keys  []term.Key
}

// Add begins a commit's additions.
func (d *Dictionary) Add() *Adder {
	return &Adder{d: d, first: d.Next(), ids: map[term.Key]term.ID{}}
}

// ID finds a term's id or gives it a provisional one.
func (a *Adder) ID(k term.Key) (term.ID, error) {
	id, ok, err := a.d.Lookup(k)
	if ok || err != nil {
		return id, err
	}
	if id, ok := a.ids[k]; ok {
		return id, nil
	}
	tag := tagOf(k)
	if tag == term.TagNone {
		return 0, fmt.Errorf("dict: %q is not a term", string(k))
	}
	id = term.Make(tag, a.first+uint64(len(a.keys)))
	a.ids[k] = id
	a.keys = append(a.keys, k)
	return id, nil
}

// Lookup finds a term's id, provisional ones included.
func (a *Adder) Lookup(k term.Key) (term.ID, bool, error) {
	if id, ok := a.ids[k]; ok {
		return id, true, nil
	}
	return a.d.Lookup(k)
}

// New reports whether the id is one of the provisional ones: no quad can hold it yet.
func (a *Adder) New(id term.ID) bool {
	t := id.Tag()
	return t >= term.TagIRI && t <= term.TagTriple && id.Payload() >= a.first
}

// Settle sorts the new terms, which makes them compress well, and returns them with a function from provisional to
// final ids. keys[i] gets the number first+i.
func (a *Adder) Settle() (first uint64, keys []term.Key, final func(term.ID) term.ID) {
	if len(a.keys) == 0 {
		return a.first, nil, func(id term.ID) term.ID { return id }
	}
	order := make([]int, len(a.keys))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return compareKeys(a.keys[i], a.keys[j]) })
	keys = make([]term.Key, len(order))
	rank := make([]uint64, len(order))
	for r, i := range order {
		keys[r] = a.keys[i]
		rank[i] = uint64(r)
	}
	return a.first, keys, func(id term.ID) term.ID {
		if !a.New(id) {
			return id
		}
		return term.Make(id.Tag(), a.first+rank[id.Payload()-a.first])
	}
}

func compareKeys(a, b term.Key) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
