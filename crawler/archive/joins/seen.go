package joins

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// A version that leaves the index must leave the matches of others. Most matches are mutual, so its own matches name
// the others. tableSeen lists the rest: those whose matches name it while its own had no room for them, or no longer
// have.

// named yields the versions that matches name, each once.
func named(list []Match) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i, m := range list {
			before := func(o Match) bool { return o.Other.Version == m.Other.Version }
			if !slices.ContainsFunc(list[:i], before) && !yield(m.Other.Version) {
				return
			}
		}
	}
}

func names(list []Match, version string) bool {
	return slices.ContainsFunc(list, func(m Match) bool { return m.Other.Version == version })
}

// collectChanges sets Changes to the versions whose matches changed, and seen to what this changes in tableSeen.
func (u *Update) collectChanges() error {
	for _, version := range slices.Sorted(maps.Keys(u.before)) {
		if before, after := u.before[version], u.after[version]; !slices.Equal(before, after) {
			u.Changes = append(u.Changes, Change{version, before, after})
		}
	}
	for _, c := range u.Changes {
		for _, list := range [][]Match{Without(c.Before, c.After), Without(c.After, c.Before)} {
			for other := range named(list) {
				if names(c.Before, other) == names(c.After, other) {
					continue
				}
				if err := u.readMatches(other); err != nil {
					return err
				}
				u.see(c.Version, other)
				u.see(other, c.Version)
			}
		}
	}
	return nil
}

// see notes whether tableSeen gains or loses that the matches of other name version.
func (u *Update) see(version, other string) {
	had := names(u.before[other], version) && !names(u.before[version], other)
	has := names(u.after[other], version) && !names(u.after[version], other)
	if had == has {
		return
	}
	e := entry{key: seenKey(version, other)}
	if has {
		e.val = []byte{}
	}
	u.seen = append(u.seen, e)
}

// seenBy returns the versions that tableSeen has for a version.
func (t tables) seenBy(version string) (list []string, err error) {
	prefix := vkey(tableSeen, version)
	err = t.txn.Scan(kv.SpaceJoins, prefix, nil, func(k, _ []byte) (bool, error) {
		other, err := idAt(k, len(prefix))
		list = append(list, other)
		return true, err
	})
	return list, err
}

// idAt reads the id of a version that is the rest of a key.
func idAt(k []byte, from int) (string, error) {
	r := reader{fields.Reader{B: k[from:]}}
	id := r.id()
	if r.End() != nil {
		return "", fmt.Errorf("%w: key %x", errDamaged, k)
	}
	return id, nil
}
