package kv

import (
	"iter"
	"slices"
	"strings"
)

// layer is a set of writes that are not committed yet, of one function or of the functions before it in its group.
//
// Functions that register hundreds of URLs write and scan alternately. So the keys are kept as ascending runs, each at
// least twice as long as the next: a scan sorts only the keys added since the last scan, and a key moves log n times.
type layer struct {
	writes map[string]write
	runs   [][]string // runs are not modified in place, so iterators over them are not disturbed by writes
	fresh  []string   // keys added since the last sort, in order of arrival
	bytes  int64
}

type write struct {
	val     []byte
	deleted bool
	version uint64 // of the write set; set only in the overlay of a read-only database
}

func (l *layer) set(key string, w write) {
	if l.writes == nil {
		l.writes = make(map[string]write)
	}
	old, had := l.writes[key]
	l.writes[key] = w
	l.bytes += int64(len(w.val) - len(old.val))
	if !had {
		l.bytes += int64(len(key)) + entryOverhead
		l.fresh = append(l.fresh, key)
	}
}

// entryOverhead is what Badger adds to an entry's size when it measures a transaction (version, metadata, expiry).
const entryOverhead = 16

// merge adds all writes of o, which must not be used afterwards.
func (l *layer) merge(o *layer) {
	if len(l.writes) == 0 {
		*l = *o
		return
	}
	for k, w := range o.all() {
		l.set(k, w)
	}
}

// all iterates over the writes. They are in order within a run, but runs overlap.
func (l *layer) all() iter.Seq2[string, write] {
	return func(yield func(string, write) bool) {
		for _, keys := range append(slices.Clip(l.runs), l.fresh) {
			for _, k := range keys {
				if !yield(k, l.writes[k]) {
					return
				}
			}
		}
	}
}

// sort moves the fresh keys into a run.
func (l *layer) sort() {
	if len(l.fresh) == 0 {
		return
	}
	run := slices.Clone(l.fresh)
	l.fresh = l.fresh[:0]
	slices.Sort(run)
	n := len(l.runs)
	for ; n > 0 && len(l.runs[n-1]) < 2*len(run); n-- {
		run = merged(l.runs[n-1], run)
	}
	l.runs = append(l.runs[:n], run)
}

// merged merges two ascending runs.
func merged(a, b []string) []string {
	out := make([]string, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0] < b[0] {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// layers are the pending writes that a transaction sees: its own hide its group's.
type layers struct{ own, group *layer }

func (ls *layers) get(key []byte) (write, bool) {
	if w, ok := ls.own.writes[string(key)]; ok {
		return w, true
	}
	w, ok := ls.group.writes[string(key)]
	return w, ok
}

// pending iterates over the layers' keys with a prefix, in order.
type pending struct {
	ls     *layers
	runs   [][]string // none is empty; each begins with a key with the prefix; both layers may have the same key
	at     int        // index of the run with the smallest key
	prefix string
}

type pendingWrite struct {
	key string
	write
}

func (ls *layers) from(start, prefix string) *pending {
	p := &pending{ls: ls, prefix: prefix}
	if ls == nil {
		return p
	}
	for _, l := range []*layer{ls.own, ls.group} {
		l.sort()
		for _, keys := range l.runs {
			i, _ := slices.BinarySearch(keys, start)
			if i < len(keys) && strings.HasPrefix(keys[i], prefix) {
				p.runs = append(p.runs, keys[i:])
			}
		}
	}
	p.findMin()
	return p
}

func (p *pending) findMin() {
	p.at = 0
	for i := 1; i < len(p.runs); i++ {
		if p.runs[i][0] < p.runs[p.at][0] {
			p.at = i
		}
	}
}

func (p *pending) peek() (pendingWrite, bool) {
	if len(p.runs) == 0 {
		return pendingWrite{}, false
	}
	key := p.runs[p.at][0]
	w, _ := p.ls.get([]byte(key))
	return pendingWrite{key, w}, true
}

func (p *pending) next() {
	key := p.runs[p.at][0]
	p.runs = slices.DeleteFunc(p.runs, func(run []string) bool { return run[0] == key && !p.more(run) })
	for i, run := range p.runs {
		if run[0] == key {
			p.runs[i] = run[1:]
		}
	}
	p.findMin()
}

// more reports whether a key with the prefix follows a run's first key.
func (p *pending) more(run []string) bool { return len(run) > 1 && strings.HasPrefix(run[1], p.prefix) }
