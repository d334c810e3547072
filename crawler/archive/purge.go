package archive

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"odarchive/crawler/archive/content"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/ns"
)

// Purging is what PurgeWithdrawn removes.
type Purging struct {
	SHA256   content.Digest
	Versions []catalog.Version   // that had the bytes
	why      *catalog.Withdrawal // if the refusal says so itself
	round    uint64              // of the refusal
	returns  bool
}

// purgeSoon tells Purges that there is something to remove.
func (a *Archive) purgeSoon() {
	select {
	case a.purges <- struct{}{}:
	default:
	}
}

// Purges receives after versions were withdrawn whose bytes may be on disk.
func (a *Archive) Purges() <-chan struct{} { return a.purges }

// PendingPurge returns the withdrawn bytes that may still be on disk.
func (a *Archive) PendingPurge(ctx context.Context) (list []Purging, err error) {
	err = a.view(func(t records.Txn) error {
		return t.EachRefusal(ctx, func(sha256 [32]byte, r records.Refusal) (bool, error) {
			if !r.Pending {
				return true, nil
			}
			p := Purging{SHA256: sha256, why: r.Withdrawal, round: r.Round, returns: r.Returns}
			err := t.OfDigest(ctx, sha256, func(resource string, n int) (bool, error) {
				v, known, err := t.Version(ns.VersionID(resource, n))
				if known {
					p.Versions = append(p.Versions, v)
				}
				return true, err
			})
			list = append(list, p)
			return true, err
		})
	})
	return list, err
}

// finishWithdrawing withdraws what an interrupted Withdraw has left available of bytes that are pending.
func (a *Archive) finishWithdrawing(ctx context.Context, list []Purging) error {
	for _, p := range list {
		w := p.why
		var left []string
		for _, v := range p.Versions {
			if v.Withdrawn == nil {
				left = append(left, v.ID)
			} else {
				w = v.Withdrawn
			}
		}
		if len(left) == 0 {
			continue
		}
		if w == nil {
			return fmt.Errorf("archive: bytes %s are to be removed, but %s has them and was not withdrawn", p.SHA256, left[0])
		}
		if _, err := a.Withdraw(ctx, Withdrawing{Targets: left, Copies: true, Returns: p.returns}, *w); err != nil {
			return err
		}
	}
	return nil
}

// PurgeWithdrawn removes withdrawn bytes, and what was known of them, from everything below the data directory that
// this program keeps there: packs and their parity, the triples and their log of changes, the database's log, state
// files and tables. If the bucket of the packs is away, they leave everything else, and the error is
// content.ErrLeftInBucket. elsewhere, if not nil, is called first, to remove the bytes from where the archive does not
// know them. It takes as long as writing the whole database, and returns at once if nothing is pending. The caller must
// hold no snapshot. progress, if not nil, is called with what is done next.
func (a *Archive) PurgeWithdrawn(ctx context.Context, elsewhere func(context.Context, []Purging) error,
	progress func(step string)) (files int, err error) {
	list, err := a.PendingPurge(ctx)
	if err != nil || len(list) == 0 {
		return 0, err
	}
	if err := a.db.RoomToPurge(); err != nil { // before work that would be repeated
		return 0, fmt.Errorf("archive: purge: %w", err)
	}
	if err := a.finishWithdrawing(ctx, list); err != nil {
		return 0, err
	}
	if list, err = a.PendingPurge(ctx); err != nil {
		return 0, err
	}
	say := func(step string) {
		if progress != nil {
			progress(step)
		}
	}
	if elsewhere != nil {
		if err := elsewhere(ctx, list); err != nil {
			return 0, err
		}
	}
	say("rewriting packs")
	packs := func(done, total int) {
		if done < total {
			say(fmt.Sprintf("rewriting pack %d of %d", done+1, total))
		}
	}
	digests := make([]content.Digest, len(list))
	for i, p := range list {
		digests[i] = p.SHA256
	}
	_, left := a.content.Purge(ctx, digests, packs)
	if left != nil && !errors.Is(left, content.ErrLeftInBucket) {
		return 0, left
	}
	if err := a.purgeHere(ctx, list, say); err != nil {
		return 0, errors.Join(err, left)
	}
	if left != nil {
		return 0, left
	}
	return len(list), a.update(ctx, func(u *update) error {
		for _, p := range list {
			if err := u.purged(p); err != nil {
				return err
			}
		}
		return nil
	})
}

// purgeHere removes what is known of withdrawn bytes from the database's files. It does that once while the bucket is
// away, on which the same call is repeated.
func (a *Archive) purgeHere(ctx context.Context, list []Purging, say func(step string)) error {
	var text strings.Builder
	for _, p := range list {
		fmt.Fprintf(&text, "%s %d\n", p.SHA256, p.round)
	}
	these := text.String()
	if done := a.purgedHere.Load(); done != nil && *done == these {
		return nil
	}
	say("removing triples from the log of changes")
	if err := a.triples.Purge(ctx); err != nil {
		return err
	}
	say("rewriting the database")
	if err := a.db.Purge(ctx); err != nil {
		return err
	}
	a.purgedHere.Store(&these)
	return nil
}

// purged records that bytes are no longer on disk, unless they may have come back in the meantime.
func (u *update) purged(p Purging) error {
	r, ok, err := u.records.Refusal(p.SHA256)
	switch {
	case err != nil || !ok:
		return err
	case r.Round != p.round:
		u.purgeSoon()
		return nil
	case r.Returns:
		return u.records.DropRefusal(p.SHA256)
	}
	r.Pending = false
	return u.records.SetRefusal(p.SHA256, r)
}
