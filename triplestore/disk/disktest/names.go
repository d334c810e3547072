package disktest

import (
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"time"
)

// node is a file or a directory.
type node struct {
	mode     fs.FileMode
	modified time.Time
	contents                  // of a file
	names    map[string]*node // of a directory, as programs see it; nil for a file
	synced   map[string]*node // of a directory, as on disk
}

func newDir(perm fs.FileMode) *node {
	return &node{mode: fs.ModeDir | perm.Perm(), modified: time.Now(), names: map[string]*node{}, synced: map[string]*node{}}
}

func (n *node) isDir() bool { return n.names != nil }

// place is a name in a directory.
type place struct {
	dir  *node
	name string
}

// entry is the node that a place names; nil means that the name is removed.
type entry struct {
	place
	node *node
}

// naming is a change of one entry, or of both entries of a rename.
type naming []entry

// journal has the namings that are not durable yet, in order.
type journal []naming

// with returns which namings are durable if the wanted ones are: these, and earlier ones of the same places.
func (j journal) with(wanted func(i int) bool) []bool {
	chosen := make([]bool, len(j))
	places := map[place]bool{}
	for i, op := range slices.Backward(j) {
		chosen[i] = wanted(i) || slices.ContainsFunc(op, func(e entry) bool { return places[e.place] })
		for _, e := range op {
			places[e.place] = places[e.place] || chosen[i]
		}
	}
	return chosen
}

// sync makes the wanted namings durable and returns the others.
func (j journal) sync(wanted func(naming) bool) journal {
	chosen := j.with(func(i int) bool { return wanted(j[i]) })
	var rest journal
	for i, op := range j {
		if !chosen[i] {
			rest = append(rest, op)
			continue
		}
		for _, e := range op {
			set(e.dir.synced, e.name, e.node)
		}
	}
	return rest
}

// crashed returns the entries that survive a power failure: with ordered names the first ones, otherwise none, all, the
// first ones, or random ones.
func (j journal) crashed(r *rand.Rand, ordered bool) map[place]*node {
	first, chance := r.IntN(len(j)+1), r.IntN(4)
	if ordered {
		chance = 0
	}
	chosen := j.with(func(i int) bool {
		switch chance {
		case 0:
			return i < first
		case 1:
			return false
		case 2:
			return true
		default:
			return r.IntN(2) == 0
		}
	})
	left := map[place]*node{}
	for i, op := range j {
		for _, e := range op {
			if chosen[i] {
				left[e.place] = e.node
			}
		}
	}
	return left
}

// copyDurable copies a tree as it is on disk, with some additional entries. It visits names in order, so that a seed
// always has the same outcome.
func copyDurable(n *node, more map[place]*node, r *rand.Rand, copied map[*node]*node) *node {
	if c := copied[n]; c != nil {
		return c
	}
	c := &node{mode: n.mode, modified: n.modified}
	copied[n] = c
	if !n.isDir() {
		c.now = n.crashed(r)
		c.durable = slices.Clone(c.now)
		return c
	}
	names := maps.Clone(n.synced)
	for place, to := range more {
		if place.dir == n {
			set(names, place.name, to)
		}
	}
	c.names, c.synced = map[string]*node{}, map[string]*node{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		left := copyDurable(names[name], more, r, copied)
		c.names[name], c.synced[name] = left, left
	}
	return c
}

func set(names map[string]*node, name string, n *node) {
	if n == nil {
		delete(names, name)
	} else {
		names[name] = n
	}
}
