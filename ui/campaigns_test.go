package ui_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/campaign"
)

// campaigns is a store with one campaign whose texts come from strangers.
type campaigns struct{}

func (campaigns) List(context.Context) ([]campaign.Campaign, error) {
	return []campaign.Campaign{{Document: campaign.Document{Name: "city", Seeds: []string{"https://city.example/?a=1&b=<i>"}, Scope: []string{"host"}, Depth: 3, Max: 1000, Graphs: true},
		State: campaign.Paused, Why: "paused by an order", Began: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), Round: 2, Counts: campaign.Counts{URLs: 1234, Pending: 5}}}, nil
}

func (c campaigns) Show(ctx context.Context, name string) (campaign.Shown, error) {
	all, _ := c.List(ctx)
	if name != "city" {
		return campaign.Shown{}, campaign.ErrUnknown
	}
	return campaign.Shown{Campaign: all[0], Tasks: []campaign.Task{{Kind: campaign.TaskEndpoint, Address: "https://city.example/sparql", Result: "<script>x</script>", Bad: true}}}, nil
}

func TestCampaignsAreShown(t *testing.T) {
	t.Parallel()
	h := site(newWorld())
	for path, want := range map[string][]string{
		"/crawls":             {`href="/campaign?name=city"`, ">paused<"},
		"/campaign?name=city": {"paused by an order", "city.example/sparql", "&lt;script&gt;x", "b=&lt;i&gt;"},
	} {
		page := body(t, get(t, h, path))
		for _, text := range want {
			if !strings.Contains(page, text) {
				t.Errorf("%s lacks %q", path, text)
			}
		}
	}
	if r := get(t, h, "/campaign?name=nobody"); r.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown campaign: %d", r.StatusCode)
	}
}
