package frontier

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"odarchive/triplestore/kv"
)

// A pass over all URLs reads their records in the order in which they lie on the disk, by due time. (Each, in the order
// of the keys, reads each of them in another place than the one before.)

// scanPage is how many records a pass reads at a time, so that no state of the database is held for long.
const scanPage = 1000

// EachByDue calls fn with every URL that is due at from or later, by due time; the zero time stands for all URLs,
// beginning with those that are never due. It ends with the first error of fn, or when ctx ends. fn may keep the
// record, and change the frontier; a URL that is moved to a later time meanwhile may be visited twice. Damaged records
// are skipped and logged.
func (f *Frontier) EachByDue(ctx context.Context, from, until time.Time, fn func(*URL) error) error {
	start := recordKey(minTime, "")
	if !from.IsZero() {
		start = recordKey(ms(from), "")
	}
	for more := true; more; {
		var page []*URL
		var err error
		if page, start, more, err = f.pageByDue(start, until); err != nil {
			return fmt.Errorf("frontier: %w", err)
		}
		for _, u := range page {
			if err := errors.Join(ctx.Err(), fn(u)); err != nil {
				return err
			}
		}
	}
	return nil
}

// pageByDue returns the records from a key on, with due times until a time if that is not zero. next is the key of the
// next page.
func (f *Frontier) pageByDue(from []byte, until time.Time) (page []*URL, next []byte, more bool, err error) {
	n := 0
	err = f.db.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceDue, nil, from, func(k, v []byte) (bool, error) {
			if len(k) < 8 || !until.IsZero() && readTime(k) > ms(until) {
				more = false
				return len(k) < 8, nil
			}
			if n++; n > scanPage {
				next, more = bytes.Clone(k), true
				return false, nil
			}
			u := &URL{Key: string(k[8:]), known: true, stored: readTime(k)}
			if u.decode(v) != nil || ms(u.Due) != u.stored {
				f.opts.Log.Warn("the record of a URL is damaged; it is restored when the URL is due", "key", u.Key)
				return true, nil
			}
			page = append(page, u)
			return true, nil
		})
	})
	return page, next, more, err
}
