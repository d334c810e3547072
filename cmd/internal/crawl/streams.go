package crawl

import (
	"context"
	"strings"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/crawler/queue/supervise"
)

// The event streams (LDES) that were harvested are read again while the server runs: a stream is made to be followed,
// and reading on costs a request or two, since its pages that are full never change and the others are requested
// conditionally.
const (
	streamReports  = 10_000 // newest reports of harvests that are looked at
	maxStreams     = 1000   // that are followed
	streamsAtLeast = time.Second
)

// stream is an event stream that was harvested as a whole, with its newest report.
type stream struct {
	source HarvestSource
	last   harvest.Report
}

// due returns when a stream is to be read again: after a failure, four times as late; at once if the process was killed
// while it was read.
func (s stream) due(every time.Duration) time.Time {
	switch {
	case s.last.Ended.IsZero():
		return s.last.Started
	case s.last.Error != "":
		return s.last.Ended.Add(4 * every)
	}
	return s.last.Ended.Add(every)
}

// FollowStreams reads event streams again, each every Config.Fetch.LDESInterval, until ctx ends. Streams that fail are
// logged and read again later.
func (c *Crawl) FollowStreams(ctx context.Context) error {
	every := c.store.Config.Fetch.LDESInterval
	if every <= 0 {
		return nil
	}
	every = max(every, streamsAtLeast)
	tick := time.NewTicker(min(every, time.Minute))
	defer tick.Stop()
	for {
		if err := c.readStreams(ctx, every); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// readStreams reads the streams that are due, one after another, unless the crawl is on hold.
func (c *Crawl) readStreams(ctx context.Context, every time.Duration) error {
	reports, err := c.Ledger.Harvests(ctx, time.Time{}, streamReports)
	if err != nil {
		return err
	}
	for _, s := range streamsOf(reports) {
		if ctx.Err() != nil || c.Frontier.Held() != "" {
			return context.Cause(ctx)
		}
		if s.due(every).After(c.store.Clock()) || c.Timetable.Plans(s.source.Kind, s.source.Address, s.source.Portal) {
			continue
		}
		var done harvest.Report
		err := supervise.Contain(func() (err error) {
			done, err = c.Harvest(ctx, s.source, harvest.Options{Clock: c.store.Clock})
			return err
		})
		if err != nil && ctx.Err() == nil {
			c.store.Log.Warn("event stream was not read", "source", s.last.Source, "error", err)
			continue
		}
		c.store.Log.Info("event stream read", "source", s.last.Source, "new", done.Inserted, "changed", done.Updated, "withdrawn",
			done.Withdrawn)
	}
	return context.Cause(ctx)
}

// streamsOf returns the event streams in reports of harvests, which are the newest first.
func streamsOf(reports []harvest.Report) (all []stream) {
	seen := map[string]bool{}
	for _, r := range reports {
		if r.Kind != "ldes" || seen[r.Source] || len(all) == maxStreams {
			continue
		}
		seen[r.Source] = true
		portal, _ := strings.CutPrefix(r.Source, r.Kind+" "+r.Address)
		all = append(all, stream{HarvestSource{Kind: r.Kind, Address: r.Address, Portal: strings.TrimSpace(portal)}, r})
	}
	return all
}
