package frontier

import (
	"context"
	"fmt"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/kv"
)

// AddIn does what Add does, within the caller's transaction: all of the seeds or none. A URL that cannot be crawled is a
// *BadURL.
func (f *Frontier) AddIn(txn *kv.Txn, seeds ...catalog.Seed) error {
	b := f.newBatch(txn, f.opts.Now())
	for _, s := range seeds {
		if err := b.add(s); err != nil {
			return err
		}
	}
	return b.finish()
}

// LeaseURL leases one known URL, due or not. ErrLeaseLost where somebody else is visiting its group at this moment.
func (f *Frontier) LeaseURL(ctx context.Context, raw string) (*Lease, error) {
	f.taking.Lock()
	defer f.taking.Unlock()
	var u *URL
	err := f.db.View(func(txn *kv.Txn) (err error) {
		var known bool
		if u, known, err = f.look(txn, raw); err == nil && !known {
			err = ErrUnknown
		}
		return err
	})
	if err != nil {
		return nil, about(raw, err)
	}
	if f.leased(u.Group) {
		return nil, fmt.Errorf("frontier: %s: %w: its host is being visited", raw, ErrLeaseLost)
	}
	return f.grant(ctx, u.Group, []Job{u.job()}), nil
}
