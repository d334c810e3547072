package archive

import (
	"fmt"
	"time"

	"odarchive/crawler/archive/events"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/diff"
	"odarchive/ns"
)

// Each change becomes an event of the log (package events) in the transaction that makes the change, so the log is
// complete. A visit that finds nothing new does not touch the log.

// goneAfter is the number of failures in a row after which a file counts as gone although no answer said so. A single
// failure is often one of the network.
const goneAfter = 3

// maxScopes bounds the datasets, and likewise the portals, in whose scope an event of one resource is.
const maxScopes = 100

// logVisit adds an event of what a visit changed, if it changed something.
func (u *update) logVisit(before, after records.Resource, act catalog.Activity, kept *Kept) error {
	if act.Outcome == catalog.Archived || act.Outcome == catalog.Unchanged {
		var kinds events.Kind
		if before.Errors > 0 { // otherwise the file was not gone
			back, err := u.clearGone(after.ID, events.NotFetched)
			if err != nil {
				return err
			}
			kinds |= back
		}
		if after.Versions > before.Versions {
			return u.logVersion(after, act, kinds|kindsOf(before, after, kept))
		}
		if kinds == 0 {
			return nil
		}
		return u.logResource(after, events.Event{Kinds: kinds, At: act.End})
	}
	if after.Versions == 0 || !isGone(after, act) {
		return nil
	}
	return u.logGone(after, events.NotFetched, events.Event{Kinds: events.Gone, At: act.End, Why: goneWhy(act)})
}

// isGone reports whether a failed visit means that the file is gone. It does not if the host asked to wait or forbids
// the visit, or if the failure was ours.
func isGone(r records.Resource, act catalog.Activity) bool {
	switch {
	case act.Outcome != catalog.NoVersion || act.ErrorClass == catalog.ErrInternal || act.ErrorClass == catalog.ErrBytesWithdrawn ||
		act.ErrorClass == catalog.ErrDiskFull:
		return false
	case act.ErrorClass == catalog.ErrSoft404, act.Status == 404, act.Status == 410, act.Status == 451:
		return true
	}
	return r.Errors >= goneAfter
}

func goneWhy(act catalog.Activity) string {
	switch {
	case act.Why != "":
		return act.Why
	case act.Status != 0:
		return fmt.Sprintf("the server answered %d", act.Status)
	}
	return string(act.ErrorClass)
}

// logListing adds an event if no portal lists a resource any more, or if one lists it again.
func (u *update) logListing(before, after records.Resource, at time.Time) error {
	was, is := before.Delisted(), after.Delisted()
	switch {
	case after.Versions == 0 || was.IsZero() == is.IsZero():
		return nil
	case is.IsZero():
		kinds, err := u.clearGone(after.ID, events.NotListed)
		if err != nil || kinds == 0 {
			return err
		}
		return u.logResource(after, events.Event{Kinds: kinds, At: at, Why: "a portal lists it again"})
	}
	return u.logGone(after, events.NotListed, events.Event{Kinds: events.Gone, At: at, Why: "no portal lists it any more"})
}

// logGone records that a resource is gone in one way and adds the event e, unless that was recorded before.
func (u *update) logGone(r records.Resource, way events.Way, e events.Event) error {
	ways, err := u.events.IsGone(r.ID)
	if err != nil || ways&way != 0 {
		return err
	}
	if err := u.events.SetGone(r.ID, ways|way); err != nil {
		return err
	}
	return u.logResource(r, e)
}

// clearGone records that a resource is no longer gone in one way. It returns events.Back if it was, and otherwise 0.
func (u *update) clearGone(resource string, way events.Way) (events.Kind, error) {
	ways, err := u.events.IsGone(resource)
	if err != nil || ways&way == 0 {
		return 0, err
	}
	return events.Back, u.events.SetGone(resource, ways&^way)
}

// logResource adds an event of a resource that is not about a version.
func (u *update) logResource(r records.Resource, e events.Event) error {
	e.Resource, e.N = r.ID, -1
	return u.events.Add(e, scopesOf(r)...)
}

// logVersion adds the event of the version that a visit stored.
func (u *update) logVersion(r records.Resource, act catalog.Activity, kinds events.Kind) error {
	_, n, _ := ns.SplitVersionID(act.Version)
	return u.events.Add(events.Event{Kinds: kinds, At: act.End, Resource: r.ID, N: n, Issued: act.Start}, scopesOf(r)...)
}

// scopesOf returns the scopes of a resource's events.
func scopesOf(r records.Resource) []events.Scope {
	scopes := []events.Scope{events.OfResource(r.ID)}
	for _, iri := range r.Datasets[:min(len(r.Datasets), maxScopes)] {
		scopes = append(scopes, events.OfDataset(iri))
	}
	for _, iri := range r.Portals[:min(len(r.Portals), maxScopes)] {
		scopes = append(scopes, events.OfPortal(iri))
	}
	return scopes
}

// kindsOf returns the kinds of the event of a new version.
func kindsOf(before, after records.Resource, kept *Kept) (kinds events.Kind) {
	if before.Versions == 0 {
		return events.New
	}
	var former *inspect.Inside
	if kept.Former.Version == latestID(before) {
		former = kept.Former.Inside
	}
	if s := kept.Change; s != nil {
		kinds = kindsOfSummary(*s)
	}
	if kinds&events.Schema == 0 && (kept.Change == nil || kept.Change.Kind != diff.Tables) &&
		!compareSchemas(former, kept.Inside).IsZero() {
		kinds |= events.Schema
	}
	rowsBefore, rowsAfter := rowsOf(former), rowsOf(kept.Inside)
	if rowsBefore >= 0 && rowsAfter >= 0 && rowsBefore != rowsAfter {
		kinds |= events.Rows
	}
	if kinds == 0 {
		kinds = events.Content
	}
	if 2*after.Size < before.Size || rowsAfter >= 0 && 2*rowsAfter < rowsBefore {
		kinds |= events.Shrunk
	}
	return kinds
}

func kindsOfSummary(s diff.Summary) (kinds events.Kind) {
	if s.RowsAdded+s.RowsRemoved+s.RowsChanged > 0 {
		kinds |= events.Rows
	}
	if s.ColumnsAdded+s.ColumnsRemoved+s.ColumnsRenamed+s.ColumnsRetyped > 0 {
		kinds |= events.Schema
	}
	return kinds
}

// rowsOf returns the number of rows of all tables of a file, -1 if it has none or not all are known.
func rowsOf(in *inspect.Inside) (rows int64) {
	if in == nil || len(in.Tables) == 0 || in.More {
		return -1
	}
	for _, t := range in.Tables {
		if t.Truncated {
			return -1
		}
		rows += t.Rows
	}
	return rows
}
