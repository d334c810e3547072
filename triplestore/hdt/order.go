package hdt

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
)

// ranked stands for a string of a chunk in a sort.
type ranked struct {
	word uint64 // eight bytes of the string, those that are being compared
	n    uint32 // number of the string
}

// few is the number of strings up to which plain comparison is used.
const few = 8

// sortStrings sorts the strings of a chunk in byte order. at returns the string with a number. The strings must differ
// and must not contain NUL. It compares eight bytes at a time, and compares a common beginning of many strings only
// once.
func sortStrings(items []ranked, at func(n uint32) []byte) {
	sortFrom(items, 0, at)
}

// sortFrom sorts strings that have the first depth bytes in common.
func sortFrom(items []ranked, depth int, at func(n uint32) []byte) {
	for {
		if len(items) <= few {
			slices.SortFunc(items, func(a, b ranked) int { return bytes.Compare(at(a.n)[depth:], at(b.n)[depth:]) })
			return
		}
		same := true
		for i := range items {
			items[i].word = word(at(items[i].n), depth)
			same = same && items[i].word == items[0].word
		}
		if !same {
			break
		}
		depth += 8
	}
	slices.SortFunc(items, func(a, b ranked) int { return cmp.Compare(a.word, b.word) })
	for from := 0; from < len(items); {
		to := from + 1
		for to < len(items) && items[to].word == items[from].word {
			to++
		}
		if to > from+1 { // the strings are longer than this word: shorter ones, which end in zeros, would be equal
			sortFrom(items[from:to], depth+8, at)
		}
		from = to
	}
}

// word returns the eight bytes of a string after the first depth bytes, with zeros after the string's end.
func word(b []byte, depth int) uint64 {
	if depth+8 <= len(b) {
		return binary.BigEndian.Uint64(b[depth:])
	}
	var w [8]byte
	if depth < len(b) {
		copy(w[:], b[depth:])
	}
	return binary.BigEndian.Uint64(w[:])
}

// triple is a triple of numbers of terms.
type triple struct{ s, p, o uint32 }

func (a triple) compare(b triple) int {
	return cmp.Or(cmp.Compare(a.s, b.s), cmp.Compare(a.p, b.p), cmp.Compare(a.o, b.o))
}

// sortTriples returns the triples sorted; it may use t for that. It sorts by subject with a radix sort in two passes,
// and then the triples of each subject by comparison.
func sortTriples(t []triple) []triple {
	other := make([]triple, len(t))
	for shift := 0; shift < 32; shift += 16 {
		var at [1<<16 + 1]int
		for i := range t {
			at[t[i].s>>shift&0xFFFF+1]++
		}
		if slices.Contains(at[:], len(t)) { // all triples are in one bucket
			continue
		}
		for i := 1; i < len(at); i++ {
			at[i] += at[i-1]
		}
		for _, x := range t {
			b := x.s >> shift & 0xFFFF
			other[at[b]] = x
			at[b]++
		}
		t, other = other, t
	}
	for from := 0; from < len(t); {
		to := from + 1
		for to < len(t) && t[to].s == t[from].s {
			to++
		}
		if to > from+1 {
			slices.SortFunc(t[from:to], triple.compare)
		}
		from = to
	}
	return t
}
