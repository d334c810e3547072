package archive

import (
	"context"
	"fmt"

	"odarchive/crawler/archive/content"
	"odarchive/crawler/archive/describe"
	"odarchive/crawler/archive/events"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore/term"
)

// A version is withdrawn in two steps. Withdraw takes it away from all readers, in one transaction: its record and
// triples say so, what was inside it is forgotten, and its bytes are refused from then on. PurgeWithdrawn then removes
// the bytes from disk; until it has, the refusals are pending, so a crash delays it and does not undo it.

// SharedError is the error of withdrawing a version whose bytes other versions have, too.
type SharedError struct {
	Version string   // its id
	Others  []string // ids of some other versions
}

func (e *SharedError) Error() string {
	return fmt.Sprintf("the bytes of version %s are also those of %d others, such as %s; withdraw all of them together", e.Version, len(e.Others), e.Others[0])
}

// maxShared is the maximum number of other versions with the same bytes that Copies returns.
const maxShared = 10_000

// Copies returns the ids of the other versions that have the same bytes as a version and are not withdrawn.
func (a *Archive) Copies(ctx context.Context, versionID string) (ids []string, err error) {
	err = a.view(func(t records.Txn) error {
		v, known, err := t.Version(versionID)
		if err != nil || !known {
			return records.OrNotFound(err, "version", versionID)
		}
		ids, err = copies(ctx, t, v)
		return err
	})
	return ids, err
}

func copies(ctx context.Context, t records.Txn, v catalog.Version) (ids []string, err error) {
	err = t.OfDigest(ctx, v.Digests.SHA256, func(resource string, n int) (bool, error) {
		other, known, err := t.Version(ns.VersionID(resource, n))
		if err == nil && known && other.ID != v.ID && other.Withdrawn == nil {
			ids = append(ids, other.ID)
		}
		return len(ids) < maxShared, err
	})
	return ids, err
}

// Withdraw takes the bytes of a version, and what is known of their content, away from all readers, for the reason and
// with the status of w. The version's record and checksum stay. The bytes themselves are removed by PurgeWithdrawn. If
// other versions have the same bytes, they are withdrawn with it if all is true; otherwise the error is a *SharedError.
// It returns the versions that were withdrawn, none if the version was withdrawn before.
func (a *Archive) Withdraw(ctx context.Context, versionID string, all bool, w catalog.Withdrawal) (done []catalog.Version, err error) {
	v, err := a.Version(ctx, versionID)
	if err != nil {
		return nil, err
	}
	others, err := a.Copies(ctx, versionID)
	if err != nil {
		return nil, err
	}
	if len(others) > 0 && !all {
		return nil, &SharedError{versionID, others}
	}
	for _, id := range append([]string{v.ID}, others...) {
		if err := a.joining.Remove(ctx, id); err != nil { // needs what the transaction below removes
			return done, err
		}
		var gone *catalog.Version
		err := a.update(ctx, func(u *update) (err error) {
			gone, err = u.withdraw(ctx, id, w)
			return err
		})
		if err != nil {
			return done, fmt.Errorf("archive: withdraw %s: %w", id, err)
		}
		if gone != nil {
			done = append(done, *gone)
		}
	}
	return done, nil
}

// withdraw withdraws one version. It returns nil if that was done before.
func (u *update) withdraw(ctx context.Context, versionID string, w catalog.Withdrawal) (*catalog.Version, error) {
	v, known, err := u.records.Version(versionID)
	if err != nil || !known {
		return nil, records.OrNotFound(err, "version", versionID)
	}
	if v.Withdrawn != nil {
		return nil, nil
	}
	r, known, err := u.records.Resource(resourceOf(v))
	if err != nil || !known {
		return nil, records.OrNotFound(err, "resource", v.URL)
	}
	inside, err := u.records.Inside(v.ID)
	if err != nil {
		return nil, err
	}
	change, err := u.records.Change(v.ID)
	if err != nil {
		return nil, err
	}
	before := versionQuads(u.mint, v, inside, change)
	gone := v
	gone.Withdrawn = &w
	if err := describe.Replace(u.triples, before, describe.Version(u.mint, gone)); err != nil {
		return nil, err
	}
	if err := u.records.DropContent(ctx, v); err != nil {
		return nil, err
	}
	if err := u.records.SetVersion(gone); err != nil {
		return nil, err
	}
	if err := u.forgetChanges(ctx, r, v); err != nil {
		return nil, err
	}
	if err := u.records.Delete(storedSpace, storedKey(r.ID, v.N)); err != nil {
		return nil, err
	}
	if v.ID == latestID(r) {
		if err := u.search.SetColumns(r.ID, inside, nil); err != nil {
			return nil, err
		}
	}
	if err := u.records.SetRefusal(v.Digests.SHA256, records.Refusal{Version: v.ID, Pending: true}); err != nil {
		return nil, err
	}
	return &gone, u.logResource(r, events.Event{Kinds: events.Withdrawn, At: w.At, Why: w.Reason})
}

// forgetChanges removes how the versions after v differ from it.
func (u *update) forgetChanges(ctx context.Context, r records.Resource, v catalog.Version) error {
	all, err := u.records.Versions(ctx, r.ID)
	if err != nil {
		return err
	}
	for _, later := range all {
		if later.Previous != v.ID {
			continue
		}
		change, err := u.records.Change(later.ID)
		if err != nil {
			return err
		}
		var was []term.Quad
		if change != nil {
			was = describe.Change(u.mint, later, change)
		}
		if err := describe.Replace(u.triples, was, nil); err != nil {
			return err
		}
		if err := u.records.SetChange(later.ID, nil); err != nil {
			return err
		}
	}
	return nil
}

func resourceOf(v catalog.Version) string {
	resource, _, _ := ns.SplitVersionID(v.ID)
	return resource
}

// Refused returns an error that says why some bytes must not be kept, a *catalog.WithdrawnError, or nil.
func (a *Archive) Refused(sha256 [32]byte) (err error) {
	return a.view(func(t records.Txn) error { return refused(t, sha256) })
}

func refused(t records.Txn, sha256 [32]byte) error {
	r, ok, err := t.Refusal(sha256)
	if err != nil || !ok {
		return err
	}
	v, known, err := t.Version(r.Version)
	if err != nil || !known {
		return records.OrNotFound(err, "version", r.Version)
	}
	return v.Available()
}

// PendingPurge returns the digests of withdrawn bytes that may still be on disk.
func (a *Archive) PendingPurge(ctx context.Context) (list []content.Digest, err error) {
	err = a.view(func(t records.Txn) error {
		return t.EachRefusal(ctx, func(sha256 [32]byte, r records.Refusal) (bool, error) {
			if r.Pending {
				list = append(list, sha256)
			}
			return true, nil
		})
	})
	return list, err
}

// PurgeWithdrawn removes withdrawn bytes, and what was known of them, from everything below the data directory that this
// program keeps there: packs and their parity, the triples and their log of changes, the database's log, state files and
// tables. It takes as long as writing the whole database, and returns at once if nothing is pending. The caller must hold
// no snapshot. progress, if not nil, is called with what is done next.
func (a *Archive) PurgeWithdrawn(ctx context.Context, progress func(step string)) (files int, err error) {
	list, err := a.PendingPurge(ctx)
	if err != nil || len(list) == 0 {
		return 0, err
	}
	say := func(step string) {
		if progress != nil {
			progress(step)
		}
	}
	say("rewriting packs")
	packs := func(done, total int) {
		if done < total {
			say(fmt.Sprintf("rewriting pack %d of %d", done+1, total))
		}
	}
	if _, err = a.content.Purge(ctx, list, packs); err != nil {
		return 0, err
	}
	say("removing triples from the log of changes")
	if err := a.triples.Purge(ctx); err != nil {
		return 0, err
	}
	say("rewriting the database")
	if err := a.db.Purge(ctx); err != nil {
		return 0, err
	}
	err = a.update(ctx, func(u *update) error {
		for _, sha := range list {
			r, ok, err := u.records.Refusal(sha)
			if err != nil || !ok {
				return err
			}
			r.Pending = false
			if err := u.records.SetRefusal(sha, r); err != nil {
				return err
			}
		}
		return nil
	})
	return len(list), err
}
