package joins

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"odarchive/crawler/csvprofile"
	"odarchive/triplestore/kv"
)

// Bounds of one version's share in the index.
const (
	filedFew   = 128    // hashes that a column is filed under
	filedMore  = 256    // and one of more than a sketch's size of values
	filedMany  = 1024   // and one of more than largeFrom values, so that small columns are found in it
	largeFrom  = 4096   // distinct values
	maxFiled   = 16_384 // hashes that all columns of a version are filed under
	maxPosting = 128    // columns filed under one hash; a value that is everywhere tells nothing
	maxHeads   = 128    // columns that one is compared with roughly
	maxClose   = 48     // and closely
	perColumn  = 16     // matches that are kept of one column
	perVersion = 64     // and of a version
	maxName    = 100    // bytes of a column's name
)

// Change is the matches of one version before and after an update.
type Change struct {
	Version       string
	Before, After []Match
}

// Of lists the matches of a version, best first. None is no error.
func Of(txn *kv.Txn, version string) ([]Match, error) {
	list, err := tables{txn}.matches(version)
	if err != nil {
		return nil, fmt.Errorf("joins: of %s: %w", version, err)
	}
	return list, nil
}

// Update takes the columns of version old out of the index ("" for none) and puts those of version id in. It returns
// the versions whose matches changed, old and id among them.
func Update(txn *kv.Txn, old, id string, columns []Column) ([]Change, error) {
	u := &update{tables: tables{txn}, before: map[string][]Match{}, after: map[string][]Match{}, gone: map[number]bool{}}
	changes, err := u.run(old, id, fitting(columns))
	if err != nil {
		return nil, fmt.Errorf("joins: update %s: %w", id, err)
	}
	return changes, nil
}

// fitting leaves columns out that are too many for one version: keys stay first.
func fitting(columns []Column) []Column {
	left := maxFiled
	var all []Column
	for _, keys := range []bool{true, false} {
		for _, c := range columns {
			filed, _ := filing(c.Sketch)
			if c.Key != keys || len(filed) == 0 || len(filed) > left {
				continue
			}
			left -= len(filed)
			c.Name = cut(c.Name)
			all = append(all, c)
		}
	}
	return all
}

func cut(s string) string {
	if len(s) <= maxName {
		return s
	}
	end := maxName
	for end > 0 && s[end]&0xC0 == 0x80 {
		end--
	}
	return s[:end]
}

// filing is the hashes that a sketch is filed under, and up to which hash these are all its values.
func filing(s csvprofile.Sketch) ([]uint32, uint32) {
	few := filedFew
	switch n := estimate(s); {
	case n > largeFrom:
		few = filedMany
	case n >= csvprofile.SketchSize:
		few = filedMore
	}
	if len(s) > few {
		return s[:few], s[few-1]
	}
	return s, reach(s)
}

// estimate of the number of values behind a sketch.
func estimate(s csvprofile.Sketch) int {
	if len(s) < csvprofile.SketchSize {
		return len(s)
	}
	return int(float64(len(s)) / (float64(s[len(s)-1]) + 1) * math.MaxUint32)
}

// update is one Update under way.
type update struct {
	tables
	before, after map[string][]Match // of the versions that were looked at
	gone          map[number]bool    // columns of the old version
}

// touch is what happens to one posting.
type touch struct {
	remove bool
	add    []int // new columns
}

func (u *update) run(old, id string, columns []Column) ([]Change, error) {
	postings := map[uint32]*touch{}
	if err := u.remove(old, postings); err != nil {
		return nil, err
	}
	hits, err := u.file(columns, id, postings)
	if err != nil {
		return nil, err
	}
	for i, c := range columns {
		if err := u.match(c, hits[i]); err != nil {
			return nil, err
		}
	}
	return u.save()
}

// remove takes the old version's columns and matches out; their postings are left to file.
func (u *update) remove(old string, postings map[uint32]*touch) error {
	if old == "" {
		return nil
	}
	numbers, err := u.numbers(vkey(tableVersion, old))
	if err != nil {
		return err
	}
	for _, n := range numbers {
		s, err := u.sketch(n)
		if err != nil {
			return err
		}
		u.gone[n] = true
		filed, _ := filing(s)
		for _, h := range filed {
			postings[h] = &touch{remove: true}
		}
		if err := u.dropColumn(n); err != nil {
			return err
		}
	}
	if err := u.setNumbers(vkey(tableVersion, old), nil); err != nil {
		return err
	}
	mentions := func(m Match) bool { return m.Other.Version == old }
	others, err := u.seenBy(old)
	if err != nil {
		return err
	}
	for _, other := range others {
		if err := u.look(other); err != nil {
			return err
		}
		u.after[other] = slices.DeleteFunc(u.after[other], mentions)
		if err := u.txn.Delete(kv.SpaceJoins, seenKey(old, other)); err != nil {
			return err
		}
	}
	if err := u.look(old); err != nil {
		return err
	}
	for _, m := range u.after[old] {
		if err := u.txn.Delete(kv.SpaceJoins, seenKey(m.Other.Version, old)); err != nil {
			return err
		}
	}
	u.after[old] = nil
	return nil
}

// look reads the matches of a version for the first time.
func (u *update) look(version string) error {
	if _, ok := u.before[version]; ok {
		return nil
	}
	list, err := u.matches(version)
	u.before[version], u.after[version] = list, slices.Clone(list)
	return err
}

// file gives the columns numbers, files them under their hashes, and counts for each with which others it shares how many.
func (u *update) file(columns []Column, id string, postings map[uint32]*touch) ([]map[number]int, error) {
	hits := make([]map[number]int, len(columns))
	var first number
	if len(columns) > 0 {
		var err error
		if first, err = u.fresh(len(columns)); err != nil {
			return nil, err
		}
	}
	numbers := make([]number, len(columns))
	for i, c := range columns {
		hits[i], numbers[i] = map[number]int{}, first+number(i)
		filed, _ := filing(c.Sketch)
		for _, h := range filed {
			if postings[h] == nil {
				postings[h] = &touch{}
			}
			postings[h].add = append(postings[h].add, i)
		}
		if err := u.setColumn(numbers[i], c); err != nil {
			return nil, err
		}
	}
	for _, h := range slices.Sorted(maps.Keys(postings)) {
		if err := u.posting(h, postings[h], first, hits); err != nil {
			return nil, err
		}
	}
	if len(columns) == 0 {
		return nil, nil
	}
	return hits, u.setNumbers(vkey(tableVersion, id), numbers)
}

func (u *update) posting(h uint32, t *touch, first number, hits []map[number]int) error {
	key := nkey(tablePosting, h)
	list, err := u.numbers(key)
	if err != nil {
		return err
	}
	was := len(list)
	if t.remove {
		list = slices.DeleteFunc(list, func(n number) bool { return u.gone[n] })
	}
	same := was == len(list)
	for _, i := range t.add {
		for _, n := range list {
			hits[i][n]++ // columns of the same version that came before are in the list already
		}
		if len(list) < maxPosting {
			list, same = append(list, first+number(i)), false
		}
	}
	if same {
		return nil
	}
	return u.setNumbers(key, list)
}

// match compares a column with those it shares hashes with, and notes the best on both sides.
func (u *update) match(c Column, hits map[number]int) error {
	close, err := u.candidates(c, hits)
	if err != nil {
		return err
	}
	var found []Match
	for _, other := range close {
		if other.Sketch, err = u.sketch(other.number); err != nil {
			return err
		}
		if m, ok := Compare(c, other.Column); ok {
			found = append(found, m)
		}
	}
	slices.SortFunc(found, byWorth)
	for _, m := range found[:min(len(found), perColumn)] {
		if err := u.note(m); err != nil {
			return err
		}
		if err := u.note(m.turned()); err != nil {
			return err
		}
	}
	return nil
}

// candidate is a column that may match.
type candidate struct {
	head
	number number
	share  float64 // estimated containment, the greater of both ways
}

func (u *update) candidates(c Column, hits map[number]int) ([]candidate, error) {
	numbers := slices.SortedFunc(maps.Keys(hits), func(a, b number) int { return cmp.Or(cmp.Compare(hits[b], hits[a]), cmp.Compare(a, b)) })
	filed, reach := filing(c.Sketch)
	var list []candidate
	for _, n := range numbers[:min(len(numbers), maxHeads)] {
		h, ok, err := u.head(n)
		if err != nil {
			return nil, err
		}
		if !ok || h.sameTable(c.Place) {
			continue
		}
		mine, found := slices.BinarySearch(filed, h.reach)
		if found {
			mine++
		}
		theirs := float64(h.filed)
		if h.reach > reach {
			theirs *= float64(reach) / float64(h.reach)
		}
		shared := float64(hits[n])
		if share := max(shared/max(float64(mine), 1), shared/max(theirs, 1)); share >= Threshold/2 {
			list = append(list, candidate{h, n, share})
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(b.share, a.share) })
	return list[:min(len(list), maxClose)], nil
}

// note adds a match to those of its column's version, if it is among the best.
func (u *update) note(m Match) error {
	version := m.Column.Version
	if err := u.look(version); err != nil {
		return err
	}
	list := u.after[version]
	at, _ := slices.BinarySearchFunc(list, m, byWorth)
	list = slices.Insert(list, at, m)
	n := 0
	list = slices.DeleteFunc(list, func(x Match) bool {
		if x.Column != m.Column {
			return false
		}
		n++
		return n > perColumn
	})
	u.after[version] = list[:min(len(list), perVersion)]
	return nil
}

func byWorth(a, b Match) int {
	return cmp.Or(cmp.Compare(b.best(), a.best()), byPlace(a.Column, b.Column), byPlace(a.Other, b.Other))
}

func byPlace(a, b Place) int {
	return cmp.Or(cmp.Compare(a.Version, b.Version), cmp.Compare(a.Member, b.Member), cmp.Compare(a.Table, b.Table), cmp.Compare(a.Column, b.Column))
}

// save writes the matches that changed.
func (u *update) save() ([]Change, error) {
	var changes []Change
	for _, version := range slices.Sorted(maps.Keys(u.before)) {
		before, after := u.before[version], u.after[version]
		if slices.Equal(before, after) {
			continue
		}
		if err := u.setMatches(version, after); err != nil {
			return nil, err
		}
		for _, m := range after {
			if err := u.txn.Set(kv.SpaceJoins, seenKey(m.Other.Version, version), nil); err != nil {
				return nil, err
			}
		}
		changes = append(changes, Change{version, before, after})
	}
	return changes, nil
}
