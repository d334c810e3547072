package ui

import (
	"context"
	"net/http"

	"odarchive/crawler/catalog"
)

// home answers GET /: what the archive is, its figures, what changed last, and examples.
func (u *UI) home(w http.ResponseWriter, r *http.Request) error {
	stats, err := u.stats(r.Context())
	if err != nil {
		return err
	}
	latest, err := u.latest(r.Context())
	if err != nil {
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
	}{Stats: stats, Latest: list(latest, nil), Examples: examples[:min(4, len(examples))], Types: stats.Types[:min(6, len(stats.Types))],
		Sample: "http://data.example/file.csv"}
	if now != nil {
		page.Held = now.Held
	}
	if len(latest) > 0 {
		page.Sample = latest[0].URL
	}
	return u.render(w, r, http.StatusOK, "home", view{Page: page, Feed: &feedLink{}})
}

const latestShown = 8

// latest returns the resources that changed last.
func (u *UI) latest(ctx context.Context) ([]catalog.Resource, error) {
	found, err := u.archive.Search(ctx, catalog.Search{Sort: "changed", Limit: latestShown})
	return found.Resources, err
}
