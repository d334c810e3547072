package exec

import (
	"slices"
	"sync"

	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// terms maps ids to terms and back for one query. Computed terms get ids of TagLocal unless the store has them. Terms
// of the dictionary are looked up in batches, in id order, and the last ones are cached.
//
// A terms belongs to one goroutine. All of a query share their locals.
type terms struct {
	ds     term.Dataset
	budget *budget
	locals *locals
	local  []term.Key // the computed terms at the last look; existing ones never change
	cache  []cached   // direct-mapped, a power of two
	misses int
	want   []term.ID // scratch
	got    []term.Key
}

// locals are the computed terms of one query, and their ids.
type locals struct {
	mu   sync.RWMutex // guards what follows
	keys []term.Key
	ids  map[term.Key]term.ID
}

type cached struct {
	id  term.ID
	key term.Key
}

const (
	firstCache = 1 << 8
	maxCache   = 1 << 15
)

func newTerms(ds term.Dataset, constants []term.Key, b *budget) *terms {
	l := &locals{keys: slices.Clone(constants), ids: map[term.Key]term.ID{}}
	for i, k := range constants {
		l.ids[k] = plan.LocalID(i)
	}
	return &terms{ds: ds, budget: b, locals: l, cache: make([]cached, firstCache)}
}

// fork returns terms for another goroutine of the query.
func (t *terms) fork() *terms {
	return &terms{ds: t.ds, budget: t.budget, locals: t.locals, cache: make([]cached, firstCache)}
}

// computed returns the n-th computed term, counted from 1, or "" if there is none.
func (t *terms) computed(n uint64) term.Key {
	if n > uint64(len(t.local)) {
		t.locals.mu.RLock()
		t.local = t.locals.keys
		t.locals.mu.RUnlock()
	}
	if n < 1 || n > uint64(len(t.local)) {
		return ""
	}
	return t.local[n-1]
}

func (t *terms) slot(id term.ID) *cached {
	return &t.cache[uint64(id)*hashFactor>>32&uint64(len(t.cache)-1)]
}

// resolve sets keys to the terms of ids. The unbound id yields "".
func (t *terms) resolve(ids []term.ID, keys []term.Key) error { return t.fetch(ids, keys, true) }

// resolveStored is resolve for expressions, which read inline ids themselves: those yield "".
func (t *terms) resolveStored(ids []term.ID, keys []term.Key) error { return t.fetch(ids, keys, false) }

func (t *terms) fetch(ids []term.ID, keys []term.Key, inline bool) error {
	t.want = t.want[:0]
	for i, id := range ids {
		if !inline && id.Inline() {
			keys[i] = ""
			continue
		}
		switch id.Tag() {
		case term.TagNone:
			keys[i] = ""
			continue
		case term.TagLocal:
			keys[i] = t.computed(id.Payload())
			continue
		}
		if k, ok := id.Key(); ok {
			keys[i] = k
			continue
		}
		if c := t.slot(id); c.id == id {
			keys[i] = c.key
			continue
		}
		keys[i] = missing
		t.want = append(t.want, id)
	}
	if len(t.want) == 0 {
		return nil
	}
	slices.Sort(t.want)
	t.want = slices.Compact(t.want)
	if cap(t.got) < len(t.want) {
		t.got = make([]term.Key, len(t.want)+len(t.want)/2)
	}
	got := t.got[:len(t.want)]
	if err := t.ds.Keys(t.want, got); err != nil {
		return err
	}
	for i, id := range ids {
		if keys[i] == missing {
			at, _ := slices.BinarySearch(t.want, id)
			keys[i] = got[at]
		}
	}
	t.grow(len(t.want))
	for i, id := range t.want {
		*t.slot(id) = cached{id, got[i]}
	}
	return nil
}

// missing marks a key that is being looked up. No term has this key.
const missing = term.Key("\x00")

func (t *terms) grow(misses int) {
	t.misses += misses
	if t.misses > len(t.cache) && len(t.cache) < maxCache {
		old := t.cache
		t.cache = make([]cached, min(maxCache, len(old)*8))
		for _, c := range old {
			if c.id != 0 {
				*t.slot(c.id) = c
			}
		}
	}
}

// intern returns the id of a computed term.
func (t *terms) intern(k term.Key) (term.ID, error) {
	if k == "" {
		return 0, nil
	}
	if id, ok := term.Inline(k); ok {
		return id, nil
	}
	l := t.locals
	l.mu.RLock()
	id, ok := l.ids[k]
	l.mu.RUnlock()
	if ok {
		return id, nil
	}
	id, ok, err := t.ds.Lookup(k)
	if err != nil {
		return 0, err
	}
	if err := t.budget.reserve(len(k) + 80); err != nil {
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if id, ok := l.ids[k]; ok {
		return id, nil
	}
	if !ok {
		id = plan.LocalID(len(l.keys))
		l.keys = append(l.keys, k)
	}
	l.ids[k] = id
	return id, nil
}
