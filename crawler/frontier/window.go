package frontier

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"odarchive/triplestore/kv"
)

// window is the beginning of the index of ready groups, in memory: a lease takes the next group from here, and the index is
// read a thousand groups at a time. Every commit that moves a group is followed.
type window struct {
	known []place // all groups whose place is before end, in order
	end   place   // where the rest of the index begins
	moves []move  // those since a read of the index began; nil where none is under way
	size  int     // how many groups are read at a time; twice as many are kept
}

// place of a group in the index of ready groups.
type place struct {
	at    int64
	group string
}

func (p place) compare(o place) int {
	return cmp.Or(cmp.Compare(p.at, o.at), strings.Compare(p.group, o.group))
}

// move of a group from one place to another; a new one was nowhere: at maxTime.
type move struct{ from, to place }

func newWindow() window { return window{end: place{at: minTime}, size: 1024} }

func (w *window) apply(m move) {
	if i, found := slices.BinarySearchFunc(w.known, m.from, place.compare); found && m.from != m.to {
		w.known = slices.Delete(w.known, i, i+1)
	}
	if i, found := slices.BinarySearchFunc(w.known, m.to, place.compare); !found && m.to.compare(w.end) < 0 {
		w.known = slices.Insert(w.known, i, m.to)
	}
	if w.moves != nil {
		w.moves = append(w.moves, m)
	} else if len(w.known) > 2*w.size {
		w.end = w.known[w.size]
		w.known = w.known[:w.size]
	}
}

// first is where to look for the first ready group: no group is before.
func (w *window) first() place {
	if len(w.known) > 0 {
		return w.known[0]
	}
	return w.end
}

// follow is called when a move has been committed.
func (f *Frontier) follow(m move) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.window.apply(m)
}

// candidate is the first group behind a place that is ready and not leased. Without one among the known groups, next is when to
// look again; a time that has come already means that the window has to be widened.
func (f *Frontier) candidate(after place, now int64) (p place, found bool, next int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i, there := slices.BinarySearchFunc(f.window.known, after, place.compare)
	if there {
		i++
	}
	for _, p := range f.window.known[i:] {
		if p.at > now {
			return place{}, false, p.at
		}
		if !f.busy(p.group) {
			return p, true, 0
		}
	}
	return place{}, false, f.window.end.at
}

// widen reads the next part of the index into the window. The caller holds taking.
func (f *Frontier) widen() error {
	f.mu.Lock()
	from := f.window.end
	f.window.moves = []move{}
	f.mu.Unlock()
	var read []place
	end := place{at: maxTime}
	err := f.db.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceHosts, []byte(prefixReady), readyKey(from.at, from.group), func(k, _ []byte) (bool, error) {
			p := placeOf(k)
			if p.at == maxTime {
				return false, nil
			}
			if len(read) == f.window.size {
				end = p
				return false, nil
			}
			read = append(read, p)
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
	for _, m := range moves { // what was read may be from before them or from after
		f.window.apply(m)
	}
	return nil
}
