package frontier

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"odarchive/triplestore/kv"
)

// Replan moves URLs that are queued for a time until until, or for any time if that is zero, to the time that next
// returns, for when the settings of the schedule have changed. It returns the number of URLs that it moved. A URL stays
// if it is due already, was never visited, is blacklisted, or failed at its last visit.
func (f *Frontier) Replan(ctx context.Context, until time.Time, next func(*URL) (time.Time, string)) (moved int, err error) {
	now := f.opts.Now()
	plan := func(u *URL) (time.Time, string) {
		at, why := next(u)
		return f.latest(at), why
	}
	waits := func(u *URL) bool {
		return u.Due.After(now) && u.Errors == 0 && len(u.History) > 0 && !u.Blacklisted
	}
	for start, more := recordKey(ms(now), ""), true; more; {
		var page []*URL
		if page, start, more, err = f.pageByDue(start, until); err != nil {
			return moved, fmt.Errorf("frontier: replan: %w", err)
		}
		var keys []string
		for _, u := range page {
			if ctx.Err() != nil {
				return moved, ctx.Err()
			}
			if !waits(u) {
				continue
			}
			if at, why := plan(u); !at.Equal(u.Due) || why != u.Why {
				keys = append(keys, u.Key)
			}
		}
		for part := range slices.Chunk(keys, perTxn) {
			n, err := f.replan(ctx, part, now, waits, plan)
			if err != nil {
				return moved, fmt.Errorf("frontier: replan: %w", err)
			}
			moved += n
		}
	}
	return moved, nil
}

// replan moves the URLs with some keys, in one transaction, if they still wait.
func (f *Frontier) replan(ctx context.Context, keys []string, now time.Time, waits func(*URL) bool,
	plan func(*URL) (time.Time, string)) (moved int, err error) {
	err = f.db.Update(ctx, func(txn *kv.Txn) error {
		b := f.newBatch(txn, now)
		moved = 0
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
			moved++
		}
		return b.finish()
	})
	return moved, err
}
