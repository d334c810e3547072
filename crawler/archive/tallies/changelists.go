package archive

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
)

// changeLists hold the tallies behind ChangeStats, sorted, since the first time they were asked for: an archive has
// 100,000 hosts, and decoding them costs half a second. A commit only notes what it counted; the next reader reads those again.
type changeLists struct {
	mu      sync.Mutex // one reader brings them up to date, the others wait; commits wait for dirtyMu only
	lists   map[string][]ChangesOf
	dirtyMu sync.Mutex
	dirty   map[string]map[string]struct{} // what was counted since, by name; nil while nothing is held
}

// counted is one tally that a transaction changed.
type counted struct{ name, what string }

// noteCommit is called when a transaction is committed.
func (l *changeLists) noteCommit(list []counted) {
	l.dirtyMu.Lock()
	defer l.dirtyMu.Unlock()
	for _, c := range list {
		if of, held := l.dirty[c.name]; held {
			of[c.what] = struct{}{}
		}
	}
}

// take gives what was counted since the last time, and begins anew.
func (l *changeLists) take(name string) map[string]struct{} {
	l.dirtyMu.Lock()
	defer l.dirtyMu.Unlock()
	if l.dirty == nil {
		l.dirty = map[string]map[string]struct{}{}
	}
	was := l.dirty[name]
	l.dirty[name] = map[string]struct{}{}
	return was
}

// changesBy gives the tallies of a name, most changes first; at most limit, 0 for all.
func (a *Archive) changesBy(ctx context.Context, name string, limit int) ([]ChangesOf, error) {
	l := &a.changeLists
	l.mu.Lock()
	defer l.mu.Unlock()
	dirty := l.take(name) // before the transaction begins that reads: a commit in between is read twice, never missed
	list, held := l.lists[name]
	var fresh []ChangesOf
	err := a.view(func(t tables) error {
		add := func(what string, n tally) error {
			fresh = append(fresh, n.changesOf(what))
			return nil
		}
		if !held {
			return t.counts(ctx, name, add)
		}
		for what := range dirty {
			n, err := t.counted(name, what)
			if err != nil {
				return err
			}
			if err := add(what, n); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		delete(l.lists, name) // what was noted is lost: begin again
		return nil, err
	}
	if len(fresh) > 0 || !held {
		slices.SortFunc(fresh, mostChanges)
		if l.lists == nil {
			l.lists = map[string][]ChangesOf{}
		}
		list = merged(slices.DeleteFunc(list, func(c ChangesOf) bool { _, again := dirty[c.Key]; return again }), fresh)
		l.lists[name] = list
	}
	n := len(list)
	if limit > 0 {
		n = min(n, limit)
	}
	return append([]ChangesOf{}, list[:n]...), nil
}

func mostChanges(x, y ChangesOf) int {
	return cmp.Or(cmp.Compare(y.Changes.Versions, x.Changes.Versions), strings.Compare(x.Key, y.Key))
}

// merged makes one sorted list of two.
func merged(a, b []ChangesOf) []ChangesOf {
	if len(a) == 0 {
		return b
	}
	a = slices.Grow(a, len(b))
	i, j := len(a)-1, len(b)-1
	a = a[:len(a)+len(b)]
	for at := len(a) - 1; j >= 0; at-- { // from behind, in place
		if i >= 0 && mostChanges(a[i], b[j]) > 0 {
			a[at] = a[i]
			i--
		} else {
			a[at] = b[j]
			j--
		}
	}
	return a
}
