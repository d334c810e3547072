package ui

import (
	"net/http"

	"odarchive/crawler/catalog"
)

// home answers GET /: what this is, how much of it there is, what changed last, what can be asked.
func (u *UI) home(w http.ResponseWriter, r *http.Request) error {
	stats, err := u.archive.Stats(r.Context())
	if err != nil {
		return err
	}
	latest, err := u.archive.Search(r.Context(), catalog.Search{Sort: "changed", Limit: 8})
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
	}{Stats: stats, Latest: latest.Resources, Examples: examples[:min(4, len(examples))], Types: stats.Types[:min(6, len(stats.Types))],
		Sample: "http://data.example/file.csv"}
	if len(latest.Resources) > 0 {
		page.Sample = latest.Resources[0].URL
	}
	return u.render(w, r, http.StatusOK, "home", view{Page: page})
}
