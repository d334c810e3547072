package joins

import (
	"cmp"
	"math"
	"slices"
)

// hit is what a column is known to share with another before that is looked at.
type hit struct {
	shared int32 // hashes under which both are filed
	last   int32 // where among the column's own the greatest of them stands, from 0
}

// most is the greatest containment, either way, that a hit leaves possible; reach is the column's own.
func (h hit) most(other number, reach uint32) float64 {
	theirs := float64(other.least()) * float64(reach) / math.MaxUint32
	return float64(h.shared) / min(float64(h.last+1), max(theirs, 1))
}

// candidate is a column that may match.
type candidate struct {
	rough
	head
}

// rough is what is known of a candidate at first.
type rough struct {
	number number
	share  float64 // estimated containment, the greater of both ways
}

func byShare(a, b rough) int {
	return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.number, b.number))
}

// match compares a column with those it shares hashes with, and notes the best on both sides.
func (u *Update) match(c Column, hits map[number]hit) error {
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

func (u *Update) candidates(c Column, hits map[number]hit) ([]candidate, error) {
	filed, reach := filing(c.Sketch)
	list := u.rough[:0]
	for n, h := range hits {
		if most := h.most(n, reach); most >= Threshold/2 {
			list = append(list, rough{n, most})
		}
	}
	u.rough = list
	slices.SortFunc(list, byShare)
	list = list[:min(len(list), maxHeads)]
	var kept []candidate
	for _, x := range list {
		h, err := u.head(x.number)
		if err != nil {
			return nil, err
		}
		if h.sameTable(c.Place) {
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
		shared := float64(hits[x.number].shared)
		if share := max(shared/max(float64(mine), 1), shared/max(theirs, 1)); share >= Threshold/2 {
			kept = append(kept, candidate{rough{x.number, share}, h})
		}
	}
	slices.SortFunc(kept, func(a, b candidate) int { return byShare(a.rough, b.rough) })
	return kept[:min(len(kept), maxClose)], nil
}

// note adds a match to those of its column's version, if it is among the best.
func (u *Update) note(m Match) error {
	version := m.Column.Version
	if err := u.look(version); err != nil {
		return err
	}
	list := u.after[version]
	at, _ := slices.BinarySearchFunc(list, m, byWorth)
	if at >= perVersion {
		return nil
	}
	n := 0 // better ones of the same column
	for _, x := range list[:at] {
		if x.Column == m.Column {
			n++
		}
	}
	if n >= perColumn {
		return nil
	}
	list = slices.Insert(list, at, m)
	for i := at; i < len(list); i++ {
		if list[i].Column != m.Column {
			continue
		}
		if n++; n > perColumn {
			list = slices.Delete(list, i, i+1)
			break
		}
	}
	u.after[version] = list[:min(len(list), perVersion)]
	return nil
}

func byWorth(a, b Match) int {
	return cmp.Or(cmp.Compare(b.best(), a.best()), byPlace(a.Column, b.Column), byPlace(a.Other, b.Other))
}

func byPlace(a, b Place) int {
	return cmp.Or(cmp.Compare(a.Version, b.Version), cmp.Compare(a.Member, b.Member), cmp.Compare(a.Table, b.Table), cmp.Compare(a.Column, b.Column))
}
