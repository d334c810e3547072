package rdfio_test

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"testing"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
)

// isomorphic tells whether two datasets are the same but for the names of their blank nodes. Blank nodes are coloured
// by what is around them until the colours settle; where several still share a colour, each pairing is tried.
func isomorphic(a, b []term.Quad) bool {
	a, b = distinct(a), distinct(b)
	return len(a) == len(b) && match(a, b, map[term.Key]uint64{}, map[term.Key]uint64{})
}

func distinct(quads []term.Quad) []term.Quad {
	set := map[term.Quad]bool{}
	for _, q := range quads {
		set[q] = true
	}
	return slices.SortedFunc(maps.Keys(set), func(x, y term.Quad) int {
		return cmp.Compare(fmt.Sprint(x), fmt.Sprint(y))
	})
}

func match(a, b []term.Quad, fixedA, fixedB map[term.Key]uint64) bool {
	ca, cb := colours(a, fixedA), colours(b, fixedB)
	classesA, classesB := byColour(ca), byColour(cb)
	if len(classesA) != len(classesB) {
		return false
	}
	var pick uint64
	smallest := 0
	for c, members := range classesA {
		if len(classesB[c]) != len(members) {
			return false
		}
		if len(members) > 1 && (smallest == 0 || len(members) < smallest || len(members) == smallest && c < pick) {
			pick, smallest = c, len(members)
		}
	}
	if smallest == 0 {
		return slices.Equal(painted(a, ca), painted(b, cb))
	}
	mark := uint64(len(fixedA) + 1)
	x := classesA[pick][0]
	for _, y := range classesB[pick] {
		fa, fb := maps.Clone(fixedA), maps.Clone(fixedB)
		fa[x], fb[y] = mark, mark
		if match(a, b, fa, fb) {
			return true
		}
	}
	return false
}

func byColour(colour map[term.Key]uint64) map[uint64][]term.Key {
	classes := map[uint64][]term.Key{}
	for _, k := range slices.Sorted(maps.Keys(colour)) {
		classes[colour[k]] = append(classes[colour[k]], k)
	}
	return classes
}

func colours(quads []term.Quad, fixed map[term.Key]uint64) map[term.Key]uint64 {
	colour := map[term.Key]uint64{}
	for _, q := range quads {
		for _, k := range blanksOf(q) {
			colour[k] = fixed[k]
		}
	}
	for rounds := 0; ; rounds++ {
		next := make(map[term.Key]uint64, len(colour))
		for k, c := range colour {
			next[k] = hash("own", c)
		}
		for _, q := range quads {
			for _, k := range blanksOf(q) {
				next[k] += hash(show(q.S, colour, k), show(q.P, colour, k), show(q.O, colour, k), show(q.G, colour, k))
			}
		}
		if len(byColour(next)) == len(byColour(colour)) && rounds > 0 {
			return next
		}
		colour = next
	}
}

func blanksOf(q term.Quad) []term.Key {
	var keys []term.Key
	var add func(k term.Key)
	add = func(k term.Key) {
		if k.Kind() == term.KindBlank && !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
		if s, p, o, ok := k.Parts(); ok {
			add(s)
			add(p)
			add(o)
		}
	}
	for _, k := range []term.Key{q.S, q.P, q.O, q.G} {
		add(k)
	}
	return keys
}

func show(k term.Key, colour map[term.Key]uint64, self term.Key) string {
	if s, p, o, ok := k.Parts(); ok {
		return fmt.Sprintf("(%s %s %s)", show(s, colour, self), show(p, colour, self), show(o, colour, self))
	}
	switch {
	case k == self:
		return "self"
	case k.Kind() == term.KindBlank:
		return fmt.Sprint("_", colour[k])
	}
	return string(k)
}

func painted(quads []term.Quad, colour map[term.Key]uint64) []string {
	out := make([]string, len(quads))
	for i, q := range quads {
		out[i] = fmt.Sprintf("%q %q %q %q", show(q.S, colour, "-"), show(q.P, colour, "-"), show(q.O, colour, "-"), show(q.G, colour, "-"))
	}
	slices.Sort(out)
	return out
}

func hash(parts ...any) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		fmt.Fprintf(h, "%v\x00", p)
	}
	return h.Sum64()
}

func TestIsomorphismLooksThroughTheNamesOfBlankNodesOnly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`_:a <p:> _:b .`, `_:x <p:> _:y .`, true},
		{`_:a <p:> _:a .`, `_:x <p:> _:y .`, false},
		{`_:a <p:> _:b . _:b <p:> _:a .`, `_:y <p:> _:x . _:x <p:> _:y .`, true},
		{`_:a <p:> _:b . _:b <p:> _:c . _:c <p:> _:a . _:d <p:> _:e . _:e <p:> _:f . _:f <p:> _:d .`,
			`_:a <p:> _:b . _:b <p:> _:c . _:c <p:> _:d . _:d <p:> _:e . _:e <p:> _:f . _:f <p:> _:a .`, false},
		{`_:a <p:> "1" . _:b <p:> "2" .`, `_:b <p:> "1" . _:a <p:> "2" .`, true},
		{`<s:> <p:> "1" .`, `<s:> <p:> 1 .`, false},
	} {
		a, errA := parse(rdfio.Turtle(), c.a)
		b, errB := parse(rdfio.Turtle(), c.b)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if got := isomorphic(a, b); got != c.want {
			t.Errorf("isomorphic(%s, %s) = %v", c.a, c.b, got)
		}
	}
}
