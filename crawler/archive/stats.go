package archive

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"odarchive/crawler/archive/records"
	"odarchive/crawler/archive/tallies"
	"odarchive/crawler/catalog"
	"odarchive/triplestore"
)

// maxDays bounds the days that Stats lists.
const maxDays = 90

// Stats returns the archive's figures at this moment. They are stored as tallies, so Stats is cheap.
func (a *Archive) Stats(ctx context.Context) (catalog.Stats, error) {
	var s catalog.Stats
	err := a.view(func(t records.Txn) error {
		all, err := tallies.Get(t.Txn, tallies.All, "")
		if err != nil {
			return err
		}
		s.Resources, s.Crawled, s.Versions, s.Visits = all.Resources, all.Crawled, all.Versions, all.Visits
		s.Datasets, s.Bytes = all.Datasets, all.Bytes
		if s.Hosts = a.search.Hosts(); s.Hosts == 0 {
			if s.Hosts, err = tallies.Len(ctx, t.Txn, tallies.ByHost); err != nil {
				return err
			}
		}
		if s.Portals, err = tallies.Len(ctx, t.Txn, tallies.ByPortal); err != nil {
			return err
		}
		if s.Types, err = tallies.Counts(ctx, t.Txn, tallies.ByType); err != nil {
			return err
		}
		tallies.SortCounts(s.Types)
		s.Changes, err = tallies.Counts(ctx, t.Txn, tallies.ByDay)
		s.Changes = slices.DeleteFunc(s.Changes, func(c catalog.Count) bool { return c.Count == 0 })
		s.Changes = s.Changes[max(0, len(s.Changes)-maxDays):]
		return err
	})
	if err != nil {
		return s, err
	}
	stored, err := a.content.Stats()
	if err != nil {
		return s, err
	}
	s.StoredBytes = stored.Bytes
	err = a.triples.View(ctx, func(sn *triplestore.Snapshot) error {
		quads, err := sn.Quads()
		s.Triples = int(quads)
		return err
	})
	return s, err
}

// ChangeStats sums up how versions differed from the ones before them; each list has at most limit entries (0: all).
func (a *Archive) ChangeStats(ctx context.Context, limit int) (tallies.ChangeStats, error) {
	return a.tallies.ChangeStats(ctx, limit)
}

// CheckFigures compares the numbers of files and datasets with those of the records, and returns what differs. If mend
// is set, it corrects them.
func (a *Archive) CheckFigures(ctx context.Context, mend bool) (faults []tallies.Difference, err error) {
	err = a.view(func(t records.Txn) error {
		faults, err = tallies.Recount(ctx, t)
		return err
	})
	if err != nil || !mend || len(faults) == 0 {
		return faults, err
	}
	return faults, a.update(ctx, func(u *update) error { return u.tallies.Correct(faults) })
}

// Portals returns the sources, those with the most resources first.
func (a *Archive) Portals(ctx context.Context) ([]catalog.Portal, error) {
	var all []catalog.Portal
	err := a.view(func(t records.Txn) error {
		return tallies.Each(ctx, t.Txn, tallies.ByPortal, func(iri string, n tallies.Tally) error {
			all = append(all, catalog.Portal{
				IRI: iri, Title: n.Title, Datasets: n.Datasets, Resources: n.Resources - n.Delisted, Former: n.Delisted,
				Versions: n.Versions, Bytes: n.Bytes, Outcomes: n.Outcomes,
			})
			return nil
		})
	})
	slices.SortFunc(all, func(x, y catalog.Portal) int {
		return cmp.Or(cmp.Compare(y.Resources, x.Resources), strings.Compare(x.IRI, y.IRI))
	})
	return all, err
}

// Hosts reports how crawling goes on each host, those with the most resources first, at most limit (0: all). The
// crawler adds why a host waits at this moment.
func (a *Archive) Hosts(ctx context.Context, limit int) (all []catalog.HostHealth, err error) {
	add := func(host string, n tallies.Tally) error {
		all = append(all, catalog.HostHealth{Host: host, Resources: n.Resources, Versions: n.Versions, Bytes: n.Bytes,
			Outcomes: n.Outcomes})
		return nil
	}
	if limit <= 0 {
		err = a.view(func(t records.Txn) error { return tallies.Each(ctx, t.Txn, tallies.ByHost, add) })
		slices.SortFunc(all, func(x, y catalog.HostHealth) int {
			return cmp.Or(cmp.Compare(y.Resources, x.Resources), strings.Compare(x.Host, y.Host))
		})
		return all, err
	}
	hosts, err := a.search.LargestHosts(ctx, limit)
	if err != nil {
		return nil, err
	}
	err = a.view(func(t records.Txn) error {
		for _, host := range hosts {
			n, err := tallies.Get(t.Txn, tallies.ByHost, host)
			if err != nil {
				return err
			}
			if err := add(host, n); err != nil {
				return err
			}
		}
		return nil
	})
	return all, err
}

// Types counts the versions by media type, the most frequent first.
func (a *Archive) Types(ctx context.Context) (all []catalog.Count, err error) {
	err = a.view(func(t records.Txn) error {
		all, err = tallies.Counts(ctx, t.Txn, tallies.ByType)
		return err
	})
	tallies.SortCounts(all)
	return all, err
}
