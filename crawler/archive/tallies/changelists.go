package tallies

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"odarchive/triplestore/kv"
)

// ChangesOf is how the files of one portal, host or media type change.
type ChangesOf struct {
	Key      string `json:"key"`
	Versions int    `json:"versions"`
	Visits   int    `json:"visits"`
	Changes
}

// ChangeStats are the figures of /stats/changes, most changes first.
type ChangeStats struct {
	Total   ChangesOf   `json:"total"`
	Portals []ChangesOf `json:"portals"`
	Hosts   []ChangesOf `json:"hosts"`
	Types   []ChangesOf `json:"types"`
}

// changeLists caches the tallies behind ChangeStats, sorted, once they were asked for: an archive has 100,000 hosts,
// and decoding their tallies takes half a second. A commit only notes which tallies it changed; the next reader reads
// those.
type changeLists struct {
	mu      sync.Mutex // held by the one reader that brings the lists up to date; commits only wait for dirtyMu
	lists   map[Group][]ChangesOf
	dirtyMu sync.Mutex
	dirty   map[Group]map[string]struct{} // names of the tallies that changed since their list was read
}

// noteChanged is called when a transaction that changed tallies is committed.
func (l *changeLists) noteChanged(changed []tallyID) {
	l.dirtyMu.Lock()
	defer l.dirtyMu.Unlock()
	for _, t := range changed {
		if names, held := l.dirty[t.group]; held {
			names[t.name] = struct{}{}
		}
	}
}

// takeDirty returns the names of the tallies that changed since the last call, and starts a new set.
func (l *changeLists) takeDirty(group Group) map[string]struct{} {
	l.dirtyMu.Lock()
	defer l.dirtyMu.Unlock()
	if l.dirty == nil {
		l.dirty = map[Group]map[string]struct{}{}
	}
	was := l.dirty[group]
	l.dirty[group] = map[string]struct{}{}
	return was
}

// ChangeStats sums up how versions differed from the ones before them; each list has at most limit entries (0: all).
func (s *Tallies) ChangeStats(ctx context.Context, limit int) (stats ChangeStats, err error) {
	err = s.db.View(func(txn *kv.Txn) error {
		all, err := Get(txn, All, "")
		stats.Total = all.changesOf("")
		return err
	})
	for _, list := range []struct {
		group Group
		to    *[]ChangesOf
	}{{ByPortal, &stats.Portals}, {ByHost, &stats.Hosts}, {ByType, &stats.Types}} {
		if err == nil {
			*list.to, err = s.changesBy(ctx, list.group, limit)
		}
	}
	return stats, err
}

func (n Tally) changesOf(name string) ChangesOf {
	return ChangesOf{Key: name, Versions: n.Versions, Visits: n.Visits, Changes: n.Changes}
}

// changesBy returns the changes of a group, most changes first, at most limit (0: all).
func (s *Tallies) changesBy(ctx context.Context, group Group, limit int) ([]ChangesOf, error) {
	l := &s.lists
	l.mu.Lock()
	defer l.mu.Unlock()
	dirty := l.takeDirty(group) // before the transaction that reads: a commit in between is read twice, never missed
	list, held := l.lists[group]
	var fresh []ChangesOf
	err := s.db.View(func(txn *kv.Txn) error {
		add := func(name string, n Tally) error {
			fresh = append(fresh, n.changesOf(name))
			return nil
		}
		if !held {
			return Each(ctx, txn, group, add)
		}
		for name := range dirty {
			n, err := Get(txn, group, name)
			if err != nil {
				return err
			}
			if err := add(name, n); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		delete(l.lists, group) // the dirty names are lost, so the next call reads everything
		return nil, err
	}
	if len(fresh) > 0 || !held {
		slices.SortFunc(fresh, compareChanges)
		if l.lists == nil {
			l.lists = map[Group][]ChangesOf{}
		}
		list = merge(slices.DeleteFunc(list, func(c ChangesOf) bool { _, stale := dirty[c.Key]; return stale }), fresh)
		l.lists[group] = list
	}
	n := len(list)
	if limit > 0 {
		n = min(n, limit)
	}
	return append([]ChangesOf{}, list[:n]...), nil
}

// compareChanges orders the most changes first.
func compareChanges(x, y ChangesOf) int {
	return cmp.Or(cmp.Compare(y.Changes.Versions, x.Changes.Versions), strings.Compare(x.Key, y.Key))
}

// merge merges sorted lists into one, reusing the memory of a.
func merge(a, b []ChangesOf) []ChangesOf {
	if len(a) == 0 {
		return b
	}
	a = slices.Grow(a, len(b))
	i, j := len(a)-1, len(b)-1
	a = a[:len(a)+len(b)]
	for at := len(a) - 1; j >= 0; at-- { // from the end, in place
		if i >= 0 && compareChanges(a[i], b[j]) > 0 {
			a[at] = a[i]
			i--
		} else {
			a[at] = b[j]
			j--
		}
	}
	return a
}
