package ui_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/harvest"
)

// harvests of the world: one that succeeded, one that failed, one that was interrupted.
func (w *world) harvests(_ context.Context, before time.Time, limit int) ([]harvest.Report, error) {
	began := w.now.Add(-time.Hour)
	all := []harvest.Report{
		{Kind: "oai", Address: "https://r.example/oai", Started: began},
		{Kind: "dcat", Address: "https://p.example/<c>.ttl", Started: began, Ended: w.now,
			Error: "https://p.example/<c>.ttl answered 500 Internal Server Error"},
		{Kind: "ckan", Address: "https://data.city.example", Started: began, Ended: w.now, Datasets: catalog.Counted(1200),
			Seeds: catalog.Counted(3400), Added: 7, Portals: catalog.Counted(1), Unlooked: 1,
			Inserted: catalog.Counted(3), Unchanged: catalog.Counted(1197), Unknown: 2},
	}
	if !before.IsZero() && !began.Before(before) {
		return nil, nil
	}
	return all[:min(limit, len(all))], nil
}

func TestTheLastHarvestsAreListedWithWhatCameOfThem(t *testing.T) {
	t.Parallel()
	h := site(newWorld())
	page := body(t, get(t, h, "/crawls"))
	for _, want := range []string{"data.city.example",
		"3 new, 0 changed, 1197 unchanged, 0 listed again; removals not looked for; 2 that the portal failed to return were left as they " +
			"were",
		"https://p.example/&lt;c&gt;.ttl answered 500", "running, or interrupted"} {
		if !strings.Contains(page, want) {
			t.Errorf("/crawls lacks %q", want)
		}
	}
	if got := body(t, get(t, h, "/harvests.json?limit=1")); strings.Count(got, `"outcome"`) != 1 ||
		!strings.Contains(got, `"kind":"oai"`) || strings.Contains(got, "withdrawn") {
		t.Errorf("limit=1: %s", got)
	}
	if got := body(t, get(t, h, "/harvests.json?before=2000-01-01T00:00:00Z")); strings.TrimSpace(got) != "[]" {
		t.Errorf("before all: %s", got)
	}
	for _, query := range []string{"limit=0", "limit=x", "before=yesterday"} {
		if res := get(t, h, "/harvests.json?"+query); res.StatusCode != 400 {
			t.Errorf("%s: %d", query, res.StatusCode)
		}
	}
}
