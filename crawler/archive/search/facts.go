package search

import (
	"context"
	"slices"
	"strings"
	"sync"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/kv"
)

// facts are the rows of all resources in memory, by document number, so that facets are counted and results sorted
// without reading a record. They take some 130 bytes a resource, are loaded when first needed, and follow every commit.
type facts struct {
	loading sync.Mutex // held by the one reader that loads; taken before mu

	mu       sync.RWMutex // guards the rest
	state    loadState
	pending  []func(*facts) // what was committed since loading began
	rows     []fact         // without pointers
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

// fact is a row with numbers for its words.
type fact struct {
	changed  int64 // Unix milliseconds
	size     int64
	title    titleRef
	versions uint32
	host     uint32
	typ      uint32
	set      uint32 // of portals
	outcome  uint32
	known    bool
	delisted bool

	licence   uint32
	publisher uint32
	tableRows int64
}

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

func (f *facts) grow(doc uint32) {
	if n := int(doc) + 1; n > len(f.rows) {
		f.rows = append(f.rows, make([]fact, n-len(f.rows))...)
	}
	if f.licences.list == nil { // number 0 is none
		f.licences.number("")
		f.publishers.number("")
	}
}

func (f *facts) setTraits(doc uint32, r traits) {
	f.grow(doc)
	one := &f.rows[doc]
	one.licence, one.publisher, one.tableRows, one.delisted = f.licences.number(r.Licence), f.publishers.number(r.Publisher), r.Rows, !r.Delisted.IsZero()
}

// isGone reports whether no portal lists a file any more, or the last visit could not fetch it although there are versions.
func (f *facts) isGone(r *fact) bool {
	return r.delisted || r.versions > 0 && f.outcomes.list[r.outcome] == string(catalog.NoVersion)
}

func (f *facts) set(doc uint32, r row) {
	f.grow(doc)
	set := f.sets.number(strings.Join(r.Portals, "\n"))
	if int(set) == len(f.setOf) {
		var of []uint32
		for _, p := range r.Portals {
			of = append(of, f.portals.number(p))
		}
		f.setOf = append(f.setOf, of)
	}
	was := f.rows[doc]
	f.rows[doc] = fact{licence: was.licence, publisher: was.publisher, tableRows: was.tableRows, delisted: was.delisted, changed: unixMilli(r.Changed), size: r.Size, title: f.titles.replace(was.title, r.Title), versions: uint32(r.Versions), host: f.hosts.number(r.Host),
		typ: f.types.number(r.Type), set: set, outcome: f.outcomes.number(string(r.Outcome)), known: true}
	if f.titles.wasteful() {
		f.packTitles()
	}
}

// packTitles leaves out the titles that were replaced.
func (f *facts) packTitles() {
	var packed titles
	for i := range f.rows {
		f.rows[i].title = packed.add(f.titles.at(f.rows[i].title))
	}
	f.titles = packed
}

// reserve makes room for a number of rows, and some more.
func (f *facts) reserve(rows int) {
	if more := rows + rows/16; more > cap(f.rows) {
		f.rows = append(make([]fact, 0, more), f.rows...)
	}
}

// Load reads the facts into memory unless they are loaded; Search does so when it first runs. Rows that are committed
// meanwhile are applied after those that were read: applying a row twice does no harm.
func (x *Index) Load(ctx context.Context) error {
	f := &x.facts
	f.loading.Lock()
	defer f.loading.Unlock()
	f.mu.Lock()
	if f.state == factsLoaded {
		f.mu.Unlock()
		return nil
	}
	f.state = factsLoading
	f.mu.Unlock()

	fresh := &facts{}
	err := x.db.View(func(txn *kv.Txn) error {
		s, _, err := readState(txn)
		if err != nil {
			return err
		}
		fresh.reserve(int(s.Next))
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
	f.rows, f.titles, f.hosts, f.types, f.outcomes, f.portals, f.sets, f.setOf, f.licences, f.publishers = fresh.rows, fresh.titles, fresh.hosts, fresh.types, fresh.outcomes, fresh.portals, fresh.sets, fresh.setOf, fresh.licences, fresh.publishers
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
	for i := range f.rows {
		if f.rows[i].known {
			counts[f.rows[i].host]++
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
