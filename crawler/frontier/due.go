package frontier

import (
	"fmt"
	"time"

	"odarchive/triplestore/kv"
)

// NextDue is when the next group that nobody has leased is ready; it may be in the past. ok is false where nothing is
// queued.
func (f *Frontier) NextDue() (at time.Time, ok bool, err error) {
	from := f.lookFrom()
	err = f.db.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceHosts, []byte(prefixReady), readyKey(from, ""), func(k, _ []byte) (bool, error) {
			if f.leased(string(k[9:])) {
				return true, nil
			}
			at, ok = fromMS(readTime(k[1:])), true
			return false, nil
		})
	})
	if err != nil {
		return at, false, fmt.Errorf("frontier: next due: %w", err)
	}
	return at, ok, nil
}

// Pending says whether a URL that is due now is being visited or can be leased within patience, and when. It is how a
// crawl of what is due knows its end: hosts that wait for longer are left for another time.
func (f *Frontier) Pending(patience time.Duration) (pending bool, at time.Time, err error) {
	now := f.opts.Now()
	f.mu.Lock()
	leased := len(f.leases)
	f.mu.Unlock()
	if leased > 0 {
		return true, now, nil
	}
	until := ms(now.Add(patience))
	from := f.lookFrom()
	err = f.db.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceHosts, []byte(prefixReady), readyKey(from, ""), func(k, _ []byte) (bool, error) {
			ready, group := readTime(k[1:]), string(k[9:])
			if ready > until {
				return false, nil
			}
			h, err := loadHost(txn, group)
			if err != nil || h.notBefore > until {
				return true, err
			}
			err = h.due(txn, ms(now), func(string) bool { pending = true; return false })
			at = fromMS(max(ready, h.notBefore))
			return !pending, err
		})
	})
	if err != nil {
		return false, at, fmt.Errorf("frontier: pending: %w", err)
	}
	return pending, at, nil
}

// lookFrom is a time before which no group is ready. Looking from there passes by what was deleted before it.
func (f *Frontier) lookFrom() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.from
}
