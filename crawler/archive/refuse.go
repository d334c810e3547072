package archive

import (
	"context"
	"errors"

	"odarchive/crawler/archive/events"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
)

// refuseFrom refuses some bytes, those of a withdrawn version, from the end of the transaction on. They are pending.
func (u *update) refuseFrom(sha256 [32]byte, version string, returns bool) error {
	r, known, err := u.records.Refusal(sha256)
	if err != nil {
		return err
	}
	r.Returns = returns && (!known || r.Returns) // what was refused for good stays refused
	r.Version, r.Pending, r.Round = version, true, r.Round+1
	return u.records.SetRefusal(sha256, r)
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
	if r.Withdrawal != nil {
		return &catalog.WithdrawnError{Version: r.Version, Withdrawal: *r.Withdrawal}
	}
	v, known, err := t.Version(r.Version)
	if err != nil || !known {
		return records.OrNotFound(err, "version", r.Version)
	}
	return v.Available()
}

// WhyRefused is what the archive says of a visit whose bytes were withdrawn.
const WhyRefused = "these bytes were withdrawn and are not kept again"

// refuse makes a visit one without a version if its bytes are refused. Since they may be in a pack and in WARC files by
// now, they become pending again: the withdrawal was ordered while the visit was in progress.
func (u *update) refuse(act *catalog.Activity, visit *Visit) error {
	ref := visit.Kept.Ref
	if visit.Kept.Placed != nil {
		ref = visit.Kept.Placed.Ref()
	}
	sha := digestsOf(ref).SHA256
	err := refused(u.records, sha)
	if !errors.Is(err, catalog.ErrWithdrawn) {
		return err
	}
	visit.Kept = nil
	act.Outcome, act.ErrorClass, act.Why = catalog.NoVersion, catalog.ErrBytesWithdrawn, WhyRefused
	return u.purgeAgain(sha)
}

// purgeAgain makes bytes pending again if they are refused: a visit that was in progress when they were withdrawn may
// have written them to disk.
func (u *update) purgeAgain(sha [32]byte) error {
	r, known, err := u.records.Refusal(sha)
	if err != nil || !known {
		return err
	}
	r.Pending, r.Round = true, r.Round+1
	u.purgeSoon()
	return u.records.SetRefusal(sha, r)
}

// refuseAbsent refuses the bytes of a version that another archive withdrew, which this one never had, and logs the
// withdrawal. Bytes that a version has which is not withdrawn are not refused: nobody has ordered that here.
func (u *update) refuseAbsent(ctx context.Context, resource, version string, kept *Kept) error {
	w, sha := *kept.Withdrawn, [32]byte(kept.Ref.SHA256)
	r, _, err := u.records.Resource(resource)
	if err == nil {
		err = u.logResource(r, events.Event{Kinds: events.Withdrawn, At: w.At, Why: w.Reason})
	}
	if err != nil || w.By == catalog.ByRetention {
		return err
	}
	_, known, err := u.records.Refusal(sha)
	if err != nil || known {
		return err
	}
	if list, err := available(ctx, u.records, sha); err != nil || len(list) > 0 {
		return err
	}
	return u.records.SetRefusal(sha, records.Refusal{Version: version})
}

// errStored is the error of refusing bytes that a version has which was not withdrawn.
var errStored = errors.New("a version has these bytes")

// refuseBytes refuses bytes that were withdrawn elsewhere, or since the backup that this archive was restored from. If
// a version has them that is not withdrawn, the error is errStored.
func (a *Archive) refuseBytes(ctx context.Context, sha256 [32]byte, version string, w catalog.Withdrawal) error {
	return a.update(ctx, func(u *update) error {
		_, known, err := u.records.Refusal(sha256)
		if err != nil || known {
			return err
		}
		list, err := available(ctx, u.records, sha256)
		if err != nil {
			return err
		}
		if len(list) > 0 {
			return errStored
		}
		return u.records.SetRefusal(sha256, records.Refusal{Version: version, Withdrawal: &w})
	})
}
