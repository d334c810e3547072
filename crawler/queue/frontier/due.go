package frontier

import (
	"fmt"
	"time"

	"odarchive/triplestore/kv"
)

// NextDue returns when the next group without a lease is ready, which may be in the past. ok is false if there is none.
func (f *Frontier) NextDue() (at time.Time, ok bool, err error) {
	f.mu.Lock()
	for _, p := range f.window.known {
		if !f.busy(p.group) {
			f.mu.Unlock()
			return fromMS(p.at), true, nil
		}
	}
	from := f.window.end
	f.mu.Unlock()
	err = f.db.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceHosts, []byte(prefixReady), readyKey(from.at, from.group), func(k, _ []byte) (bool, error) {
			p, ok2 := placeOf(k)
			if !ok2 {
				return true, nil
			}
			if p.at == maxTime {
				return false, nil
			}
			if f.leased(p.group) {
				return true, nil
			}
			at, ok = fromMS(p.at), true
			return false, nil
		})
	})
	if err != nil {
		return at, false, fmt.Errorf("frontier: next due: %w", err)
	}
	return at, ok, nil
}

// Pending reports whether a URL that is due now is being visited or can be leased within patience, and when. A crawl of
// what is due ends if there is none: it does not wait for hosts that must not be asked for longer.
func (f *Frontier) Pending(patience time.Duration) (pending bool, at time.Time, err error) {
	now := f.opts.Now()
	f.mu.Lock()
	leased := len(f.leases)
	f.mu.Unlock()
	if leased > 0 {
		return true, now, nil
	}
	until := ms(now.Add(patience))
	f.mu.Lock()
	from := f.window.first()
	f.mu.Unlock()
	err = f.db.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceHosts, []byte(prefixReady), readyKey(from.at, from.group), func(k, v []byte) (bool, error) {
			p, ok := placeOf(k)
			if !ok {
				return true, nil
			}
			if p.at > until {
				return false, nil
			}
			h := &host{group: p.group}
			if err := h.decode(p.at, v); err != nil { // a lease restores it
				pending, at = true, fromMS(p.at)
				return false, nil
			}
			if h.notBefore > until {
				return true, nil
			}
			due, err := h.mostUrgent(txn, ms(now), until, 1)
			pending = len(due) > 0
			at = fromMS(max(p.at, h.notBefore))
			return !pending, err
		})
	})
	if err != nil {
		return false, at, fmt.Errorf("frontier: pending: %w", err)
	}
	return pending, at, nil
}
