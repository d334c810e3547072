package frontier

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"odarchive/triplestore/kv"
)

// latest returns due, or the latest time that Options.MaxWait allows if due is later.
func (f *Frontier) latest(due time.Time) time.Time {
	if f.opts.MaxWait <= 0 {
		return due
	}
	if most := f.opts.Now().Add(f.opts.MaxWait); due.After(most) {
		return most
	}
	return due
}

// Straighten repairs what a clock that was ahead has left behind: no URL is due for longer than Options.MaxWait from
// now, and no host is left alone for longer than maxHostWait. Visits that lie in the future are moved into the past,
// with the intervals between them kept, and next, as in Replan, plans the URL again. It returns the number of URLs that
// it moved, and does nothing without MaxWait.
func (f *Frontier) Straighten(ctx context.Context, next func(*URL) (time.Time, string)) (moved int, err error) {
	if f.opts.MaxWait <= 0 {
		return 0, nil
	}
	if err := f.straightenHosts(ctx); err != nil {
		return 0, fmt.Errorf("frontier: straighten: %w", err)
	}
	now := f.opts.Now()
	most := ms(now.Add(f.opts.MaxWait))
	for from := recordKey(most+1, ""); ; {
		var page []string
		err := f.db.View(func(txn *kv.Txn) error {
			return txn.Scan(kv.SpaceDue, nil, from, func(k, _ []byte) (bool, error) {
				if len(k) > 8 {
					page = append(page, string(k[8:]))
				}
				from = append(slices.Clone(k), 0)
				return len(page) < perTxn, ctx.Err()
			})
		})
		if err != nil || len(page) == 0 {
			return moved, err
		}
		inTxn := 0
		err = f.db.Update(ctx, func(txn *kv.Txn) error {
			b := f.newBatch(txn, now)
			inTxn = 0
			for _, key := range page {
				u, known, err := get(txn, key)
				if err != nil && !errors.Is(err, ErrDamaged) {
					return err
				}
				if !known || ms(u.Due) <= most { // damaged, or changed in the meantime
					continue
				}
				if err := b.requeue(u, func() { u.straighten(now, next); u.Due = f.latest(u.Due) }); err != nil {
					return err
				}
				inTxn++
			}
			return b.finish()
		})
		if err != nil {
			return moved, fmt.Errorf("frontier: straighten: %w", err)
		}
		moved += inTxn
	}
}

// straighten moves the visits of a URL that lie after now before it, and plans its next visit.
func (u *URL) straighten(now time.Time, next func(*URL) (time.Time, string)) {
	if n := len(u.History); n > 0 {
		if ahead := u.History[n-1].At.Sub(now); ahead > 0 {
			u.History = slices.Clone(u.History)
			for i := range u.History {
				u.History[i].At = u.History[i].At.Add(-ahead)
			}
		}
	}
	if u.Added.After(now) {
		u.Added = now
	}
	if len(u.History) == 0 {
		u.Due, u.Why = now, "the clock was set back"
		return
	}
	u.Due, u.Why = next(u)
}

// maxHostWait is longer than any wait of a host: settings, Crawl-delay and Retry-After hold it for a day at most.
const maxHostWait = 25 * time.Hour

// straightenHosts ends waits of hosts that are longer than maxHostWait.
func (f *Frontier) straightenHosts(ctx context.Context) error {
	now := f.opts.Now()
	most := ms(now.Add(min(maxHostWait, f.opts.MaxWait)))
	for after := (place{at: most}); ; {
		var groups []string
		err := f.db.View(func(txn *kv.Txn) error {
			return txn.Scan(kv.SpaceHosts, []byte(prefixReady), readyKey(after.at, after.group), func(k, v []byte) (bool, error) {
				p, ok := placeOf(k)
				if !ok || p == after {
					return true, nil
				}
				if p.at == maxTime {
					return false, nil
				}
				h := &host{group: p.group}
				if err := h.decode(p.at, v); err == nil && h.waitsBeyond(most) {
					groups = append(groups, p.group)
				}
				after = p
				return len(groups) < perTxn, ctx.Err()
			})
		})
		if err != nil || len(groups) == 0 {
			return err
		}
		err = f.db.Update(ctx, func(txn *kv.Txn) error {
			for _, group := range groups {
				h, err := f.host(txn, group)
				if err != nil {
					return err
				}
				h.notBefore, h.wait, h.doors = 0, "", nil
				if err := h.updateReady(txn, ms(now)); err != nil {
					return err
				}
				if err := f.save(txn, h); err != nil {
					return err
				}
			}
			txn.OnCommit(f.signal)
			return nil
		})
		if err != nil {
			return err
		}
	}
}

// waitsBeyond reports whether the host, or a door of it, must not be asked before a time that is later than most.
func (h *host) waitsBeyond(most int64) bool {
	return h.notBefore > most || slices.ContainsFunc(h.doors, func(d doorWait) bool { return d.notBefore > most })
}
