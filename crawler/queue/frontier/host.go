package frontier

import (
	"cmp"
	"fmt"
	"slices"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// host is the record of one group, with the first entries of its queue. The index of ready groups sorts records by
// ready, which is never later than the moment the group's first URL may be fetched. If it is earlier, it is corrected
// when the group is examined. The entry of the group's name has the value of ready only.
type host struct {
	group     string
	ready     int64  // maxTime if nothing is queued
	notBefore int64  // the host must not be asked earlier
	wait      string // why
	doors     []doorWait
	lanes     []lane // sorted by band and door; may be empty ones
	urls      int64
	visits    int64
	versions  int64
	bytes     int64
	lastVisit int64
	outcomes  [8]int64

	known  bool    // the database has a record of it
	stored int64   // the value of ready there
	stale  []int64 // other entries of the group in the index, to be deleted after a repair
}

const hostVersion = 1

// loadHost returns the record of a group. For an unknown group, it returns a record with the name only.
func loadHost(txn *kv.Txn, group string) (*host, error) {
	h := &host{group: group, ready: maxTime}
	var at int64
	ok, err := txn.Read(kv.SpaceHosts, hostKey(group), func(v []byte) error {
		if len(v) != 8 {
			return h.damaged()
		}
		at = readTime(v)
		return nil
	})
	if err != nil || !ok {
		return h, err
	}
	ok, err = txn.Read(kv.SpaceHosts, readyKey(at, group), func(v []byte) error { return h.decode(at, v) })
	if err == nil && !ok {
		err = h.damaged()
	}
	return h, err
}

func (h *host) damaged() error { return fmt.Errorf("%w of host %q", ErrDamaged, h.group) }

func (h *host) decode(at int64, b []byte) error {
	if len(b) == 0 || b[0] != hostVersion {
		return h.damaged()
	}
	h.known, h.stored, h.ready = true, at, at
	r := reader{fields.Reader{B: b[1:]}}
	h.notBefore, h.wait = r.Varint(), r.Text()
	h.doors = make([]doorWait, r.count())
	for i := range h.doors {
		h.doors[i] = doorWait{r.Byte(), r.Varint(), r.Text()}
	}
	h.urls, h.visits, h.versions, h.bytes, h.lastVisit = r.Varint(), r.Varint(), r.Varint(), r.Varint(), r.Varint()
	for i := range h.outcomes {
		h.outcomes[i] = r.Varint()
	}
	h.lanes = make([]lane, r.count())
	for i := range h.lanes {
		h.lanes[i].decode(&r)
	}
	if r.End() != nil {
		return h.damaged()
	}
	return nil
}

// save writes a group's record to the index, and updates the window when the transaction commits.
func (f *Frontier) save(txn *kv.Txn, h *host) error {
	m := move{from: place{at: maxTime}, to: place{h.ready, h.group}, bytes: h.encode()}
	if h.known {
		m.from = place{h.stored, h.group}
	}
	f.mu.Lock()
	f.writing[h.group]++
	f.mu.Unlock()
	stale := h.stale
	txn.OnCommit(func() { f.follow(m, stale...) })
	txn.OnAbort(func(error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.written(h.group)
	})
	for _, at := range h.stale {
		if err := txn.Delete(kv.SpaceHosts, readyKey(at, h.group)); err != nil {
			return err
		}
	}
	h.stale = nil
	if h.known && m.from != m.to {
		if err := txn.Delete(kv.SpaceHosts, readyKey(h.stored, h.group)); err != nil {
			return err
		}
	}
	if !h.known || m.from != m.to {
		if err := txn.Set(kv.SpaceHosts, hostKey(h.group), appendTime(nil, h.ready)); err != nil {
			return err
		}
	}
	h.known, h.stored = true, h.ready
	return txn.Set(kv.SpaceHosts, readyKey(h.ready, h.group), m.bytes)
}

func (h *host) encode() []byte {
	w := writer{append(make([]byte, 0, 256), hostVersion)}
	w.int(h.notBefore)
	w.str(h.wait)
	w.int(int64(len(h.doors)))
	for _, d := range h.doors {
		w.b = append(w.b, d.door)
		w.int(d.notBefore)
		w.str(d.wait)
	}
	for _, v := range []int64{h.urls, h.visits, h.versions, h.bytes, h.lastVisit} {
		w.int(v)
	}
	for _, v := range h.outcomes {
		w.int(v)
	}
	w.int(int64(len(h.lanes)))
	for i := range h.lanes {
		h.lanes[i].encode(&w)
	}
	return w.b
}

// lane returns a lane, which it adds if there is none.
func (h *host) lane(id laneID) *lane {
	i, found := slices.BinarySearchFunc(h.lanes, id, func(l lane, id laneID) int { return l.compare(id) })
	if !found {
		h.lanes = slices.Insert(h.lanes, i, lane{laneID: id})
	}
	return &h.lanes[i]
}

// enqueue adds a URL to the group's queue, unless it is never due or blacklisted.
func (h *host) enqueue(txn *kv.Txn, u *URL) error {
	if u.Due.IsZero() || u.Blacklisted {
		return nil
	}
	due, lane := ms(u.Due), u.lane()
	h.lane(lane).add(entry{due, u.Key})
	h.ready = min(h.ready, max(due, h.opens(lane.door)))
	return txn.Set(kv.SpaceQueue, queueKey(h.group, lane, due, u.Key), nil)
}

// dequeue removes a URL from the group's queue. u must be as it was when it was queued.
func (h *host) dequeue(txn *kv.Txn, u *URL) error {
	if u.Due.IsZero() || u.Blacklisted {
		return nil
	}
	due, lane := ms(u.Due), u.lane()
	h.lane(lane).remove(entry{due, u.Key})
	return txn.Delete(kv.SpaceQueue, queueKey(h.group, lane, due, u.Key))
}

// first returns the earliest due time in the queue, maxTime if the queue is empty.
func (h *host) first(txn *kv.Txn) (int64, error) {
	first := int64(maxTime)
	for i := range h.lanes {
		l := &h.lanes[i]
		if err := l.loadHead(txn, h.group); err != nil {
			return 0, err
		}
		if len(l.head) > 0 {
			first = min(first, l.head[0].due)
		}
	}
	return first, nil
}

// updateReady computes ready from the queue. A group that is overdue is sorted after those that have been ready for
// longer.
func (h *host) updateReady(txn *kv.Txn, now int64) error {
	if h.notBefore <= now {
		h.notBefore, h.wait = 0, ""
	}
	h.doors = slices.DeleteFunc(h.doors, func(d doorWait) bool { return d.notBefore <= now })
	h.ready = maxTime
	for i := range h.lanes {
		l := &h.lanes[i]
		if err := l.loadHead(txn, h.group); err != nil {
			return err
		}
		if len(l.head) > 0 {
			h.ready = min(h.ready, max(l.head[0].due, h.opens(l.door), now))
		}
	}
	h.lanes = slices.DeleteFunc(h.lanes, func(l lane) bool { return len(l.head) == 0 })
	return nil
}

// mostUrgent returns at most n due entries behind doors that are open at the time open, most urgent first. It may
// return fewer than are due: usually those in the record.
func (h *host) mostUrgent(txn *kv.Txn, now, open int64, n int) (due []entry, err error) {
	for first := 0; first < len(h.lanes) && len(due) < n; {
		end := first + 1
		for end < len(h.lanes) && h.lanes[end].band == h.lanes[first].band {
			end++
		}
		part, whole, err := h.dueOf(txn, h.lanes[first:end], now, open, n-len(due))
		if err != nil {
			return nil, err
		}
		due = append(due, part...)
		if !whole { // entries after a head precede those of the next band
			break
		}
		first = end
	}
	return due[:min(n, len(due))], nil
}

// dueOf returns due entries of the lanes of one band in order, those of each up to most, and whether no others are
// omitted.
func (h *host) dueOf(txn *kv.Txn, lanes []lane, now, open int64, most int) (due []entry, whole bool, err error) {
	until := entry{due: maxTime} // entries of a lane that the record omits follow it
	whole = true
	for i := range lanes {
		l := &lanes[i]
		if h.door(l.door).notBefore > open {
			continue
		}
		if err := l.loadHead(txn, h.group); err != nil {
			return nil, false, err
		}
		n, _ := slices.BinarySearchFunc(l.head, now, func(e entry, now int64) int { return cmp.Or(cmp.Compare(e.due, now), -1) })
		due = append(due, l.head[:min(n, most)]...)
		if n == len(l.head) && l.more {
			whole = false
			if last := l.head[n-1]; last.compare(until) < 0 {
				until = last
			}
		}
	}
	if len(lanes) > 1 {
		slices.SortFunc(due, entry.compare)
		due = slices.DeleteFunc(due, func(e entry) bool { return e.compare(until) > 0 })
	}
	return due, whole, nil
}

// eachDue calls f with the due entries, those of closed doors too, lane by lane, until it returns false.
func (h *host) eachDue(txn *kv.Txn, now int64, f func(lane laneID, e entry) bool) error {
	for i := range h.lanes {
		l := &h.lanes[i]
		passed, stopped := false, false // all due entries; by f
		visit := func(e entry) bool {
			if passed = e.due > now; !passed {
				stopped = !f(l.laneID, e)
			}
			return !passed && !stopped
		}
		for _, e := range l.head {
			if !visit(e) {
				break
			}
		}
		if l.more && !passed && !stopped {
			if err := l.scan(txn, h.group, visit); err != nil {
				return err
			}
		}
		if stopped {
			return nil
		}
	}
	return nil
}
