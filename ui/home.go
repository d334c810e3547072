package ui

import (
	"context"
	"net/http"

	"odarchive/crawler/catalog"
)

// home answers GET /: what this is, how much of it there is, what changed last, what can be asked.
func (u *UI) home(w http.ResponseWriter, r *http.Request) error {
	stats, err := u.stats(r.Context())
	if err != nil {
		return err
	}
	latest, err := u.latest(r.Context(), stats.Resources)
	if err != nil {
		return err
	}
	examples := u.examples
	page := struct {
		Stats    catalog.Stats
		Latest   []catalog.Resource
		Examples []Example
		Types    []catalog.Count
		Sample   string // a URL for the commands shown
	}{Stats: stats, Latest: latest, Examples: examples[:min(4, len(examples))], Types: stats.Types[:min(6, len(stats.Types))],
		Sample: "http://data.example/file.csv"}
	if len(latest) > 0 {
		page.Sample = latest[0].URL
	}
	return u.render(w, r, http.StatusOK, "home", view{Page: page})
}

const (
	latestShown     = 8
	latestVisits    = 400   // fetches looked through for new versions
	latestAllAtMost = 2_000 // resources that are worth sorting for the front page
)

// latest finds the resources that changed last: those with a new version among the last fetches, which costs the same in
// an archive of any size. A small archive in which nothing changed lately is sorted as a whole.
func (u *UI) latest(ctx context.Context, resources int) ([]catalog.Resource, error) {
	visits, err := u.archive.Activities(ctx, catalog.ActivityQuery{Limit: latestVisits})
	if err != nil {
		return nil, err
	}
	var list []catalog.Resource
	seen := make(map[string]bool)
	for _, v := range visits {
		if v.Outcome != catalog.Archived || seen[v.URL] {
			continue
		}
		seen[v.URL] = true
		res, err := u.archive.Resource(ctx, v.URL)
		if err != nil {
			return nil, err
		}
		if list = append(list, res); len(list) == latestShown {
			return list, nil
		}
	}
	if resources > latestAllAtMost {
		return list, nil
	}
	found, err := u.archive.Search(ctx, catalog.Search{Sort: "changed", Limit: latestShown})
	return found.Resources, err
}
