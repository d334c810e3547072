package archive

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"odarchive/crawler/archive/events"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/ns"
)

// loggedBatch is the number of events that one transaction adds.
const loggedBatch = 500

// CheckLog reads every event of the log and looks for versions without an event. The result has the faults; an error
// means that the check could not be completed. If mend is set and every event can be read, CheckLog adds events for
// such versions to the end of the log instead of reporting them.
func (a *Archive) CheckLog(ctx context.Context, mend bool) (checked events.Checked, err error) {
	err = events.View(a.db, func(t events.Txn) (err error) {
		checked, err = t.Check(ctx)
		return err
	})
	if err != nil || checked.Found > 0 {
		return checked, err
	}
	if mend {
		_, err = a.logMissing(ctx)
		return checked, err
	}
	missing, err := a.notLogged(ctx)
	if len(missing) > 0 {
		checked.Found++
		checked.Faults = append(checked.Faults,
			fmt.Sprintf("log of events: %d versions are missing, as %s", len(missing), ns.VersionID(missing[0].resource, missing[0].n)))
	}
	return checked, err
}

// logMissing adds events for the versions without one, oldest first, and returns their number.
func (a *Archive) logMissing(ctx context.Context) (added int, err error) {
	missing, err := a.notLogged(ctx)
	if err != nil {
		return 0, fmt.Errorf("archive: log of events: %w", err)
	}
	for batch := range slices.Chunk(missing, loggedBatch) {
		err := a.update(ctx, func(u *update) error {
			for _, m := range batch {
				if err := u.logOld(m); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return added, fmt.Errorf("archive: log of events: %w", err)
		}
		added += len(batch)
	}
	return added, nil
}

// unlogged is a version without an event.
type unlogged struct {
	ms       int64 // date, in milliseconds since 1970
	resource string
	n        int
}

// notLogged returns the versions without an event, in the order of their dates.
func (a *Archive) notLogged(ctx context.Context) (missing []unlogged, err error) {
	err = a.view(func(t records.Txn) error {
		of, have := "", map[int]bool{}
		return t.EachVersion(ctx, "", func(v catalog.Version) (bool, error) {
			resource, n, _ := ns.SplitVersionID(v.ID)
			if resource != of {
				of = resource
				clear(have)
				log := events.Txn{Txn: t.Txn}
				err := log.InScope(ctx, events.OfResource(resource), 1<<63, func(seq uint64, _ events.Kind) (bool, error) {
					e, ok, err := log.Event(seq)
					if ok && e.Resource == resource && e.IsVersion() {
						have[e.N] = true
					}
					return true, err
				})
				if err != nil {
					return false, err
				}
			}
			if !have[n] {
				missing = append(missing, unlogged{v.At.UnixMilli(), resource, n})
			}
			return true, nil
		})
	})
	slices.SortFunc(missing, func(a, b unlogged) int {
		return cmp.Or(cmp.Compare(a.ms, b.ms), cmp.Compare(a.resource, b.resource), cmp.Compare(a.n, b.n))
	})
	return missing, err
}

// logOld adds the event for a version that was stored without one. Its kinds are as well known as the records tell
// them.
func (u *update) logOld(m unlogged) error {
	r, known, err := u.records.Resource(m.resource)
	if err != nil || !known { // a version without a resource is not served either
		return err
	}
	v, known, err := u.records.Version(ns.VersionID(m.resource, m.n))
	if err != nil || !known {
		return err
	}
	kinds := events.New
	if v.Previous != "" {
		kinds = events.Content
		change, err := u.records.Change(v.ID)
		if err != nil {
			return err
		}
		if change != nil {
			if kinds = kindsOfSummary(*change); kinds == 0 {
				kinds = events.Content
			}
			if 2*change.SizeTo < change.SizeFrom {
				kinds |= events.Shrunk
			}
		}
	}
	return u.events.Add(events.Event{Kinds: kinds, At: v.At, Resource: r.ID, N: m.n, Issued: v.At}, scopesOf(r)...)
}
