package joins

import (
	"cmp"
	"iter"
	"math"
	"slices"
)

// hit is what a column shares with another according to the postings.
type hit struct {
	shared int32 // hashes that both are filed under
	last   int32 // index of the greatest of them among the column's own
}

// maxContainment returns the greatest containment, either way, that a hit allows; reach is the column's.
func (h hit) maxContainment(other number, reach uint32) float64 {
	theirs := float64(other.minFiled()) * float64(reach) / math.MaxUint32
	return float64(h.shared) / min(float64(h.last+1), max(theirs, 1))
}

// hits counts what a column shares with others: a hash table with open addressing, whose memory is reused for the next
// column.
type hits struct {
	slots []slot
	used  []int32 // slots
}

type slot struct {
	number number // 0: free
	hit
}

func (t *hits) clear() {
	for _, i := range t.used {
		t.slots[i] = slot{}
	}
	t.used = t.used[:0]
}

func (t *hits) add(n number, at int32) {
	if 2*len(t.used) >= len(t.slots) {
		t.grow()
	}
	s := t.slot(n)
	s.number, s.shared, s.last = n, s.shared+1, at
}

// slot returns the slot of a number. If there is none, a free slot becomes used.
func (t *hits) slot(n number) *slot {
	mask := uint32(len(t.slots) - 1)
	for i := uint32(n) * 0x9e3779b1 >> 7 & mask; ; i = (i + 1) & mask {
		switch t.slots[i].number {
		case n:
			return &t.slots[i]
		case 0:
			t.used = append(t.used, int32(i))
			return &t.slots[i]
		}
	}
}

func (t *hits) grow() {
	former := t.slots
	t.slots, t.used = make([]slot, max(1024, 2*len(former))), t.used[:0]
	for _, s := range former {
		if s.number != 0 {
			*t.slot(s.number) = s
		}
	}
}

// candidate is a set that may match.
type candidate struct {
	number number
	share  float64 // estimated containment, the greater of both ways
	of     float64 // hashes that share is estimated from

	compared bool // Read has compared the sketches; then it is known how they overlap
	overlap
}

// most returns the greatest share that is likely: the estimated one and its standard error.
func (x candidate) most() float64 {
	share := min(x.share, 1)
	return share + math.Sqrt(share*(1-share)/max(x.of, 1))
}

func compareCandidates(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.number, b.number))
}

// bestCandidates returns the first n of a list, as compareCandidates orders them, in that order. It reorders the list,
// which is often many times as long.
func bestCandidates(list []candidate, n int) []candidate {
	const steps = 64
	step := func(x candidate) int { return int(max(0, min(x.share, 1)) * steps) }
	if len(list) > 2*n {
		var with [steps + 1]int
		for _, x := range list {
			with[step(x)]++
		}
		low := steps
		for sum := with[low]; sum < n; sum += with[low] {
			low--
		}
		list = slices.DeleteFunc(list, func(x candidate) bool { return step(x) < low })
	}
	slices.SortFunc(list, compareCandidates)
	return list[:min(len(list), n)]
}

// matchMembers matches a column with the members of the set that has its values.
func matchMembers(c Column, s *set) (found matches) {
	for _, other := range s.members {
		if informative(c, other) && !other.sameTable(c.Place) {
			found.add(Match{Column: c.Place, Name: c.Name, Other: other.Place, OtherName: other.Name, Containment: 1, Reverse: 1,
				Jaccard: 1}, weak(c, other))
		}
	}
	return found
}

// matches are the matches of one column.
type matches struct {
	list []Match
	tally
}

// tally is what the matches of a column say of further ones.
type tally struct {
	n    int
	weak int                // the number of weak ones
	best int                // the number that no other match could replace
	top  [perColumn]float64 // the highest scores, in descending order
}

// enough reports whether more matches would make no difference.
func (f *tally) enough() bool { return f.best >= perColumn }

// bar returns the score that another match needs to make a difference.
func (f *tally) bar() float64 {
	if f.n < perColumn {
		return 0
	}
	return f.top[perColumn-1] + margin
}

func (f *matches) add(m Match, weak bool) {
	if f.count(m.score(), weak) {
		f.list = append(f.list, m)
	}
}

// count counts a match with a score, and reports whether it may be kept.
func (f *tally) count(score float64, weak bool) bool {
	if weak {
		if f.weak == perWeak {
			return false
		}
		f.weak++
	}
	if f.n++; score >= 1-margin {
		f.best++
	}
	for i, s := range f.top {
		if score > s {
			copy(f.top[i+1:], f.top[i:])
			f.top[i] = score
			break
		}
	}
	return true
}

// match compares a column with those that share hashes with it, and adds the matches to found.
func (u *Update) match(c arrival, found *matches) error {
	close, err := u.candidates(c)
	if err != nil {
		return err
	}
	for _, x := range close {
		if found.enough() {
			break
		}
		if x.most() < found.bar() {
			continue
		}
		s, err := u.set(x.number)
		if err != nil {
			return err
		}
		if !x.compared {
			sketch, err := u.sketch(x.number)
			if err != nil {
				return err
			}
			x.overlap = overlapOf(c.Sketch, sketch)
		}
		for m, weak := range c.matchesIn(s, x.overlap) {
			found.add(m, weak)
		}
	}
	return nil
}

// matchesIn yields the matches of a column with those of a set whose sketch overlaps the column's so.
func (c arrival) matchesIn(s *set, o overlap) iter.Seq2[Match, bool] {
	return func(yield func(m Match, weak bool) bool) {
		for _, other := range s.members {
			if other.sameTable(c.Place) {
				continue
			}
			if m, ok := compare(c.Column, other, o); ok && !yield(m, weak(c.Column, other)) {
				return
			}
		}
	}
}

// candidates returns the sets that share enough hashes with a column, according to hits, and to Read.
func (u *Update) candidates(c arrival) ([]candidate, error) {
	list := u.rough[:0]
	for _, i := range u.hits.used {
		s := u.hits.slots[i]
		if s.maxContainment(s.number, c.reach) < Threshold/2 {
			continue
		}
		h, err := u.head(s.number)
		if err != nil {
			return nil, err
		}
		mine, found := slices.BinarySearch(c.filed, h.reach)
		if found {
			mine++
		}
		theirs := float64(h.filed)
		if h.reach > c.reach {
			theirs *= float64(c.reach) / float64(h.reach)
		}
		of := max(min(float64(mine), theirs), 1)
		if share := float64(s.shared) / of; share >= Threshold/2 {
			list = append(list, candidate{number: s.number, share: share, of: of})
		}
	}
	list = append(list, c.close...)
	u.rough = list
	return bestCandidates(list, maxClose), nil
}

// addMatches adds the best of a column's matches on both sides.
func (u *Update) addMatches(found []Match) error {
	slices.SortFunc(found, compareMatches)
	for _, m := range found[:min(len(found), perColumn)] {
		if err := u.addMatch(m); err != nil {
			return err
		}
		if err := u.addMatch(m.reversed()); err != nil {
			return err
		}
	}
	return nil
}

// addMatch adds a match to those of its column's version, if there is room or it is clearly better than a kept one. If
// ties replaced each other, every new table of a series would change many older ones.
func (u *Update) addMatch(m Match) error {
	version := m.Column.Version
	if err := u.readMatches(version); err != nil {
		return err
	}
	list := u.after[version]
	n, worst := 0, -1 // of the same column
	for i, x := range list {
		if x.Column == m.Column {
			n, worst = n+1, i
		}
	}
	if n < perColumn {
		worst = len(list) - 1
	}
	if n >= perColumn || len(list) >= perVersion {
		if m.score() < list[worst].score()+margin {
			return nil
		}
		list = slices.Delete(list, worst, worst+1)
	}
	at, _ := slices.BinarySearchFunc(list, m, compareMatches)
	u.after[version] = slices.Insert(list, at, m)
	return nil
}

// Without returns the matches that are not among others. If most are, in the same order, it takes a time in proportion
// to their number.
func Without(matches, others []Match) (rest []Match) {
	if len(others) == 0 {
		return matches
	}
	next := 0 // behind the one that was found last
	for _, m := range matches {
		if i := slices.Index(others[next:], m); i >= 0 {
			next += i + 1
		} else if !slices.Contains(others[:next], m) {
			rest = append(rest, m)
		}
	}
	return rest
}

func compareMatches(a, b Match) int {
	return cmp.Or(cmp.Compare(b.score(), a.score()), comparePlaces(a.Column, b.Column), comparePlaces(a.Other, b.Other))
}

func comparePlaces(a, b Place) int {
	return cmp.Or(cmp.Compare(a.Version, b.Version), cmp.Compare(a.Member, b.Member), cmp.Compare(a.Table, b.Table),
		cmp.Compare(a.Column, b.Column))
}
