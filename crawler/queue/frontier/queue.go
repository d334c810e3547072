package frontier

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"odarchive/triplestore/kv"
)

// Queue says what is due, and what of it must not be asked for yet. A URL is due by its schedule; whether it may be
// asked for is up to its host.
type Queue struct {
	Due     int       // URLs that are due, at most MaxDueCounted of a host
	Askable int       // those of them whose hosts may be asked, or are being asked
	Hosts   int       // hosts, and doors of hosts, that hold up the others
	Waits   []Wait    // of these, those that may be asked first
	NextDue time.Time // the earliest time at which another URL is due; zero if there is none
	Partial bool      // there is more: not all hosts were looked at
}

// Wait is what a host, or one of its doors, holds up.
type Wait struct {
	Host  string
	Door  string // scheme, host and port if only its URLs wait; "" for the host
	Due   int    // URLs that are due; 0 where they were not counted
	Until time.Time
	Why   string
}

// Queue looks at hosts in the order of when they may be asked, until it has seen so many, or counted so many URLs.
const (
	maxQueued    = 20_000
	maxDueQueued = 50_000
)

// Queue returns what is due, with at most limit waits.
func (f *Frontier) Queue(limit int) (q Queue, err error) {
	now := f.opts.Now()
	most := ms(now.Add(maxHostWait))
	var waits []Wait
	f.mu.Lock()
	from := f.window.first()
	leased := map[string]bool{}
	for group := range f.leases {
		leased[group] = true
	}
	f.mu.Unlock()
	err = f.db.View(func(txn *kv.Txn) error {
		for group := range leased {
			h, err := f.readHost(txn, group)
			if err == nil {
				err = q.add(txn, h, ms(now), &waits)
			}
			if err != nil {
				return err
			}
		}
		seen := 0
		return txn.Scan(kv.SpaceHosts, []byte(prefixReady), readyKey(from.at, from.group), func(k, v []byte) (bool, error) {
			p, ok := placeOf(k)
			if !ok || leased[p.group] {
				return true, nil
			}
			if seen++; seen > maxQueued || q.Due >= maxDueQueued {
				q.Partial = true
				return false, nil
			}
			h := &host{group: p.group}
			if p.at == maxTime || h.decode(p.at, v) != nil { // a lease restores a damaged one
				return p.at != maxTime, nil
			}
			return p.at <= most, q.add(txn, h, ms(now), &waits)
		})
	})
	if err != nil {
		return Queue{}, fmt.Errorf("frontier: what is due: %w", err)
	}
	slices.SortFunc(waits, func(a, b Wait) int {
		return cmp.Or(a.Until.Compare(b.Until), cmp.Compare(a.Host, b.Host), cmp.Compare(a.Door, b.Door))
	})
	q.Hosts, q.Waits = len(waits), waits[:min(limit, len(waits))]
	return q, nil
}

// Wait returns what holds up the URLs behind a door of a group, and does not count them: a caller may ask it of many
// URLs. ok is false if they may be asked for.
func (f *Frontier) Wait(group, door string) (w Wait, ok bool, err error) {
	now := ms(f.opts.Now())
	err = f.db.View(func(txn *kv.Txn) error {
		h, err := f.readHost(txn, group)
		if err != nil {
			return err
		}
		if h.notBefore > now {
			w, ok = Wait{Host: group, Until: fromMS(h.notBefore), Why: h.wait}, true
		}
		for _, d := range h.doors {
			if d.notBefore > max(now, h.notBefore) && doorName(group, d.door) == door {
				w, ok = Wait{Host: group, Door: door, Until: fromMS(d.notBefore), Why: d.wait}, true
			}
		}
		return nil
	})
	if err != nil {
		return Wait{}, false, fmt.Errorf("frontier: host %s: %w", group, err)
	}
	return w, ok, nil
}

// add adds what a group has queued.
func (q *Queue) add(txn *kv.Txn, h *host, now int64, waits *[]Wait) error {
	isDue := false
	for i := range h.lanes {
		if err := h.lanes[i].loadHead(txn, h.group); err != nil {
			if errors.Is(err, ErrDamaged) {
				continue
			}
			return err
		}
		for _, e := range h.lanes[i].head {
			if isDue = isDue || e.due <= now; e.due > now {
				if at := fromMS(e.due); q.NextDue.IsZero() || at.Before(q.NextDue) {
					q.NextDue = at
				}
				break
			}
		}
	}
	if !isDue {
		return nil
	}
	var info HostInfo
	if err := h.due(txn, now, &info); err != nil {
		return err
	}
	q.Due += info.Due
	rest := info.Due
	for _, d := range info.Closed {
		if d.Due == 0 {
			continue
		}
		rest -= d.Due
		until := d.NotBefore
		if info.NotBefore.After(until) {
			until = info.NotBefore
		}
		*waits = append(*waits, Wait{Host: h.group, Door: d.Door, Due: d.Due, Until: until, Why: d.Wait})
	}
	if rest > 0 && !info.NotBefore.IsZero() {
		*waits = append(*waits, Wait{Host: h.group, Due: rest, Until: info.NotBefore, Why: info.Wait})
	} else {
		q.Askable += rest
	}
	return nil
}
