package app

import (
	"context"
	"fmt"
	"sync"
	"time"

	"odarchive/crawler"
	"odarchive/crawler/frontier"
	"odarchive/crawler/schedule"
	"odarchive/triplestore/kv"
)

// keyPlannedBy is where the settings stand by which the queue was planned.
const keyPlannedBy = "crawl/planned-by"

// keyPrice is where the price stands that the last plan has found, as Go writes durations: another process goes on with it.
const keyPrice = "crawl/price"

// Replan sets the next visits anew if the settings of the schedule are not those the queue was planned by.
func (n *Node) Replan(ctx context.Context) error {
	s := n.Config.Fetch
	now := fmt.Sprintf("%s %s %s %s", s.Schedule, s.MinInterval, s.MaxInterval, s.Round)
	before, err := n.noted(keyPlannedBy)
	if err != nil || string(before) == now {
		return err
	}
	if before != nil {
		moved, err := n.Frontier.Replan(ctx, func(u *frontier.URL) (time.Time, string) {
			return n.Pipeline.Schedule.Next(u.Key, u.Seed.Period, u.History, n.Clock())
		})
		if err != nil {
			return err
		}
		n.Log.Info("next visits set anew, since the schedule's settings have changed", "before", string(before), "now", now, "moved", moved)
	}
	return n.note(ctx, keyPlannedBy, now)
}

// planEvery is how often a crawl without an end finds anew what a fetch is worth.
const planEvery = 24 * time.Hour

// Crawl is Pipeline.Run; beside a crawl without an end, the queue is kept planned. A plan that fails leaves the queue as it
// was, and is tried again.
func (n *Node) Crawl(ctx context.Context, opts crawler.RunOptions) (summary crawler.Summary, err error) {
	rule, adaptive := n.Pipeline.Schedule.(*schedule.AdaptiveRule)
	if !adaptive || opts.Once || len(opts.URLs) > 0 {
		return n.Pipeline.Run(ctx, opts)
	}
	beside, stop := context.WithCancel(ctx)
	var planning sync.WaitGroup
	planning.Go(func() {
		_ = n.Jobs.Run(beside, "planning", func(ctx context.Context) error { return n.keepPlanned(ctx, rule) }) // the set tells its failure
	})
	summary, err = n.Pipeline.Run(ctx, opts)
	stop()
	planning.Wait()
	return summary, err
}

// keepPlanned plans the queue at once and then every planEvery, until ctx ends.
func (n *Node) keepPlanned(ctx context.Context, rule *schedule.AdaptiveRule) error {
	tick := time.NewTicker(planEvery)
	defer tick.Stop()
	for {
		if err := n.plan(ctx, rule); err != nil {
			return fmt.Errorf("plan: %w", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// plan finds the price of a fetch anew. Where it has moved, so does what is queued; a visit whose time would change by less
// than a twentieth of its wait stays where it is.
func (n *Node) plan(ctx context.Context, rule *schedule.AdaptiveRule) error {
	began := time.Now()
	moved, err := rule.Plan(n.Clock(), func(visit func(schedule.Known)) error { return n.eachURL(ctx, visit) })
	if err != nil || !moved {
		return err
	}
	count, err := n.Frontier.Replan(ctx, func(u *frontier.URL) (time.Time, string) {
		at, why := rule.Next(u.Key, u.Seed.Period, u.History, n.Clock())
		if wait := u.Due.Sub(u.History[len(u.History)-1].At); at.Sub(u.Due).Abs() < wait/20 {
			return u.Due, u.Why
		}
		return at, why
	})
	if err != nil {
		return err
	}
	n.Log.Info("next visits planned", "price", rule.Price().Round(time.Minute), "moved", count, "took", time.Since(began).Round(time.Millisecond))
	return n.note(ctx, keyPrice, rule.Price().String()) // now that the whole queue is at that price
}

// price that the last plan has found; 0 where there was none.
func (n *Node) price() (time.Duration, error) {
	text, err := n.noted(keyPrice)
	if err != nil || len(text) == 0 {
		return 0, err
	}
	price, err := time.ParseDuration(string(text))
	if err != nil { // the next plan finds it anew
		n.Log.Warn("the price of the last plan cannot be read, and is forgotten", "error", err)
		return 0, nil
	}
	return price, nil
}

// noted is what note has kept under a key; nil where there is nothing.
func (n *Node) noted(key string) (text []byte, err error) {
	err = n.DB.View(func(txn *kv.Txn) (err error) {
		text, _, err = txn.Get(kv.SpaceMeta, []byte(key))
		return err
	})
	return text, err
}

func (n *Node) note(ctx context.Context, key, text string) error {
	return n.DB.Update(ctx, func(txn *kv.Txn) error { return txn.Set(kv.SpaceMeta, []byte(key), []byte(text)) })
}

// eachURL gives the URLs that are visited, some at a time, so that no long read is open.
func (n *Node) eachURL(ctx context.Context, visit func(schedule.Known)) error {
	const page = 1000
	for after, more := "", true; more; {
		more = false
		err := n.Frontier.Each(frontier.Filter{}, after, page, func(u *frontier.URL) error {
			after, more = u.Key, true
			if !u.Blacklisted {
				visit(schedule.Known{Key: u.Key, Declared: u.Seed.Period, History: u.History})
			}
			return ctx.Err()
		})
		if err != nil {
			return err
		}
	}
	return nil
}
