package archive

import (
	"context"
	"fmt"
	"time"

	"odarchive/crawler/archive/describe"
	"odarchive/crawler/archive/diary"
	"odarchive/crawler/archive/events"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/archive/search"
	"odarchive/crawler/archive/tallies"
	"odarchive/crawler/archive/transparency"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/diff"
	"odarchive/ns"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// update is one write transaction over all parts of the archive.
type update struct {
	*Archive
	triples *triplestore.Txn
	records records.Txn
	diary   diary.Txn
	tallies *tallies.Update
	search  *search.Update
	events  events.Txn
	leaves  transparency.Txn
}

// update runs f as one transaction. It may run f again, so f must not keep anything of an earlier run.
func (a *Archive) update(ctx context.Context, f func(*update) error) error {
	return a.triples.Update(ctx, func(txn *triplestore.Txn) error {
		u := &update{
			Archive: a, triples: txn, records: records.Txn{Txn: txn.KV()}, diary: diary.Txn{Txn: txn.KV()},
			tallies: a.tallies.Begin(txn.KV()), search: a.search.Begin(txn.KV()), events: events.Txn{Txn: txn.KV()},
			leaves: transparency.Txn{Txn: txn.KV()},
		}
		if err := f(u); err != nil {
			return err
		}
		if err := u.tallies.Write(); err != nil {
			return err
		}
		return u.search.Write()
	})
}

// Commit records one fetch of a registered URL; at this moment a new version begins to exist. All parts, and what also
// writes (may be nil; it receives the activity as recorded), form one transaction, which is durable when Commit
// returns. Bytes equal to those of the latest version make no version: the outcome becomes Unchanged. Commit returns
// the activity as recorded. The error is ErrNotFound if the URL is not registered.
func (a *Archive) Commit(ctx context.Context, visit Visit, also func(*kv.Txn, catalog.Activity) error) (catalog.Activity, error) {
	if also == nil {
		return a.CommitWith(ctx, visit, nil)
	}
	return a.CommitWith(ctx, visit, func(txn Txn, act catalog.Activity) error { return also(txn.KV(), act) })
}

// CommitWith is Commit for an also that registers URLs, or writes triples, in the same transaction.
func (a *Archive) CommitWith(ctx context.Context, visit Visit, also func(Txn, catalog.Activity) error) (catalog.Activity, error) {
	return a.commitVisit(ctx, visit, also, true)
}

// CommitTogether is Commit for visits that many callers make at the same time: those that wait for the turn to write
// form one transaction. also may run in the goroutine of another caller, must not depend on what the transaction has
// written of other URLs, and may run again. If it, or the visit, fails, the others are committed without it.
func (a *Archive) CommitTogether(ctx context.Context, visit Visit, also func(Txn, catalog.Activity) error) (catalog.Activity, error) {
	return a.commitVisit(ctx, visit, also, false)
}

func (a *Archive) commitVisit(ctx context.Context, visit Visit, also func(Txn, catalog.Activity) error, alone bool) (catalog.Activity,
	error) {
	url := visit.Activity.URL
	id, err := records.ResourceID(url)
	if err != nil {
		return visit.Activity, fmt.Errorf("archive: commit: %w", err)
	}
	visit, err = visit.bounded() // before other writers have to wait, as is the draft
	if err == nil && visit.Kept != nil {
		visit.Kept.draft, err = a.draft(ctx, id, visit)
	}
	if err != nil {
		return visit.Activity, fmt.Errorf("archive: commit %s: %w", url, err)
	}
	act := visit.Activity
	write := func(u *update) error {
		act = visit.Activity
		if err := u.addVisit(ctx, id, &act, visit); err != nil {
			return err
		}
		if visit.Kept != nil && visit.Kept.Withdrawn != nil && act.Outcome == catalog.Archived {
			if err := u.refuseAbsent(ctx, id, act.Version, visit.Kept); err != nil {
				return err
			}
		}
		if also != nil {
			return also(Txn{u}, act)
		}
		return nil
	}
	if alone || !visit.mayShare() {
		err = a.update(ctx, write)
	} else {
		err = a.commitTogether(&share{ctx: ctx, resource: id, size: visit.size(), run: write, done: make(chan struct{})})
	}
	if err != nil {
		return act, fmt.Errorf("archive: commit %s: %w", act.URL, err)
	}
	return act, nil
}

// addVisit writes a fetch to each part in turn.
func (u *update) addVisit(ctx context.Context, id string, act *catalog.Activity, visit Visit) error {
	before, known, err := u.records.Resource(id)
	if err != nil || !known {
		return records.OrNotFound(err, "resource", act.URL)
	}
	if visit.Kept != nil && visit.Kept.Withdrawn == nil {
		err = u.refuse(act, &visit)
	} else if visit.Examined != nil {
		err = u.purgeAgain(*visit.Examined)
	}
	if err != nil {
		return err
	}
	next, err := u.nextVisit(ctx, before, act.Start, visit)
	if err != nil {
		return err
	}
	act.URL, act.ID = before.URL, ns.ActivityID(id, next.Start)
	act.Start, act.End = next.Start, act.End.Add(next.Start.Sub(act.Start))
	if visit.Past != nil && (act.Start.Before(before.LastVisit) || before.Versions > 0 && act.Start.Before(before.Changed)) {
		return u.addPast(ctx, before, next, act, visit)
	}
	if visit.Kept == nil {
		if visit.Kept, err = u.keptOf(before, *act, visit.Confirms); err != nil {
			return err
		}
	}
	after := visited(before, *act)

	var change *diff.Summary
	if visit.Kept != nil {
		change = visit.Kept.Change
		if err := u.keep(&after, act, visit.Kept); err != nil { // bytes, records, stored records, transparency log, triples, joining
			return err
		}
	}
	if act.Version == "" && after.Versions > 0 && act.Outcome == catalog.Unchanged {
		act.Version = latestID(after)
	}
	after.Outcome = act.Outcome

	if err := u.noteFailure(ctx, &after, *act, visit.Fault); err != nil { // records
		return err
	}
	if err := u.addToDiary(next, &after, act); err != nil { // diary, triples
		return err
	}
	if err := u.saveResource(before, after); err != nil { // records, search, triples
		return err
	}
	if err := u.tallies.AddVisit(before, after, *act, change); err != nil {
		return err
	}
	if after.Versions > before.Versions {
		if err := u.indexColumns(before, visit.Kept); err != nil { // search
			return err
		}
	}
	if err := u.logVisit(before, after, *act, visit.Kept); err != nil { // events
		return err
	}
	if visit.ErrorPage != nil {
		return u.markErrorPages(ctx, after.Host, *visit.ErrorPage, act.Why)
	}
	return nil
}

// nextVisit returns where a visit goes in the diary.
func (u *update) nextVisit(ctx context.Context, r records.Resource, start time.Time, visit Visit) (diary.Next, error) {
	if visit.Past != nil {
		return u.diary.NextPast(ctx, r.ID, start)
	}
	return u.diary.Next(ctx, r.ID, r.Stretch, start)
}

// visited returns the record after one more fetch, before anything is kept of it.
func visited(r records.Resource, act catalog.Activity) records.Resource {
	r.Visits++
	r.LastVisit = act.Start
	r.ErrorClass, r.Why = act.ErrorClass, act.Why
	if act.Outcome == catalog.Archived || act.Outcome == catalog.Unchanged {
		r.Errors = 0
	} else {
		r.Errors++
	}
	return r
}

// keep adds the bytes to the content store and makes them a version, unless the latest version of the resource has
// them.
func (u *update) keep(r *records.Resource, act *catalog.Activity, kept *Kept) error {
	ref := kept.Ref
	if kept.Placed != nil {
		var err error
		if ref, err = kept.Placed.Write(u.records.Txn); err != nil {
			return err
		}
	}
	digests := digestsOf(ref)
	if r.Versions > 0 && r.Latest == digests {
		act.Outcome = catalog.Unchanged
		return nil
	}
	v := kept.version(*r, *act, ref)
	if r.Versions > 0 {
		v.Previous = latestID(*r)
	} else {
		r.FirstSeen = v.At
	}
	act.Outcome, act.Version = catalog.Archived, v.ID
	r.Versions++
	r.Latest, r.Size, r.Changed = digests, v.Size, v.At
	r.MediaType, r.FileName = v.Type, v.FileName
	if r.OutOfOrder {
		r.NewestN = v.N
		if err := u.dropLatestMark(r.ID); err != nil {
			return err
		}
	}

	if err := u.writeVersion(v, ref, kept); err != nil {
		return err
	}
	if kept.Version != nil {
		kept.Version(v)
	}
	if v.Withdrawn != nil {
		return nil
	}
	return u.joining.Mark(u.records.Txn, r.ID, v.N, kept.Inside)
}

// noteFailure lists or unlists the resource as an internal failure. A fault of examining the bytes counts only if they
// became a version.
func (u *update) noteFailure(ctx context.Context, r *records.Resource, act catalog.Activity, fault string) error {
	switch {
	case act.ErrorClass == catalog.ErrInternal:
		fault = act.Why
	case act.Outcome != catalog.Archived:
		fault = ""
	}
	return u.records.NoteFailure(ctx, r, act, fault)
}

// addToDiary writes the visit, as one more of the stretch before it if it found the same. It sets the visit's ID to
// that of its stretch, and r.Stretch; the caller saves r.
func (u *update) addToDiary(next diary.Next, r *records.Resource, act *catalog.Activity) error {
	before, after, err := u.diary.Add(next, *act)
	if err != nil {
		return err
	}
	r.Stretch, act.ID = after.Start(), after.ID()
	if before.Visits == 0 {
		return describe.Replace(u.triples, nil, describe.Activity(u.mint, after.Activity(r.URL)))
	}
	m, known, err := u.describedBelow(before)
	if err != nil {
		return err
	}
	if !known { // the triples were lost
		return describe.Replace(u.triples, nil, describe.Activity(u.mint, after.Activity(r.URL)))
	}
	return describe.Extend(u.triples, m, before.Activity(r.URL), after.Activity(r.URL))
}

// indexColumns puts the columns of a new version into the search index in place of the former version's.
func (u *update) indexColumns(before records.Resource, kept *Kept) error {
	former := kept.Former.Inside
	if before.Versions > 0 && kept.Former.Version != latestID(before) {
		var err error
		if former, err = search.LatestInside(u.records, before); err != nil {
			return err
		}
	}
	return u.search.SetColumns(before.ID, former, kept.Inside)
}

func versionQuads(m ns.Mint, v catalog.Version, in *inspect.Inside, change *diff.Summary) []term.Quad {
	return append(append(describe.Version(m, v), describe.Inside(m, v, in)...), describe.Change(m, v, change)...)
}

func latestID(r records.Resource) string { return ns.VersionID(r.ID, r.LatestN()) }
