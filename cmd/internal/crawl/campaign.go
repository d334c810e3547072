package crawl

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"odarchive/crawler/exchange/tape"
	"odarchive/crawler/follow/campaign"
	"odarchive/crawler/follow/discover"
	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/webapi"
	"odarchive/crawler/queue/scope"

	"github.com/dustin/go-humanize/english"
)

const (
	harvestsAtOnce = 4              // campaigns that are harvests
	harvestsOfHost = 2              // of those, at one host
	longestPause   = 24 * time.Hour // that a host may ask them for; they wait meanwhile
)

// harvestCampaign makes one attempt at the round of a campaign that is a harvest, from the mark of the last attempt on,
// and records how it ended. It ends without a record if the campaign is paused meanwhile, stopped or changed. The error
// is one of the archive, or that of ctx.
func (c *Crawl) harvestCampaign(ctx context.Context, t campaign.Task) error {
	now, err := c.Campaigns.Get(ctx, t.Campaign)
	if err != nil || now.State != campaign.Running {
		return err
	}
	during, held, end := c.Campaigns.WhileRunning(ctx, now)
	defer end()
	if t.Tries > 0 {
		pause := time.NewTimer(time.Duration(t.Tries) * 5 * time.Second)
		defer pause.Stop()
		select {
		case <-pause.C:
		case <-during.Done():
		}
	}
	var report harvest.Report
	if during.Err() == nil {
		report, err = c.runCampaignHarvest(during, now)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if held() {
		return nil
	}
	done := campaign.Harvested{Round: now.Round, Edition: now.Edition, Failed: err, Result: summaryOfHarvest(report)}
	switch {
	case errors.Is(err, webapi.ErrBudget):
		done.Failed = nil
		done.Why = fmt.Sprintf("%s; the next round continues where this one ended", sentenceOf(err))
	case err == nil && now.Document.Kind == campaign.KindDiscover: // why it looks no further
		shown, err := c.Campaigns.Get(ctx, t.Campaign)
		if err != nil {
			return err
		}
		if shown.Progress != nil {
			done.Why = shown.Progress.State
		}
	}
	if done.Failed != nil {
		c.store.Log.Warn("the harvest of a campaign failed", "campaign", t.Campaign, "error", err)
		if errors.Is(err, harvest.ErrTaken) || errors.Is(err, webapi.ErrDocument) { // trying again does not help
			t.Tries = campaign.MaxTaskTries
		}
	}
	return c.Campaigns.DoneHarvest(ctx, t, done)
}

// sentenceOf returns the part of an error that is about the budget.
func sentenceOf(err error) string {
	var budget *webapi.BudgetError
	if errors.As(err, &budget) {
		return budget.Error()
	}
	return err.Error()
}

func summaryOfHarvest(r harvest.Report) string {
	return fmt.Sprintf("%s, %s (%d new)", english.Plural(r.Datasets.N(), "dataset", ""), english.Plural(r.Seeds.N(), "file", ""), r.Added)
}

// runCampaignHarvest harvests what a campaign names. While it runs, and afterwards, its progress is that of the
// campaign.
func (c *Crawl) runCampaignHarvest(ctx context.Context, now campaign.Campaign) (harvest.Report, error) {
	d := now.Document
	w := &watch{c: c, name: d.Name, now: discover.Progress{State: "begins", Expected: -1, Began: c.store.Clock().UTC()}}
	if p := now.Progress; p != nil {
		w.before = p.Finds
		if !p.Began.Before(now.Began) { // of an earlier attempt in this round
			w.files, w.now.Pages, w.now.Began = p.Files, p.Pages, p.Began
			w.now.Files = p.Files
		}
	}
	h, source, err := c.campaignHarvester(ctx, now, w)
	if err != nil {
		return harvest.Report{}, err
	}
	end := c.Campaigns.Track(d.Name, w.progress)
	defer end()
	w.save(ctx)
	report, err := harvest.Run(ctx, source, h, watching{measuring{c.Intake, c}, w}, harvest.Options{
		Clock: c.store.Clock, Kind: string(d.Kind), Address: d.Address(), Graphs: d.Graphs, Meter: w.meter, Progress: w.reported,
	})
	w.ended(ctx, report, err)
	return report, err
}

// campaignHarvester returns the harvester of a campaign, and the name of the source by which it is resumed. A discovery
// has the name that Discover gives it, so that each continues what the other has begun.
func (c *Crawl) campaignHarvester(ctx context.Context, now campaign.Campaign, w *watch) (harvest.Harvester, string, error) {
	d := now.Document
	if d.Kind == campaign.KindDiscover {
		w.tracker = &discover.Tracker{}
		h, polite := c.discoverer(Discovery{Options: *d.Discover, Explain: true, Tracker: w.tracker})
		polite.Longest, w.meter = longestPause, polite.Traffic
		w.now.Budget = d.Discover.Budget
		return h, HarvestSource{Kind: DiscoverKind, Address: d.Discover.URL}.name(harvest.Selection{}), nil
	}
	source := string(d.Kind) + " " + d.Address() + " campaign " + d.Name
	api, err := webapi.Compile(*d.API)
	if err != nil {
		return nil, source, fmt.Errorf("%w: %w", webapi.ErrDocument, err)
	}
	polite := c.politeTransport(scope.Campaign)
	if d.API.KeepAnswers {
		tape, err := c.answers()
		if err != nil {
			return nil, source, err
		}
		polite.Base = c.Fetcher.Taping(tape)
	}
	polite.Longest = longestPause
	pacer := api.Pacer()
	pacer.Load = func(ctx context.Context) (webapi.Pace, error) { return c.Campaigns.Pace(ctx, d.Name, now.Round) }
	pacer.Save = func(ctx context.Context, p webapi.Pace) error { return c.Campaigns.SavePace(ctx, d.Name, now.Round, p) }
	if err := pacer.Prepare(ctx); err != nil {
		return nil, source, err
	}
	w.used, w.meter = pacer.Used, polite.Traffic
	w.update(func(p *discover.Progress) { p.Budget = d.API.MaxRequests })
	return webapi.Source{API: api, Keywords: d.Keywords, HTTP: polite, Pacer: pacer, Asked: w.asked}, source, nil
}

// answers returns the tape of --keep-answers or, if that is not set, one in the data directory, which is made with the
// first campaign that keeps answers.
func (c *Crawl) answers() (_ *tape.Tape, err error) {
	c.answersMu.Lock()
	defer c.answersMu.Unlock()
	if c.Answers == nil && c.ownAnswers == nil {
		c.ownAnswers, err = c.openTape(filepath.Join(c.store.Config.Data, "answers"), "answers")
	}
	if c.Answers != nil {
		return c.Answers, err
	}
	return c.ownAnswers, err
}
