package joins

import (
	"fmt"
	"maps"
	"slices"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/triplestore/kv"
)

// Update is what replacements change in the index. It caches what was read for one of them for the next, since similar
// tables meet the same postings, columns and matches.
type Update struct {
	Changes []Change // versions whose matches change, in the order of their ids

	postings
	samples       Samples
	filed         []entry // changes of the postings
	seen          []entry // changes of tableSeen
	sets          map[number]*set
	prints        map[fingerprint]number       // 0: no set has the fingerprint
	printed       map[fingerprint]bool         // fingerprints whose number changed
	sketches      map[number]csvprofile.Sketch // some that were read
	fresh         map[number]csvprofile.Sketch // of new sets
	dropped       []number
	versions      map[string][]number // sets of versions; empty: the version has none or was removed
	before, after map[string][]Match  // of the versions that were read
	next, first   number
	hits          hits // of one column; its memory, and that of rough, is reused for the next
	rough         []candidate
}

// maxSketches bounds the cached sketches.
const maxSketches = 2048

func newUpdate(txn *kv.Txn, samples Samples) *Update {
	return &Update{
		samples:  samples,
		postings: postings{tables: tables{txn}, lists: map[uint32]*posting{}, parts: map[uint32]*partition{}}, sets: map[number]*set{}, prints: map[fingerprint]number{}, printed: map[fingerprint]bool{}, sketches: map[number]csvprofile.Sketch{},
		fresh: map[number]csvprofile.Sketch{}, versions: map[string][]number{}, before: map[string][]Match{}, after: map[string][]Match{},
	}
}

// Write writes the changes. It may be called again if the transaction of an earlier call was not committed.
func (u *Update) Write(txn *kv.Txn) error {
	t := tables{txn}
	if u.next != u.first {
		if err := t.setNumbers([]byte{tableNext}, []number{u.next}); err != nil {
			return err
		}
	}
	for _, n := range u.dropped {
		if err := t.dropSet(n); err != nil {
			return err
		}
	}
	for n, s := range u.sets {
		if !s.changed {
			continue
		}
		if err := t.setSet(n, s); err != nil {
			return err
		}
	}
	for print := range u.printed {
		if err := t.setNumbers(pkey(print), slices.DeleteFunc([]number{u.prints[print]}, func(n number) bool { return n == 0 })); err != nil {
			return err
		}
	}
	for _, e := range u.filed {
		if err := t.put(e); err != nil {
			return err
		}
	}
	for version, numbers := range u.versions {
		if err := t.setNumbers(vkey(tableVersion, version), numbers); err != nil {
			return err
		}
	}
	for _, c := range u.Changes {
		if err := t.setMatches(c.Version, c.After); err != nil {
			return err
		}
	}
	for _, e := range u.seen {
		if err := t.put(e); err != nil {
			return err
		}
	}
	return nil
}

// allocate returns a number that no set ever had, for a set that is filed under so many hashes.
func (u *Update) allocate(filed int) (number, error) {
	if u.next == 0 {
		list, err := u.numbers([]byte{tableNext})
		if err != nil {
			return 0, err
		}
		u.first = 1
		if len(list) == 1 {
			u.first = list[0]
		}
		u.next = u.first
	}
	if u.next >= maxNumbers {
		return 0, errExhausted
	}
	u.next++
	return numberOf(u.next-1, filed), nil
}

func (u *Update) set(n number) (*set, error) {
	if s, ok := u.sets[n]; ok {
		return s, nil
	}
	s, err := u.tables.set(n)
	if err == nil {
		u.sets[n] = s
	}
	return s, err
}

// setWith returns the set whose sketch has a fingerprint, 0 if there is none.
func (u *Update) setWith(print fingerprint) (number, error) {
	if n, known := u.prints[print]; known {
		return n, nil
	}
	list, err := u.numbers(pkey(print))
	if err != nil {
		return 0, err
	}
	n := append(list, 0)[0]
	u.prints[print] = n
	return n, nil
}

func (u *Update) setPrint(print fingerprint, n number) { u.prints[print], u.printed[print] = n, true }

func (u *Update) sketch(n number) (csvprofile.Sketch, error) {
	if s, ok := u.fresh[n]; ok {
		return s, nil
	}
	if s, ok := u.sketches[n]; ok {
		return s, nil
	}
	of, err := u.set(n)
	if err != nil {
		return nil, err
	}
	s, err := u.samples(of.from.Version, of.from.At)
	if err == nil && len(s) == 0 {
		err = fmt.Errorf("%w: column %d of %s has no sketch", errDamaged, of.from.At, of.from.Version)
	}
	if err != nil {
		return nil, err
	}
	if len(u.sketches) == maxSketches {
		clear(u.sketches)
	}
	u.sketches[n] = s
	return s, nil
}

// setsOf returns the sets of a version after the replacements so far.
func (u *Update) setsOf(version string) ([]number, error) {
	if numbers, known := u.versions[version]; known {
		return numbers, nil
	}
	return u.numbers(vkey(tableVersion, version))
}

// readMatches reads the matches of a version, once.
func (u *Update) readMatches(version string) error {
	if _, ok := u.before[version]; ok {
		return nil
	}
	list, err := u.matches(version)
	u.before[version], u.after[version] = list, slices.Clone(list)
	return err
}

// seenBy returns the versions whose matches name a version after the replacements so far, and possibly some more.
func (u *Update) seenBy(version string) ([]string, error) {
	list, err := u.tables.seenBy(version)
	if err != nil {
		return nil, err
	}
	if err := u.readMatches(version); err != nil {
		return nil, err
	}
	for other := range named(u.before[version]) {
		if !slices.Contains(list, other) {
			list = append(list, other)
		}
	}
	for _, other := range slices.Sorted(maps.Keys(u.after)) {
		if slices.ContainsFunc(u.after[other], func(m Match) bool { return m.Other.Version == version }) && !slices.Contains(list, other) {
			list = append(list, other)
		}
	}
	return list, nil
}

// numberOf returns the number of the n-th set, which is filed under so many hashes: the lowest three bits encode about
// how many.
func numberOf(n number, filed int) number {
	class := 0
	for lower := 8; class < 7 && filed >= lower; lower *= 2 {
		class++
	}
	return n<<3 | number(class)
}

// minFiled returns the minimum number of hashes that a set with this number is filed under.
func (n number) minFiled() int {
	if n&7 == 0 {
		return 1
	}
	return 4 << (n & 7)
}
