package archive

import (
	"context"
	"slices"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/kv"
)

// maxInternal bounds the internal failures that are listed; the oldest go first.
const maxInternal = 1000

// InternalFailures lists the faults of this program with single URLs, newest first, at most limit (0: all), and says how many
// are listed altogether.
func (a *Archive) InternalFailures(ctx context.Context, limit int) (newest []catalog.InternalFailure, total int, err error) {
	err = a.view(func(t tables) error {
		return eachValue(ctx, t, key(tableInternal), nil, func(f catalog.InternalFailure) error {
			newest = append(newest, f)
			return nil
		})
	})
	slices.SortFunc(newest, func(a, b catalog.InternalFailure) int { return b.At.Compare(a.At) })
	total = len(newest)
	if limit > 0 && total > limit {
		newest = newest[:limit]
	}
	return newest, total, err
}

// ForgetInternal takes a URL from the list of internal failures, whether it is there or not.
func (a *Archive) ForgetInternal(ctx context.Context, url string) error {
	id, err := ResourceID(url)
	if err != nil {
		return err
	}
	return a.db.Update(ctx, func(txn *kv.Txn) error {
		t := tables{txn: txn}
		r, known, err := t.resource(id)
		if err != nil || !known || !r.Internal {
			return err
		}
		r.Internal = false
		if err := t.set(key(tableResource, rid(id)), r); err != nil {
			return err
		}
		return t.drop(key(tableInternal, rid(id)))
	})
}

// noteInternal lists an internal failure, or takes it from the list after a visit without one.
func (t tables) noteInternal(ctx context.Context, r *record, act catalog.Activity, fault string) error {
	if act.ErrorClass == catalog.ErrInternal {
		fault = act.Why
	}
	k := key(tableInternal, rid(r.ID))
	if fault == "" {
		answered := act.Outcome == catalog.Archived || act.Outcome == catalog.Unchanged && act.Version != ""
		if !r.Internal || !answered {
			return nil
		}
		if act.Outcome == catalog.Unchanged { // the same bytes: what is inside them is still not known
			var f catalog.InternalFailure
			if listed, err := t.get(k, &f); err != nil || listed && f.Kept {
				return err
			}
		}
		r.Internal = false
		return t.drop(k)
	}
	f := catalog.InternalFailure{URL: r.URL, Since: act.End, At: act.End, Why: cut(fault, maxSentence), Times: 1, Kept: act.Outcome == catalog.Archived}
	var before catalog.InternalFailure
	listed, err := t.get(k, &before)
	if err != nil {
		return err
	}
	if listed {
		f.Since, f.Times = before.Since, before.Times+1
	} else if err := t.forgetOldest(ctx); err != nil {
		return err
	}
	r.Internal = true
	return t.set(k, f)
}

// forgetOldest makes room in the list of internal failures for one more.
func (t tables) forgetOldest(ctx context.Context) error {
	n := 0
	var oldest catalog.InternalFailure
	err := eachValue(ctx, t, key(tableInternal), nil, func(f catalog.InternalFailure) error {
		if n++; n == 1 || f.At.Before(oldest.At) {
			oldest = f
		}
		return nil
	})
	if err != nil || n < maxInternal {
		return err
	}
	id, err := ResourceID(oldest.URL)
	if err != nil {
		return err
	}
	return t.drop(key(tableInternal, rid(id)))
}
