package frontier

import (
	"context"
	"errors"
	"fmt"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/kv"
)

// Rescope asks Options.Refuses about all URLs again, for when its answers have changed: those that it refuses are never
// due from now on, and those that are not due because isRefusal recognises their reason, and which it no longer
// refuses, are due now. Blacklisted URLs stay. It changes perTxn URLs in a transaction, and may be repeated after it
// was cut off.
func (f *Frontier) Rescope(ctx context.Context, isRefusal func(why string) bool) (out, in int, err error) {
	if f.opts.Refuses == nil {
		return 0, 0, nil
	}
	moves := func(u *URL) bool { return f.moves(u, isRefusal) }
	return f.moveAll(ctx, moves, func(u *URL) string { return f.opts.Refuses(u, true) }, "in scope again")
}

// Blocked makes the URLs due whose last visit a setting forbade, for when these settings have changed.
func (f *Frontier) Blocked(ctx context.Context, why string) (due int, err error) {
	_, due, err = f.moveAll(ctx, func(u *URL) bool {
		return !u.Blacklisted && u.Due.After(f.opts.Now()) && len(u.History) > 0 && u.History[len(u.History)-1].Outcome == catalog.Blocked
	}, func(*URL) string { return "" }, why)
	return due, err
}

// moveAll makes the URLs that moves selects not due if there is a reason against that, or due, for the reason again.
func (f *Frontier) moveAll(ctx context.Context, moves func(*URL) bool, against func(*URL) string, again string) (out, in int, err error) {
	for after, more := "", true; more; {
		var keys []string
		seen := 0
		err := f.Each(Filter{}, after, 0, func(u *URL) error {
			after = u.Key
			if moves(u) {
				keys = append(keys, u.Key)
			}
			if seen++; seen >= scanPart || len(keys) >= perTxn {
				return errPart
			}
			return nil
		})
		more = errors.Is(err, errPart)
		if err != nil && !more {
			return out, in, err
		}
		var nowOut, nowIn int
		err = f.db.Update(ctx, func(txn *kv.Txn) error {
			nowOut, nowIn = 0, 0
			if len(keys) == 0 {
				return nil
			}
			b := f.newBatch(txn, f.opts.Now())
			for _, key := range keys {
				u, known, err := get(txn, key)
				if err != nil && !errors.Is(err, ErrDamaged) {
					return err
				}
				if err != nil || !known || !moves(u) { // changed meanwhile
					continue
				}
				due, reason := time.Time{}, against(u)
				if reason == "" {
					due, reason = b.now, again
					nowIn++
				} else {
					nowOut++
				}
				if err := b.requeue(u, func() { u.Due, u.Why = due, reason }); err != nil {
					return err
				}
			}
			return b.finish()
		})
		if err != nil {
			return out, in, fmt.Errorf("frontier: move URLs: %w", err)
		}
		out, in = out+nowOut, in+nowIn
	}
	return out, in, nil
}

// moves reports whether Rescope changes a URL.
func (f *Frontier) moves(u *URL, isRefusal func(string) bool) bool {
	if u.Blacklisted {
		return false
	}
	refused := u.Due.IsZero() && isRefusal(u.Why)
	if f.opts.Refuses(u, false) == "" {
		return refused
	}
	return !refused
}
