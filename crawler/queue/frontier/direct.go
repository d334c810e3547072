package frontier

import (
	"context"
	"errors"
	"fmt"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/kv"
)

// AddIn is Add within the caller's transaction. It stops at a malformed URL with a *BadURL; the caller then must not
// commit.
func (f *Frontier) AddIn(txn *kv.Txn, seeds ...catalog.Seed) error {
	b := f.newBatch(txn, f.opts.Now())
	for _, s := range seeds {
		if err := b.add(s); err != nil {
			return err
		}
	}
	return b.finish()
}

// MakeDueIn queues known URLs for now, inside a transaction. Unknown and malformed ones are skipped.
func (f *Frontier) MakeDueIn(txn *kv.Txn, urls ...string) error {
	b := f.newBatch(txn, f.opts.Now())
	for _, raw := range urls {
		u, known, err := b.lookup(raw)
		var bad *BadURL
		if errors.As(err, &bad) || err == nil && !known {
			continue
		}
		if err == nil {
			err = b.makeDue(u)
		}
		if err != nil {
			return err
		}
	}
	return b.finish()
}

// Prioritisation changes the priority of a URL.
type Prioritisation struct {
	URL      string
	From, To float64
}

// PrioritiseIn changes the priorities of known URLs, inside a transaction. URLs that are unknown or malformed are
// skipped, and those whose priority is not From, since an operator has set it, or another source.
func (f *Frontier) PrioritiseIn(txn *kv.Txn, list ...Prioritisation) error {
	b := f.newBatch(txn, f.opts.Now())
	for _, p := range list {
		u, known, err := b.lookup(p.URL)
		var bad *BadURL
		if errors.As(err, &bad) || err == nil && (!known || u.Priority != p.From || p.From == p.To) {
			continue
		}
		if err == nil {
			err = b.requeue(u, func() { u.Priority = p.To })
		}
		if err != nil {
			return err
		}
	}
	return b.finish()
}

// LeaseURL leases one known URL, whether it is due or not. The error wraps ErrUnknown, or ErrLeaseLost if its group is
// leased.
func (f *Frontier) LeaseURL(ctx context.Context, raw string) (*Lease, error) {
	f.leasing.Lock()
	defer f.leasing.Unlock()
	var u *URL
	err := f.db.View(func(txn *kv.Txn) (err error) {
		var known bool
		if u, known, err = f.lookup(txn, raw); err == nil && !known {
			err = ErrUnknown
		}
		return err
	})
	if err != nil {
		return nil, withURL(raw, err)
	}
	if f.leased(u.Group) {
		return nil, fmt.Errorf("frontier: %s: %w: its host is being visited", raw, ErrLeaseLost)
	}
	if err := f.beginGeneration(ctx); err != nil {
		return nil, err
	}
	return f.grant(ctx, u.Group, []Job{u.job()}, LeaseOptions{}), nil
}
