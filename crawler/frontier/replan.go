package frontier

import (
	"context"
	"errors"
	"fmt"
	"time"

	"odarchive/triplestore/kv"
)

// Replan gives the queued URLs whose last visit showed their content the time that next says, and says how many were moved:
// for when the settings of the schedule have changed. What is due already, or waits after a failure, stays.
func (f *Frontier) Replan(ctx context.Context, next func(*URL) (time.Time, string)) (moved int, err error) {
	now := f.opts.Now()
	waits := func(u *URL) bool {
		return u.Due.After(now) && u.Errors == 0 && len(u.History) > 0 && !u.Blacklisted
	}
	for after := ""; ; {
		var page, keys []string
		err := f.Each(Filter{}, after, perTxn, func(u *URL) error {
			page = append(page, u.Key)
			if waits(u) {
				if at, why := next(u); !at.Equal(u.Due) || why != u.Why {
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
		err = f.db.Update(ctx, func(txn *kv.Txn) error {
			b := f.newBatch(txn, now)
			for _, key := range keys {
				u, known, err := get(txn, key)
				if err != nil && !errors.Is(err, ErrDamaged) {
					return err
				}
				if !known || !waits(u) { // visited, or injected, in the meantime
					continue
				}
				if err := b.move(u, next); err != nil {
					return err
				}
			}
			return b.finish()
		})
		if err != nil {
			return moved, fmt.Errorf("frontier: replan: %w", err)
		}
		moved += len(keys)
	}
}

func (b *batch) move(u *URL, next func(*URL) (time.Time, string)) error {
	h, err := b.host(u.Group)
	if err != nil {
		return err
	}
	if err := h.dequeue(b.txn, u); err != nil {
		return err
	}
	u.Due, u.Why = next(u)
	if err := h.enqueue(b.txn, u); err != nil {
		return err
	}
	return u.save(b.txn)
}
