package ui_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/ledger"
	"odarchive/crawler/harvest/timetable"
)

// plannedHarvests are two planned harvests, and a question about a portal.
type plannedHarvests struct{ world *world }

func (p plannedHarvests) Harvests(context.Context) ([]timetable.Planned, []ledger.Question, error) {
	at := p.world.now
	return []timetable.Planned{
			{ID: "0123456789", Plan: timetable.Plan{Kind: "ckan", URL: "https://data.city.example"}, When: "every 24h", State: timetable.Waiting, Next: at.Add(3600e9), Last: &harvest.Report{Started: at.Add(-3600e9), Ended: at, Datasets: 1200, Inserted: 3, Waiting: 40}},
			{ID: "9876543210", Plan: timetable.Plan{Kind: "oai", URL: "https://r.example/<b>", Portal: "https://r.example/"}, When: "at 03:30", State: timetable.Failing, Next: at, Error: "it answers <i>500"},
		}, []ledger.Question{
			{Portal: "https://portal.city.example/", Asked: at.Add(-7200e9), Waiting: 40, Listed: 100, Examples: []string{"https://portal.city.example/<script>"}},
			{Portal: "https://portal.kept.example/", Refused: 7},
		}, nil
}

func (plannedHarvests) OrderHarvest(_ context.Context, name, order, _ string) (p timetable.Planned, err error) {
	if p.URL = "https://data.city.example"; name != "0123456789" {
		err = fmt.Errorf("%w: %q", timetable.ErrUnknown, name)
	}
	return p, err
}

func (plannedHarvests) AnswerQuestion(_ context.Context, portal string, _ ledger.Answer) (ledger.Question, error) {
	if portal != "https://portal.city.example/" {
		return ledger.Question{}, fmt.Errorf("%w about %s", ledger.ErrNoQuestion, portal)
	}
	return ledger.Question{Portal: portal, Waiting: 40}, nil
}

func TestPlannedHarvestsAndQuestionsAreShownAndOrdered(t *testing.T) {
	t.Parallel()
	h := site(newWorld())
	page := body(t, get(t, h, "/portals"))
	for _, want := range []string{"suddenly lists 40 of its 100 datasets no longer", "&lt;script&gt;", "7 datasets of https://portal.kept.example/ stay listed", "every 24h", "3 new, 0 changed, 0 unchanged, 0 withdrawn, 0 listed again, 40 no longer listed",
		"it answers &lt;i&gt;500", `value="withdraw"`, `value="pause"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	form := func(order, portal, name, token string) url.Values {
		return url.Values{"order": {order}, "portal": {portal}, "harvest": {name}, "token": {token}}
	}
	for _, c := range []struct {
		form   url.Values
		status int
		want   string
	}{
		{form("withdraw", "https://portal.city.example/", "", ""), 401, "token of this server is missing"},
		{form("withdraw", "https://portal.city.example/", "", "wrong"), 403, "not the token of this server"},
		{form("withdraw", "https://portal.city.example/", "", "right"), 200, "40 datasets of https://portal.city.example/ are withdrawn."},
		{form("keep", "https://portal.city.example/", "", "right"), 200, "40 datasets of https://portal.city.example/ are kept"},
		{form("keep", "https://other.example/<b>", "", "right"), 400, "nothing is asked about https://other.example/&lt;b&gt;"},
		{form("run", "", "0123456789", "right"), 200, "The harvest of https://data.city.example is due."},
		{form("pause", "", "x", "right"), 400, "no such harvest is planned"},
		{form("explode", "", "", "right"), 400, "there is no order"},
	} {
		if w := post(h, "/portals", c.form); w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%v: %d, %s", c.form, w.Code, w.Body)
		}
	}
}
