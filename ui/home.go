package ui

import (
	"context"
	"errors"
	"net/http"
	"time"

	"odarchive/crawler/catalog"
)

// home answers GET /: what the archive is, its figures, what changed last, and examples.
func (u *UI) home(w http.ResponseWriter, r *http.Request) error {
	stats, err := u.stats(r.Context())
	if err != nil {
		return err
	}
	latest, err := u.latest(r.Context())
	isLate := errors.Is(err, context.DeadlineExceeded) && r.Context().Err() == nil
	if err != nil && !isLate {
		return err
	}
	now, err := u.crawlNow()
	if err != nil {
		return err
	}
	examples := u.examples
	page := struct {
		Stats    catalog.Stats
		Latest   []listed
		Examples []Example
		Types    []catalog.Count
		Sample   string // a URL for the commands on the page
		Held     string // why the crawl is paused
		IsLate   bool   // the list of the latest is not ready
	}{IsLate: isLate, Stats: stats, Latest: list(latest, nil), Examples: examples[:min(4, len(examples))],
		Types:  stats.Types[:min(6, len(stats.Types))],
		Sample: "http://data.example/file.csv"}
	if now != nil {
		page.Held = now.Held
	}
	if len(latest) > 0 {
		page.Sample = latest[0].URL
	}
	return u.render(w, r, http.StatusOK, "home", view{Page: page, Feed: &feedLink{}})
}

const (
	latestShown = 8
	latestWait  = 2 * time.Second // a server with millions of files needs longer after its start
)

// latest returns the resources that changed last, or context.DeadlineExceeded if it takes too long to find them.
func (u *UI) latest(ctx context.Context) ([]catalog.Resource, error) {
	ctx, cancel := context.WithTimeout(ctx, latestWait)
	defer cancel()
	found, err := u.archive.Search(ctx, catalog.Search{Sort: "changed", Limit: latestShown})
	return found.Resources, err
}
