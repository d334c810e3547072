package joins

import (
	"maps"
	"slices"
)

// replace takes the old version's columns and matches out and puts the new one's in. A set of values that the new one has
// too stays what and where it is.
func (u *Update) replace(r Replacement, columns []arrival) error {
	left, err := u.leave(r.Old)
	if err != nil {
		return err
	}
	if err := u.removeMatches(r.Old); err != nil {
		return err
	}
	if r.New != "" {
		numbers := []number{}
		for _, c := range columns {
			n, member, err := u.enter(c)
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

// leave takes the columns of a version out of their sets, and lists these.
func (u *Update) leave(version string) ([]number, error) {
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

// dropIfEmpty takes a set out that no column has any more.
func (u *Update) dropIfEmpty(n number) error {
	s, err := u.set(n)
	if err != nil || len(s.members) > 0 {
		return err
	}
	if s.filed > 0 {
		if err := u.unfile(n); err != nil {
			return err
		}
	}
	u.setPrint(s.print, 0)
	delete(u.sets, n)
	delete(u.fresh, n)
	u.gone = append(u.gone, n)
	return nil
}

func (u *Update) unfile(n number) error {
	sketch, err := u.sketch(n)
	if err != nil {
		return err
	}
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

// removeMatches takes the matches of a version out, and those of others that name it.
func (u *Update) removeMatches(version string) error {
	if version == "" {
		return nil
	}
	others, err := u.seenBy(version)
	if err != nil {
		return err
	}
	for _, other := range others {
		if err := u.look(other); err != nil {
			return err
		}
		u.after[other] = slices.DeleteFunc(u.after[other], func(m Match) bool { return m.Other.Version == version })
	}
	if err := u.look(version); err != nil {
		return err
	}
	u.after[version] = nil
	return nil
}

// enter finds out with which others a column matches and puts it among those that have the same values, if there are not
// enough of them.
func (u *Update) enter(c arrival) (n number, member bool, err error) {
	n, err = u.find(c.print)
	if err != nil {
		return 0, false, err
	}
	isNew := n == 0
	if isNew {
		if n, err = u.make(c); err != nil {
			return 0, false, err
		}
	}
	s, err := u.set(n)
	if err != nil {
		return 0, false, err
	}
	found := equals(c.Column, s)
	if !found.enough() {
		filed, err := u.count(n, c, isNew)
		if err != nil {
			return 0, false, err
		}
		if filed > 0 {
			s.filed, u.fresh[n] = filed, c.Sketch
		}
		if err = u.match(c, &found); err != nil {
			return 0, false, err
		}
	}
	return n, s.join(c.Column), u.noteAll(found.list)
}

// make makes a set of values that was not there.
func (u *Update) make(c arrival) (number, error) {
	n, err := u.take(len(c.filed))
	if err != nil {
		return 0, err
	}
	u.sets[n] = &set{print: c.print, reach: c.reach, changed: true}
	u.setPrint(c.print, n)
	return n, nil
}

// count counts with which others a set shares how many of the hashes that both are filed under, and files it if it is new:
// under how many, for where there are enough it is not.
func (u *Update) count(n number, c arrival, isNew bool) (filed int, err error) {
	u.hits.clear()
	for i, h := range c.filed {
		p, err := u.posting(h)
		if err != nil {
			return 0, err
		}
		for _, other := range p.list {
			if other != n {
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

// finish finds out which matches have changed.
func (u *Update) finish() {
	for _, version := range slices.Sorted(maps.Keys(u.before)) {
		if before, after := u.before[version], u.after[version]; !slices.Equal(before, after) {
			u.Changes = append(u.Changes, Change{version, before, after})
		}
	}
}
