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
	at     map[string]int // where a key is in writes
	writes []keyWrite     // in the order in which the keys were first written, so that a commit passes through them without looking up keys
	runs   [][]string     // runs are not modified in place, so iterators over them are not disturbed by writes
	sorted int            // how many of writes are in runs
	bytes  int64
	keys   int // bytes of the keys
	expect int // how many keys there may be, as far as that is known; spares the growing of maps
}

type keyWrite struct {
	key string
	write
}

type write struct {
	val     []byte
	deleted bool
	version uint64 // of the write set; set only in the overlay of a read-only database
}

// get returns the write of a key.
func (l *layer) get(key []byte) (w write, ok bool) {
	i, ok := l.at[string(key)]
	if ok {
		w = l.writes[i].write
	}
	return w, ok
}

func (l *layer) set(key string, w write) {
	if i, had := l.at[key]; had {
		old := &l.writes[i].write
		l.bytes += int64(len(w.val) - len(old.val))
		*old = w
		return
	}
	if l.at == nil {
		l.at, l.writes = make(map[string]int, l.expect), make([]keyWrite, 0, l.expect)
	}
	l.at[key] = len(l.writes)
	l.writes = append(l.writes, keyWrite{key, w})
	l.keys += len(key)
	l.bytes += int64(len(key)+len(w.val)) + entryOverhead
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

// all iterates over the writes.
func (l *layer) all() iter.Seq2[string, write] {
	return func(yield func(string, write) bool) {
		for i := range l.writes {
			if !yield(l.writes[i].key, l.writes[i].write) {
				return
			}
		}
	}
}

// sort moves the keys added since the last call into a run.
func (l *layer) sort() {
	if l.sorted == len(l.writes) {
		return
	}
	run := make([]string, 0, len(l.writes)-l.sorted)
	for _, w := range l.writes[l.sorted:] {
		run = append(run, w.key)
	}
	l.sorted = len(l.writes)
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
	if w, ok := ls.own.get(key); ok {
		return w, true
	}
	return ls.group.get(key)
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
