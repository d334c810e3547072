package crawl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"odarchive/crawler"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/queue/schedule"
)

// Settings of the store.
const (
	keyPlannedBy = "crawl/planned-by" // the settings by which the queue was planned
	keyAskedBy   = "crawl/asked-by"   // the settings by which addresses and files were refused
	keyPrice     = "crawl/price"      // of a fetch, by the last plan, as a Go duration
	// keyPriceChanged is when the price last changed, by the archive's clock, in RFC 3339.
	keyPriceChanged = "crawl/price-changed"
)

// Replan schedules every visit again if the settings of the schedule have changed since the queue was planned.
func (c *Crawl) Replan(ctx context.Context) error {
	if err := c.askAgain(ctx); err != nil {
		return err
	}
	s := c.store.Config.Fetch
	now := fmt.Sprintf("%s %s %s %s", s.Schedule, s.MinInterval, s.MaxInterval, s.Round)
	before, err := c.store.Setting(keyPlannedBy)
	if err != nil || string(before) == now {
		return err
	}
	if before != nil {
		moved, err := c.Frontier.Replan(ctx, time.Time{}, c.nextVisit)
		if err != nil {
			return err
		}
		c.store.Log.Info("next visits rescheduled, because the schedule's settings have changed", "before", string(before), "now", now,
			"moved", moved)
	}
	return c.store.SetSetting(ctx, keyPlannedBy, now)
}

// askAgain makes files due that were not asked for because of a setting, such as --allow-net, if these settings have
// changed.
func (c *Crawl) askAgain(ctx context.Context) error {
	s := c.store.Config.Fetch
	now := fmt.Sprintf("%v %q %q", s.AllowPrivateHosts, s.AllowNets, s.Honour)
	before, err := c.store.Setting(keyAskedBy)
	if err != nil || string(before) == now {
		return err
	}
	if before != nil {
		moved, err := c.Frontier.Blocked(ctx, "the settings that kept it from being asked for have changed")
		if err != nil {
			return err
		}
		if moved > 0 {
			c.store.Log.Info("files are due again, because the settings have changed that kept them from being asked for", "files", moved)
		}
	}
	return c.store.SetSetting(ctx, keyAskedBy, now)
}

// nextVisit returns the schedule's time of a URL's next visit, and the reason.
func (c *Crawl) nextVisit(u *frontier.URL) (time.Time, string) {
	return c.Pipeline.Schedule.Next(u.Key, u.Period, u.History, c.store.Clock())
}

// straighten calls Frontier.Straighten with the crawl's schedule.
func (c *Crawl) straighten(ctx context.Context) error {
	moved, err := c.Frontier.Straighten(ctx, c.nextVisit)
	if moved > 0 {
		c.store.Log.Warn("visits were planned for later than --max-interval allows, as by a clock that was ahead; they are rescheduled",
			"urls", moved)
	}
	return err
}

// planEvery is how often an endless crawl computes the price of a fetch.
const planEvery = 24 * time.Hour

// Run is Pipeline.Run. First it repairs what a clock that was ahead has left in the queue. Beside an endless crawl it
// goes on to do so, and by the adaptive schedule it plans the queue daily. A plan that fails leaves the queue
// unchanged, is tried again, and does not hold up the crawl.
func (c *Crawl) Run(ctx context.Context, opts crawler.RunOptions) (summary crawler.Summary, err error) {
	if opts.Once || len(opts.URLs) > 0 {
		if err := c.straighten(ctx); err != nil {
			return summary, err
		}
		return c.Pipeline.Run(ctx, opts)
	}
	beside, stop := context.WithCancel(ctx)
	var jobs sync.WaitGroup
	run := func(name string, job func(context.Context) error) {
		jobs.Go(func() { _ = c.Jobs.Run(beside, name, job) }) // Jobs reports its failure
	}
	run("clock", c.keepStraight)
	if c.store.Config.Fetch.Sitemaps {
		run("sitemaps", c.keepHinted)
	}
	if rule, ok := c.Pipeline.Schedule.(*schedule.AdaptiveRule); ok {
		run("planning", func(ctx context.Context) error { return c.keepPlanned(ctx, rule) })
	}
	summary, err = c.Pipeline.Run(ctx, opts)
	stop()
	jobs.Wait()
	return summary, err
}

// keepPlanned plans the queue now and then every planEvery, until ctx ends.
func (c *Crawl) keepPlanned(ctx context.Context, rule *schedule.AdaptiveRule) error {
	tick := time.NewTicker(planEvery)
	defer tick.Stop()
	for {
		if err := errors.Join(c.straighten(ctx), c.plan(ctx, rule)); err != nil {
			return fmt.Errorf("plan: %w", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// plan computes the price of a fetch, and schedules queued visits again if it has changed, except for those that would
// move by less than a twentieth of their wait. If it has changed a little, that concerns the visits of the next days
// only: the others do not move much either, and a later plan finds them when their time comes.
func (c *Crawl) plan(ctx context.Context, rule *schedule.AdaptiveRule) error {
	began, now := time.Now(), c.store.Clock()
	changedAt, err := c.priceChanged()
	if err != nil {
		return err
	}
	before := rule.Price()
	moved, err := rule.Plan(now, func(visit func(schedule.Known)) error { return c.eachURL(ctx, visit) })
	if err != nil {
		return err
	}
	until := now.Add(nearVisits)
	if moved {
		if changedAt = c.store.Clock(); math.Abs(math.Log(float64(rule.Price())/float64(before))) > muchDearer {
			until = time.Time{}
		}
	}
	if changedAt.IsZero() {
		return nil
	}
	count, err := c.Frontier.Replan(ctx, until, func(u *frontier.URL) (time.Time, string) {
		last := u.History[len(u.History)-1].At
		if last.After(changedAt) { // it was scheduled at this price
			return u.Due, u.Why
		}
		at, why := rule.Next(u.Key, u.Period, u.History, c.store.Clock())
		if wait := u.Due.Sub(last); at.Sub(u.Due).Abs() < wait/20 {
			return u.Due, u.Why
		}
		return at, why
	})
	if err != nil {
		return err
	}
	if !moved {
		return nil
	}
	c.store.Log.Info("next visits planned", "price", rule.Price().Round(time.Minute), "moved", count, "took",
		time.Since(began).Round(time.Millisecond))
	if err := c.store.SetSetting(ctx, keyPriceChanged, changedAt.UTC().Format(time.RFC3339Nano)); err != nil {
		return err
	}
	return c.store.SetSetting(ctx, keyPrice, rule.Price().String()) // only now is the queue at that price
}

const (
	nearVisits = 3 * planEvery // the visits that every plan looks at
	muchDearer = 0.2           // a greater change of the price's logarithm concerns all visits
)

// priceChanged returns when the price of a fetch last changed, by the archive's clock; the zero time if it never did.
func (c *Crawl) priceChanged() (time.Time, error) {
	text, err := c.store.Setting(keyPriceChanged)
	if err != nil || len(text) == 0 {
		return time.Time{}, err
	}
	at, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil { // the next change writes it again
		c.store.Log.Warn("stored time of a price is malformed and ignored", "error", err)
		return time.Time{}, nil
	}
	return at, nil
}

// storedPrice returns the price by the last plan; 0 if there was none.
func (c *Crawl) storedPrice() (time.Duration, error) {
	text, err := c.store.Setting(keyPrice)
	if err != nil || len(text) == 0 {
		return 0, err
	}
	price, err := time.ParseDuration(string(text))
	if err != nil { // the next plan computes it
		c.store.Log.Warn("stored price of a fetch is malformed and ignored", "error", err)
		return 0, nil
	}
	return price, nil
}

// eachURL calls visit for every URL that is visited.
func (c *Crawl) eachURL(ctx context.Context, visit func(schedule.Known)) error {
	return c.Frontier.EachByDue(ctx, time.Time{}, time.Time{}, func(u *frontier.URL) error {
		if !u.Blacklisted {
			visit(schedule.Known{Key: u.Key, Declared: u.Period, History: u.History})
		}
		return nil
	})
}
