package joins

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"odarchive/triplestore/kv"
)

// The sets that a column is compared with, their sketches and the matches of their columns are anywhere in the
// database, and one read of each decompresses a block. Many versions of a pass need the same ones. So Read finds the
// candidates of all columns among the sets that there are, compares the sketches, and keeps the sets and matches that
// the updates will need, each in the order of keys. An update adds the sets that are new since then. In a small index
// that is no gain, since postings are gone through twice.

// Bounds of what Read finds out; updates do the rest.
const (
	aheadFrom = 1 << 16  // sets of an index whose records are no longer in a cache, so that this is worth while
	maxJudged = 1 << 18  // candidates, of 56 bytes
	maxAhead  = 24 << 20 // bytes of sets and matches
)

// ahead is what Read found out for the updates of a pass.
type ahead struct {
	from    number            // how many sets make it worth while
	next    number            // without the class: sets from this one on are newer
	sets    map[number][]byte // some sets, as they are stored
	matches map[string][]byte // matches of some versions, as they are stored; empty: the version has none
	bytes   int
	gone    map[number]struct{} // sets that were dropped since
}

func newAhead() ahead {
	return ahead{from: aheadFrom, sets: map[number][]byte{}, matches: map[string][]byte{}, gone: map[number]struct{}{}}
}

// forget forgets a set, since it changed.
func (a *ahead) forget(n number) { delete(a.sets, n) }

// drop notes that a set is gone.
func (a *ahead) drop(n number) {
	a.forget(n)
	a.gone[n] = struct{}{}
}

// dropped reports whether the set of a candidate is gone.
func (a *ahead) dropped(x candidate) bool {
	_, gone := a.gone[x.number]
	return gone
}

// room reports whether so many bytes may be kept, and counts them then.
func (a *ahead) room(n int) bool {
	if a.bytes+n > maxAhead {
		return false
	}
	a.bytes += n
	return true
}

// setAhead reads a set, which Read may have read already.
func (u *Update) setAhead(n number) (*set, error) {
	if v, ok := u.ahead.sets[n]; ok {
		return decodeSet(n, v)
	}
	return u.tables.set(n)
}

// matchesAhead reads the matches of a version, which Read may have read already.
func (u *Update) matchesAhead(version string) ([]Match, error) {
	if v, ok := u.ahead.matches[version]; !ok {
		return u.tables.matches(version)
	} else if len(v) > 0 {
		return decodeMatches(version, v)
	}
	return nil, nil
}

// judgment is a column while Read compares it with its candidates.
type judgment struct {
	*arrival
	next    int // candidate
	matched []matched
	tally
}

// matched is a version that has a match of a column.
type matched struct {
	version string
	score   float64
}

// question is a candidate of a column whose sketches are to be compared.
type question struct {
	of, at int // judgment, candidate
	set    *set
}

// judge finds the candidates of columns and compares their sketches.
func (u *Update) judge(all [][]arrival) error {
	if err := u.readNext(); err != nil {
		return err
	}
	if u.ahead.next = u.next; u.next < u.ahead.from {
		return nil
	}
	var list []judgment
	for left := maxJudged; len(all) > 0; all = all[1:] {
		for i := range all[0] {
			j, err := u.candidatesAhead(&all[0][i], left > 0)
			if err != nil {
				return err
			}
			if left -= len(j.close); len(j.close) > 0 || len(j.matched) > 0 {
				list = append(list, j)
			}
		}
	}
	for {
		asked := ask(list)
		if len(asked) == 0 {
			return u.readMatchesAhead(list)
		}
		if err := u.answer(list, asked); err != nil {
			return err
		}
	}
}

// candidatesAhead finds the candidates of a column, unless its own set has enough matches or it may not.
func (u *Update) candidatesAhead(c *arrival, may bool) (j judgment, err error) {
	j.arrival = c
	n, err := u.setWith(c.print)
	if err != nil {
		return j, err
	}
	if n != 0 {
		own, err := u.set(n)
		if err != nil {
			return j, err
		}
		for _, m := range matchMembers(c.Column, own).list {
			j.match(m, false)
		}
	}
	if j.enough() || !may {
		return j, nil
	}
	if _, err = u.countHits(n, *c, false); err != nil {
		return j, err
	}
	close, err := u.candidates(*c)
	c.close, c.judged = slices.Clone(close), true
	return j, err
}

func (j *judgment) match(m Match, weak bool) {
	if j.count(m.score(), weak) {
		j.matched = append(j.matched, matched{m.Other.Version, m.score()})
	}
}

// ask returns the next candidates of all columns, a few of each, since how these match says whether it needs more.
func ask(list []judgment) (asked []question) {
	for i := range list {
		j := &list[i]
		for few := perColumn; few > 0 && j.next < len(j.close) && !j.enough(); j.next++ {
			if j.close[j.next].most() >= j.bar() {
				asked = append(asked, question{of: i, at: j.next})
				few--
			}
		}
	}
	return asked
}

// answer compares the sketches of columns and candidates.
func (u *Update) answer(list []judgment, asked []question) error {
	candidateOf := func(q question) *candidate { return &list[q.of].close[q.at] }
	order := make([]uint64, len(asked)) // the questions by the numbers of sets
	for i, q := range asked {
		order[i] = uint64(candidateOf(q).number)<<32 | uint64(i)
	}
	slices.Sort(order)
	var sets [][]uint64 // the questions of each set
	for i, of := range order {
		if i > 0 && of>>32 == order[i-1]>>32 {
			last := &sets[len(sets)-1]
			*last = order[i-len(*last) : i+1]
			asked[uint32(of)].set = asked[uint32(order[i-1])].set
			continue
		}
		s, err := u.keepSet(number(of >> 32))
		if err != nil {
			return err
		}
		asked[uint32(of)].set = s
		sets = append(sets, order[i:i+1])
	}
	fromOf := func(of []uint64) *Column { return &asked[uint32(of[0])].set.from }
	slices.SortFunc(sets, func(a, b []uint64) int {
		return cmp.Or(strings.Compare(fromOf(a).Version, fromOf(b).Version), cmp.Compare(fromOf(a).At, fromOf(b).At))
	})
	for _, of := range sets {
		sketch, err := u.sample(fromOf(of).Version, fromOf(of).At)
		if err != nil {
			return err
		}
		for _, i := range of {
			q := asked[uint32(i)]
			x := candidateOf(q)
			x.overlap, x.compared = overlapOf(list[q.of].Sketch, sketch), true
		}
	}
	for _, q := range asked {
		for m, weak := range list[q.of].matchesIn(q.set, candidateOf(q).overlap) {
			list[q.of].match(m, weak)
		}
	}
	return nil
}

// keepSet reads a set and keeps it as it is stored, which takes less memory.
func (u *Update) keepSet(n number) (s *set, err error) {
	if s, ok := u.sets[n]; ok {
		return s, nil
	}
	if v, ok := u.ahead.sets[n]; ok {
		return decodeSet(n, v)
	}
	err = u.readSet(n, func(v []byte) error {
		if u.ahead.room(len(v)) {
			u.ahead.sets[n] = slices.Clone(v)
		}
		s, err = decodeSet(n, v)
		return err
	})
	return s, err
}

// readMatchesAhead reads the matches of the versions whose columns will be matched.
func (u *Update) readMatchesAhead(list []judgment) error {
	var versions []string
	for i := range list {
		for _, m := range list[i].matched {
			if m.score >= list[i].top[perColumn-1] {
				versions = append(versions, m.version)
			}
		}
	}
	slices.Sort(versions)
	for _, version := range slices.Compact(versions) {
		var list []byte
		_, err := u.txn.Read(kv.SpaceJoins, vkey(tableMatches, version), func(v []byte) error {
			list = slices.Clone(v)
			return nil
		})
		if err != nil {
			return fmt.Errorf("matches of %s: %w", version, err)
		}
		if !u.ahead.room(len(version) + len(list)) {
			break
		}
		u.ahead.matches[version] = list
	}
	return nil
}
