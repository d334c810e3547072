package records

import (
	"context"
	"slices"

	"odarchive/crawler/catalog"
)

// maxFailures bounds the list of internal failures; the oldest leave it first.
const maxFailures = 1000

// Failures returns the faults of this program with single URLs, newest first, at most limit (0: all), and the length of
// the whole list.
func (t Txn) Failures(ctx context.Context, limit int) (newest []catalog.InternalFailure, total int, err error) {
	err = eachValue(ctx, t, key(tableFailure), nil, func(f catalog.InternalFailure) (bool, error) {
		newest = append(newest, f)
		return true, nil
	})
	slices.SortFunc(newest, func(a, b catalog.InternalFailure) int { return b.At.Compare(a.At) })
	total = len(newest)
	if limit > 0 && total > limit {
		newest = newest[:limit]
	}
	return newest, total, err
}

// NoteFailure lists a fault of this program with a fetch, or, if fault is "", removes the resource from the list once a
// fetch without a fault answers it. It sets r.Internal; the caller saves r.
func (t Txn) NoteFailure(ctx context.Context, r *Resource, act catalog.Activity, fault string) error {
	k := key(tableFailure, id(r.ID))
	if fault == "" {
		answered := act.Outcome == catalog.Archived || act.Outcome == catalog.Unchanged && act.Version != ""
		if !r.Internal || !answered {
			return nil
		}
		if act.Outcome == catalog.Unchanged { // the bytes are the same, so what is inside them is still unknown
			var f catalog.InternalFailure
			if listed, err := t.get(k, &f); err != nil || listed && f.Kept {
				return err
			}
		}
		r.Internal = false
		return t.drop(k)
	}
	f := catalog.InternalFailure{URL: r.URL, Since: act.End, At: act.End, Why: Cut(fault, MaxSentence), Times: 1,
		Kept: act.Outcome == catalog.Archived}
	var before catalog.InternalFailure
	listed, err := t.get(k, &before)
	if err != nil {
		return err
	}
	if listed {
		f.Since, f.Times = before.Since, before.Times+1
	} else if err := t.dropOldestFailure(ctx); err != nil {
		return err
	}
	r.Internal = true
	return t.set(k, f)
}

// dropOldestFailure makes room for one more entry if the list of internal failures is full.
func (t Txn) dropOldestFailure(ctx context.Context) error {
	all, total, err := t.Failures(ctx, 0)
	if err != nil || total < maxFailures {
		return err
	}
	oldest, err := ResourceID(all[total-1].URL)
	if err != nil {
		return err
	}
	return t.drop(key(tableFailure, id(oldest)))
}
