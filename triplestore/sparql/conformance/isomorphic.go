package conformance

import (
	"encoding/binary"
	"hash/fnv"
	"maps"
	"slices"

	"odarchive/triplestore/term"
)

// Isomorphic reports whether two sets of quads are the same except for the names of blank nodes. It colours blank nodes
// by their quads until the colours are stable. If several nodes share a colour, it tries each way to pair one of them.
func Isomorphic(a, b []term.Quad) bool {
	a, b = unique(a), unique(b)
	return len(a) == len(b) && pair(a, b, map[term.Key]uint64{}, map[term.Key]uint64{})
}

func unique(quads []term.Quad) []term.Quad {
	set := make(map[term.Quad]bool, len(quads))
	out := make([]term.Quad, 0, len(quads))
	for _, q := range quads {
		if !set[q] {
			set[q] = true
			out = append(out, q)
		}
	}
	return out
}

// pair reports whether the blank nodes of a and b, with colours ca and cb, can be paired.
func pair(a, b []term.Quad, ca, cb map[term.Key]uint64) bool {
	ca, cb = colour(a, ca), colour(b, cb)
	groups := classes(ca)
	others := classes(cb)
	if len(groups) != len(others) {
		return false
	}
	var alike uint64
	found := false
	for c, members := range groups {
		if len(others[c]) != len(members) {
			return false
		}
		if len(members) > 1 && (!found || len(members) < len(groups[alike])) {
			alike, found = c, true
		}
	}
	if !found {
		return slices.Equal(renamed(a, ca), renamed(b, cb))
	}
	first := slices.Min(groups[alike])
	for _, candidate := range others[alike] {
		na, nb := maps.Clone(ca), maps.Clone(cb)
		na[first], nb[candidate] = alike^0x9e3779b97f4a7c15, alike^0x9e3779b97f4a7c15
		if pair(a, b, na, nb) {
			return true
		}
	}
	return false
}

// colour refines the colours of blank nodes until no class splits.
func colour(quads []term.Quad, start map[term.Key]uint64) map[term.Key]uint64 {
	cur := maps.Clone(start)
	for n := -1; ; {
		next := map[term.Key]uint64{}
		for _, q := range quads {
			for pos, k := range [4]term.Key{q.S, q.P, q.O, q.G} {
				eachBlank(k, func(b term.Key) {
					next[b] += hash(q, b, pos, cur) // a sum does not depend on the order of quads
				})
			}
		}
		for b := range next {
			next[b] = mix(next[b], cur[b])
		}
		if len(classes(next)) == n {
			return next
		}
		n, cur = len(classes(next)), next
	}
}

// eachBlank calls f for each blank node in k.
func eachBlank(k term.Key, f func(term.Key)) {
	if s, p, o, ok := k.Parts(); ok {
		eachBlank(s, f)
		eachBlank(p, f)
		eachBlank(o, f)
		return
	}
	if k.Kind() == term.KindBlank {
		f(k)
	}
}

// hash hashes a quad, seen from its blank node self, by the colours of the others.
func hash(q term.Quad, self term.Key, pos int, cur map[term.Key]uint64) uint64 {
	h := fnv.New64a()
	h.Write([]byte{byte(pos)})
	var put func(k term.Key)
	put = func(k term.Key) {
		if s, p, o, ok := k.Parts(); ok {
			h.Write([]byte{3})
			put(s)
			put(p)
			put(o)
			return
		}
		switch {
		case k == self:
			h.Write([]byte{1})
		case k.Kind() == term.KindBlank:
			h.Write(binary.BigEndian.AppendUint64([]byte{2}, cur[k]))
		default:
			h.Write([]byte(k))
		}
		h.Write([]byte{0})
	}
	put(q.S)
	put(q.P)
	put(q.O)
	put(q.G)
	return h.Sum64()
}

func mix(a, b uint64) uint64 {
	a ^= b * 0xff51afd7ed558ccd
	a ^= a >> 33
	return a * 0xc4ceb9fe1a85ec53
}

// classes returns the blank nodes of each colour.
func classes(c map[term.Key]uint64) map[uint64][]term.Key {
	out := map[uint64][]term.Key{}
	for k, v := range c {
		out[v] = append(out[v], k)
	}
	return out
}

// renamed returns the quads as text, with colours for blank nodes, sorted.
func renamed(quads []term.Quad, c map[term.Key]uint64) []string {
	var name func(k term.Key) string
	name = func(k term.Key) string {
		if s, p, o, ok := k.Parts(); ok {
			return "(" + name(s) + name(p) + name(o) + ")"
		}
		if k.Kind() == term.KindBlank {
			return string(binary.BigEndian.AppendUint64([]byte("_"), c[k]))
		}
		return string(k)
	}
	out := make([]string, len(quads))
	for i, q := range quads {
		out[i] = name(q.S) + "\x00" + name(q.P) + "\x00" + name(q.O) + "\x00" + name(q.G)
	}
	slices.Sort(out)
	return out
}
