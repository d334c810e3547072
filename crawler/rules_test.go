package crawler

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/follow/campaign"
	"odarchive/crawler/follow/links"
)

// catalogSite serves the made-up catalog of package scrape at host a, and returns its rules for that host.
func (l *linked) catalogSite(t *testing.T) string {
	t.Helper()
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("follow", "scrape", "testdata", "catalog", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	l.say("a", "/datasets/", "text/html", read("list.html")+`<a href="/about">About</a>`)
	l.say("a", "/datasets/17", "text/html; charset=utf-8", read("dataset.html"))
	l.say("a", "/datasets/18", "text/html; charset=utf-8", "<h1>Brunnen</h1>")
	l.say("a", "/files/bäume.csv", "text/csv", "a,b\n1,2\n")
	l.say("a", "/about", "text/html", "<p>us</p>")
	host := l.at("a", "")
	rules := strings.ReplaceAll(read("rules.toml"), `catalog\.example`, regexp.QuoteMeta(strings.TrimPrefix(host, "http://")))
	return strings.ReplaceAll(rules, "http://catalog.example", host)
}

func TestRulesMakeTheGraphsOfPages(t *testing.T) {
	t.Parallel()
	l := newLinked(t, "a")
	d := campaign.Document{Name: "x", Seeds: []string{l.at("a", "/datasets/")}, Graphs: true,
		Follow: []links.Kind{links.Rule, links.Download}, Rules: l.catalogSite(t)}
	c := l.follow(t, d)
	if got, want := l.requests(), "a/datasets/ a/datasets/17 a/datasets/18 a/files/b%C3%A4ume.csv"; got != want {
		t.Errorf("requests:\n%s\nwant\n%s", got, want)
	}
	if c.State != campaign.Finished || c.Counts.Documents != 3 || c.Counts.Changed == 0 {
		t.Errorf("%+v", c)
	}
	for path, want := range map[string]string{
		"/datasets/":   `<{a}/datasets/17 modified ^http://www.w3.org/2001/XMLSchema#date`,
		"/datasets/17": `<{a}/id/17 downloadURL <{a}/files/b%C3%A4ume.csv`,
		"/datasets/18": `<{a}/id/18 title @de`,
	} {
		if got := l.contentOf(t, "a", path); !strings.Contains(got, want) {
			t.Errorf("graph of %s:\n%s\nwant\n%s", path, got, want)
		}
	}

	// The next round changes nothing.
	l.clock.advance(time.Hour)
	if c = l.follow(t, d); c.Round != 2 || c.Counts.Changed != 0 || c.Counts.Failed != 0 {
		t.Errorf("%+v", c.Counts)
	}

	// Other rules: the pages have not changed, but their graphs follow at the next visit.
	l.clock.advance(time.Hour)
	l.requests()
	d.Rules = strings.Replace(d.Rules, `predicate = "dcat:keyword"`, `predicate = "schema:keywords"`, 1)
	c = l.follow(t, d)
	if got := l.contentOf(t, "a", "/datasets/17"); strings.Contains(got, " keyword ") || !strings.Contains(got, " keywords ") ||
		c.Counts.Changed != 4 {
		t.Errorf("%d statements changed:\n%s", c.Counts.Changed, got)
	}

	// Without rules, pages say nothing.
	l.clock.advance(time.Hour)
	d.Rules = ""
	if l.follow(t, d); l.contentOf(t, "a", "/datasets/17") != "" {
		t.Errorf("%s", l.contentOf(t, "a", "/datasets/17"))
	}
}

func TestTheRulesOfOneCampaignDoNotLeadAnother(t *testing.T) {
	t.Parallel()
	l := newLinked(t, "a")
	rules := l.catalogSite(t)
	seeds := []string{l.at("a", "/datasets/")}
	l.follow(t, campaign.Document{Name: "ruled", Seeds: seeds, Graphs: true, Follow: []links.Kind{links.Rule}, Rules: rules})
	l.requests()
	l.clock.advance(time.Hour)
	c := l.follow(t, campaign.Document{Name: "plain", Seeds: seeds, Follow: []links.Kind{links.Object, links.Rule}})
	if got := l.requests(); got != "a/datasets/" || c.Counts.URLs != 1 {
		t.Errorf("%s, %+v", got, c.Counts)
	}
	if got := l.contentOf(t, "a", "/datasets/"); !strings.Contains(got, "modified") {
		t.Errorf("a visit for another campaign loses statements by rules:\n%s", got)
	}
}

func TestRulesThatCannotWorkMakeNoCampaign(t *testing.T) {
	t.Parallel()
	l := newLinked(t, "a")
	d := campaign.Document{Name: "x", Seeds: []string{l.at("a", "/")},
		Rules: "[[page]]\nurl = '.'\n\n[[page.value]]\npredicate = 'dct:title'\nmatch = '['\n"}
	_, err := l.Campaigns.Run(t.Context(), d)
	if !errors.Is(err, campaign.ErrBad) || !strings.Contains(err.Error(), "line 4") || !strings.Contains(err.Error(), "match") {
		t.Error(err)
	}
	if _, err := l.Campaigns.Get(t.Context(), "x"); !errors.Is(err, campaign.ErrUnknown) {
		t.Error(err)
	}
	// Rules of Squirrel are kept in TOML.
	d.Rules = "# a site\nfile_descriptor:\n  check: {domain: a.example}\n  detail: {regex: /d/, resources: {'http://v.example/p': h1}}\n"
	c, err := l.Campaigns.Run(t.Context(), d)
	if err != nil || !strings.Contains(c.Document.Rules, "[[page]]") {
		t.Errorf("%q, %v", c.Document.Rules, err)
	}
}
