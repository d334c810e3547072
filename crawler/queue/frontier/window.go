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

// window is the beginning of the index of ready groups, in memory. Leases take the next group from it. It is read from
// the database about a thousand groups at a time, and updated after every commit that writes a group.
type window struct {
	known   []place           // the places before end, in order
	end     place             // where the rest of the index begins
	records map[string]record // of the known groups and of the leased ones
	moves   []move            // those since a read of the index began; nil if no read is under way
	size    int               // how many groups are read at a time; at most twice as many are kept
}

// place is the place of a group in the index of ready groups.
type place struct {
	at    int64
	group string
}

func (p place) compare(o place) int {
	return cmp.Or(cmp.Compare(p.at, o.at), strings.Compare(p.group, o.group))
}

// record is the committed record of a group, and its time in the index.
type record struct {
	at    int64
	bytes []byte
}

// move is a write of a group's record, which may change its place. A new group comes from maxTime.
type move struct {
	from, to place
	bytes    []byte // the record
}

func newWindow() window {
	return window{end: place{at: minTime}, size: 1024, records: map[string]record{}}
}

// apply updates the window after a move.
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

// remove removes a deleted group and its places.
func (w *window) remove(group string, places []int64) {
	for _, at := range places {
		p := place{at, group}
		if i, found := slices.BinarySearchFunc(w.known, p, place.compare); found {
			w.known = slices.Delete(w.known, i, i+1)
		}
		if w.moves != nil { // to a place outside the window
			w.moves = append(w.moves, move{from: p, to: place{maxTime, group}})
		}
	}
	delete(w.records, group)
}

// first returns a place before which the index has no group.
func (w *window) first() place {
	if len(w.known) > 0 {
		return w.known[0]
	}
	return w.end
}

// follow updates the window when a group's record has been committed. stale are the times of deleted entries of the
// group.
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

// forget removes the record of a group that is neither in the window nor leased. The caller holds mu.
func (f *Frontier) forget(group string) {
	r, ok := f.window.records[group]
	if ok && f.leases[group] == nil && (place{r.at, group}).compare(f.window.end) >= 0 {
		delete(f.window.records, group)
	}
}

// written notes that a transaction that writes a group, which save announced, has been committed or aborted. The caller
// holds mu.
func (f *Frontier) written(group string) {
	if f.writing[group]--; f.writing[group] == 0 {
		delete(f.writing, group)
	}
}

// host returns the record of a group in a transaction that writes: from memory, if it is there and no other transaction
// that writes it is uncommitted. A damaged record is computed again. The caller must save it.
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
		f.opts.Log.Warn("the damaged record of a host is computed again", "host", group)
		return f.remake(txn, group, true)
	}
	return h, err
}

// candidate returns the first group after a place that is ready and not leased, and its record. If the window has none,
// next is when to look again; if that is not in the future, the caller must widen the window.
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

// widen reads the next part of the index into the window. The caller holds f.leasing.
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
	for _, m := range moves { // the read may have happened before or after each of them
		f.window.apply(m, f.leases[m.to.group] != nil)
	}
	return nil
}
