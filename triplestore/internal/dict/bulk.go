package dict

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"odarchive/triplestore/term"
)

// LookupAll looks up many distinct terms in what the builder has made findable. It sets ids[i] to the id of keys[i], or
// to 0 if the dictionary does not have it. It reads runs and blocks sequentially. From the second call on, it leaves
// out terms that are certainly new.
func (b *Builder) LookupAll(ctx context.Context, r Reader, keys []term.Key, ids []term.ID) error {
	b.lookups++
	if b.lookups > 1 && b.v.stale() {
		if err := b.v.refilter(ctx, r); err != nil {
			return err
		}
	}
	for len(keys) > maxPlaces {
		if err := b.lookupAll(ctx, r, keys[:maxPlaces], ids); err != nil {
			return err
		}
		keys, ids = keys[maxPlaces:], ids[maxPlaces:]
	}
	return b.lookupAll(ctx, r, keys, ids)
}

// probe is a number that the term with index i in a list may have.
type probe struct {
	number uint64
	i      int
}

// lookupAll is LookupAll of at most maxPlaces keys.
func (b *Builder) lookupAll(ctx context.Context, r Reader, keys []term.Key, ids []term.ID) error {
	v := b.v
	var wanted []place // the places of terms that may be in runs
	for i, k := range keys {
		ids[i] = 0
		if id, ok := term.Inline(k); ok {
			ids[i] = id
		} else if id, ok := v.Recent.lookup(k); ok {
			ids[i] = id
		} else if len(v.runs) > 0 {
			wanted = append(wanted, placeOf(hashOf(k), i))
		}
	}
	wanted = sortPlaces(wanted)
	if v.maybe != nil {
		wanted = slices.DeleteFunc(wanted, func(p place) bool { return !v.maybe.may(p.hash()) })
	}
	// What one part of a load shares with another, it shares with most, and each term costs a block of every run.
	wanted = slices.DeleteFunc(wanted, func(p place) (known bool) {
		ids[p.index()], known = b.known.get(keys[p.index()])
		return known
	})
	var found []probe
	for _, run := range v.runs {
		if run.entries > 64*uint64(len(wanted)) {
			for _, p := range wanted {
				err := run.find(r, v.Cache, p.hash(), func(n uint64) (bool, error) {
					found = append(found, probe{n, p.index()})
					return true, nil
				})
				if err != nil {
					return err
				}
			}
			continue
		}
		c := &cursor{rd: r, run: run}
		for w := 0; w < len(wanted); {
			if w%1024 == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			e, ok, err := c.peek()
			if err != nil {
				return err
			}
			switch {
			case !ok:
				w = len(wanted)
			case e.hash < wanted[w].hash():
				c.next()
			case e.hash > wanted[w].hash():
				w++
			default:
				for k := w; k < len(wanted) && wanted[k].hash() == e.hash; k++ {
					found = append(found, probe{e.number, wanted[k].index()})
				}
				c.next()
			}
		}
	}
	slices.SortFunc(found, func(a, b probe) int { return cmp.Compare(a.number, b.number) })
	for n, p := range found {
		if n%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		k, err := v.stored(r, p.number)
		if err != nil {
			return err
		}
		if k == keys[p.i] {
			ids[p.i] = term.Make(tagOf(k), p.number)
			b.known.put(term.Key(strings.Clone(string(k))), ids[p.i]) // k is part of a block
		}
	}
	return nil
}

// MakeID returns the id of a term with the given number.
func MakeID(k term.Key, number uint64) term.ID { return term.Make(tagOf(k), number) }
