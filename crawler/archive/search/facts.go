package search

import (
	"context"
	"slices"
	"strings"
	"sync"

	"odarchive/triplestore/kv"
)

// facts are the rows of all resources in memory, by document number, so that facets are counted and results sorted
// without reading a record. They take some 70 bytes a resource, and 32 more once it is archived, are loaded when first
// needed, and follow every commit.
type facts struct {
	loading chan struct{} // has an element while one reader loads; taken before mu

	mu      sync.RWMutex // guards the rest
	state   loadState
	pending []func(*facts) // what was committed since loading began
	known
}

// known is what facts know when they are loaded.
type known struct {
	rows     pages[fact]
	figures  pages[figures]
	titles   titles
	hosts    names
	types    names
	outcomes names
	portals  names
	sets     names      // of portals
	setOf    [][]uint32 // the portals of each set

	licences   names
	publishers names
}

type loadState int

const (
	factsAbsent loadState = iota
	factsLoading
	factsLoaded
)

// names numbers words in the order in which they come.
type names struct {
	list []string
	at   map[string]uint32
}

func (n *names) number(s string) uint32 {
	if i, ok := n.at[s]; ok {
		return i
	}
	if n.at == nil {
		n.at = make(map[string]uint32)
	}
	i := uint32(len(n.list))
	s = strings.Clone(s)
	n.list = append(n.list, s)
	n.at[s] = i
	return i
}

// find returns the number of a word; ok is false if no row has it.
func (n *names) find(s string) (i uint32, ok bool) {
	i, ok = n.at[s]
	return i, ok
}

// Hosts returns the number of hosts that have a resource, 0 if the facts are not in memory. Hosts never lose all
// resources.
func (x *Index) Hosts() int {
	f := &x.facts
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.state != factsLoaded {
		return 0
	}
	return len(f.hosts.list)
}

// apply follows a commit that wrote rows and traits.
func (f *facts) apply(rows map[uint32]row, more map[uint32]traits) {
	put := func(f *facts) {
		for doc, r := range rows {
			f.set(doc, r)
		}
		for doc, r := range more {
			f.setTraits(doc, r)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch f.state {
	case factsLoading:
		f.pending = append(f.pending, put)
	case factsLoaded:
		put(f)
	}
}

// setNumber returns the number of a set of portals.
func (f *facts) setNumber(portals []string) uint32 {
	set := f.sets.number(strings.Join(portals, "\n"))
	if int(set) == len(f.setOf) {
		var of []uint32
		for _, p := range portals {
			of = append(of, f.portals.number(p))
		}
		f.setOf = append(f.setOf, of)
	}
	return set
}

// packTitles leaves out the titles that were replaced.
func (f *facts) packTitles() {
	var packed titles
	for doc := range uint32(f.rows.len()) {
		r := f.rows.at(doc)
		r.title = packed.add(f.titles.at(r.title))
	}
	f.titles = packed
}

// Load reads the facts into memory unless they are loaded; Search does so when it first runs. Rows that are committed
// meanwhile are applied after those that were read: applying a row twice does no harm. Who waits for another Load waits
// until ctx ends.
func (x *Index) Load(ctx context.Context) error {
	f := &x.facts
	select {
	case f.loading <- struct{}{}:
		defer func() { <-f.loading }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	f.mu.Lock()
	if f.state == factsLoaded {
		f.mu.Unlock()
		return nil
	}
	f.state = factsLoading
	f.mu.Unlock()

	fresh := &facts{}
	err := x.db.View(func(txn *kv.Txn) error {
		if err := eachRow(ctx, txn, fresh.set); err != nil {
			return err
		}
		return eachTraits(ctx, txn, fresh.setTraits)
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.state, f.pending = factsAbsent, nil
		return err
	}
	f.known = fresh.known
	for _, put := range f.pending {
		put(f)
	}
	f.state, f.pending = factsLoaded, nil
	return nil
}

// LargestHosts returns the hosts with the most resources, at most limit.
func (x *Index) LargestHosts(ctx context.Context, limit int) ([]string, error) {
	if err := x.Load(ctx); err != nil {
		return nil, err
	}
	f := &x.facts
	f.mu.RLock()
	defer f.mu.RUnlock()
	counts := make([]int, len(f.hosts.list))
	for doc := range uint32(f.rows.len()) {
		if r := f.rows.at(doc); r.known {
			counts[r.host]++
		}
	}
	order := make([]int, len(counts))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int {
		if counts[x] != counts[y] {
			return counts[y] - counts[x]
		}
		return strings.Compare(f.hosts.list[x], f.hosts.list[y])
	})
	var list []string
	for _, i := range order[:min(limit, len(order))] {
		list = append(list, f.hosts.list[i])
	}
	return list, nil
}
