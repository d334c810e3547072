package archive

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"odarchive/crawler/archive/events"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/archive/search"
	"odarchive/crawler/catalog"
	"odarchive/triplestore/kv"
)

// ErrBadQuery is wrapped by errors about a catalog.EventQuery that cannot be answered, such as one with an unknown
// kind.
var ErrBadQuery = errors.New("not a selection of events")

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

// EventCount returns the number of events. The next event gets this number.
func (a *Archive) EventCount() (n uint64, err error) {
	err = events.View(a.db, func(t events.Txn) (err error) {
		n, err = t.Next()
		return err
	})
	return n, err
}

// VersionsLogged returns the versions of the events whose numbers are at least from and less than to, in the order of
// the numbers. Events without a version are skipped.
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

// EventBounds returns the dates of the oldest and the newest version among the events of node n of a level of the log
// (see events.NodeSize). The node must be full. ok is false if none of its events has a version.
func (a *Archive) EventBounds(level int, n uint64) (first, last time.Time, ok bool, err error) {
	err = events.View(a.db, func(t events.Txn) (err error) {
		first, last, ok, err = t.Bounds(level, n)
		return err
	})
	return first, last, ok, err
}

// maxFollowed is the maximum number of events that one call of EventsFrom reads.
const maxFollowed = 256

// EventsFrom reads the next events, from the number from on, and returns those that the query selects, oldest first.
// next is the number to continue with; it equals from if there are no further events. Before and Limit of the query
// have no effect.
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
		some, err := events.Txn{Txn: t.Txn}.Range(ctx, from, from+maxFollowed)
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

// selects reports whether the query is about the file, dataset, portal or text of an event. It ignores kinds. d has the
// details of e; filter is the query's search if it has a text.
func selects(t records.Txn, q catalog.EventQuery, filter search.Filter, e events.Event, d catalog.Event) (bool, error) {
	switch {
	case q.URL != "":
		id, err := records.ResourceID(q.URL)
		if err != nil { // no resource can have such a URL
			return false, nil
		}
		if id == e.Resource || e.Dataset == "" || e.Resource == "" {
			return id == e.Resource, nil
		}
		r, _, err := t.Resource(id) // the dataset's licence applies to each of its files
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

// EventMark returns the mark of a reader of the log: the number of the first event that the reader has not seen. known
// is false if SetEventMark was never called for the reader.
func (a *Archive) EventMark(reader string) (next uint64, known bool, err error) {
	err = events.View(a.db, func(t events.Txn) (err error) {
		next, known, err = t.Mark(reader)
		return err
	})
	return next, known, err
}

// SetEventMark stores the mark of a reader, which EventMark returns.
func (a *Archive) SetEventMark(ctx context.Context, reader string, next uint64) error {
	return a.db.Update(ctx, func(txn *kv.Txn) error { return events.Txn{Txn: txn}.SetMark(reader, next) })
}
