package crawl

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"odarchive/crawler/campaign"
	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/discover"
	"odarchive/crawler/harvest/webapi"
	"odarchive/crawler/scope"
	"odarchive/crawler/warc/tape"

	"github.com/dustin/go-humanize/english"
)

const (
	harvestsAtOnce = 4               // campaigns that are harvests
	longestPause   = 24 * time.Hour  // that a host may ask them for; they wait meanwhile
	progressEvery  = 5 * time.Second // between two records of the progress
	shownFinds     = 20
)

// harvestCampaign makes one attempt at the round of a campaign that is a harvest, from the mark of the last attempt on,
// and records how it ended. It ends without a record if the campaign is paused meanwhile, stopped or changed. The error is
// one of the archive, or that of ctx.
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
	if errors.Is(err, webapi.ErrBudget) {
		done.Failed = nil
		done.Why = fmt.Sprintf("%s; the next round continues where this one ended", sentenceOf(err))
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
	return fmt.Sprintf("%s, %s (%d new)", english.Plural(r.Datasets, "dataset", ""), english.Plural(r.Seeds, "file", ""), r.Added)
}

// runCampaignHarvest harvests what a campaign names. While it runs, and afterwards, its progress is that of the campaign.
func (c *Crawl) runCampaignHarvest(ctx context.Context, now campaign.Campaign) (harvest.Report, error) {
	d := now.Document
	w := &watch{c: c, name: d.Name, now: discover.Progress{State: "begins", Expected: -1, Began: c.store.Clock().UTC()}}
	if now.Progress != nil {
		w.now.Finds = now.Progress.Finds
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

// campaignHarvester returns the harvester of a campaign, and the name of the source by which it is resumed.
func (c *Crawl) campaignHarvester(_ context.Context, now campaign.Campaign, w *watch) (harvest.Harvester, string, error) {
	d := now.Document
	source := string(d.Kind) + " " + d.Address() + " campaign " + d.Name
	if d.Kind != campaign.KindAPI {
		return nil, source, fmt.Errorf("%w: there is no harvester for campaigns of the kind %s", webapi.ErrDocument, d.Kind)
	}
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

// watch is the progress of the harvest of a campaign that runs.
type watch struct {
	c     *Crawl
	name  string
	used  func() int                         // requests of the round
	meter func() (requests int, bytes int64) // of this attempt

	mu    sync.Mutex
	now   discover.Progress // guarded by mu
	saved time.Time         // guarded by mu
}

func (w *watch) update(f func(*discover.Progress)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f(&w.now)
	w.now.Changed = w.c.store.Clock().UTC()
}

// progress returns a copy of the progress.
func (w *watch) progress() discover.Progress {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.now
	p.Finds = append([]discover.Find(nil), p.Finds...)
	if w.used != nil {
		p.Requests = w.used()
	}
	return p
}

// asked notes a request that is about to be sent.
func (w *watch) asked(address string) {
	w.update(func(p *discover.Progress) {
		p.State = "asks " + address
		p.Pages++
	})
}

// reported notes what the harvest has brought so far.
func (w *watch) reported(r harvest.Report) {
	w.update(func(p *discover.Progress) { p.Files = r.Seeds })
}

// save keeps the progress, unless that was done a moment ago.
func (w *watch) save(ctx context.Context) {
	w.mu.Lock()
	recent := time.Since(w.saved) < progressEvery
	if !recent {
		w.saved = time.Now()
	}
	w.mu.Unlock()
	if recent {
		return
	}
	if err := w.c.Campaigns.SaveProgress(ctx, w.name, w.progress()); err != nil {
		w.c.store.Log.Warn("the progress of a campaign could not be kept", "campaign", w.name, "error", err)
	}
}

// ended notes how the harvest ended.
func (w *watch) ended(ctx context.Context, r harvest.Report, err error) {
	w.update(func(p *discover.Progress) {
		p.Files = r.Seeds
		switch {
		case errors.Is(err, webapi.ErrBudget):
			p.State, p.Done = sentenceOf(err), true
		case ctx.Err() != nil:
			p.State = "interrupted"
		case err != nil:
			p.State, p.Done = err.Error(), true
		default:
			p.State, p.Done = "complete", true
		}
	})
	w.mu.Lock()
	w.saved = time.Time{}
	w.mu.Unlock()
	w.save(context.WithoutCancel(ctx))
}

// watching is a harvest.Keeper that shows the latest files that were kept.
type watching struct {
	harvest.Keeper
	w *watch
}

// Keep implements harvest.Keeper.
func (k watching) Keep(ctx context.Context, step harvest.Step) (int, error) {
	added, err := k.Keeper.Keep(ctx, step)
	if err != nil {
		return added, err
	}
	requests := k.w.progress().Requests
	k.w.update(func(p *discover.Progress) {
		for _, s := range step.Seeds {
			find := discover.Find{URL: s.URL, Page: s.Dataset, Title: s.Title, Score: 1, Requests: requests, Why: "listed by the interface"}
			if s.DatasetTitle != "" {
				find.Why = "a file of the dataset \u201c" + s.DatasetTitle + "\u201d"
			}
			p.Finds = append([]discover.Find{find}, p.Finds...)
			p.Finds = p.Finds[:min(len(p.Finds), shownFinds)]
		}
	})
	k.w.save(ctx)
	return added, nil
}
