package frontier

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"odarchive/triplestore/kv"
)

// window is the beginning of the index of ready groups, in memory: a lease takes the next group from here, and the index is
// read a thousand groups at a time. Every commit that writes a group is followed.
type window struct {
	known   []place           // all groups whose place is before end, in order
	end     place             // where the rest of the index begins
	records map[string]record // of the known groups and of those that are leased
	moves   []move            // those since a read of the index began; nil where none is under way
	size    int               // how many groups are read at a time; twice as many are kept
}

// place of a group in the index of ready groups.
type place struct {
	at    int64
	group string
}

func (p place) compare(o place) int {
	return cmp.Or(cmp.Compare(p.at, o.at), strings.Compare(p.group, o.group))
}

// record of a group as it was last committed, and at which time in the index.
type record struct {
	at    int64
	bytes []byte
}

// move of a group from one place to another, or to the one where it is; a new one was nowhere: at maxTime.
type move struct {
	from, to place
	bytes    []byte // its record
}

func newWindow() window {
	return window{end: place{at: minTime}, size: 1024, records: map[string]record{}}
}

func (w *window) apply(m move, leased bool) {
	if i, found := slices.BinarySearchFunc(w.known, m.from, place.compare); found && m.from != m.to {
		w.known = slices.Delete(w.known, i, i+1)
	}
	inside := m.to.compare(w.end) < 0
	if i, found := slices.BinarySearchFunc(w.known, m.to, place.compare); !found && inside {
		w.known = slices.Insert(w.known, i, m.to)
	}
	if w.records[m.to.group] = (record{m.to.at, m.bytes}); !inside && !leased {
		delete(w.records, m.to.group)
	}
	if w.moves != nil {
		w.moves = append(w.moves, m)
	}
}

// remove forgets a group that is gone, and where it stood.
func (w *window) remove(group string, places []int64) {
	for _, at := range places {
		p := place{at, group}
		if i, found := slices.BinarySearchFunc(w.known, p, place.compare); found {
			w.known = slices.Delete(w.known, i, i+1)
		}
		if w.moves != nil { // to where it is not kept
			w.moves = append(w.moves, move{from: p, to: place{maxTime, group}})
		}
	}
	delete(w.records, group)
}

// first is where to look for the first ready group: no group is before.
func (w *window) first() place {
	if len(w.known) > 0 {
		return w.known[0]
	}
	return w.end
}

// follow is called when a group's record has been committed, with the times at which the group stood besides.
func (f *Frontier) follow(m move, stale ...int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.written(m.to.group)
	for _, at := range stale {
		f.window.apply(move{place{at, m.to.group}, m.to, m.bytes}, f.leases[m.to.group] != nil)
	}
	f.window.apply(m, f.leases[m.to.group] != nil)
	if w := &f.window; w.moves == nil && len(w.known) > 2*w.size {
		w.end = w.known[w.size]
		for _, p := range w.known[w.size:] {
			f.forget(p.group)
		}
		w.known = slices.Delete(w.known, w.size, len(w.known))
	}
}

// forget drops the record of a group that is neither known nor leased. The caller holds mu.
func (f *Frontier) forget(group string) {
	r, ok := f.window.records[group]
	if ok && f.leases[group] == nil && (place{r.at, group}).compare(f.window.end) >= 0 {
		delete(f.window.records, group)
	}
}

// written ends what save began: a transaction that writes a group has been committed, or given up. The caller holds mu.
func (f *Frontier) written(group string) {
	if f.writing[group]--; f.writing[group] == 0 {
		delete(f.writing, group)
	}
}

// host is the record of a group as a transaction that writes sees it: from memory where it is there and no transaction before
// is still to be committed. One that cannot be read is made again; the caller saves it.
func (f *Frontier) host(txn *kv.Txn, group string) (*host, error) {
	f.mu.Lock()
	r, ok := f.window.records[group]
	ok = ok && f.writing[group] == 0
	f.mu.Unlock()
	h := &host{group: group}
	var err error
	if ok {
		err = h.decode(r.at, r.bytes)
	} else {
		h, err = loadHost(txn, group)
	}
	if errors.Is(err, ErrDamaged) {
		f.opts.Log.Warn("the damaged record of a host is made again", "host", group)
		return f.remake(txn, group, true)
	}
	return h, err
}

// candidate is the first group behind a place that is ready and not leased. Without one among the known groups, next is when to
// look again; a time that has come already means that the window has to be widened.
func (f *Frontier) candidate(after place, now int64) (p place, rec []byte, found bool, next int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i, there := slices.BinarySearchFunc(f.window.known, after, place.compare)
	if there {
		i++
	}
	for _, p := range f.window.known[i:] {
		if p.at > now {
			return place{}, nil, false, p.at
		}
		if !f.busy(p.group) {
			return p, f.window.records[p.group].bytes, true, 0
		}
	}
	return place{}, nil, false, f.window.end.at
}

// widen reads the next part of the index into the window. The caller holds taking.
func (f *Frontier) widen() error {
	f.mu.Lock()
	from := f.window.end
	f.window.moves = []move{}
	f.mu.Unlock()
	var read []place
	records := map[string]record{}
	end := place{at: maxTime}
	err := f.db.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceHosts, []byte(prefixReady), readyKey(from.at, from.group), func(k, v []byte) (bool, error) {
			p, ok := placeOf(k)
			if !ok {
				return true, nil
			}
			if p.at == maxTime {
				return false, nil
			}
			if len(read) == f.window.size {
				end = p
				return false, nil
			}
			read, records[p.group] = append(read, p), record{p.at, bytes.Clone(v)}
			return true, nil
		})
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	moves := f.window.moves
	f.window.moves = nil
	if err != nil {
		return fmt.Errorf("frontier: ready groups: %w", err)
	}
	f.window.known, f.window.end = append(f.window.known, read...), end
	maps.Copy(f.window.records, records)
	for _, m := range moves { // what was read may be from before them or from after
		f.window.apply(m, f.leases[m.to.group] != nil)
	}
	return nil
}
