package dict

import (
	"cmp"
	"fmt"
	"slices"

	"odarchive/triplestore/term"
)

// Adder collects the new terms of one commit. Their ids are provisional until Finish.
type Adder struct {
	v     *View
	r     Reader
	first uint64
	ids   map[term.Key]term.ID // ids of the commit's terms so far; many recur
	keys  []term.Key
}

// Add returns an Adder for a commit on top of the view.
func (v *View) Add(r Reader) *Adder {
	return &Adder{v: v, r: r, first: v.Next(), ids: map[term.Key]term.ID{}}
}

// ID returns the id of a term, or a provisional one if the term is new.
func (a *Adder) ID(k term.Key) (term.ID, error) {
	id, ok, err := a.Lookup(k)
	if ok || err != nil {
		return id, err
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

// Lookup returns the id of a term, which may be provisional.
func (a *Adder) Lookup(k term.Key) (term.ID, bool, error) {
	if id, ok := term.Inline(k); ok {
		return id, true, nil
	}
	if id, ok := a.ids[k]; ok {
		return id, true, nil
	}
	if id, ok := a.v.hot.get(k); ok && id.Payload() < a.v.flushed {
		a.ids[k] = id
		return id, true, nil
	}
	id, ok, err := a.v.Lookup(a.r, k)
	if ok {
		a.ids[k] = id
		if id.Payload() < a.v.flushed {
			a.v.hot.put(k, id)
		}
	}
	return id, ok, err
}

// New reports whether the id is provisional. No stored quad has such an id.
func (a *Adder) New(id term.ID) bool {
	t := id.Tag()
	return t >= term.TagIRI && t <= term.TagTriple && id.Payload() >= a.first
}

// Finish sorts the new terms, so that they compress well, and returns them with a function that maps provisional to
// final ids. keys[i] has the number first+i.
func (a *Adder) Finish() (first uint64, keys []term.Key, final func(term.ID) term.ID) {
	if len(a.keys) == 0 {
		return a.first, nil, func(id term.ID) term.ID { return id }
	}
	order := make([]int, len(a.keys))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(a.keys[i], a.keys[j]) })
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
