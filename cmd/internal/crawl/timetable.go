package crawl

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/ledger"
	"odarchive/crawler/harvest/timetable"
)

// openTimetable loads the planned harvests.
func (c *Crawl) openTimetable() (err error) {
	c.Timetable, err = timetable.New(timetable.Options{DB: c.store.DB, File: c.store.Config.Fetch.Harvests, Clock: c.store.Clock,
		Log: c.store.Log, Knows: func(kind string) error {
			if !KnowsHarvest(kind) {
				return fmt.Errorf("there is no harvester for %q; expected %s or %s", kind, strings.Join(HarvestKinds(), ", "), Recognised)
			}
			return nil
		}})
	return err
}

// KeepHarvested runs planned harvests at their times until ctx ends.
func (c *Crawl) KeepHarvested(ctx context.Context) error {
	if err := c.Ledger.Recover(ctx); err != nil { // an answer may have been cut off
		return err
	}
	return c.Timetable.Run(ctx, timetable.Runner{Harvest: c.harvestPlan, Held: c.Frontier.Held})
}

// harvestPlan runs a planned harvest.
func (c *Crawl) harvestPlan(ctx context.Context, p timetable.Plan, progress func(harvest.Report)) (harvest.Report, error) {
	return c.Harvest(ctx, HarvestSource{Kind: p.Kind, Address: p.URL, Portal: p.Portal}, harvest.Options{
		Limit: p.Limit, Part: p.Part(), Graphs: p.Graphs, Sure: p.Withdraw, Clock: c.store.Clock, Progress: progress})
}

// Harvests returns the planned harvests, and what is asked about portals.
func (c *Crawl) Harvests(ctx context.Context) ([]timetable.Planned, []ledger.Question, error) {
	asked, err := c.Ledger.Questions(ctx)
	return c.Timetable.List(), asked, err
}

// turns lets one harvest of a host run at a time, whoever orders it: harvests of one portal must not be mixed.
type turns struct {
	mu    sync.Mutex
	taken map[string]chan struct{} // closed when the turn ends
}

// take waits for the turn of the host of an address. It returns a function that ends the turn.
func (t *turns) take(ctx context.Context, address string) (end func(), err error) {
	host := address
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		host = strings.ToLower(u.Hostname())
	}
	for {
		t.mu.Lock()
		other, busy := t.taken[host]
		if !busy {
			own := make(chan struct{})
			if t.taken == nil {
				t.taken = map[string]chan struct{}{}
			}
			t.taken[host] = own
			t.mu.Unlock()
			return func() {
				t.mu.Lock()
				defer t.mu.Unlock()
				delete(t.taken, host)
				close(own)
			}, nil
		}
		t.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for another harvest of %s: %w", host, context.Cause(ctx))
		}
	}
}

// PlanHarvest plans a harvest.
func (c *Crawl) PlanHarvest(ctx context.Context, p timetable.Plan) (timetable.Planned, error) {
	return c.Timetable.Add(ctx, p)
}

// OrderHarvest carries out an order about the plan with an ID, or of a URL: run, pause, resume or remove.
func (c *Crawl) OrderHarvest(ctx context.Context, name, order, why string) (timetable.Planned, error) {
	switch order {
	case "run":
		return c.Timetable.RunNow(ctx, name)
	case "pause":
		return c.Timetable.Pause(ctx, name, why)
	case "resume":
		return c.Timetable.Resume(ctx, name)
	case "remove":
		return c.Timetable.Remove(ctx, name)
	}
	return timetable.Planned{}, fmt.Errorf("%w: there is no order %q", timetable.ErrBad, order)
}
