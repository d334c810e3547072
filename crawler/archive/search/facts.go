package archive

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"odarchive/triplestore/kv"
)

// facts are the rows of all resources in memory, by document number, so that facets are counted and answers sorted
// without reading a record: some 110 bytes a resource. They are read when first asked for and follow every commit.
type facts struct {
	loading sync.Mutex // one reader loads, the others wait; taken before mu

	mu      sync.RWMutex // guards the rest
	state   factState
	pending []map[uint32]row // commits since loading began
	rows    []fact
	hosts   names
	types   names
	outs    names
	portals names
	sets    names      // of portals
	setOf   [][]uint32 // the portals of each set
}

type factState int

const (
	factsAbsent factState = iota
	factsLoading
	factsLoaded
)

// fact is a row with its words as numbers.
type fact struct {
	changed  int64 // Unix milliseconds
	size     int64
	title    string
	versions uint32
	host     uint32
	typ      uint32
	set      uint32 // of portals
	outcome  uint32
	known    bool
}

// names number words in the order they come.
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

// find gives the number of a word; false where no row has it.
func (n *names) find(s string) (uint32, bool) {
	i, ok := n.at[s]
	return i, ok
}

// hostsKnown tells how many hosts have a resource, as none is ever forgotten; 0 where the rows are not in memory.
func (f *facts) hostsKnown() int {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.state != factsLoaded {
		return 0
	}
	return len(f.hosts.list)
}

// changed takes the rows that a transaction wrote, at its commit.
func (f *facts) changed(rows map[uint32]row) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch f.state {
	case factsLoading:
		f.pending = append(f.pending, rows)
	case factsLoaded:
		f.put(rows)
	}
}

func (f *facts) put(rows map[uint32]row) {
	for doc, r := range rows {
		f.set(doc, r)
	}
}

func (f *facts) set(doc uint32, r row) {
	if n := int(doc) + 1; n > len(f.rows) {
		f.rows = append(f.rows, make([]fact, n-len(f.rows))...)
	}
	set := f.sets.number(strings.Join(r.Portals, "\n"))
	if int(set) == len(f.setOf) {
		var of []uint32
		for _, p := range r.Portals {
			of = append(of, f.portals.number(p))
		}
		f.setOf = append(f.setOf, of)
	}
	at := r.Changed.UnixMilli()
	if r.Changed.IsZero() {
		at = 0
	}
	f.rows[doc] = fact{changed: at, size: r.Size, title: strings.Clone(r.Title), versions: uint32(r.Versions), host: f.hosts.number(r.Host),
		typ: f.types.number(r.Type), set: set, outcome: f.outs.number(string(r.Outcome)), known: true}
}

// Load reads into memory what searching needs, unless that is done; Search does so itself when it is first asked. What is committed meanwhile is applied after what was read, in its order;
// a row that was in what was read already is only written once more.
func (a *Archive) Load(ctx context.Context) error {
	f := &a.facts
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
	err := a.db.View(func(txn *kv.Txn) error {
		return tables{txn: txn}.eachRow(ctx, func(doc uint32, r row) { fresh.set(doc, r) })
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.state, f.pending = factsAbsent, nil
		return err
	}
	f.rows, f.hosts, f.types, f.outs, f.portals, f.sets, f.setOf = fresh.rows, fresh.hosts, fresh.types, fresh.outs, fresh.portals, fresh.sets, fresh.setOf
	for _, rows := range f.pending {
		f.put(rows)
	}
	f.state, f.pending = factsLoaded, nil
	return nil
}

func (t tables) eachRow(ctx context.Context, f func(doc uint32, r row)) error {
	n := 0
	return t.txn.Scan(kv.SpaceSearch, []byte{'n'}, nil, func(k, raw []byte) (bool, error) {
		if n++; n%4096 == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		r, ok := decodeRow(raw)
		if !ok || len(k) != 5 {
			return false, fmt.Errorf("archive: search index: row %q is damaged", k)
		}
		f(docOf(k[1:]), r)
		return true, nil
	})
}

// largestHosts names the hosts with most resources.
func (a *Archive) largestHosts(ctx context.Context, limit int) ([]string, error) {
	if err := a.Load(ctx); err != nil {
		return nil, err
	}
	f := &a.facts
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
