package frontier

import (
	"cmp"
	"slices"
	"strings"

	"odarchive/triplestore/kv"
)

// laneID names a lane of a group.
type laneID struct{ band, door byte }

func (l laneID) compare(o laneID) int {
	return cmp.Or(cmp.Compare(l.band, o.band), cmp.Compare(l.door, o.door))
}

// lane returns the lane of a URL.
func (u *URL) lane() laneID { return laneID{band(u.Priority), doorOf(u.Key)} }

// lane is the part of a group's queue in one band behind one door. The group's record has its first entries, so that
// leases and results read the queue only once in headSize visits, when these are used up.
type lane struct {
	laneID
	head []entry // the first entries, in order
	more bool    // the queue may have others
	from int64   // none of those is due earlier
}

// entry is an entry of a queue.
type entry struct {
	due int64
	key string // of the URL
}

func (e entry) compare(o entry) int {
	return cmp.Or(cmp.Compare(e.due, o.due), strings.Compare(e.key, o.key))
}

// headSize is how many entries are loaded from the queue at a time: as many as a lease has jobs. The head has at most
// twice as many.
const headSize = 16

// add adds an entry of the queue to the head, if it belongs there.
func (l *lane) add(e entry) {
	i, found := slices.BinarySearchFunc(l.head, e, entry.compare)
	switch {
	case found:
	case l.more && i == len(l.head):
		l.from = min(l.from, e.due)
	default:
		l.head = slices.Insert(l.head, i, e)
		if len(l.head) > 2*headSize {
			l.head, l.more = l.head[:headSize], true
			l.from = l.head[headSize-1].due
		}
	}
}

// remove removes an entry from the head, if it is there.
func (l *lane) remove(e entry) {
	if i, found := slices.BinarySearchFunc(l.head, e, entry.compare); found {
		l.head = slices.Delete(l.head, i, i+1)
	}
}

// loadHead loads the head from the queue if it is empty and the queue may have entries.
func (l *lane) loadHead(txn *kv.Txn, group string) error {
	if len(l.head) > 0 || !l.more {
		return nil
	}
	l.more = false
	return l.scan(txn, group, func(e entry) bool {
		if len(l.head) == headSize {
			l.more, l.from = true, l.head[headSize-1].due
			return false
		}
		l.head = append(l.head, e)
		return true
	})
}

// scan calls f with the lane's entries after its head, in order, until it returns false.
func (l *lane) scan(txn *kv.Txn, group string, f func(entry) bool) error {
	prefix := queuePrefix(group, l.laneID)
	after := entry{due: minTime}
	if n := len(l.head); n > 0 {
		after = l.head[n-1]
	}
	return txn.Scan(kv.SpaceQueue, prefix, appendTime(prefix, l.from), func(k, _ []byte) (bool, error) {
		due, key, ok := cutQueueKey(k, group)
		if e := (entry{due, key}); ok && e.compare(after) > 0 {
			return f(e), nil
		}
		return true, nil
	})
}

func (l *lane) encode(w *writer) {
	w.b = append(w.b, l.band, l.door, flag(l.more))
	if l.more {
		w.int(l.from)
	}
	w.int(int64(len(l.head)))
	var last entry
	for _, e := range l.head {
		shared := 0
		for shared < min(len(e.key), len(last.key)) && e.key[shared] == last.key[shared] {
			shared++
		}
		w.int(e.due - last.due)
		w.int(int64(shared))
		w.str(e.key[shared:])
		last = e
	}
}

func (l *lane) decode(r *reader) {
	l.band, l.door, l.more = r.Byte(), r.Byte(), r.Byte()&1 == 1
	if l.more {
		l.from = r.Varint()
	}
	n := r.count()
	l.head = make([]entry, 0, n+1)
	var last entry
	for ; n > 0; n-- {
		due, shared, rest := last.due+r.Varint(), r.Varint(), r.Text()
		if shared < 0 || shared > int64(len(last.key)) {
			r.Fail()
			return
		}
		last = entry{due, last.key[:shared] + rest}
		l.head = append(l.head, last)
	}
}
