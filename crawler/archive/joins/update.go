package joins

import (
	"fmt"
	"maps"
	"slices"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/triplestore/kv"
)

// Pass is several updates of the index, one after the other. It keeps what was read for one of them for the next, since
// similar tables meet the same postings, columns and matches, and since reading the postings is what costs most in a
// large index: Read reads those of many replacements at once. Nothing else may write to the index during a pass.
type Pass struct {
	postings
	sets         map[number]*set
	prints       map[fingerprint]number       // 0: no set has the fingerprint
	sketches     map[number]csvprofile.Sketch // some that were read
	heads        heads
	coming       map[string][]arrival // columns of versions that Read has seen and Prepare has not
	known        map[string][]Match   // matches of some versions
	listed       int                  // matches in known
	next, stored number               // number of the next set, and what the database has as that; 0: not read
	era          int                  // how often the postings were forgotten
	ahead        ahead
}

// NewPass returns a pass that knows nothing of the index yet.
func NewPass() *Pass {
	return &Pass{postings: newPostings(), sets: map[number]*set{}, prints: map[fingerprint]number{},
		sketches: map[number]csvprofile.Sketch{}, heads: heads{}, coming: map[string][]arrival{}, known: map[string][]Match{},
		ahead: newAhead()}
}

// Update is what replacements change in the index.
type Update struct {
	Changes []Change // versions whose matches change, in the order of their ids

	*Pass
	samples       Samples
	filed         []entry                      // changes of the postings
	seen          []entry                      // changes of tableSeen
	printed       map[fingerprint]bool         // fingerprints whose number changed
	headed        map[uint32]bool              // blocks of heads that changed
	fresh         map[number]csvprofile.Sketch // of new sets
	dropped       []number
	versions      map[string][]number // sets of versions; empty: the version has none or was removed
	before, after map[string][]Match  // of the versions that were read
	hits          hits                // of one column; its memory, and that of rough, is reused for the next
	rough         []candidate
}

// Bounds of what a pass keeps from one update for the next.
const (
	maxSketches = 4096
	maxSets     = 1 << 14
	maxPrints   = 1 << 16
	maxListed   = 1 << 15
)

func (p *Pass) update(txn *kv.Txn, samples Samples) *Update {
	p.tables = tables{txn}
	return &Update{
		Pass: p, samples: samples, printed: map[fingerprint]bool{}, headed: map[uint32]bool{}, fresh: map[number]csvprofile.Sketch{},
		versions: map[string][]number{}, before: map[string][]Match{}, after: map[string][]Match{},
	}
}

// Committed makes the pass ready for the next update, after a transaction that Write wrote to was committed.
func (u *Update) Committed() {
	p := u.Pass
	p.stored = p.next
	for n, s := range p.sets {
		if s.changed {
			p.ahead.forget(n)
		}
		if s.changed = false; len(s.members) > 0 {
			s.from = s.members[0]
		} else {
			delete(p.sets, n)
		}
	}
	for n, s := range u.fresh {
		p.keepSketch(n, s)
	}
	for _, c := range u.Changes {
		delete(p.ahead.matches, c.Version)
	}
	for version, list := range u.after {
		if _, known := p.ahead.matches[version]; !known {
			p.keepMatches(version, list)
		}
	}
	if len(p.sets) > maxSets {
		clear(p.sets)
	}
	if len(p.prints) > maxPrints {
		clear(p.prints)
	}
	if !p.settle() {
		p.postings = newPostings()
		p.era++
	}
}

func (p *Pass) keepSketch(n number, s csvprofile.Sketch) {
	if len(p.sketches) >= maxSketches {
		clear(p.sketches)
	}
	p.sketches[n] = s
}

func (p *Pass) keepMatches(version string, list []Match) {
	p.listed += len(list) - len(p.known[version])
	if p.known[version] = list; p.listed > maxListed {
		clear(p.known)
		p.listed = 0
	}
}

// Write writes the changes. It may be called again if the transaction of an earlier call was not committed. Committed
// must be called once it is, before the next Prepare of the pass; if it is not, the pass must be discarded.
func (u *Update) Write(txn *kv.Txn) error {
	t := tables{txn}
	if u.next != u.stored {
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
		if err := t.setNumbers(pkey(print),
			slices.DeleteFunc([]number{u.prints[print]}, func(n number) bool { return n == 0 })); err != nil {
			return err
		}
	}
	for block := range u.headed {
		if err := t.setHeads(block, u.heads[block]); err != nil {
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
	if err := u.readNext(); err != nil {
		return 0, err
	}
	if u.next >= maxNumbers {
		return 0, errExhausted
	}
	u.next++
	return numberOf(u.next-1, filed), nil
}

// readNext reads the number of the next set, once.
func (u *Update) readNext() error {
	if u.next != 0 {
		return nil
	}
	list, err := u.numbers([]byte{tableNext})
	if err != nil {
		return err
	}
	u.next = 1
	if len(list) == 1 {
		u.next = list[0]
	}
	u.stored = u.next
	return nil
}

func (u *Update) set(n number) (*set, error) {
	if s, ok := u.sets[n]; ok {
		return s, nil
	}
	s, err := u.setAhead(n)
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
	s, err := u.sample(of.from.Version, of.from.At)
	if err == nil {
		u.keepSketch(n, s)
	}
	return s, err
}

// sample returns the sketch of a column of a version that the index has.
func (u *Update) sample(version string, at int) (csvprofile.Sketch, error) {
	s, err := u.samples(version, at)
	if err == nil && len(s) == 0 {
		err = fmt.Errorf("%w: column %d of %s has no sketch", errDamaged, at, version)
	}
	return s, err
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
	list, known := u.known[version]
	if !known {
		var err error
		if list, err = u.matchesAhead(version); err != nil {
			return err
		}
	}
	u.before[version], u.after[version] = list, slices.Clone(list)
	return nil
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
