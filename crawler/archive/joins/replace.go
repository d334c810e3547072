package joins

import (
	"slices"

	"odarchive/crawler/inspect/csvprofile"
)

// replace removes the old version's columns and matches and adds the new one's. A set of values that both have stays as
// it is.
func (u *Update) replace(r Replacement, columns []arrival) error {
	left, err := u.removeColumns(r.Old)
	if err != nil {
		return err
	}
	if err := u.removeMatches(r.Old); err != nil {
		return err
	}
	if r.New != "" {
		numbers := []number{}
		for _, c := range columns {
			n, member, err := u.addColumn(c)
			if err != nil {
				return err
			}
			if member && !slices.Contains(numbers, n) {
				numbers = append(numbers, n)
			}
		}
		u.versions[r.New] = numbers
	}
	for _, n := range left {
		if err := u.dropIfEmpty(n); err != nil {
			return err
		}
	}
	return nil
}

// removeColumns removes the columns of a version from their sets, and returns the sets.
func (u *Update) removeColumns(version string) ([]number, error) {
	if version == "" {
		return nil, nil
	}
	numbers, err := u.setsOf(version)
	if err != nil {
		return nil, err
	}
	for _, n := range numbers {
		s, err := u.set(n)
		if err != nil {
			return nil, err
		}
		s.members = slices.DeleteFunc(s.members, func(c Column) bool { return c.Version == version })
		s.changed = true
	}
	u.versions[version] = nil
	return numbers, nil
}

// dropIfEmpty drops a set without columns.
func (u *Update) dropIfEmpty(n number) error {
	s, err := u.set(n)
	if err != nil || len(s.members) > 0 {
		return err
	}
	sketch, err := u.sketch(n)
	if err != nil {
		return err
	}
	if s.filed > 0 {
		if err := u.unfile(n, sketch); err != nil {
			return err
		}
	}
	if err := u.dropHead(n); err != nil {
		return err
	}
	u.setPrint(printOf(sketch), 0)
	delete(u.sets, n)
	delete(u.fresh, n)
	u.ahead.drop(n)
	u.dropped = append(u.dropped, n)
	return nil
}

// unfile removes a set from its postings.
func (u *Update) unfile(n number, sketch csvprofile.Sketch) error {
	filed, _ := filing(sketch)
	for _, h := range filed {
		p, err := u.posting(h)
		if err != nil {
			return err
		}
		p.remove(h, n)
	}
	return nil
}

// removeMatches removes the matches of a version, and those of others that name it.
func (u *Update) removeMatches(version string) error {
	if version == "" {
		return nil
	}
	others, err := u.seenBy(version)
	if err != nil {
		return err
	}
	for _, other := range others {
		if err := u.readMatches(other); err != nil {
			return err
		}
		u.after[other] = slices.DeleteFunc(u.after[other], func(m Match) bool { return m.Other.Version == version })
	}
	if err := u.readMatches(version); err != nil {
		return err
	}
	u.after[version] = nil
	return nil
}

// addColumn finds the matches of a column and adds the column to the set with its values. member reports whether the
// set had room for it.
func (u *Update) addColumn(c arrival) (n number, member bool, err error) {
	n, err = u.setWith(c.print)
	if err != nil {
		return 0, false, err
	}
	isNew := n == 0
	if isNew {
		if n, err = u.newSet(c); err != nil {
			return 0, false, err
		}
	}
	s, err := u.set(n)
	if err != nil {
		return 0, false, err
	}
	found := matchMembers(c.Column, s)
	if !found.enough() {
		if slices.ContainsFunc(c.close, u.ahead.dropped) { // others may have their places now
			c.judged, c.close = false, nil
		}
		filed, err := u.countHits(n, c, isNew)
		if err != nil {
			return 0, false, err
		}
		if isNew {
			s.filed = filed
			if err := u.setHead(n, s); err != nil {
				return 0, false, err
			}
		}
		if err = u.match(c, &found); err != nil {
			return 0, false, err
		}
	}
	return n, s.addMember(c.Column), u.addMatches(found.list)
}

// newSet adds an empty set with the values of a column.
func (u *Update) newSet(c arrival) (number, error) {
	n, err := u.allocate(len(c.filed))
	if err != nil {
		return 0, err
	}
	u.sets[n], u.fresh[n] = &set{reach: c.reach, changed: true}, c.Sketch
	u.setPrint(c.print, n)
	return n, nil
}

// postingOf returns the posting of the i-th hash that a column is filed under.
func (u *Update) postingOf(c arrival, i int) (*posting, error) {
	if c.posts != nil && c.posts[i] != nil {
		return c.posts[i], nil
	}
	p, err := u.posting(c.filed[i])
	if err == nil && c.posts != nil {
		c.posts[i] = p
	}
	return p, err
}

// countHits counts the hashes that a set and others are filed under, and files the set if it is new. It returns the
// number of hashes that it filed the set under: hashes with enough sets are skipped.
func (u *Update) countHits(n number, c arrival, isNew bool) (filed int, err error) {
	from := number(0) // sets before this one have been counted by Read
	if c.judged {
		from = u.ahead.next << 3
	}
	u.hits.clear()
	for i, h := range c.filed {
		p, err := u.postingOf(c, i)
		if err != nil {
			return 0, err
		}
		for k := len(p.list) - 1; k >= 0 && p.list[k] >= from; k-- {
			if other := p.list[k]; other != n {
				u.hits.add(other, int32(i))
			}
		}
		if isNew && len(p.list) < maxPosting {
			p.add(h, n)
			filed++
		}
	}
	return filed, nil
}
