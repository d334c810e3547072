package crawl

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"odarchive/crawler/follow/discover"
	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/webapi"
)

const (
	progressEvery = 5 * time.Second // between two records of the progress
	shownFinds    = 20
)

// watch is the progress of the harvest of a campaign that runs.
type watch struct {
	c     *Crawl
	name  string
	used  func() int                         // requests of the round
	meter func() (requests int, bytes int64) // of this attempt

	tracker *discover.Tracker // of a discovery, which knows its progress itself; else nil
	before  []discover.Find   // of earlier attempts
	files   int               // of earlier attempts in the same round

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

// progress returns a copy of the progress. Files that were found before are shown as long as there are few new ones.
func (w *watch) progress() discover.Progress {
	w.mu.Lock()
	p := w.now
	w.mu.Unlock()
	if w.tracker != nil {
		tracked := w.tracker.Progress()
		if tracked.Budget > 0 {
			ended := p
			p = tracked
			if ended.State != "" && ended.State != "begins" {
				p.State, p.Done = ended.State, ended.Done
			}
		}
		p.Finds = tracked.Finds
	}
	finds := slices.Clone(p.Finds)
	for _, f := range w.before {
		if len(finds) < shownFinds && !slices.ContainsFunc(finds, func(g discover.Find) bool { return g.URL == f.URL }) {
			finds = append(finds, f)
		}
	}
	p.Finds = finds
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
	w.update(func(p *discover.Progress) { p.Files = w.files + r.Seeds.N() })
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
		p.Files = w.files + r.Seeds.N()
		switch {
		case errors.Is(err, webapi.ErrBudget):
			p.State, p.Done = sentenceOf(err), true
		case ctx.Err() != nil:
			p.State = "interrupted"
		case err != nil:
			p.State, p.Done = err.Error(), true
		case w.tracker != nil: // it says why it looks no further
			p.State, p.Done = w.tracker.Progress().State, true
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
	if k.w.tracker != nil {
		k.w.save(ctx)
		return added, nil
	}
	requests := k.w.progress().Requests
	k.w.update(func(p *discover.Progress) {
		for _, s := range step.Seeds {
			find := discover.Find{URL: s.URL, Page: s.Dataset, Title: s.Title, Score: 1, Requests: requests, Why: "listed by the interface"}
			if s.DatasetTitle != "" {
				find.Why = "a file of the dataset \u201c" + s.DatasetTitle + "\u201d"
			}
			p.Finds = append([]discover.Find{find.Bounded()}, p.Finds...)
			p.Finds = p.Finds[:min(len(p.Finds), shownFinds)]
		}
	})
	k.w.save(ctx)
	return added, nil
}
