package kv

import (
	"slices"
	"strings"
)

// layer is a set of writes that are not committed yet: what one function wrote, or what its group did before it.
type layer struct {
	writes map[string]write
	keys   []string // all keys of writes, ascending if sorted; replaced, never changed in place, when sorted anew
	sorted bool
	bytes  int64
}

type write struct {
	val     []byte
	deleted bool
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
		l.sorted = l.sorted && len(l.keys) > 0 && l.keys[len(l.keys)-1] < key
		l.keys = append(l.keys, key)
	}
}

// entryOverhead is what Badger adds to an entry when it measures a transaction (version, metadata, expiry).
const entryOverhead = 16

// merge takes over everything o wrote.
func (l *layer) merge(o *layer) {
	if len(l.writes) == 0 {
		*l = *o
		return
	}
	for _, k := range o.keys {
		l.set(k, o.writes[k])
	}
}

func (l *layer) ordered() []string {
	if !l.sorted {
		l.keys = slices.Clone(l.keys)
		slices.Sort(l.keys)
		l.sorted = true
	}
	return l.keys
}

// layers are the pending writes a transaction sees: its own before its group's.
type layers struct{ own, group *layer }

func (ls *layers) get(key string) (write, bool) {
	if w, ok := ls.own.writes[key]; ok {
		return w, true
	}
	w, ok := ls.group.writes[key]
	return w, ok
}

// pending walks the layers' keys with a prefix in order.
type pending struct {
	ls         *layers
	own, group []string
	prefix     string
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
	p.own, p.group = keysFrom(ls.own, start), keysFrom(ls.group, start)
	return p
}

func keysFrom(l *layer, start string) []string {
	keys := l.ordered()
	i, _ := slices.BinarySearch(keys, start)
	return keys[i:]
}

func (p *pending) peek() (pendingWrite, bool) {
	var key string
	switch {
	case len(p.own) > 0 && (len(p.group) == 0 || p.own[0] <= p.group[0]):
		key = p.own[0]
	case len(p.group) > 0:
		key = p.group[0]
	default:
		return pendingWrite{}, false
	}
	if !strings.HasPrefix(key, p.prefix) {
		return pendingWrite{}, false
	}
	w, _ := p.ls.get(key)
	return pendingWrite{key, w}, true
}

func (p *pending) next() {
	var o, g bool
	if len(p.own) > 0 {
		o = len(p.group) == 0 || p.own[0] <= p.group[0]
	}
	if len(p.group) > 0 {
		g = len(p.own) == 0 || p.group[0] <= p.own[0]
	}
	if o {
		p.own = p.own[1:]
	}
	if g {
		p.group = p.group[1:]
	}
}
