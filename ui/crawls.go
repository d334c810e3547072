package ui

import (
	"net/http"
	"net/url"
	"time"

	"odarchive/crawler"
	"odarchive/crawler/catalog"
	"odarchive/crawler/follow/campaign"
	"odarchive/crawler/queue/supervise"
	"odarchive/sparqlapi/problem"
)

type crawlsPage struct {
	Hosts     []catalog.HostHealth
	Visits    []catalog.Activity
	Stats     catalog.Stats
	Host      string
	Outcome   catalog.Outcome
	Older     string // address of the page of earlier visits
	Filters   []chosen
	Last      []harvested
	Campaigns []campaign.Campaign
	First     bool // the page shows the newest visits, so it may refresh itself
	Now       *crawlNow
	Operation *operation // nil if there is nothing to show of it
}

// Crawl returns the state of the crawl; crawler.Pipeline.Status does.
type Crawl func() (crawler.Status, error)

// crawlNow is the state of the crawl, for people.
type crawlNow struct {
	crawler.Status
	Off bool // this program does not crawl

	Troubled []supervise.Job // background jobs that failed and wait or have stopped
}

// crawlNow returns the state of the crawl, or nil if Options.Crawl is not set.
func (u *UI) crawlNow() (*crawlNow, error) {
	if u.crawl == nil {
		return nil, nil
	}
	s, err := u.crawl()
	if err != nil {
		return nil, err
	}
	now := &crawlNow{Status: s, Off: s.Since.IsZero()}
	for _, j := range s.Jobs {
		if j.State == supervise.Waiting || j.State == supervise.Stopped {
			now.Troubled = append(now.Troubled, j)
		}
	}
	return now, nil
}

// crawls answers GET /crawls: the state of each host, and the last fetches. The script refreshes the marked part every
// few seconds.
func (u *UI) crawls(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	query := catalog.ActivityQuery{Host: q.Get("host"), Outcome: catalog.Outcome(q.Get("outcome")), Limit: 20}
	if before := q.Get("before"); before != "" {
		t, err := time.Parse(time.RFC3339Nano, before)
		if err != nil {
			return problem.Newf(http.StatusBadRequest, "Bad parameter", "before=%q is not an RFC 3339 time", before)
		}
		query.Before = t
	}
	ctx := r.Context()
	page := crawlsPage{Host: query.Host, Outcome: query.Outcome, First: query.Before.IsZero()}
	var err error
	if page.Stats, err = u.stats(ctx); err != nil {
		return err
	}
	if page.Hosts, err = u.archive.Hosts(ctx, 100); err != nil {
		return err
	}
	if page.Visits, err = u.archive.Activities(ctx, query); err != nil {
		return err
	}
	if page.Last, err = u.lastHarvests(ctx, time.Time{}, shownHarvests); err != nil {
		return err
	}
	if page.Campaigns, err = u.listCampaigns(ctx); err != nil {
		return err
	}
	if page.Now, err = u.crawlNow(); err != nil {
		return err
	}
	if page.Operation, err = u.operated(q); err != nil {
		return err
	}
	if len(page.Visits) >= query.Limit {
		older := url.Values{"before": {page.Visits[len(page.Visits)-1].Start.UTC().Format(time.RFC3339Nano)}}
		if query.Host != "" {
			older.Set("host", query.Host)
		}
		if query.Outcome != "" {
			older.Set("outcome", string(query.Outcome))
		}
		page.Older = "/crawls?" + older.Encode()
	}
	for _, o := range []catalog.Outcome{"", catalog.Archived, catalog.Unchanged, catalog.NoVersion, catalog.RetryLater,
		catalog.RobotsDenied, catalog.Blocked} {
		link := url.Values{}
		if o != "" {
			link.Set("outcome", string(o))
		}
		if query.Host != "" {
			link.Set("host", query.Host)
		}
		name := outcomeWord(o)
		if o == "" {
			name = "all"
		}
		c := chosen{Name: name, Href: "/crawls?" + link.Encode()}
		if o == query.Outcome {
			c.Value = "here"
		}
		page.Filters = append(page.Filters, c)
	}
	return u.render(w, r, http.StatusOK, "crawls", view{Title: "Crawls", Page: page})
}
