package frontier

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// Get returns the record of a URL in any spelling. The error wraps ErrUnknown if the URL is not registered or its
// record is damaged.
func (f *Frontier) Get(raw string) (*URL, error) {
	var u *URL
	err := f.db.View(func(txn *kv.Txn) error {
		found, known, err := f.lookup(txn, raw)
		if err == nil && !known {
			err = ErrUnknown
		}
		if errors.Is(err, ErrDamaged) {
			err = fmt.Errorf("%w: %w", ErrUnknown, err)
		}
		u = found
		return err
	})
	if err != nil {
		return nil, withURL(raw, err)
	}
	return u, nil
}

// Filter selects URLs. The zero value selects all.
type Filter struct {
	Group  string // only URLs of this group
	Prefix string // only URLs whose keys have this prefix
}

// Each calls fn with URLs in the order of their keys, those after the key after, at most limit of them (0: all). fn may
// keep the record. Damaged records are skipped and logged.
func (f *Frontier) Each(filter Filter, after string, limit int, fn func(*URL) error) error {
	n := 0
	err := f.db.View(func(txn *kv.Txn) error {
		for _, prefix := range prefixes(filter) {
			if after >= prefix+"\xff" {
				continue
			}
			err := txn.Scan(kv.SpaceFrontier, []byte(prefix), []byte(max(after, prefix)), func(k, _ []byte) (bool, error) {
				if string(k) == after {
					return true, nil
				}
				u, _, err := get(txn, string(k))
				if errors.Is(err, ErrDamaged) {
					f.opts.Log.Warn("the record of a URL is damaged; it is restored when the URL is due", "key", string(k))
					return true, nil
				}
				if err != nil {
					return false, err
				}
				if filter.Group != "" && u.Group != filter.Group {
					return true, nil
				}
				n++
				return limit == 0 || n < limit, fn(u)
			})
			if err != nil || limit > 0 && n >= limit {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("frontier: %w", err)
	}
	return nil
}

// prefixes returns, in order, the prefixes of the keys that a filter may match.
func prefixes(filter Filter) []string {
	if filter.Prefix != "" || filter.Group == "" {
		return []string{filter.Prefix}
	}
	var all []string
	for _, scheme := range []string{"ftp", "http", "https"} {
		u, err := address.Parse(scheme + "://" + filter.Group + "/")
		if err != nil || u.Group() != filter.Group {
			return []string{""} // not a host: every key may match
		}
		all = append(all, strings.TrimSuffix(u.Key(), "/"))
	}
	return all
}

// Stats are counts of the whole frontier.
type Stats struct {
	URLs, Hosts, Visits int
	Outcomes            map[catalog.Outcome]int // of all visits
	Leased              int                     // groups being visited
	Held                string                  // why no leases are granted
	NextDue             time.Time               // when the next group is ready; the zero time if nothing is queued
}

// Leased returns the number of groups being visited.
func (f *Frontier) Leased() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.leases)
}

// Stats returns the counts.
func (f *Frontier) Stats() (Stats, error) {
	s := Stats{Outcomes: map[catalog.Outcome]int{}, Held: f.Held()}
	s.Leased = f.Leased()
	err := f.db.View(func(txn *kv.Txn) error {
		t, err := loadTotals(txn)
		if err != nil {
			return err
		}
		s.URLs, s.Hosts, s.Visits = int(t.urls), int(t.hosts), int(t.visits)
		for code, n := range t.outcomes {
			if n > 0 {
				s.Outcomes[outcomeOf(byte(code))] = int(n)
			}
		}
		return nil
	})
	if err != nil {
		return s, fmt.Errorf("frontier: stats: %w", err)
	}
	s.NextDue, _, err = f.NextDue()
	return s, err
}

// totals are sums over all groups, or changes of them.
type totals struct {
	urls, hosts, visits int64
	outcomes            [8]int64
}

// loadTotals returns the stored totals, or the sums over all groups if they are damaged.
func loadTotals(txn *kv.Txn) (totals, error) {
	var t totals
	b, ok, err := txn.Get(kv.SpaceHosts, []byte(keyTotals))
	if err != nil || !ok {
		return t, err
	}
	r := reader{fields.Reader{B: b}}
	t.urls, t.hosts, t.visits = r.Varint(), r.Varint(), r.Varint()
	for i := range t.outcomes {
		t.outcomes[i] = r.Varint()
	}
	if r.Bad() {
		return sumTotals(txn)
	}
	return t, nil
}

func (t totals) encode() []byte {
	w := writer{}
	w.int(t.urls)
	w.int(t.hosts)
	w.int(t.visits)
	for _, n := range t.outcomes {
		w.int(n)
	}
	return w.b
}

// add adds the change t to the stored totals.
func (t totals) add(txn *kv.Txn) error {
	if t == (totals{}) {
		return nil
	}
	old, err := loadTotals(txn)
	if err != nil {
		return err
	}
	t.urls, t.hosts, t.visits = t.urls+old.urls, t.hosts+old.hosts, t.visits+old.visits
	for i, n := range old.outcomes {
		t.outcomes[i] += n
	}
	return txn.Set(kv.SpaceHosts, []byte(keyTotals), t.encode())
}
