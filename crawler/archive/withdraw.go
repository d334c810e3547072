package archive

import (
	"context"
	"fmt"

	"odarchive/crawler/archive/describe"
	"odarchive/crawler/archive/events"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore/term"
)

// Versions are withdrawn in two steps. Withdraw takes them away from all readers: their records and triples say so,
// what was inside them is forgotten, and their bytes are refused from then on. PurgeWithdrawn then removes the bytes
// from disk; until it has, the refusals are pending, so a crash delays it and does not undo it.

// SharedError is the error of withdrawing a version whose bytes other versions have, too.
type SharedError struct {
	Version string   // its IRI
	Others  []string // IRIs of some other versions
}

func (e *SharedError) Error() string {
	return fmt.Sprintf("the bytes of version %s are also those of others, such as %s; withdraw all of them together", e.Version,
		e.Others[0])
}

const (
	withdrawnAtOnce = 50  // versions that one transaction withdraws
	maxOthersShown  = 100 // of a SharedError
)

// MaxWithBytes is how many versions with the same bytes are looked at together.
const MaxWithBytes = 10_000

// WithBytes returns the versions with some bytes that are not withdrawn, at most MaxWithBytes.
func (a *Archive) WithBytes(ctx context.Context, sha256 [32]byte) (list []catalog.Version, err error) {
	err = a.view(func(t records.Txn) error {
		list, err = available(ctx, t, sha256)
		return err
	})
	return list, err
}

// Withdrawing says which versions are withdrawn.
type Withdrawing struct {
	Targets []string // ids and IRIs of versions, and URLs and ids of resources for all their versions
	Copies  bool     // also other versions with the same bytes; without it they are a *SharedError
	// Returns lets the same bytes become a version again once they are removed: they were withdrawn to save space, not
	// because nobody may have them.
	Returns bool
}

// ToWithdraw returns the versions that Withdraw would withdraw, in the order of the targets, copies last.
func (a *Archive) ToWithdraw(ctx context.Context, o Withdrawing) (list []catalog.Version, err error) {
	named, err := a.named(ctx, o.Targets)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	add := func(v catalog.Version) {
		if !seen[v.ID] && isReplaceable(v.Withdrawn, o) {
			seen[v.ID] = true
			list = append(list, v)
		}
	}
	for _, v := range named {
		add(v)
	}
	for _, group := range byDigest(named) {
		err := a.view(func(t records.Txn) error {
			others, err := available(ctx, t, group[0].Digests.SHA256)
			if err != nil {
				return err
			}
			if err := a.checkShared(group, others, o.Copies); err != nil {
				return err
			}
			for _, v := range others {
				add(v)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// isReplaceable reports whether a version can be withdrawn that was withdrawn before, or was not if was is nil. What
// was withdrawn to save space can be withdrawn for good.
func isReplaceable(was *catalog.Withdrawal, o Withdrawing) bool {
	return was == nil || was.By == catalog.ByRetention && !o.Returns
}

// named returns the versions that targets name, including those that were withdrawn before.
func (a *Archive) named(ctx context.Context, targets []string) (list []catalog.Version, err error) {
	for _, target := range targets {
		var all []catalog.Version
		v, ok, err := a.versionMeant(target)
		if err != nil {
			return nil, err
		}
		if ok {
			all = []catalog.Version{v}
		} else if all, err = a.Versions(ctx, target); err != nil {
			return nil, err
		}
		list = append(list, all...)
	}
	return list, nil
}

// byDigest groups versions by their bytes, in their order.
func byDigest(list []catalog.Version) (groups [][]catalog.Version) {
	places := map[[32]byte]int{}
	for _, v := range list {
		i, ok := places[v.Digests.SHA256]
		if !ok {
			i = len(groups)
			places[v.Digests.SHA256], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], v)
	}
	return groups
}

// available returns the versions with some bytes that are not withdrawn, at most MaxWithBytes.
func available(ctx context.Context, t records.Txn, sha256 [32]byte) (list []catalog.Version, err error) {
	err = t.OfDigest(ctx, sha256, func(resource string, n int) (bool, error) {
		v, known, err := t.Version(ns.VersionID(resource, n))
		if err == nil && known && v.Withdrawn == nil {
			list = append(list, v)
		}
		return len(list) < MaxWithBytes, err
	})
	return list, err
}

// checkShared returns a *SharedError if there are versions with the bytes of named ones that are not among these.
func (a *Archive) checkShared(named, all []catalog.Version, copies bool) error {
	if copies {
		return nil
	}
	ids := map[string]bool{}
	for _, v := range named {
		ids[v.ID] = true
	}
	shared := &SharedError{Version: a.mint.Version(named[0].ID)}
	for _, v := range all {
		if !ids[v.ID] && len(shared.Others) < maxOthersShown {
			shared.Others = append(shared.Others, a.mint.Version(v.ID))
		}
	}
	if len(shared.Others) == 0 {
		return nil
	}
	return shared
}

// Withdraw takes the bytes of versions, and what is known of their content, away from all readers, for the reason and
// with the status of w. The records and checksums stay. The bytes themselves are removed by PurgeWithdrawn. It returns
// the versions that were withdrawn, without those that had been before. A *SharedError withdraws nothing, unless a
// version with the same bytes was stored in the meantime; other errors may leave some versions withdrawn, and the same
// call continues.
func (a *Archive) Withdraw(ctx context.Context, o Withdrawing, w catalog.Withdrawal) (done []catalog.Version, err error) {
	if _, err := a.ToWithdraw(ctx, o); err != nil {
		return nil, err
	}
	named, err := a.named(ctx, o.Targets)
	if err != nil {
		return nil, err
	}
	for _, group := range byDigest(named) {
		for {
			gone, more, err := a.withdrawSome(ctx, group, o, w)
			done = append(done, gone...)
			if err != nil {
				return done, fmt.Errorf("archive: withdraw %s: %w", group[0].ID, err)
			}
			if !more {
				break
			}
		}
	}
	if len(done) > 0 {
		a.purgeSoon()
	}
	return done, nil
}

// withdrawSome withdraws at most withdrawnAtOnce versions with the bytes of a group. more reports whether others are
// left.
func (a *Archive) withdrawSome(ctx context.Context, group []catalog.Version, o Withdrawing, w catalog.Withdrawal) (done []catalog.Version,
	more bool, err error) {
	sha := group[0].Digests.SHA256
	var todo []catalog.Version
	list := func(t records.Txn) error { todo, more, err = a.withdrawable(ctx, t, group, o); return err }
	if err := a.view(list); err != nil {
		return nil, false, err
	}
	removed := map[string]bool{}
	for _, v := range todo {
		if err := a.joining.Remove(ctx, v.ID); err != nil { // needs what the transaction below removes
			return nil, false, err
		}
		removed[v.ID] = true
	}
	err = a.update(ctx, func(u *update) error {
		done = done[:0]
		if err := list(u.records); err != nil {
			return err
		}
		for _, v := range todo {
			if !removed[v.ID] { // stored in the meantime
				more = true
				continue
			}
			gone, err := u.withdraw(ctx, v, w)
			if err != nil {
				return err
			}
			done = append(done, gone)
		}
		if len(done) == 0 {
			return nil
		}
		return u.refuseFrom(sha, done[0].ID, o.Returns)
	})
	if err != nil {
		done = nil
	}
	return done, more, err
}

// withdrawable returns at most withdrawnAtOnce versions that are to be withdrawn with a group of the same bytes.
func (a *Archive) withdrawable(ctx context.Context, t records.Txn, group []catalog.Version, o Withdrawing) (list []catalog.Version,
	more bool, err error) {
	list, err = available(ctx, t, group[0].Digests.SHA256)
	if err == nil {
		err = a.checkShared(group, list, o.Copies)
	}
	if err != nil {
		return nil, false, err
	}
	for _, v := range group {
		now, known, err := t.Version(v.ID)
		if err != nil {
			return nil, false, err
		}
		if known && now.Withdrawn != nil && isReplaceable(now.Withdrawn, o) {
			list = append(list, now)
		}
	}
	if len(list) > withdrawnAtOnce {
		return list[:withdrawnAtOnce], true, nil
	}
	return list, false, nil
}

// withdraw withdraws one version, which may have been withdrawn before.
func (u *update) withdraw(ctx context.Context, v catalog.Version, w catalog.Withdrawal) (gone catalog.Version, err error) {
	r, known, err := u.records.Resource(resourceOf(v))
	if err != nil || !known {
		return gone, records.OrNotFound(err, "resource", v.URL)
	}
	inside, err := u.records.Inside(v.ID)
	if err != nil {
		return gone, err
	}
	change, err := u.records.Change(v.ID)
	if err != nil {
		return gone, err
	}
	before := versionQuads(u.mint, v, inside, change)
	gone = v
	gone.Withdrawn = &w
	if err := describe.Replace(u.triples, before, describe.Version(u.mint, gone)); err != nil {
		return gone, err
	}
	if err := u.records.DropContent(ctx, v); err != nil {
		return gone, err
	}
	if err := u.records.SetVersion(gone); err != nil {
		return gone, err
	}
	if err := u.forgetChanges(ctx, r, v); err != nil {
		return gone, err
	}
	if err := u.records.Delete(storedSpace, storedKey(r.ID, v.N)); err != nil {
		return gone, err
	}
	if v.ID == latestID(r) {
		if err := u.search.SetColumns(r.ID, inside, nil); err != nil {
			return gone, err
		}
		if err := u.search.Forget(r.ID); err != nil {
			return gone, err
		}
	}
	return gone, u.logResource(r, events.Event{Kinds: events.Withdrawn, At: w.At, Why: w.Reason})
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
