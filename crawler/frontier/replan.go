package frontier

import (
	"context"
	"errors"
	"fmt"
	"time"

	"odarchive/triplestore/kv"
)

// Replan moves queued URLs to the time that next returns, for when the settings of the schedule have changed. It
// returns the number of URLs that it moved. A URL stays if it is due already, was never visited, is blacklisted, or
// failed at its last visit.
func (f *Frontier) Replan(ctx context.Context, next func(*URL) (time.Time, string)) (moved int, err error) {
	now := f.opts.Now()
	plan := func(u *URL) (time.Time, string) {
		at, why := next(u)
		return f.latest(at), why
	}
	waits := func(u *URL) bool {
		return u.Due.After(now) && u.Errors == 0 && len(u.History) > 0 && !u.Blacklisted
	}
	for after := ""; ; {
		var page, keys []string
		err := f.Each(Filter{}, after, perTxn, func(u *URL) error {
			page = append(page, u.Key)
			if waits(u) {
				if at, why := plan(u); !at.Equal(u.Due) || why != u.Why {
					keys = append(keys, u.Key)
				}
			}
			return ctx.Err()
		})
		if err != nil || len(page) == 0 {
			return moved, err
		}
		after = page[len(page)-1]
		if len(keys) == 0 {
			continue
		}
		var inTxn int
		err = f.db.Update(ctx, func(txn *kv.Txn) error {
			b := f.newBatch(txn, now)
			inTxn = 0
			for _, key := range keys {
				u, known, err := get(txn, key)
				if err != nil && !errors.Is(err, ErrDamaged) {
					return err
				}
				if !known || !waits(u) { // changed in the meantime
					continue
				}
				if err := b.requeue(u, func() { u.Due, u.Why = plan(u) }); err != nil {
					return err
				}
				inTxn++
			}
			return b.finish()
		})
		if err != nil {
			return moved, fmt.Errorf("frontier: replan: %w", err)
		}
		moved += inTxn
	}
}
