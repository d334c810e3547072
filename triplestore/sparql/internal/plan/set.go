package plan

import "math/bits"

// Set is a set of slots. The zero Set is empty. A Set is a value: its methods return new sets.
type Set struct {
	low  uint64
	high []uint64 // slots from 64 on
}

// SetOf returns the set of slots.
func SetOf(slots ...int) Set { return setOf(slots...) }

func setOf(slots ...int) (s Set) {
	last := -1
	for _, x := range slots {
		last = max(last, x)
	}
	if last >= 64 {
		s.high = make([]uint64, last/64)
	}
	for _, x := range slots {
		if x < 64 {
			s.low |= 1 << x
		} else {
			s.high[x/64-1] |= 1 << (x % 64)
		}
	}
	return s
}

// With returns s with one more slot.
func (s Set) With(x int) Set {
	if x < 64 {
		s.low |= 1 << x
		return s
	}
	w := x/64 - 1
	high := make([]uint64, max(len(s.high), w+1))
	copy(high, s.high)
	high[w] |= 1 << (x % 64)
	s.high = high
	return s
}

// Has reports whether x is in s.
func (s Set) Has(x int) bool {
	if x < 64 {
		return x >= 0 && s.low>>x&1 != 0
	}
	w := x/64 - 1
	return w < len(s.high) && s.high[w]>>(x%64)&1 != 0
}

func (s Set) combine(t Set, f func(a, b uint64) uint64) Set {
	r := Set{low: f(s.low, t.low)}
	n := max(len(s.high), len(t.high))
	if n == 0 {
		return r
	}
	r.high = make([]uint64, n)
	for i := range r.high {
		var a, b uint64
		if i < len(s.high) {
			a = s.high[i]
		}
		if i < len(t.high) {
			b = t.high[i]
		}
		r.high[i] = f(a, b)
	}
	return r
}

func (s Set) Or(t Set) Set    { return s.combine(t, func(a, b uint64) uint64 { return a | b }) }
func (s Set) And(t Set) Set   { return s.combine(t, func(a, b uint64) uint64 { return a & b }) }
func (s Set) Minus(t Set) Set { return s.combine(t, func(a, b uint64) uint64 { return a &^ b }) }

// Empty reports whether s has no slot.
func (s Set) Empty() bool {
	for _, w := range s.high {
		if w != 0 {
			return false
		}
	}
	return s.low == 0
}

// In reports whether s is a subset of t.
func (s Set) In(t Set) bool {
	for i, w := range s.high {
		if i < len(t.high) {
			w &^= t.high[i]
		}
		if w != 0 {
			return false
		}
	}
	return s.low&^t.low == 0
}

// Overlaps reports whether s and t have a slot in common.
func (s Set) Overlaps(t Set) bool {
	for i := range min(len(s.high), len(t.high)) {
		if s.high[i]&t.high[i] != 0 {
			return true
		}
	}
	return s.low&t.low != 0
}

// List returns the slots in ascending order.
func (s Set) List() []int {
	var out []int
	for w := -1; w < len(s.high); w++ {
		word := s.low
		if w >= 0 {
			word = s.high[w]
		}
		for word != 0 {
			out = append(out, (w+1)*64+bits.TrailingZeros64(word))
			word &= word - 1
		}
	}
	return out
}
