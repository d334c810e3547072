package crawl

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"odarchive/crawler"
	"odarchive/crawler/address"
	"odarchive/crawler/follow/campaign"
	"odarchive/crawler/queue/supervise"

	"golang.org/x/sync/errgroup"
)

// Follow runs a campaign until nothing within its scope can be visited any more. It also visits other URLs that are
// due. It returns the campaign in its final state.
func (c *Crawl) Follow(ctx context.Context, name string, opts crawler.RunOptions) (campaign.Campaign, crawler.Summary, error) {
	if err := c.Campaigns.Prepare(ctx, name); err != nil {
		return campaign.Campaign{}, crawler.Summary{}, err
	}
	beside, stop := context.WithCancel(ctx)
	var tasks sync.WaitGroup
	tasks.Go(func() { // Jobs reports errors
		_ = c.Jobs.Run(beside, "campaigns", func(ctx context.Context) error { return c.keepCampaigns(ctx, name) })
	})
	opts.Until = func(idle bool) bool {
		now, err := c.Campaigns.Get(ctx, name)
		if err != nil || now.State != campaign.Running {
			return true
		}
		if !idle || now.Queuing || now.Counts.Spilled > 0 {
			return false
		}
		open, err := c.Campaigns.Open(ctx)
		return err != nil || !slices.ContainsFunc(open, func(t campaign.Task) bool { return t.Campaign == name })
	}
	summary, err := c.Run(ctx, opts)
	stop()
	tasks.Wait()
	if err != nil {
		return campaign.Campaign{}, summary, err
	}
	now, err := c.Campaigns.Get(ctx, name)
	if err == nil && now.State == campaign.Running {
		now, err = c.Campaigns.GiveUp(ctx, name)
	}
	if err == nil {
		err = c.Campaigns.DescribeSites(ctx, name)
	}
	return now, summary, err
}

const (
	tasksAtOnce = 16
	taskTime    = time.Hour // for one endpoint or portal
)

// KeepCampaigns does the work of campaigns other than visits, until ctx ends: it queues the URLs of their rounds, reads
// the endpoints and portals that they found, and runs those that are harvests.
func (c *Crawl) KeepCampaigns(ctx context.Context) error { return c.keepCampaigns(ctx, "") }

// keepCampaigns is KeepCampaigns for all campaigns or, if only is not "", for one: then it begins no rounds that are
// due, and runs no harvest but that campaign's.
func (c *Crawl) keepCampaigns(ctx context.Context, only string) error {
	var mu sync.Mutex // guards what follows
	busy := map[string]bool{}
	harvests := 0              // tasks that are harvests
	asking := map[string]int{} // harvests of a host, which may have it wait for hours: others go on
	count := func(t campaign.Task) int {
		if t.IsHarvest() {
			return 1
		}
		return 0
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(tasksAtOnce + 1)
	contained := func(f func() error) { // a panic ends this job, not the program
		group.Go(func() error { return supervise.Contain(f) })
	}
	contained(func() error {
		for {
			changed := c.Campaigns.Changed()
			if err := c.prepareCampaigns(ctx, only == ""); err != nil {
				return err
			}
			open, err := c.Campaigns.Open(ctx)
			if err != nil {
				return err
			}
			if c.Frontier.Held() != "" {
				open = nil
			}
			for _, t := range open {
				id := t.Campaign + " " + t.Kind + " " + t.Address
				if t.IsHarvest() { // two harvests of one source would take each other's marks
					id = t.Kind + " " + t.Address
				}
				mu.Lock()
				host := ""
				if t.IsHarvest() {
					host, _ = address.Host(t.Address) // a document was checked when it was kept
				}
				begun := busy[id] || t.IsHarvest() &&
					(harvests == harvestsAtOnce || asking[host] == harvestsOfHost || only != "" && only != t.Campaign)
				if !begun {
					busy[id] = true
					harvests += count(t)
					asking[host] += count(t)
				}
				mu.Unlock()
				if begun {
					continue
				}
				contained(func() error {
					err := c.task(ctx, t)
					mu.Lock()
					delete(busy, id)
					harvests -= count(t)
					if asking[host] -= count(t); asking[host] == 0 {
						delete(asking, host)
					}
					mu.Unlock()
					return err
				})
			}
			timer := time.NewTimer(time.Second)
			select {
			case <-changed:
				timer.Reset(100 * time.Millisecond) // visits change campaigns all the time
				select {
				case <-timer.C:
				case <-ctx.Done():
				}
			case <-timer.C:
			case <-ctx.Done():
			}
			timer.Stop()
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
	})
	return group.Wait()
}

// prepareCampaigns continues to queue the URLs of rounds that an earlier process or an order has begun. If begin is
// true, it also begins the rounds that are due.
func (c *Crawl) prepareCampaigns(ctx context.Context, begin bool) error {
	if begin {
		overdue, err := c.Campaigns.Overdue(ctx)
		for _, one := range overdue {
			if err == nil {
				_, err = c.Campaigns.Run(ctx, one.Document)
			}
		}
		if err != nil {
			return err
		}
	}
	all, err := c.Campaigns.List(ctx)
	for _, one := range all {
		if err == nil && one.State == campaign.Running && (one.Queuing || one.Rescoring) {
			err = c.Campaigns.Prepare(ctx, one.Document.Name)
		}
		if err == nil {
			err = c.Campaigns.DescribeSites(ctx, one.Document.Name)
		}
	}
	return err
}

// task carries out one task and records its result, also if that is a failure. It returns an error only if the archive
// fails or ctx ends.
func (c *Crawl) task(ctx context.Context, t campaign.Task) error {
	if t.IsHarvest() {
		return c.harvestCampaign(ctx, t)
	}
	limited, cancel := context.WithTimeout(ctx, taskTime)
	defer cancel()
	var result string
	var quads, changed int
	err := supervise.Contain(func() (err error) {
		if t.Kind == campaign.TaskEndpoint {
			result, quads, changed, err = c.readEndpoint(limited, t)
		} else {
			result, err = c.readPortal(limited, t)
		}
		return err
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		c.store.Log.Warn("an endpoint or portal of a campaign could not be read", "campaign", t.Campaign, "address", t.Address, "error",
			err)
		if errors.Is(err, errNoEndpoint) { // do not try again
			t.Tries = campaign.MaxTaskTries
		} else if t.Tries > 0 {
			pause := time.NewTimer(time.Duration(t.Tries) * 5 * time.Second)
			defer pause.Stop()
			select {
			case <-pause.C:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	return c.Campaigns.Done(ctx, t, result, quads, changed, err)
}
