package ui_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"odarchive/crawler/catalog"
	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/ledger"
	"odarchive/crawler/harvest/timetable"
)

// plannedHarvests are two planned harvests, and a question about a portal.
type plannedHarvests struct{ world *world }

func (p plannedHarvests) Harvests(context.Context) ([]timetable.Planned, []ledger.Question, error) {
	at := p.world.now
	return []timetable.Planned{
			{ID: "0123456789", Plan: timetable.Plan{Kind: "ckan", URL: "https://data.city.example"}, When: "every 24h",
				State: timetable.Waiting, Next: at.Add(3600e9),
				Last: &harvest.Report{Started: at.Add(-3600e9), Ended: at, Datasets: catalog.Counted(1200), Inserted: catalog.Counted(3),
					Withdrawn: catalog.Counted(0), Waiting: catalog.Counted(40)}},
			{ID: "9876543210", Plan: timetable.Plan{Kind: "oai", URL: "https://r.example/<b>", Portal: "https://r.example/"},
				When: "at 03:30", State: timetable.Failing, Next: at, Error: "it answers <i>500"},
		}, []ledger.Question{
			{Portal: "https://portal.city.example/", Asked: at.Add(-7200e9), Waiting: 40, Listed: 100,
				Examples: []string{"https://portal.city.example/<script>"}},
			{Portal: "https://portal.kept.example/", Refused: 7},
		}, nil
}

func (plannedHarvests) PlanHarvest(_ context.Context, p timetable.Plan) (timetable.Planned, error) {
	p, err := p.Check()
	return timetable.Planned{ID: p.ID(), Plan: p, When: p.When()}, err
}

// registered knows the addresses that end in known.csv.
func registered(_ context.Context, seeds []catalog.Seed) (fresh []bool, err error) {
	for _, s := range seeds {
		fresh = append(fresh, !strings.HasSuffix(s.URL, "known.csv"))
	}
	return fresh, nil
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
	for _, want := range []string{"suddenly lists 40 of its 100 datasets no longer", "&lt;script&gt;",
		"7 datasets of https://portal.kept.example/ stay listed", "every 24h",
		"3 new, 0 changed, 0 unchanged, 0 withdrawn, 0 listed again, 40 no longer listed",
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
		{form("remove", "", "0123456789", ""), 401, "token of this server is missing"},
		{form("remove", "", "0123456789", "right"), 200, "is no longer planned. What it brought stays."},
		{form("remove", "", "x", "right"), 400, "no such harvest is planned"},
		{form("explode", "", "", "right"), 400, "there is no order"},
	} {
		if w := post(h, "/portals", c.form); w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%v: %d, %s", c.form, w.Code, w.Body)
		}
	}
}

func TestAddressesAreRegisteredAndHarvestsPlannedOnThePage(t *testing.T) {
	t.Parallel()
	h := site(newWorld())
	if page := body(t, get(t, h, "/portals")); !strings.Contains(page, `value="register"`) || !strings.Contains(page, "recognise it") {
		t.Error("the page lacks its forms")
	}
	plan := func(address, when, token string) url.Values {
		return url.Values{"order": {"plan"}, "kind": {"ckan"}, "url": {address}, "when": {when}, "token": {token}}
	}
	register := func(urls, token string) url.Values {
		return url.Values{"order": {"register"}, "urls": {urls}, "token": {token}}
	}
	for _, c := range []struct {
		form   url.Values
		status int
		want   string
	}{
		{plan("https://new.example", "7d", ""), 401, "token of this server is missing"},
		{plan("https://new.example", "7d", "wrong"), 403, "not the token of this server"},
		{plan("https://new.example", "7d", "right"), 200, "The harvest of https://new.example runs every 168h."},
		{plan("https://new.example", "03:30, mon 12:00", "right"), 200, "runs at 03:30, mon 12:00."},
		{plan("https://new.example", "now & then", "right"), 400, `value="now &amp; then"`},
		{plan("file:///etc/passwd", "7d", "right"), 400, "is not an address such as"},
		{register("https://a.example/x.csv", ""), 401, "token of this server is missing"},
		{register("https://a.example/x.csv\r\n\r\nhttps://a.example/known.csv\r\n", "right"), 200,
			"1 new file registered, 1 known already"},
		{register("https://a.example/x.csv\n<b>", "right"), 400, "https://a.example/x.csv\n&lt;b&gt;</textarea>"},
		{register(" \n", "right"), 400, "no address is given"},
		{register(strings.Repeat("https://a.example/x.csv\n", 501), "right"), 400, "more than 500 addresses"},
	} {
		if w := post(h, "/portals", c.form); w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%v: %d, lacks %q", c.form, w.Code, c.want)
		}
	}
}

func TestTheTimesOfAPlannedHarvestAreChangedOnThePage(t *testing.T) {
	t.Parallel()
	h := site(newWorld())
	form := func(name, times, token string) url.Values {
		return url.Values{"order": {"change"}, "harvest": {name}, "times": {times}, "token": {token}}
	}
	for _, c := range []struct {
		form   url.Values
		status int
		want   string
	}{
		{form("0123456789", "7d", ""), 401, "token of this server is missing"},
		{form("0123456789", "7d", "right"), 200, "The harvest of https://data.city.example runs every 168h now."},
		{form("0123456789", "mon 03:30", "right"), 200, "runs at mon 03:30 now."},
		{form("0123456789", "some <day>", "right"), 400, `value="some &lt;day&gt;"`},
		{form("9876543210", "never", "right"), 400, `value="9876543210" selected`},
		{form("0123456789", "", "right"), 400, `role="alert"`},
		{form("<b>\u202e", "7d", "right"), 400, "no such harvest is planned"},
		{form(strings.Repeat("x", 10<<10), "7d", "right"), 400, "no such harvest is planned"},
	} {
		if w := post(h, "/portals", c.form); w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%.100v: %d, lacks %q", c.form, w.Code, c.want)
		}
	}
}
