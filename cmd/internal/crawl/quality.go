package crawl

import (
	"context"
	"errors"
	"fmt"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/archive"
	"odarchive/crawler/archive/quality"
	"odarchive/crawler/catalog"
	"odarchive/crawler/harvest"
)

// qualityEvery is how often a server measures its portals: what crawls find out changes slowly.
const qualityEvery = 24 * time.Hour

func (c *Crawl) qualities() quality.Keeper {
	return quality.Keeper{Triples: c.store.Triples, Mint: c.store.Mint, Known: c.known, Visited: c.visited, ReadOnly: c.store.DB.ReadOnly()}
}

// maxVisits is how many visits are looked at one by one; after more, a portal is measured as a whole.
const maxVisits = 20_000

// longestVisit is how long before a moment a visit may have started that ended after it.
const longestVisit = time.Hour

// visited returns the datasets of a portal whose files were visited since a moment. known is false after more than
// maxVisits visits.
func (c *Crawl) visited(ctx context.Context, portal string, since time.Time) (datasets []string, known bool, err error) {
	ids, known, err := c.store.Archive.VisitedSince(ctx, since.Add(-longestVisit), maxVisits)
	if err != nil || !known {
		return nil, false, err
	}
	for _, id := range ids {
		r, err := c.store.Archive.Resource(ctx, id)
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

// known returns what the archive knows of an address.
func (c *Crawl) known(ctx context.Context, link string) (quality.Known, error) {
	if _, err := address.Key(link); err != nil {
		return quality.Known{}, nil // not a URL that is crawled
	}
	r, err := c.store.Archive.Resource(ctx, link)
	if errors.Is(err, archive.ErrNotFound) {
		return quality.Known{}, nil
	}
	if err != nil || r.Visits == 0 {
		return quality.Known{}, err
	}
	return quality.Known{Visited: true, Retrieved: r.Outcome == catalog.Archived || r.Outcome == catalog.Unchanged, MediaType: r.MediaType,
		Size: r.Size}, nil
}

// Quality measures the metadata of portals, or of all portals if none is named, and stores the measurements.
func (c *Crawl) Quality(ctx context.Context, portals ...string) ([]quality.Table, error) {
	k := c.qualities()
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

// measuring is a Keeper that measures quality with each commit: of the datasets that the harvest changed or that were
// visited since the last one, or of the whole portal if an earlier harvest was killed before it had measured.
type measuring struct {
	harvest.Keeper
	crawl *Crawl
}

func (m measuring) Commit(ctx context.Context, r harvest.Report, portal string, e harvest.Ending) (harvest.Changes, error) {
	quality := m.crawl.qualities()
	current, err := quality.Current(ctx, portal)
	if err != nil {
		return harvest.Changes{}, err
	}
	before := quality.Position()
	changes, err := m.Keeper.Commit(ctx, r, portal, e)
	switch {
	case err != nil:
	case current:
		_, err = quality.Update(ctx, portal, before)
	default:
		_, err = quality.Measure(ctx, portal)
	}
	return changes, err
}

// MeasureInBackground measures all portals once a day, until ctx ends or a measurement fails.
func (c *Crawl) MeasureInBackground(ctx context.Context) error {
	tick := time.NewTicker(qualityEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		started := time.Now()
		tables, err := c.Quality(ctx)
		if err != nil {
			return fmt.Errorf("measure quality: %w", err)
		}
		c.store.Log.Info("quality measured", "portals", len(tables), "took", time.Since(started))
	}
}
