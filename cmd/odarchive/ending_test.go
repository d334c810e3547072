package main

import (
	"testing"

	"odarchive/crawler"
	"odarchive/crawler/catalog"
	"odarchive/crawler/web/politeness"
)

func TestACrawlFailsIfAllThatItTriedFailedOrWasRefused(t *testing.T) {
	t.Parallel()
	forbidden := func(before catalog.Outcome) crawler.Report {
		return crawler.Report{URL: "http://a.example/no/" + string(before), Outcome: catalog.RobotsDenied, Before: before}
	}
	dead := crawler.Report{URL: "http://a.example/dead", Outcome: catalog.NoVersion, ErrorClass: catalog.ErrDNS, Before: catalog.NoVersion}
	kept := crawler.Report{URL: "http://a.example/a.csv", Outcome: catalog.Unchanged}
	waits := func(why string) crawler.Waits { return crawler.Waits{Due: 1, Hosts: []crawler.HostWait{{Why: why}}} }
	for _, c := range []struct {
		about   string
		reports []crawler.Report
		waits   crawler.Waits
		fails   bool
	}{
		{"nothing was due", nil, crawler.Waits{}, false},
		{"nothing may be asked for yet", nil, waits("politeness"), false},
		{"robots.txt cannot be read", nil, waits(politeness.WhyUnread), true},
		{"robots.txt of another host cannot be read", []crawler.Report{kept}, waits(politeness.WhyUnread), false},
		{"forbidden for the first time", []crawler.Report{forbidden("")}, crawler.Waits{}, true},
		{"forbidden since the last visit", []crawler.Report{forbidden(catalog.Archived)}, crawler.Waits{}, true},
		{"forbidden as before", []crawler.Report{forbidden(catalog.RobotsDenied)}, crawler.Waits{}, false},
		{"forbidden as before, and a failure", []crawler.Report{forbidden(catalog.RobotsDenied), dead}, crawler.Waits{}, true},
		{"failed again", []crawler.Report{dead}, crawler.Waits{}, true},
		{"one was kept", []crawler.Report{dead, kept}, crawler.Waits{}, false},
	} {
		seen := newEnding()
		for _, r := range c.reports {
			seen.add(r)
		}
		if err := seen.err(c.waits); (err != nil) != c.fails {
			t.Errorf("%s: %v", c.about, err)
		}
	}
}
