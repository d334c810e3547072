package frontier

import (
	"fmt"
	"slices"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// host is the record of one group. Its place in the index of ready groups is at ready, which is never later than the
// moment its first URL may be fetched; it may be earlier, and is put right when the group is looked at.
type host struct {
	group     string
	ready     int64  // maxTime: nothing is queued
	low       int64  // nothing is queued with an earlier due time
	notBefore int64  // the host asked, or politeness asks, to be left alone until then
	wait      string // why
	bands     []byte // in use, sorted; may name empty ones
	urls      int64
	visits    int64
	versions  int64
	bytes     int64
	lastVisit int64
	outcomes  [8]int64

	stored int64 // ready as it is in the index; maxTime: not in it
}

const hostVersion = 1

func loadHost(txn *kv.Txn, group string) (*host, error) {
	h := &host{group: group, ready: maxTime, low: maxTime, stored: maxTime}
	b, ok, err := txn.Get(kv.SpaceHosts, hostKey(group))
	if err != nil || !ok {
		return h, err
	}
	if err := h.decode(b); err != nil {
		return nil, err
	}
	h.stored = h.ready
	return h, nil
}

func (h *host) decode(b []byte) error {
	if len(b) == 0 || b[0] != hostVersion {
		return fmt.Errorf("frontier: a damaged record of host %q", h.group)
	}
	r := reader{fields.Reader{B: b[1:]}}
	h.ready, h.low, h.notBefore = r.Varint(), r.Varint(), r.Varint()
	h.wait, h.bands = r.Text(), []byte(r.Text())
	h.urls, h.visits, h.versions, h.bytes, h.lastVisit = r.Varint(), r.Varint(), r.Varint(), r.Varint(), r.Varint()
	for i := range h.outcomes {
		h.outcomes[i] = r.Varint()
	}
	if r.Bad() {
		return fmt.Errorf("frontier: a damaged record of host %q", h.group)
	}
	return nil
}

func (h *host) save(txn *kv.Txn) error {
	if h.ready != h.stored {
		if h.stored != maxTime {
			if err := txn.Delete(kv.SpaceHosts, readyKey(h.stored, h.group)); err != nil {
				return err
			}
		}
		if h.ready != maxTime {
			if err := txn.Set(kv.SpaceHosts, readyKey(h.ready, h.group), nil); err != nil {
				return err
			}
		}
		h.stored = h.ready
	}
	return txn.Set(kv.SpaceHosts, hostKey(h.group), h.encode())
}

func (h *host) encode() []byte {
	w := writer{[]byte{hostVersion}}
	for _, v := range []int64{h.ready, h.low, h.notBefore} {
		w.int(v)
	}
	w.str(h.wait)
	w.str(string(h.bands))
	for _, v := range []int64{h.urls, h.visits, h.versions, h.bytes, h.lastVisit} {
		w.int(v)
	}
	for _, v := range h.outcomes {
		w.int(v)
	}
	return w.b
}

// enqueue puts a URL into the group's queue at its due time.
func (h *host) enqueue(txn *kv.Txn, u *URL) error {
	if u.Due.IsZero() || u.Blacklisted {
		return nil
	}
	due, b := ms(u.Due), band(u.Priority)
	if i, found := slices.BinarySearch(h.bands, b); !found {
		h.bands = slices.Insert(h.bands, i, b)
	}
	h.low = min(h.low, due)
	h.ready = min(h.ready, max(due, h.notBefore))
	return txn.Set(kv.SpaceQueue, queueKey(h.group, b, due, u.Key), nil)
}

// dequeue takes a URL out of the queue, from where its record says it is.
func dequeue(txn *kv.Txn, u *URL) error {
	if u.Due.IsZero() || u.Blacklisted {
		return nil
	}
	return txn.Delete(kv.SpaceQueue, queueKey(u.Group, band(u.Priority), ms(u.Due), u.Key))
}

// settle looks at the queue itself and puts low, bands and ready right. A group that is still overdue takes its place
// behind those that have been ready for longer.
func (h *host) settle(txn *kv.Txn, now int64) error {
	first := int64(maxTime)
	used := h.bands[:0:0]
	for _, b := range h.bands {
		prefix := queuePrefix(h.group, b)
		err := txn.Scan(kv.SpaceQueue, prefix, appendTime(prefix, h.low), func(k, _ []byte) (bool, error) {
			if due, _, ok := cutQueueKey(k, h.group); ok {
				used = append(used, b)
				first = min(first, due)
			}
			return false, nil
		})
		if err != nil {
			return err
		}
	}
	h.bands, h.low = used, first
	if h.notBefore <= now {
		h.notBefore, h.wait = 0, ""
	}
	if h.ready = maxTime; first != maxTime {
		h.ready = max(first, h.notBefore, now)
	}
	return nil
}

// due calls f with the keys of the queued URLs that are due, most urgent first, until it returns false.
func (h *host) due(txn *kv.Txn, now int64, f func(key string) bool) error {
	for _, b := range h.bands {
		more := true
		prefix := queuePrefix(h.group, b)
		err := txn.Scan(kv.SpaceQueue, prefix, appendTime(prefix, h.low), func(k, _ []byte) (bool, error) {
			due, key, ok := cutQueueKey(k, h.group)
			if !ok || due > now {
				return false, nil
			}
			more = f(key)
			return more, nil
		})
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// HostInfo is what the frontier knows of a group.
type HostInfo struct {
	Group     string
	URLs      int
	Due       int // queued and due now; counted up to MaxDueCounted
	Visits    int
	Versions  int
	Bytes     int64 // of those versions
	Outcomes  map[catalog.Outcome]int
	LastVisit time.Time
	NextDue   time.Time // zero: nothing is queued
	NotBefore time.Time // zero: the host may be asked now
	Wait      string    // why it may not
	Leased    bool
}

// MaxDueCounted bounds the work of counting a group's due URLs.
const MaxDueCounted = 10_000

func (f *Frontier) info(txn *kv.Txn, h *host, now int64) (HostInfo, error) {
	i := HostInfo{Group: h.group, URLs: int(h.urls), Visits: int(h.visits), Versions: int(h.versions), Bytes: h.bytes,
		LastVisit: fromMS(h.lastVisit), Outcomes: map[catalog.Outcome]int{}}
	for code, n := range h.outcomes {
		if n > 0 {
			i.Outcomes[outcomeOf(byte(code))] = int(n)
		}
	}
	if h.notBefore > now {
		i.NotBefore, i.Wait = fromMS(h.notBefore), h.wait
	}
	err := h.due(txn, now, func(string) bool { i.Due++; return i.Due < MaxDueCounted })
	if err != nil {
		return i, err
	}
	f.mu.Lock()
	_, i.Leased = f.leases[h.group]
	f.mu.Unlock()
	probe := *h
	if err := probe.settle(txn, now); err != nil {
		return i, err
	}
	if probe.low != maxTime {
		i.NextDue = fromMS(probe.low)
	}
	return i, nil
}

// Host says what is known of one group; ok is false where no URL of it is.
func (f *Frontier) Host(group string) (info HostInfo, ok bool, err error) {
	err = f.db.View(func(txn *kv.Txn) error {
		h, err := loadHost(txn, group)
		if err != nil || h.urls == 0 {
			return err
		}
		ok = true
		info, err = f.info(txn, h, ms(f.opts.Now()))
		return err
	})
	if err != nil {
		return info, ok, fmt.Errorf("frontier: host %s: %w", group, err)
	}
	return info, ok, nil
}

// Hosts lists groups in order of their names, those behind after, at most limit (0: all).
func (f *Frontier) Hosts(after string, limit int) ([]HostInfo, error) {
	var all []HostInfo
	now := ms(f.opts.Now())
	err := f.db.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceHosts, []byte(prefixHost), hostKey(after), func(k, v []byte) (bool, error) {
			h := &host{group: string(k[len(prefixHost):])}
			if h.group == after && after != "" {
				return true, nil
			}
			if err := h.decode(v); err != nil {
				return false, err
			}
			info, err := f.info(txn, h, now)
			all = append(all, info)
			return limit == 0 || len(all) < limit, err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("frontier: hosts: %w", err)
	}
	return all, nil
}
