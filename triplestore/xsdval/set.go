package xsdval

import (
	"cmp"
	"slices"
	"sort"
)

// Set finds values by the operator =. It is safe for concurrent use.
//
// Values of one sort are kept in order, for binary search. Equality is not transitive across promotion (an xsd:float
// may equal two different integers), but promotion preserves the order: the values that equal a number are adjacent
// among the exact numbers, among the floats and among the doubles.
type Set struct{ sorts map[sorting][]Value }

// sorting identifies values with a common order: exact numbers, floats, doubles, durations, booleans, and each kind of
// times with and without a zone.
type sorting struct {
	kind  Kind
	zoned bool
}

func sortingOf(v Value) sorting {
	switch {
	case v.Kind == Integer:
		return sorting{kind: Decimal}
	case v.Kind.IsDuration():
		return sorting{kind: Duration}
	}
	return sorting{v.Kind, v.Kind.IsTemporal() && v.tz != noTZ}
}

// NewSet returns a set of values.
func NewSet(values []Value) *Set {
	s := &Set{sorts: map[sorting][]Value{}}
	for _, v := range values {
		if eq, ok := Equal(v, v); eq && ok { // not NaN
			s.sorts[sortingOf(v)] = append(s.sorts[sortingOf(v)], v)
		}
	}
	for k, list := range s.sorts {
		slices.SortFunc(list, order)
		s.sorts[k] = list
	}
	return s
}

// order compares two values of one sorting.
func order(a, b Value) int {
	if a.Kind.IsDuration() {
		return cmp.Or(cmp.Compare(a.months, b.months), cmp.Compare(a.i, b.i), cmp.Compare(a.nanos, b.nanos))
	}
	c, _ := Compare(a, b)
	return c
}

// Has reports whether a value of the set equals v. ok is false if none is known to, but one may: a time with a zone may
// equal one without.
func (s *Set) Has(v Value) (has, ok bool) {
	own := sortingOf(v)
	sorts := []sorting{own}
	switch {
	case v.Kind.Numeric():
		sorts = []sorting{{kind: Decimal}, {kind: Float}, {kind: Double}}
	case v.Kind.IsTemporal():
		sorts = []sorting{own, {v.Kind, !own.zoned}}
	}
	ok = true
	for _, k := range sorts {
		list := s.sorts[k]
		i := sort.Search(len(list), func(i int) bool {
			if k == own {
				return order(list[i], v) >= 0
			}
			c, known := Compare(list[i], v)
			return !known || c >= 0
		})
		if i == len(list) {
			continue
		}
		eq, known := Equal(list[i], v)
		if eq && known {
			return true, true
		}
		ok = ok && known
	}
	return false, ok
}
