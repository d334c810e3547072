package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/archive"
	"odarchive/crawler/archive/quality"
	"odarchive/crawler/catalog"
	"odarchive/crawler/harvest"
)

// qualityEvery is how often a running archive measures its portals again: what crawls find out changes slowly.
const qualityEvery = 24 * time.Hour

func (n *Node) qualities() quality.Keeper {
	return quality.Keeper{Triples: n.Triples, Mint: n.Mint, Known: n.known, Visited: n.visited, ReadOnly: n.DB.ReadOnly()}
}

// mostVisits, of all portals' files, are looked at one by one for the measures of quality.
const mostVisits = 20_000

// visited datasets of a portal, by their files, since a moment; false where there were too many visits.
func (n *Node) visited(ctx context.Context, portal string, since time.Time) (datasets []string, known bool, err error) {
	visits, err := n.Archive.Activities(ctx, catalog.ActivityQuery{Limit: mostVisits})
	if err != nil {
		return nil, false, err
	}
	before := slices.IndexFunc(visits, func(v catalog.Activity) bool { return v.End.Before(since) && v.Start.Before(since) }) // newest first
	switch {
	case before >= 0:
		visits = visits[:before]
	case len(visits) == mostVisits:
		return nil, false, nil
	}
	seen := map[string]bool{}
	for _, v := range visits {
		if seen[v.URL] {
			continue
		}
		seen[v.URL] = true
		r, err := n.Archive.Resource(ctx, v.URL)
		if err != nil {
			return nil, false, err
		}
		for _, s := range r.Sources {
			if s.Portal == portal {
				datasets = append(datasets, s.Dataset)
			}
		}
	}
	return datasets, true, nil
}

// known is what the archive knows of an address, for the measures of quality.
func (n *Node) known(ctx context.Context, link string) (quality.Known, error) {
	if _, err := address.Key(link); err != nil {
		return quality.Known{}, nil // no address
	}
	r, err := n.Archive.Resource(ctx, link)
	if errors.Is(err, archive.ErrNotFound) {
		return quality.Known{}, nil
	}
	if err != nil || r.Visits == 0 {
		return quality.Known{}, err
	}
	return quality.Known{Visited: true, Retrieved: r.Outcome == catalog.Archived || r.Outcome == catalog.Unchanged, MediaType: r.MediaType, Size: r.Size}, nil
}

// Quality measures the metadata of portals, of all where none is named, and keeps the measurements.
func (n *Node) Quality(ctx context.Context, portals ...string) ([]quality.Table, error) {
	k := n.qualities()
	if len(portals) == 0 {
		var err error
		if portals, err = k.Portals(ctx); err != nil {
			return nil, err
		}
	}
	var tables []quality.Table
	for _, portal := range portals {
		t, err := k.Measure(ctx, portal)
		if err != nil {
			return tables, err
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// measuring keeps what is harvested, and measures what has changed of each portal by it, and by visits since the last harvest;
// all of it where a harvest was killed before it had measured.
type measuring struct {
	harvest.Keeper
	node *Node
}

func (m measuring) Commit(ctx context.Context, r harvest.Report, portal string, whole bool) (harvest.Changes, error) {
	quality := m.node.qualities()
	current, err := quality.Current(ctx, portal)
	if err != nil {
		return harvest.Changes{}, err
	}
	before := quality.Position()
	changes, err := m.Keeper.Commit(ctx, r, portal, whole)
	switch {
	case err != nil:
	case current:
		_, err = quality.Update(ctx, portal, before)
	default:
		_, err = quality.Measure(ctx, portal)
	}
	return changes, err
}

// MeasureInBackground measures all portals once a day, until the context ends. A failure is returned: whoever runs it
// tries again.
func (n *Node) MeasureInBackground(ctx context.Context) error {
	tick := time.NewTicker(qualityEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		started := time.Now()
		tables, err := n.Quality(ctx)
		if err != nil {
			return fmt.Errorf("measure quality: %w", err)
		}
		n.Log.Info("quality measured", "portals", len(tables), "took", time.Since(started))
	}
}
