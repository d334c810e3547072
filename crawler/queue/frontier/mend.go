package frontier

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/queue/schedule"
	"odarchive/triplestore/kv"
)

// Damaged records stop nothing. A group's record is computed from the records of its URLs and from its queue. A URL's
// record is restored from the job in progress, or from Options.Recall. A URL that neither has is removed, and named in
// the log. Single records are meant: the database repairs whole blocks.

// ErrDamaged is wrapped by every error about a damaged record.
var ErrDamaged = errors.New("a damaged record")

// Recalled is what is known elsewhere about a URL whose record is damaged. Only URL is required.
type Recalled struct {
	URL     string
	Format  string
	Added   time.Time
	Fetches int
	Errors  int
	History []schedule.Visit
}

// recall returns a record made of what Options.Recall returns, or nil if that does not know the URL.
func (f *Frontier) recall(key string) (*URL, error) {
	if f.opts.Recall == nil {
		return nil, nil
	}
	r, known, err := f.opts.Recall(key)
	if err != nil || !known {
		return nil, err
	}
	parsed, err := address.Parse(r.URL)
	if err != nil || keyOf(parsed) != key {
		return nil, nil
	}
	return &URL{Key: key, URL: r.URL, Format: r.Format, Group: parsed.Group(), Added: r.Added, Due: f.opts.Now(),
		History: r.History, Fetches: r.Fetches, Errors: r.Errors, Why: "its record in the queue was damaged"}, nil
}

// mendURL restores the record of a URL, and computes that of its group, which the caller must save. u is nil if the URL
// is lost.
func (f *Frontier) mendURL(txn *kv.Txn, group string, e entry, as *URL) (h *host, u *URL, err error) {
	if u, err = f.restore(txn, group, e, as); err != nil {
		return nil, nil, err
	}
	if u != nil {
		group = u.Group
	}
	h, err = f.remake(txn, group, true)
	return h, u, err
}

// restore writes the record of a URL whose record is damaged: as, if not nil, else the recalled one. It deletes what is
// left of the damaged one, and its entries in the queue of group. u is nil if the URL is lost.
func (f *Frontier) restore(txn *kv.Txn, group string, e entry, as *URL) (u *URL, err error) {
	if u, known, err := get(txn, e.key); err == nil && known && u.isConsistent() { // restored already
		return u, nil
	}
	if u = as; u == nil {
		if u, err = f.recall(e.key); err != nil { // must not stop the others
			f.opts.Log.Error("a URL with a damaged record cannot be recalled", "key", e.key, "error", err)
		}
	}
	if err := clearURL(txn, group, e); err != nil {
		return nil, err
	}
	if u == nil {
		f.opts.Log.Error("the record of a URL is damaged and the archive does not have it either: removed", "key", e.key, "host", group)
		return nil, nil
	}
	f.opts.Log.Warn("the damaged record of a URL was restored", "key", e.key, "url", u.URL)
	u.known = false
	return u, u.save(txn)
}

// clearURL deletes the entry of a URL's key, its records at the time of that entry and at e.due, and its entries in the
// queue of group.
func clearURL(txn *kv.Txn, group string, e entry) error {
	at, there, err := txn.Get(kv.SpaceFrontier, []byte(e.key))
	if err != nil {
		return err
	}
	records := [][]byte{recordKey(e.due, e.key)}
	if there && len(at) == 8 {
		records = append(records, recordKey(readTime(at), e.key))
	}
	for _, k := range records {
		if err := txn.Delete(kv.SpaceDue, k); err != nil {
			return err
		}
	}
	if err := txn.Delete(kv.SpaceFrontier, []byte(e.key)); err != nil {
		return err
	}
	return eachQueued(txn, group, func(_ laneID, q entry, k []byte) error {
		if q.key != e.key {
			return nil
		}
		return txn.Delete(kv.SpaceQueue, k)
	})
}

// eachQueued calls fn with the queue entries of a group and their keys, in order.
func eachQueued(txn *kv.Txn, group string, fn func(lane laneID, e entry, k []byte) error) error {
	prefix := append([]byte(group), 0)
	return txn.Scan(kv.SpaceQueue, prefix, nil, func(k, _ []byte) (bool, error) {
		due, key, ok := cutQueueKey(k, group)
		if !ok {
			return true, nil
		}
		return true, fn(laneID{k[len(group)+1], k[len(group)+2]}, entry{due, key}, slices.Clone(k))
	})
}

// remake computes the record of a group from the records of its URLs and from its queue. That is slow, and needed only
// if the record is damaged. What only that had is lost: the bytes of versions, a back-off, and outcomes older than the
// histories. If write is set, remake adds missing queue entries, and the caller must save the record.
func (f *Frontier) remake(txn *kv.Txn, group string, write bool) (*host, error) {
	h := &host{group: group, ready: maxTime}
	var err error
	if h.stale, err = places(txn, group); err != nil {
		return nil, err
	}
	for _, prefix := range prefixes(Filter{Group: group}) {
		err := txn.Scan(kv.SpaceFrontier, []byte(prefix), nil, func(k, _ []byte) (bool, error) {
			u, _, err := get(txn, string(k))
			if errors.Is(err, ErrDamaged) {
				return true, nil
			}
			if err != nil || u.Group != group {
				return err == nil, err
			}
			h.count(u)
			if !write || u.Due.IsZero() || u.Blacklisted {
				return true, nil
			}
			queued := queueKey(group, u.lane(), ms(u.Due), u.Key)
			there, err := txn.Read(kv.SpaceQueue, queued, func([]byte) error { return nil })
			if err == nil && !there {
				err = txn.Set(kv.SpaceQueue, queued, nil)
			}
			return err == nil, err
		})
		if err != nil {
			return nil, err
		}
	}
	err = eachQueued(txn, group, func(id laneID, _ entry, _ []byte) error {
		l := h.lane(id)
		l.more, l.from = true, minTime
		return nil
	})
	if err == nil {
		err = h.updateReady(txn, ms(f.opts.Now()))
	}
	return h, err
}

// count adds a URL to the counts of its group's record.
func (h *host) count(u *URL) {
	h.urls++
	h.visits += int64(u.Fetches)
	h.versions += int64(u.Changes)
	for _, v := range u.History {
		h.lastVisit = max(h.lastVisit, ms(v.At))
		h.outcomes[outcomeCode(v.Outcome)]++
	}
}

// places returns the times of a group's entries in the index of ready groups: one, unless something is damaged.
func places(txn *kv.Txn, group string) (all []int64, err error) {
	err = txn.Scan(kv.SpaceHosts, []byte(prefixReady), nil, func(k, _ []byte) (bool, error) {
		if p, ok := placeOf(k); ok && p.group == group {
			all = append(all, p.at)
		}
		return true, nil
	})
	return all, err
}

// mend restores the records of the URLs with the given queue entries, and computes the record of their group.
func (f *Frontier) mend(ctx context.Context, group string, urls ...entry) error {
	err := f.db.Update(ctx, func(txn *kv.Txn) error {
		groups := map[string]*host{}
		for _, e := range urls {
			h, _, err := f.mendURL(txn, group, e, nil)
			if err != nil {
				return err
			}
			groups[h.group] = h
			if h.group != group { // it was in the wrong queue
				delete(groups, group)
			}
		}
		if groups[group] == nil {
			h, err := f.remake(txn, group, true)
			if err != nil {
				return err
			}
			groups[group] = h
		}
		for _, h := range groups {
			if err := f.saveOrDrop(txn, h); err != nil {
				return err
			}
		}
		return retotal(txn)
	})
	if err != nil {
		return fmt.Errorf("frontier: mend %s: %w", group, err)
	}
	return nil
}

// saveOrDrop saves the computed record of a group, or deletes it if the group has no URLs.
func (f *Frontier) saveOrDrop(txn *kv.Txn, h *host) error {
	if h.urls > 0 || len(h.lanes) > 0 {
		return f.save(txn, h)
	}
	for _, at := range h.stale {
		if err := txn.Delete(kv.SpaceHosts, readyKey(at, h.group)); err != nil {
			return err
		}
	}
	txn.OnCommit(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.window.remove(h.group, h.stale)
	})
	return txn.Delete(kv.SpaceHosts, hostKey(h.group))
}

// retotal computes the totals from the records of all groups.
func retotal(txn *kv.Txn) error {
	t, err := sumTotals(txn)
	if err != nil {
		return err
	}
	return txn.Set(kv.SpaceHosts, []byte(keyTotals), t.encode())
}

// sumTotals returns the sums over the readable records of all groups.
func sumTotals(txn *kv.Txn) (t totals, err error) {
	err = txn.Scan(kv.SpaceHosts, []byte(prefixReady), nil, func(k, v []byte) (bool, error) {
		p, ok := placeOf(k)
		h := &host{group: p.group}
		if !ok || h.decode(p.at, v) != nil {
			return true, nil
		}
		if h.urls > 0 {
			t.hosts++
		}
		t.urls += h.urls
		t.visits += h.visits
		for i, n := range h.outcomes {
			t.outcomes[i] += n
		}
		return true, nil
	})
	return t, err
}
