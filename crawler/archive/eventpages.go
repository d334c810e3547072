package archive

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"odarchive/crawler/archive/events"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/archive/search"
	"odarchive/crawler/archive/tallies"
	"odarchive/crawler/catalog"
)

// Bounds of one page of events.
const (
	usualEvents = 50
	maxEvents   = 500
	maxLooked   = 20_000 // entries of the log, or of the index of a scope, that are read
	maxMerged   = 200    // if a search finds at most so many files, their events are merged; otherwise the log is read
)

// Events returns a page of the events that a query selects, newest first. Errors about the query wrap ErrBadQuery, or
// ErrNotFound if the archive does not know the file, dataset or portal.
func (a *Archive) Events(ctx context.Context, q catalog.EventQuery) (found catalog.Events, err error) {
	if q.Limit <= 0 {
		q.Limit = usualEvents
	}
	q.Limit, q.URL = min(q.Limit, maxEvents), a.URLOf(q.URL)
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
		s := eventPage{Txn: t, log: events.Txn{Txn: t.Txn}, kinds: kinds, before: q.Before, limit: q.Limit}
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

// eventPage collects the events of one page.
type eventPage struct {
	records.Txn
	log    events.Txn
	kinds  events.Kind // of the events to collect
	before uint64      // only events with lower numbers are collected
	limit  int

	list   []events.Event // has limit+1 events if there is a next page
	next   uint64         // see catalog.Events
	looked int            // entries read so far
}

// find fills the list, and returns the title of the file, dataset, portal or search that the query is about.
func (s *eventPage) find(ctx context.Context, q catalog.EventQuery, filter *search.Filter) (title string, err error) {
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

// datasetTitle returns the title of a dataset, as the first of its resources in the records states it. The dataset may
// have been delisted.
func (s *eventPage) datasetTitle(ctx context.Context, iri string) (title string, err error) {
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

// scope collects the events of a scope.
func (s *eventPage) scope(ctx context.Context, scope events.Scope) error {
	return s.log.InScope(ctx, scope, s.before, func(seq uint64, kinds events.Kind) (bool, error) {
		if s.kinds&kinds == 0 {
			return s.pass(seq), nil
		}
		e, err := s.event(seq)
		return err == nil && s.add(e), err
	})
}

// event returns the event with a number, which must exist.
func (s *eventPage) event(seq uint64) (events.Event, error) {
	e, ok, err := s.log.Event(seq)
	if err != nil || !ok {
		return e, records.OrNotFound(err, "event", fmt.Sprint(seq))
	}
	return e, nil
}

// search collects the events of the files that a search finds.
func (s *eventPage) search(ctx context.Context, filter search.Filter) error {
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

// merge collects the events of some resources.
func (s *eventPage) merge(ctx context.Context, ids []string) error {
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
		e, err := s.event(seq)
		if err != nil || !s.add(e) {
			return err
		}
	}
	return nil
}

// add adds an event to the list if it is of a selected kind. It reports whether the page can take further events.
func (s *eventPage) add(e events.Event) bool {
	if s.kinds&e.Kinds == 0 {
		return s.pass(e.Seq)
	}
	if s.list = append(s.list, e); len(s.list) > s.limit {
		s.next = s.list[s.limit-1].Seq
		return false
	}
	return s.pass(e.Seq)
}

// pass counts an entry that was read. It reports whether further entries may be read; if not, the next page begins
// below seq.
func (s *eventPage) pass(seq uint64) bool {
	if s.looked++; s.looked < maxLooked {
		return true
	}
	s.next = seq
	return false
}
