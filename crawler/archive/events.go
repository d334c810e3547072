package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"odarchive/crawler/archive/events"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/archive/search"
	"odarchive/crawler/archive/tallies"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore/kv"
)

// ErrBadQuery is in the chain of errors about what was asked.
var ErrBadQuery = errors.New("not a selection of events")

// Bounds of one page of events.
const (
	usualEvents = 50
	maxEvents   = 500
	maxLooked   = 20_000 // entries of an index or of the log that are looked at
	maxMerged   = 200    // files found by a search whose own events are merged; with more, the whole log is read
)

// Events returns what changed, newest first.
func (a *Archive) Events(ctx context.Context, q catalog.EventQuery) (found catalog.Events, err error) {
	if q.Limit <= 0 {
		q.Limit = usualEvents
	}
	q.Limit = min(q.Limit, maxEvents)
	kinds, err := events.ParseKinds(q.Kinds)
	if err != nil {
		return found, fmt.Errorf("%w: %w", ErrBadQuery, err)
	}
	var filter *search.Filter
	if q.Text != "" {
		one, err := a.search.Filter(ctx, catalog.Search{Text: q.Text})
		if err != nil {
			return found, err
		}
		filter = &one
	}
	err = a.view(func(t records.Txn) error {
		s := selecting{Txn: t, log: events.Txn{Txn: t.Txn}, kinds: kinds, before: q.Before, limit: q.Limit}
		end, err := s.log.Next()
		if err != nil {
			return err
		}
		if s.before == 0 || s.before > end {
			s.before = end
		}
		if found.Title, err = s.find(ctx, q, filter); err != nil {
			return err
		}
		found.Next = s.next
		for _, e := range s.list[:min(len(s.list), q.Limit)] {
			one, err := detail(ctx, t, e)
			if err != nil {
				return err
			}
			found.List = append(found.List, one)
		}
		return nil
	})
	if err != nil {
		return found, fmt.Errorf("archive: events: %w", err)
	}
	return found, nil
}

// Event returns the event with a number.
func (a *Archive) Event(ctx context.Context, seq uint64) (found catalog.Event, err error) {
	err = a.view(func(t records.Txn) error {
		e, ok, err := events.Txn{Txn: t.Txn}.Event(seq)
		if err != nil || !ok {
			return records.OrNotFound(err, "event", fmt.Sprint(seq))
		}
		found, err = detail(ctx, t, e)
		return err
	})
	return found, err
}

// EventCount returns the number of events, which the next one will have.
func (a *Archive) EventCount() (n uint64, err error) {
	err = events.View(a.db, func(t events.Txn) (err error) {
		n, err = t.Next()
		return err
	})
	return n, err
}

// VersionsLogged returns the versions of the events with numbers from from up to, but not including, to, in their order.
func (a *Archive) VersionsLogged(ctx context.Context, from, to uint64) (list []catalog.Version, err error) {
	err = a.view(func(t records.Txn) error {
		some, err := events.Txn{Txn: t.Txn}.Range(ctx, from, to)
		if err != nil {
			return err
		}
		for _, e := range some {
			if !e.IsVersion() {
				continue
			}
			v, known, err := t.Version(e.VersionID())
			if err != nil || !known {
				return records.OrNotFound(err, "version", e.VersionID())
			}
			list = append(list, v)
		}
		return nil
	})
	return list, err
}

// EventBounds returns the dates of the oldest and the newest version among the events of a full node of the log
// (events.NodeSize). ok is false if it has no version.
func (a *Archive) EventBounds(level int, n uint64) (first, last time.Time, ok bool, err error) {
	err = events.View(a.db, func(t events.Txn) (err error) {
		first, last, ok, err = t.Bounds(level, n)
		return err
	})
	return first, last, ok, err
}

// followed bounds the events that EventsFrom looks at in one call.
const followed = 256

// EventsFrom returns those of the next events from a number on that a query selects, oldest first, and the number from which
// to go on, which is from itself if there is no further event. Before and Limit of the query have no effect.
func (a *Archive) EventsFrom(ctx context.Context, q catalog.EventQuery, from uint64) (list []catalog.Event, next uint64, err error) {
	kinds, err := events.ParseKinds(q.Kinds)
	if err != nil {
		return nil, from, fmt.Errorf("%w: %w", ErrBadQuery, err)
	}
	var filter search.Filter
	next = from
	if end, err := a.EventCount(); err != nil || from >= end {
		return nil, from, err
	}
	if q.Text != "" {
		if filter, err = a.search.Filter(ctx, catalog.Search{Text: q.Text}); err != nil {
			return nil, from, err
		}
	}
	err = a.view(func(t records.Txn) error {
		some, err := events.Txn{Txn: t.Txn}.Range(ctx, from, from+followed)
		if err != nil {
			return err
		}
		for _, e := range some {
			next = e.Seq + 1
			if e.Kinds&kinds == 0 {
				continue
			}
			one, err := detail(ctx, t, e)
			if err != nil {
				return err
			}
			wanted, err := selects(t, q, filter, e, one)
			if err != nil {
				return err
			}
			if wanted {
				list = append(list, one)
			}
		}
		return nil
	})
	if err != nil {
		return nil, from, fmt.Errorf("archive: events: %w", err)
	}
	return list, next, nil
}

// selects reports whether a query selects an event, whatever its kinds.
func selects(t records.Txn, q catalog.EventQuery, filter search.Filter, e events.Event, d catalog.Event) (bool, error) {
	switch {
	case q.URL != "":
		id, err := records.ResourceID(q.URL)
		if err != nil || id == e.Resource || e.Dataset == "" || e.Resource == "" {
			return err == nil && id == e.Resource, nil
		}
		r, _, err := t.Resource(id) // a licence is that of all files of the dataset
		return slices.Contains(r.Datasets, e.Dataset), err
	case q.Dataset != "":
		return slices.Contains(d.Datasets, q.Dataset), nil
	case q.Portal != "":
		return slices.Contains(d.Portals, q.Portal), nil
	case q.Text != "":
		return filter.Has(t, e.Resource)
	}
	return true, nil
}

// EventMark returns how far a reader of the log has come: the number of the next event that it has not seen. known is false
// if the reader is new.
func (a *Archive) EventMark(reader string) (next uint64, known bool, err error) {
	err = events.View(a.db, func(t events.Txn) (err error) {
		next, known, err = t.Mark(reader)
		return err
	})
	return next, known, err
}

// SetEventMark stores what EventMark returns.
func (a *Archive) SetEventMark(ctx context.Context, reader string, next uint64) error {
	return a.db.Update(ctx, func(txn *kv.Txn) error { return events.Txn{Txn: txn}.SetMark(reader, next) })
}

// selecting gathers the events of a page.
type selecting struct {
	records.Txn
	log    events.Txn
	kinds  events.Kind
	before uint64
	limit  int

	list   []events.Event // one more than the limit if there are more
	next   uint64
	looked int
}

// find fills the list, and returns the title of what was asked for.
func (s *selecting) find(ctx context.Context, q catalog.EventQuery, filter *search.Filter) (title string, err error) {
	switch {
	case q.URL != "":
		id, err := records.ResourceID(q.URL)
		if err != nil {
			return "", records.NotFound("resource", q.URL)
		}
		r, known, err := s.Resource(id)
		if err != nil || !known {
			return "", records.OrNotFound(err, "resource", q.URL)
		}
		return cmp.Or(r.Title, r.URL), s.scope(ctx, events.OfResource(id))
	case q.Dataset != "":
		if title, err = s.datasetTitle(ctx, q.Dataset); err != nil {
			return "", err
		}
		return title, s.scope(ctx, events.OfDataset(q.Dataset))
	case q.Portal != "":
		portal, err := tallies.Get(s.Txn.Txn, tallies.ByPortal, q.Portal)
		if err != nil {
			return "", err
		}
		if portal.Resources == 0 && portal.Title == "" {
			return "", records.NotFound("portal", q.Portal)
		}
		return cmp.Or(portal.Title, q.Portal), s.scope(ctx, events.OfPortal(q.Portal))
	case filter != nil:
		return q.Text, s.search(ctx, *filter)
	}
	return "", s.log.Before(ctx, s.before, func(e events.Event) (bool, error) { return s.add(e), nil })
}

// datasetTitle returns the title of a dataset that lists, or listed, a resource.
func (s *selecting) datasetTitle(ctx context.Context, iri string) (title string, err error) {
	first := ""
	err = s.OfDataset(ctx, iri, func(id string) (bool, error) { first = id; return false, nil })
	if err != nil || first == "" {
		return "", records.OrNotFound(err, "dataset", iri)
	}
	r, _, err := s.Resource(first)
	for _, source := range r.Sources {
		if source.Dataset == iri {
			title = cmp.Or(title, source.DatasetTitle)
		}
	}
	return cmp.Or(title, iri), err
}

// scope gathers the events of a scope.
func (s *selecting) scope(ctx context.Context, scope events.Scope) error {
	var failed error
	err := s.log.InScope(ctx, scope, s.before, func(seq uint64, kinds events.Kind) (bool, error) {
		if s.kinds&kinds == 0 {
			return s.pass(seq), nil
		}
		e, ok, err := s.log.Event(seq)
		if err != nil || !ok {
			failed = records.OrNotFound(err, "event", fmt.Sprint(seq))
			return false, failed
		}
		return s.add(e), nil
	})
	return errors.Join(err, failed)
}

// search gathers the events of the files that a search finds.
func (s *selecting) search(ctx context.Context, filter search.Filter) error {
	if ids, few, err := filter.IDs(s.Txn, maxMerged); err != nil {
		return err
	} else if few {
		return s.merge(ctx, ids)
	}
	seen := map[string]bool{}
	return s.log.Before(ctx, s.before, func(e events.Event) (bool, error) {
		if s.kinds&e.Kinds == 0 || e.Resource == "" {
			return s.pass(e.Seq), nil
		}
		found, known := seen[e.Resource]
		if !known {
			var err error
			if found, err = filter.Has(s.Txn, e.Resource); err != nil {
				return false, err
			}
			seen[e.Resource] = found
		}
		if !found {
			return s.pass(e.Seq), nil
		}
		return s.add(e), nil
	})
}

// merge gathers the events of some resources.
func (s *selecting) merge(ctx context.Context, ids []string) error {
	var all []uint64
	for _, id := range ids {
		n := 0
		err := s.log.InScope(ctx, events.OfResource(id), s.before, func(seq uint64, kinds events.Kind) (bool, error) {
			if s.kinds&kinds != 0 {
				all = append(all, seq)
				n++
			}
			return n <= s.limit, nil
		})
		if err != nil {
			return err
		}
	}
	slices.SortFunc(all, func(a, b uint64) int { return cmp.Compare(b, a) })
	for _, seq := range slices.Compact(all) {
		e, ok, err := s.log.Event(seq)
		if err != nil || !ok {
			return records.OrNotFound(err, "event", fmt.Sprint(seq))
		}
		if !s.add(e) {
			return nil
		}
	}
	return nil
}

// add adds an event if it is of a selected kind, and reports whether to go on.
func (s *selecting) add(e events.Event) bool {
	if s.kinds&e.Kinds == 0 {
		return s.pass(e.Seq)
	}
	if s.list = append(s.list, e); len(s.list) > s.limit {
		s.next = s.list[s.limit-1].Seq
		return false
	}
	return s.pass(e.Seq)
}

// pass counts an event that was looked at, and reports whether to go on.
func (s *selecting) pass(seq uint64) bool {
	if s.looked++; s.looked < maxLooked {
		return true
	}
	s.next = seq
	return false
}

// detail returns an event with what the records say of it.
func detail(ctx context.Context, t records.Txn, e events.Event) (d catalog.Event, err error) {
	d = catalog.Event{Seq: e.Seq, Kinds: e.Kinds.Names(), At: e.At, N: e.N, Before: -1, From: e.From, To: e.To, Why: e.Why}
	if e.Dataset != "" {
		d.Datasets = []string{e.Dataset}
	}
	if e.Portal != "" {
		d.Portals = []string{e.Portal}
	}
	if e.Resource != "" {
		r, known, err := t.Resource(e.Resource)
		if err != nil || !known {
			return d, records.OrNotFound(err, "resource", e.Resource)
		}
		d.URL = r.URL
		if e.Dataset == "" {
			d.Title, d.Portals, d.Datasets = cmp.Or(r.Title, r.FileName, r.URL), r.Portals, r.Datasets
		} else {
			for _, s := range r.Sources {
				if s.Dataset == e.Dataset {
					d.Title = cmp.Or(d.Title, s.DatasetTitle)
				}
			}
		}
	}
	d.Title = cmp.Or(d.Title, e.Dataset)
	if !e.IsVersion() {
		return d, ctx.Err()
	}
	return d, addVersion(t, &d, e)
}

// addVersion adds to an event what the records say of its version, and of how it differs from the one before.
func addVersion(t records.Txn, d *catalog.Event, e events.Event) error {
	v, known, err := t.Version(e.VersionID())
	if err != nil || !known {
		return records.OrNotFound(err, "version", e.VersionID())
	}
	d.Version, d.Previous, d.Type, d.Size, d.Crawled = v.ID, v.Previous, v.Type, v.Size, v.At
	if v.Previous == "" {
		return nil
	}
	before, known, err := t.Version(v.Previous)
	if err != nil || !known {
		return records.OrNotFound(err, "version", v.Previous)
	}
	d.Before = before.Size
	change, err := t.Change(v.ID)
	if err != nil {
		return err
	}
	if change != nil {
		d.Rows = catalog.RowChange{Added: change.RowsAdded, Removed: change.RowsRemoved, Changed: change.RowsChanged}
	}
	if e.Kinds&events.Schema == 0 {
		return nil
	}
	older, err := t.Inside(v.Previous)
	if err != nil {
		return err
	}
	newer, err := t.Inside(v.ID)
	d.Columns = compareSchemas(older, newer)
	return err
}

// loggedBatch is the number of events that one transaction adds.
const loggedBatch = 500

// checkedMark records, for LogVersions, how many versions were archived, and how many logged, when all were logged.
const checkedMark = "archive/events"

// LogVersions adds the versions to the log of events that a program without such a log stored, oldest first. It returns
// their number. It is quick if there are none, and continues if it was interrupted. Nothing else may write meanwhile.
func (a *Archive) LogVersions(ctx context.Context) (added int, err error) {
	archived, logged, complete, err := a.loggedAll()
	if err != nil || complete {
		return 0, err
	}
	if added, err = a.logMissing(ctx); err != nil {
		return added, err
	}
	return added, a.db.Update(ctx, func(txn *kv.Txn) error {
		return txn.Set(kv.SpaceMeta, []byte(checkedMark), fmt.Appendf(nil, "%d %d", archived, logged+uint64(added)))
	})
}

// CheckLog reads the log of events, and looks for versions that it lacks. Faults are in the result; the error is what
// prevented the check. With mend, it adds events of such versions to the end of the log, if every event can be read.
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
	if a.db.ReadOnly() { // an older program's versions are logged when the directory is opened for writing
		if _, _, complete, err := a.loggedAll(); err != nil || !complete {
			return checked, err
		}
	}
	missing, err := a.notLogged(ctx)
	if len(missing) > 0 {
		checked.Found++
		checked.Faults = append(checked.Faults, fmt.Sprintf("log of events: %d versions are missing, as %s", len(missing), ns.VersionID(missing[0].resource, missing[0].n)))
	}
	return checked, err
}

// logMissing adds the versions that are not in the log, oldest first, and returns their number.
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

// loggedAll reports whether as many versions were logged as were archived since all were logged.
func (a *Archive) loggedAll() (archived int, logged uint64, complete bool, err error) {
	err = a.view(func(t records.Txn) error {
		all, err := tallies.Get(t.Txn, tallies.All, "")
		if err != nil {
			return err
		}
		archived = all.Outcomes[catalog.Archived]
		if logged, err = (events.Txn{Txn: t.Txn}).Versions(); err != nil {
			return err
		}
		raw, _, err := t.Get(kv.SpaceMeta, []byte(checkedMark))
		var archivedThen int
		var loggedThen uint64
		fmt.Sscan(string(raw), &archivedThen, &loggedThen) // zeros if there is none
		complete = uint64(archived-archivedThen) == logged-loggedThen
		return err
	})
	return archived, logged, complete, err
}

// unlogged is a version that is not in the log.
type unlogged struct {
	ms       int64
	resource string
	n        int
}

// notLogged returns the versions that are not in the log, in the order of their dates.
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

// logOld adds the event of a version that was stored without one.
func (u *update) logOld(m unlogged) error {
	r, known, err := u.records.Resource(m.resource)
	if err != nil || !known { // without its resource, nothing serves the version
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
