package retention

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
)

var start = time.Date(2024, 1, 1, 12, 0, 0, 0, time.UTC)

// weekly returns versions that were fetched a week apart.
func weekly(n int) (all []catalog.Version) {
	for i := range n {
		all = append(all, catalog.Version{ID: fmt.Sprintf("0123456789abcdef01234567_%d", i), N: i, URL: "http://data.example/a.csv",
			Type: "text/csv", Size: 1000,
			At: start.Add(time.Duration(i) * 7 * 24 * time.Hour)})
	}
	return all
}

// numbers returns the numbers of versions that go.
func numbers(t *testing.T, versions []catalog.Version, rules ...Rule) string {
	t.Helper()
	rules, err := Check(rules)
	if err != nil {
		t.Fatal(err)
	}
	file := catalog.Resource{URL: "http://data.example/a.csv", Portals: []string{"data.gv.at"}}
	var all []string
	for _, g := range Decide(rules, file, versions, start.Add(10*7*24*time.Hour)) {
		all = append(all, fmt.Sprintf("%d", g.N))
	}
	return strings.Join(all, " ")
}

func TestRulesKeepWhatTheySay(t *testing.T) {
	t.Parallel()
	withdrawn := weekly(10)
	withdrawn[9].Withdrawn, withdrawn[4].Withdrawn = &catalog.Withdrawal{}, &catalog.Withdrawal{}
	errorPage := weekly(10)
	errorPage[9].ErrorPage = "not found"
	for i, c := range []struct {
		versions []catalog.Version
		rules    []Rule
		want     string
	}{
		{weekly(10), nil, ""},
		{weekly(10), []Rule{{Keep: "all"}}, ""},
		{weekly(10), []Rule{{Keep: "last 3"}}, "0 1 2 3 4 5 6"},
		{weekly(2), []Rule{{Keep: "last 3"}}, ""},
		{withdrawn, []Rule{{Keep: "last 3"}}, "0 1 2 3 5"},
		{errorPage, []Rule{{Keep: "last 1"}}, "0 1 2 3 4 5 6 7"},     // the latest data stays, too
		{weekly(10), []Rule{{Keep: "one a month"}}, "0 1 2 3 5 6 7"}, // January has 0 to 4, February 5 to 8
		{weekly(10), []Rule{{Keep: "one a year"}}, "0 1 2 3 4 5 6 7 8"},
		{weekly(10), []Rule{{Keep: "one a week"}}, ""},
		{weekly(10), []Rule{{Keep: "none", Older: "40d"}}, "0 1 2 3 4"},
		{weekly(1), []Rule{{Keep: "none", Older: "1d"}}, "0"}, // also the latest
		{weekly(1), []Rule{{Keep: "last 1", Older: "1d"}}, ""},
		{weekly(10), []Rule{{Keep: "last 1", Older: "40d"}}, "0 1 2 3 4"},
		{weekly(10), []Rule{{Keep: "last 1", Portal: "other"}}, ""},
		{weekly(10), []Rule{{Keep: "last 9", Portal: "data.gv.at"}}, "0"},
		{weekly(10), []Rule{{Keep: "last 9", Match: "type:image/*"}}, ""},
		{weekly(10), []Rule{{Keep: "last 9", Match: "domain:example type:text/* size:>10"}}, "0"},
		{weekly(10), []Rule{{Keep: "all", Match: "type:text/csv"}, {Keep: "last 1"}}, ""}, // the first decides
		{weekly(10), []Rule{{Keep: "last 8", Except: []string{"http://a/get/file/id/0123456789abcdef01234567_1"}}}, "0"},
		{weekly(10), []Rule{{Keep: "last 8", Except: []string{"http://data.example/a.csv"}}}, ""},
	} {
		if got := numbers(t, c.versions, c.rules...); got != c.want {
			t.Errorf("case %d: %q goes, want %q", i, got, c.want)
		}
	}
}

func TestFaultsOfRulesAreSaid(t *testing.T) {
	t.Parallel()
	for want, rules := range map[string][]Rule{
		"needs older":      {{Keep: "none"}},
		"expected \"all\"": {{Keep: "last 0"}},
		"keep = \"\"":      {{}},
		"not an age":       {{Keep: "all", Older: "old"}},
		"match":            {{Keep: "all", Match: "pattern:("}},
		"two rules":        {{Keep: "all", Name: "x"}, {Keep: "all", Name: "x"}},
	} {
		if _, err := Check(rules); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q", err, want)
		}
	}
	for _, text := range []string{"999999999999999999999y", "-1d", "0h", "y", "1e9y"} {
		if _, err := parseAge(text); err == nil {
			t.Errorf("%q is an age", text)
		}
	}
}

func TestApplyingRulesAgainTakesNothingMore(t *testing.T) {
	t.Parallel()
	for _, keep := range []string{"last 2", "one a month", "one a year", "one a day"} {
		rules, err := Check([]Rule{{Keep: keep}})
		if err != nil {
			t.Fatal(err)
		}
		versions := weekly(60)
		for _, g := range Decide(rules, catalog.Resource{}, versions, start) {
			versions[g.N].Withdrawn = &catalog.Withdrawal{}
		}
		if again := Decide(rules, catalog.Resource{}, versions, start); len(again) > 0 {
			t.Errorf("%s: %d more", keep, len(again))
		}
	}
}
