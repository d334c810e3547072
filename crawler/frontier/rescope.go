package frontier

import (
	"context"
	"errors"
	"fmt"
	"time"

	"odarchive/triplestore/kv"
)

// Rescope asks Options.Refuses about all URLs again, for when its answers have changed: those that it refuses are never due
// from now on, and those that are not due because isRefusal recognises their reason, and which it no longer refuses, are due
// now. Blacklisted URLs stay. It changes perTxn URLs in a transaction, and may be repeated after it was cut off.
func (f *Frontier) Rescope(ctx context.Context, isRefusal func(why string) bool) (out, in int, err error) {
	if f.opts.Refuses == nil {
		return 0, 0, nil
	}
	for after, more := "", true; more; {
		var keys []string
		seen := 0
		err := f.Each(Filter{}, after, 0, func(u *URL) error {
			after = u.Key
			if f.moves(u, isRefusal) {
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
				if err != nil || !known || !f.moves(u, isRefusal) { // changed meanwhile
					continue
				}
				due, reason := time.Time{}, f.opts.Refuses(u, true)
				if reason == "" {
					due, reason = b.now, "in scope again"
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
			return out, in, fmt.Errorf("frontier: rescope: %w", err)
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
