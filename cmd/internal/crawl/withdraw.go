package crawl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"odarchive/cmd/internal/store"
	"odarchive/crawler/archive"
	"odarchive/crawler/archive/content"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore"
	"odarchive/triplestore/bucket"
)

// Withdraw takes versions away from all readers, as ordered, and has KeepWithdrawn remove their bytes from disk. The
// result lists the versions that were withdrawn, without those that had been before, and copies elsewhere that may have
// them. If a target is unknown, or its bytes are also those of other versions and the order does not include copies, it
// withdraws nothing.
func (c *Crawl) Withdraw(ctx context.Context, o catalog.WithdrawalOrder) (result catalog.Withdrawn, err error) {
	w, err := o.Withdrawal(c.store.Clock())
	if err != nil {
		return result, fmt.Errorf("%w: %w", catalog.ErrBadOrder, err)
	}
	return c.withdraw(ctx, archive.Withdrawing{Targets: o.Targets, Copies: o.Copies}, w, o.DryRun)
}

func (c *Crawl) withdraw(ctx context.Context, o archive.Withdrawing, w catalog.Withdrawal, dryRun bool) (result catalog.Withdrawn,
	err error) {
	result = catalog.Withdrawn{Versions: []catalog.WithdrawnVersion{}, DryRun: dryRun}
	var list []catalog.Version
	if dryRun {
		list, err = c.store.Archive.ToWithdraw(ctx, o)
	} else {
		list, err = c.store.Archive.Withdraw(ctx, o, w)
	}
	result.Versions = c.describeWithdrawn(list)
	if err == nil && !dryRun && len(list) > 0 {
		err = c.store.Dumps.Forget() // the purge does so, too, but that may wait for room on the disk
	}
	if err != nil {
		return result, err
	}
	if o.Returns { // retention says so for the whole plan, and runs in many steps
		return result, c.forgetGraphs(ctx, list)
	}
	if dryRun {
		if result.Freed, err = c.store.Archive.Bytes().Freed(ctx, digestsOf(list)); err != nil {
			return result, err
		}
	}
	if err := c.copiesOf(list, &result); err != nil || dryRun {
		return result, err
	}
	return result, c.forgetGraphs(ctx, list)
}

func digestsOf(list []catalog.Version) (digests []content.Digest) {
	for _, v := range list {
		digests = append(digests, v.Digests.SHA256)
	}
	return digests
}

// copiesOf adds to the result the copies that were made since the first of some versions was fetched: those that lose
// the bytes with them, and those that this program cannot change.
func (c *Crawl) copiesOf(list []catalog.Version, result *catalog.Withdrawn) error {
	if len(list) == 0 {
		return nil
	}
	first := slices.MinFunc(list, func(a, b catalog.Version) int { return a.At.Compare(b.At) }).At
	all, err := c.store.Copies()
	for _, one := range all {
		switch {
		case store.IsTape(one.Kind) || one.Kind == store.BucketCopy:
			result.Rewritten = append(result.Rewritten, one)
		case !one.At.Before(first):
			result.Elsewhere = append(result.Elsewhere, one)
		}
	}
	return err
}

func (c *Crawl) describeWithdrawn(list []catalog.Version) []catalog.WithdrawnVersion {
	out := make([]catalog.WithdrawnVersion, 0, len(list))
	for _, v := range list {
		out = append(out, catalog.WithdrawnVersion{IRI: c.store.Mint.Version(v.ID), URL: v.URL, At: v.At, Size: v.Size})
	}
	return out
}

// forgetGraphs removes the graphs with the statements of versions that were withdrawn. PurgeWithdrawn does so, too, in
// case that this process ends before.
func (c *Crawl) forgetGraphs(ctx context.Context, list []catalog.Version) error {
	withdrawn := map[string]bool{}
	for _, v := range list {
		withdrawn[v.ID] = true
	}
	for _, v := range list {
		resource, _, _ := ns.SplitVersionID(v.ID)
		has, err := c.Graphs.Has(resource, withdrawn)
		if err == nil && has {
			err = c.store.Archive.Update(ctx, func(txn archive.Txn) error {
				_, err := c.Graphs.Forget(txn.Triples(), resource, withdrawn)
				return err
			})
		}
		if err != nil {
			return fmt.Errorf("forget the statements of %s: %w", v.URL, err)
		}
	}
	return nil
}

// KeepWithdrawn looks for withdrawn bytes that are not deleted each purgeAgain. After failures in a row, such as on a
// full disk, the pause doubles up to maxPurgeAgain, since a purge may read and write the whole database.
const (
	purgeAgain    = time.Minute
	maxPurgeAgain = time.Hour
)

// KeepWithdrawn removes the bytes of withdrawn versions from disk, those of an earlier process first, until ctx ends.
func (c *Crawl) KeepWithdrawn(ctx context.Context) error {
	for pause := purgeAgain; ; {
		n, err := c.purgeWithdrawn(ctx, nil)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			c.store.Log.Error("withdrawn bytes are not all deleted; trying again", "after", pause, "error", err)
		case n > 0:
			c.store.Log.Info("withdrawn bytes removed from disk", "files", n)
		}
		timer := time.NewTimer(pause)
		if pause = min(2*pause, maxPurgeAgain); err == nil {
			pause = purgeAgain
		}
		select {
		case <-c.store.Archive.Purges():
			timer.Stop()
		case <-timer.C: // after a failure, or if what was pending was committed after the signal
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
	}
}

// PurgeWithdrawn does the work of KeepWithdrawn once. progress, if not nil, is called with what is done next.
func (c *Crawl) PurgeWithdrawn(ctx context.Context, progress func(step string)) (files int, err error) {
	files, err = c.purgeWithdrawn(ctx, progress)
	switch {
	case err == nil:
		return files, nil
	case errors.Is(err, content.ErrLeftInBucket):
		err = fmt.Errorf(
			"the versions are withdrawn and their bytes are gone from this disk, but not from the bucket of --bytes; the same command, "+
				"or a server, deletes them there when it answers: %w", err)
	case errors.Is(err, bucket.ErrUnavailable):
		err = fmt.Errorf(
			"the versions are withdrawn, but not all of their bytes are deleted, since the bucket of --bytes is needed for that; the "+
				"same command, or a server, continues when it answers: %w", err)
	default:
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
	pending, err := c.store.Archive.PendingPurge(ctx)
	if err != nil || len(pending) == 0 {
		return 0, err
	}
	release, err := c.store.Dumps.Hold() // for the whole purge, which waits for readers of the state before
	defer release()
	if err != nil {
		return 0, err
	}
	return c.store.Archive.PurgeWithdrawn(ctx, c.purgeElsewhere, progress)
}

// purgeElsewhere removes withdrawn bytes, and what was made of them, from where the archive does not know them.
func (c *Crawl) purgeElsewhere(ctx context.Context, list []archive.Purging) error {
	withdrawn := map[string]bool{}
	ordered := false // by a person, and not by a rule of retention, of which backups keep their days
	for _, p := range list {
		for _, v := range p.Versions {
			withdrawn[v.ID] = true
			ordered = ordered || v.Withdrawn == nil || v.Withdrawn.By != catalog.ByRetention
		}
	}
	if ordered {
		if err := c.store.NoteForget(ctx); err != nil {
			return err
		}
	}
	err := c.Graphs.Purge(ctx, withdrawn, func(f func(*triplestore.Txn) error) error {
		return c.store.Archive.Update(ctx, func(txn archive.Txn) error { return f(txn.Triples()) })
	})
	if err != nil {
		return err
	}
	return c.purgeTapes(ctx, list)
}
