package frontier

import (
	"bytes"
	"fmt"
	"slices"

	"odarchive/triplestore/kv"
)

// inconsistency returns an error for the first violation of what FORMAT.md promises, or nil. Nothing else may use the
// frontier meanwhile.
func inconsistency(f *Frontier) error {
	return f.db.View(func(txn *kv.Txn) error {
		queued := map[string]map[laneID][]entry{} // by group and lane, in order
		err := txn.Scan(kv.SpaceFrontier, nil, nil, func(k, _ []byte) (bool, error) {
			u, _, err := get(txn, string(k))
			if err == nil && !u.Due.IsZero() && !u.Blacklisted {
				lanes := queued[u.Group]
				if lanes == nil {
					lanes = map[laneID][]entry{}
					queued[u.Group] = lanes
				}
				lanes[u.lane()] = append(lanes[u.lane()], entry{ms(u.Due), u.Key})
			}
			return true, err
		})
		if err != nil {
			return err
		}
		var records, urls, entries, places, groups int
		count := func(space kv.Space, prefix string, n *int) {
			if err == nil {
				err = txn.Scan(space, []byte(prefix), nil, func(_, _ []byte) (bool, error) { *n++; return true, nil })
			}
		}
		count(kv.SpaceDue, "", &records)
		count(kv.SpaceFrontier, "", &urls)
		count(kv.SpaceQueue, "", &entries)
		count(kv.SpaceHosts, prefixReady, &places)
		count(kv.SpaceHosts, prefixHost, &groups)
		if err != nil || records != urls || places != groups {
			return fmt.Errorf("%d records of %d URLs, %d of %d groups, %w", records, urls, places, groups, err)
		}
		var index []place
		err = txn.Scan(kv.SpaceHosts, []byte(prefixHost), nil, func(k, _ []byte) (bool, error) {
			h, err := loadHost(txn, string(k[1:]))
			if err != nil {
				return false, err
			}
			if p := (place{h.ready, h.group}); p.compare(f.window.end) < 0 {
				index = append(index, p)
			}
			for id, all := range queued[h.group] {
				slices.SortFunc(all, entry.compare)
				entries -= len(all)
				l := h.lane(id)
				if n := len(l.head); n > len(all) || !slices.Equal(l.head, all[:n]) || !l.more && n < len(all) {
					return false, fmt.Errorf("the record of %s begins %v (more: %v), its queue is %v", h.group, l.head, l.more, all)
				} else if n < len(all) && all[n].due < l.from {
					return false, fmt.Errorf("%s: more from %d on, but %v", h.group, l.from, all[n])
				}
				if h.ready > max(all[0].due, h.opens(id.door), ms(f.opts.Now())) { // an overdue group is ready from when it was examined
					return false,
						fmt.Errorf("%s is ready at %d, its first is due at %d, it waits until %d", h.group, h.ready, all[0].due,
							h.opens(id.door))
				}
			}
			for _, l := range h.lanes {
				if len(queued[h.group][l.laneID]) == 0 && len(l.head) > 0 {
					return false, fmt.Errorf("the record of %s has %v, its queue nothing", h.group, l.head)
				}
			}
			return true, nil
		})
		if err != nil {
			return err
		}
		for group, r := range f.window.records {
			v, _, err := txn.Get(kv.SpaceHosts, readyKey(r.at, group))
			if inside := (place{r.at, group}).compare(f.window.end) < 0; err != nil || !bytes.Equal(v, r.bytes) || !inside &&
				f.leases[group] == nil {
				return fmt.Errorf("the record of %s in memory is %x, on disk %x, leased: %v, %w", group, r.bytes, v, f.leases[group] != nil,
					err)
			}
		}
		for _, p := range f.window.known {
			if _, ok := f.window.records[p.group]; !ok {
				return fmt.Errorf("no record of %s in memory", p.group)
			}
		}
		if len(f.writing) > 0 {
			return fmt.Errorf("still writing %v", f.writing)
		}
		slices.SortFunc(index, place.compare)
		if entries != 0 || !slices.Equal(index, f.window.known) {
			return fmt.Errorf("%d entries too many; the index begins %v, the window has %v", entries, index, f.window.known)
		}
		return nil
	})
}
