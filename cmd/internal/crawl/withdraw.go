package crawl

import (
	"context"
	"fmt"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/ns"
)

// Withdraw takes versions away from all readers, as ordered, and has KeepWithdrawn remove their bytes from disk. It
// returns the versions that were withdrawn, without those that had been before. If a target is unknown, or its bytes are
// also those of other versions and the order does not include copies, it withdraws nothing.
func (c *Crawl) Withdraw(ctx context.Context, o catalog.WithdrawalOrder) (done []catalog.WithdrawnVersion, err error) {
	w, err := o.Withdrawal(c.store.Clock())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", catalog.ErrBadOrder, err)
	}
	todo, err := c.toWithdraw(ctx, o)
	if err != nil {
		return nil, err
	}
	if o.DryRun {
		return c.describeWithdrawn(todo), nil
	}
	for _, v := range todo {
		gone, err := c.store.Archive.Withdraw(ctx, v.ID, true, w)
		done = append(done, c.describeWithdrawn(gone)...)
		if err != nil {
			return done, err
		}
		for _, v := range gone {
			if err := c.forgetGraph(ctx, v); err != nil {
				return done, err
			}
		}
	}
	select {
	case c.withdrawn <- struct{}{}:
	default:
	}
	return done, nil
}

// toWithdraw returns the versions that an order is about and that are not withdrawn yet.
func (c *Crawl) toWithdraw(ctx context.Context, o catalog.WithdrawalOrder) (list []catalog.Version, err error) {
	seen := map[string]bool{}
	add := func(all ...catalog.Version) {
		for _, v := range all {
			if !seen[v.ID] && v.Withdrawn == nil {
				seen[v.ID] = true
				list = append(list, v)
			}
		}
	}
	for _, target := range o.Targets {
		if ref, ok := c.store.Mint.Parse(target); ok && ref.Kind == ns.KindVersion {
			target = ref.ID
		}
		if _, _, ok := ns.SplitVersionID(target); ok {
			v, err := c.store.Archive.Version(ctx, target)
			if err != nil {
				return nil, err
			}
			add(v)
			continue
		}
		all, err := c.store.Archive.Versions(ctx, target)
		if err != nil {
			return nil, err
		}
		add(all...)
	}
	for _, v := range list {
		others, err := c.store.Archive.Copies(ctx, v.ID)
		if err != nil {
			return nil, err
		}
		for _, id := range others {
			switch other, err := c.store.Archive.Version(ctx, id); {
			case err != nil:
				return nil, err
			case seen[id]:
			case o.Copies:
				add(other)
			default:
				return nil, &archive.SharedError{Version: c.store.Mint.Version(v.ID), Others: []string{c.store.Mint.Version(id)}}
			}
		}
	}
	return list, nil
}

func (c *Crawl) describeWithdrawn(list []catalog.Version) []catalog.WithdrawnVersion {
	out := make([]catalog.WithdrawnVersion, 0, len(list))
	for _, v := range list {
		out = append(out, catalog.WithdrawnVersion{IRI: c.store.Mint.Version(v.ID), URL: v.URL, At: v.At, Size: v.Size})
	}
	return out
}

// forgetGraph removes the statements of a document whose latest version was withdrawn.
func (c *Crawl) forgetGraph(ctx context.Context, v catalog.Version) error {
	newest, err := c.store.Archive.Newest(ctx, v.URL)
	if err != nil || newest.ID != v.ID {
		return err
	}
	resource, err := records.ResourceID(v.URL)
	if err != nil {
		return err
	}
	return c.store.Archive.Update(ctx, func(txn archive.Txn) error { return c.Graphs.Forget(txn.Triples(), resource) })
}

// purgeAgain is how soon the removal of withdrawn bytes is tried again after a failure.
const purgeAgain = time.Minute

// KeepWithdrawn removes the bytes of withdrawn versions from disk, those of an earlier process first, until ctx ends.
func (c *Crawl) KeepWithdrawn(ctx context.Context) error {
	for {
		var again <-chan time.Time
		n, err := c.purgeWithdrawn(ctx, nil)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			c.store.Log.Error("withdrawn bytes are still on disk; trying again", "error", err)
			again = time.After(purgeAgain)
		case n > 0:
			c.store.Log.Info("withdrawn bytes removed from disk", "files", n)
		}
		select {
		case <-c.withdrawn:
		case <-again:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// PurgeWithdrawn does the work of KeepWithdrawn once. progress, if not nil, is called with what is done next.
func (c *Crawl) PurgeWithdrawn(ctx context.Context, progress func(step string)) (files int, err error) {
	files, err = c.purgeWithdrawn(ctx, progress)
	if err != nil {
		err = fmt.Errorf("the versions are withdrawn, but their bytes are still on disk; the same command, or a server, continues: %w", err)
	}
	return files, err
}

// purgeWithdrawn waits until no other call does the same.
func (c *Crawl) purgeWithdrawn(ctx context.Context, progress func(step string)) (int, error) {
	select {
	case c.purging <- struct{}{}:
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	defer func() { <-c.purging }()
	return c.store.Archive.PurgeWithdrawn(ctx, progress)
}
