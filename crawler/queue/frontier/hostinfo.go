package frontier

import (
	"errors"
	"fmt"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/kv"
)

// HostInfo describes a group.
type HostInfo struct {
	Group     string
	URLs      int
	Due       int // number of URLs due now, at most MaxDueCounted
	Visits    int
	Versions  int
	Bytes     int64 // of those versions
	Outcomes  map[catalog.Outcome]int
	LastVisit time.Time
	NextDue   time.Time // the zero time if nothing is queued
	NotBefore time.Time // the zero time if the host may be asked now
	Wait      string    // why it may not
	Closed    []ClosedDoor
	Leased    bool
}

// ClosedDoor is a door of a group behind which URLs are due that must not be asked for, although the host may be.
type ClosedDoor struct {
	Door      string // scheme, host and port: http://data.example
	Due       int    // number of its URLs that are due now
	NotBefore time.Time
	Wait      string // why
}

// MaxDueCounted limits how many due URLs of a group are counted.
const MaxDueCounted = 10_000

func (f *Frontier) info(txn *kv.Txn, h *host, now int64) (HostInfo, error) {
	i := HostInfo{Group: h.group, URLs: int(h.urls), Visits: int(h.visits), Versions: int(h.versions), Bytes: h.bytes,
		LastVisit: fromMS(h.lastVisit), Outcomes: map[catalog.Outcome]int{}}
	for code, n := range h.outcomes {
		if n > 0 {
			i.Outcomes[outcomeOf(byte(code))] = int(n)
		}
	}
	if err := h.due(txn, now, &i); err != nil {
		return i, err
	}
	f.mu.Lock()
	_, i.Leased = f.leases[h.group]
	f.mu.Unlock()
	first, err := h.first(txn)
	if first != maxTime {
		i.NextDue = fromMS(first)
	}
	return i, err
}

// due sets what is due, and what must not be asked for yet.
func (h *host) due(txn *kv.Txn, now int64, i *HostInfo) error {
	if h.notBefore > now {
		i.NotBefore, i.Wait = fromMS(h.notBefore), h.wait
	}
	var behind map[byte]int
	if len(h.doors) > 0 {
		behind = map[byte]int{}
	}
	err := h.eachDue(txn, now, func(lane laneID, _ entry) bool {
		if i.Due++; behind != nil {
			behind[lane.door]++
		}
		return i.Due < MaxDueCounted
	})
	if err != nil {
		return err
	}
	for _, d := range h.doors {
		if d.notBefore > now {
			i.Closed = append(i.Closed, ClosedDoor{doorName(h.group, d.door), behind[d.door], fromMS(d.notBefore), d.wait})
		}
	}
	return nil
}

// readHost returns the record of a group for reading. It computes a damaged one without writing it.
func (f *Frontier) readHost(txn *kv.Txn, group string) (*host, error) {
	h, err := loadHost(txn, group)
	if errors.Is(err, ErrDamaged) {
		return f.remake(txn, group, false)
	}
	return h, err
}

// Host describes one group. ok is false if none of its URLs is registered.
func (f *Frontier) Host(group string) (info HostInfo, ok bool, err error) {
	err = f.db.View(func(txn *kv.Txn) error {
		h, err := f.readHost(txn, group)
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

// Hosts describes groups in order of their names, those after the group after, at most limit of them (0: all).
func (f *Frontier) Hosts(after string, limit int) ([]HostInfo, error) {
	var all []HostInfo
	now := ms(f.opts.Now())
	err := f.db.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceHosts, []byte(prefixHost), hostKey(after), func(k, _ []byte) (bool, error) {
			group := string(k[len(prefixHost):])
			if group == after && after != "" {
				return true, nil
			}
			h, err := f.readHost(txn, group)
			if err != nil {
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
