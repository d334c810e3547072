package archive

import (
	"context"
	"slices"
	"strings"

	"odarchive/crawler/catalog"
	"odarchive/triplestore"
)

// Stats are the archive's figures at this moment. They are kept as counts, so asking is cheap.
func (a *Archive) Stats(ctx context.Context) (catalog.Stats, error) {
	var s catalog.Stats
	err := a.view(func(t tables) error {
		all, err := t.counted(countAll, "")
		if err != nil {
			return err
		}
		s.Resources, s.Crawled, s.Versions, s.Visits = all.Resources, all.Crawled, all.Versions, all.Visits
		s.Datasets, s.Bytes = all.Datasets, all.Bytes
		if s.Hosts = a.facts.hostsKnown(); s.Hosts == 0 {
			if s.Hosts, err = t.countKeys(ctx, countHost); err != nil {
				return err
			}
		}
		if s.Portals, err = t.countKeys(ctx, countPortal); err != nil {
			return err
		}
		if s.Types, err = t.list(ctx, countType); err != nil {
			return err
		}
		byCount(s.Types)
		s.Changes, err = t.list(ctx, countDay)
		s.Changes = slices.DeleteFunc(s.Changes, func(c catalog.Count) bool { return c.Count == 0 })
		s.Changes = s.Changes[max(0, len(s.Changes)-90):]
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

// countKeys tells how many things a name is counted for.
func (t tables) countKeys(ctx context.Context, name string) (n int, err error) {
	err = t.scan(ctx, key(tableCount, name, ""), nil, func(_, _ []byte) (bool, error) { n++; return true, nil })
	return n, err
}

// list gives the tallies of a name by the versions they count, in the order of keys.
func (t tables) list(ctx context.Context, name string) ([]catalog.Count, error) {
	var all []catalog.Count
	err := t.counts(ctx, name, func(what string, n tally) error {
		all = append(all, catalog.Count{Key: what, Count: n.Versions, Bytes: n.Bytes})
		return nil
	})
	return all, err
}

// Types counts the latest versions of resources by media type, most first.
func (a *Archive) Types(ctx context.Context) ([]catalog.Count, error) {
	s, err := a.Stats(ctx)
	return s.Types, err
}

// Portals lists the sources, largest first.
func (a *Archive) Portals(ctx context.Context) ([]catalog.Portal, error) {
	var all []catalog.Portal
	err := a.view(func(t tables) error {
		return t.counts(ctx, countPortal, func(iri string, n tally) error {
			all = append(all, catalog.Portal{IRI: iri, Title: n.Title, Datasets: n.Datasets, Resources: n.Resources, Versions: n.Versions, Bytes: n.Bytes, Outcomes: n.Outcomes})
			return nil
		})
	})
	slices.SortFunc(all, func(x, y catalog.Portal) int {
		if x.Resources != y.Resources {
			return y.Resources - x.Resources
		}
		return strings.Compare(x.IRI, y.IRI)
	})
	return all, err
}

// Hosts says how crawling goes, host by host, those with most resources first; at most limit, 0 for all. How a host
// waits at this moment is the crawler's to add.
func (a *Archive) Hosts(ctx context.Context, limit int) ([]catalog.HostHealth, error) {
	var all []catalog.HostHealth
	add := func(host string, n tally) error {
		all = append(all, catalog.HostHealth{Host: host, Resources: n.Resources, Versions: n.Versions, Bytes: n.Bytes, Outcomes: n.Outcomes})
		return nil
	}
	if limit > 0 {
		hosts, err := a.largestHosts(ctx, limit)
		if err != nil {
			return nil, err
		}
		err = a.view(func(t tables) error {
			for _, host := range hosts {
				n, err := t.counted(countHost, host)
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
	err := a.view(func(t tables) error { return t.counts(ctx, countHost, add) })
	slices.SortFunc(all, func(x, y catalog.HostHealth) int {
		if x.Resources != y.Resources {
			return y.Resources - x.Resources
		}
		return strings.Compare(x.Host, y.Host)
	})
	return all, err
}
