package archive

import (
	"context"
	"slices"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/archive/diary"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
)

// maxSameMoment is how many visits Activities returns beyond the limit because they began when the last one within it
// did.
const maxSameMoment = 1000

// Activities returns visits, newest first. Visits that ForgetVisits has dropped are one entry with the first of their
// stretch. Visits of several URLs that began in one millisecond are not cut apart, so that who goes on before the last
// one misses none.
func (a *Archive) Activities(ctx context.Context, q catalog.ActivityQuery) (found []catalog.Activity, err error) {
	if q.Limit <= 0 {
		q.Limit = 50
	}
	q.URL = a.URLOf(q.URL)
	err = a.view(func(t records.Txn) error {
		visits := diary.Txn{Txn: t.Txn}
		if q.URL != "" {
			found, err = ofURL(ctx, t, q)
			return err
		}
		return visits.Each(ctx, q.Before, wanted(t, q), func(act catalog.Activity) (bool, error) {
			if n := len(found); n >= q.Limit && (n >= q.Limit+maxSameMoment || !act.Start.Equal(found[n-1].Start)) {
				return false, nil
			}
			found = append(found, act)
			return true, nil
		})
	})
	return found, err
}

// ofURL returns the visits of one URL.
func ofURL(ctx context.Context, t records.Txn, q catalog.ActivityQuery) ([]catalog.Activity, error) {
	id, err := records.ResourceID(q.URL)
	if err != nil {
		return nil, records.NotFound("resource", q.URL)
	}
	r, known, err := t.Resource(id)
	if err != nil || !known {
		return nil, err
	}
	all, err := diary.Txn{Txn: t.Txn}.Of(ctx, id, r.URL, q.Before)
	if q.Outcome != "" {
		all = slices.DeleteFunc(all, func(act catalog.Activity) bool { return act.Outcome != q.Outcome })
	}
	return all[:min(len(all), q.Limit)], err
}

// wanted returns what selects the visits of a host and with an outcome.
func wanted(t records.Txn, q catalog.ActivityQuery) diary.Wanted {
	host := ""
	if q.Host != "" {
		host = address.HostGroup(q.Host)
	}
	ofHost := map[string]bool{} // by resource id
	return func(resource string, outcome catalog.Outcome) (bool, error) {
		if q.Outcome != "" && outcome != "" && q.Outcome != outcome {
			return false, nil
		}
		if host == "" {
			return true, nil
		}
		is, known := ofHost[resource]
		if !known {
			r, _, err := t.Resource(resource)
			if err != nil {
				return false, err
			}
			of, err := address.Host(r.URL)
			is = err == nil && of == host
			ofHost[resource] = is
		}
		return is, nil
	}
}

// VisitedSince returns the ids of the resources that were visited since a time. known is false if there were more than
// limit visits; then the ids are incomplete.
func (a *Archive) VisitedSince(ctx context.Context, since time.Time, limit int) (ids []string, known bool, err error) {
	seen := map[string]bool{}
	visits := 0
	err = a.view(func(t records.Txn) error {
		return diary.Txn{Txn: t.Txn}.VisitedSince(ctx, since, func(resource string) bool {
			if visits++; visits > limit {
				return false
			}
			if !seen[resource] {
				seen[resource] = true
				ids = append(ids, resource)
			}
			return true
		})
	})
	return ids, visits <= limit, err
}

// ForgetVisits drops the single visits that started before a time from the lists of visits, and returns their number.
// The first visit of each stretch stays, and stands for them.
func (a *Archive) ForgetVisits(ctx context.Context, before time.Time) (int, error) {
	return diary.Forget(ctx, a.db, before)
}

// InternalFailures returns the faults of this program with single URLs, newest first, at most limit (0: all), and the
// length of the whole list.
func (a *Archive) InternalFailures(ctx context.Context, limit int) (newest []catalog.InternalFailure, total int, err error) {
	err = a.view(func(t records.Txn) (err error) {
		newest, total, err = t.Failures(ctx, limit)
		return err
	})
	return newest, total, err
}
