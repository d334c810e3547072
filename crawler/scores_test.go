package crawler

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"odarchive/crawler/follow/campaign"
	"odarchive/crawler/follow/relevance"
)

// order returns the paths that were asked since the last call, in order.
func (l *linked) order() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []string
	for _, one := range l.asked {
		all = append(all, strings.Fields(one)[0][1:])
	}
	l.asked = nil
	return all
}

// steps makes one visit after the other, as a crawl does that pauses between the requests to a host.
func (l *linked) steps(t *testing.T, n int) {
	t.Helper()
	for range n {
		if _, err := l.Run(t.Context(), RunOptions{MaxFetches: 1, Once: true}); err != nil {
			t.Fatal(err)
		}
	}
}

const drupalPage = `<html><head><meta name="Generator" content="Drupal 10 (https://www.drupal.org)"><title>%s</title></head><body ` +
	`class="path-node"><main><h1>%s</h1>%s</main></body></html>`

func (l *linked) page(host, path, title, body string) {
	l.say(host, path, "text/html", fmt.Sprintf(drupalPage, title, title, body))
}

func TestACampaignVisitsFirstWhatItsKeywordsPromise(t *testing.T) {
	t.Parallel()
	l := newLinked(t, "a")
	l.Pipeline.Workers = 1
	l.page("a", "/start", "City",
		`<a href="/sport">Sport</a> <a href="/user/login">Log in</a> <a href="/calendar/2031-04">April</a> <a href="/trees">Trees of the `+
			`city</a> <a href="/open-data">Open data</a> <a href="/culture">Culture</a> <a href="/trees?order=title&amp;sort=asc">Trees `+
			`of the city</a>`)
	for _, path := range []string{"/sport", "/culture", "/user/login", "/calendar/2031-04"} {
		l.page("a", path, "Page", "")
	}
	l.page("a", "/trees", "Trees", `<a href="/media/5/download">A list</a>`)
	l.page("a", "/open-data", "Open data", "")
	l.say("a", "/media/5/download", "text/csv", "a,b\n1,2\n")
	d := campaign.Document{Name: "x", Seeds: []string{l.at("a", "/start")}, Accept: "any", Keywords: []string{"trees"},
		Weights: &relevance.Weights{}}
	if _, err := l.Campaigns.Run(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	l.steps(t, 12)
	c, err := l.Campaigns.Get(t.Context(), "x")
	if err != nil || c.State != campaign.Finished {
		t.Fatalf("%+v, %v", c, err)
	}
	got := l.order()
	if len(got) < 8 || got[0] != "/start" || got[1] != "/trees" || !slices.Contains(got[2:4], "/open-data") ||
		!slices.Contains(got[2:4], "/media/5/download") {
		t.Errorf("order of visits: %v", got)
	}
	if got[len(got)-1] != "/trees?order=title&sort=asc" && got[len(got)-2] != "/trees?order=title&sort=asc" &&
		got[len(got)-3] != "/trees?order=title&sort=asc" {
		t.Errorf("a list in another order is not last: %v", got)
	}
	last := got[len(got)-3:]
	if !slices.Contains(last, "/user/login") || !slices.Contains(last, "/calendar/2031-04") {
		t.Errorf("what wastes visits is not last: %v", got)
	}
	shown, err := l.Campaigns.Show(t.Context(), "x")
	if err != nil || len(shown.Sites) != 1 {
		t.Fatalf("%+v, %v", shown, err)
	}
	site := shown.Sites[0]
	if site.URL != l.at("a", "/") || site.Software.Name() != "Drupal 10" || site.Software.Seen != 8 || len(site.Best) > 1 &&
		strings.Contains(site.Best[1].URL, "order") || site.Score.Value() <= 0 || len(site.Best) == 0 ||
		site.Best[0].URL != l.at("a", "/trees") || len(site.Best[0].Why) == 0 {
		t.Errorf("%+v", site)
	}
	if c.Counts.Pages != 8 {
		t.Errorf("%d pages have a score", c.Counts.Pages)
	}

	// What is known of sites is a graph of its own.
	if err := l.Campaigns.DescribeSites(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	graph := l.graph(t, "<http://archive.example/graph/http://archive.example/campaign?name=x")
	for _, want := range []string{"<{a}/ software \"Drupal 10", "<{a}/ bestPage <{a}/trees", "<{a}/ pagesSeen ", "<{a}/trees score ",
		"<{a}/trees pageLevel \"item", "softwareSign"} {
		if !strings.Contains(graph, want) {
			t.Errorf("the graph lacks %q:\n%s", want, graph)
		}
	}
	def := l.graph(t, "")
	for _, own := range []string{"pagesSeen", "bestPage", "softwareSign", "pageLevel"} {
		// "Drupal" is there as what the pages say of themselves
		if strings.Contains(def, own) {
			t.Errorf("what a campaign thinks of sites is in the default graph: %s", own)
		}
	}

	// Another round counts no page twice.
	c = l.follow(t, c.Document)
	if again, err := l.Campaigns.Show(t.Context(), "x"); err != nil || again.Sites[0].Score != site.Score || c.Counts.Pages != 8 {
		t.Errorf("%+v, %v", again.Sites, err)
	}
}

func TestAnotherDocumentChangesThePrioritiesOfOpenURLs(t *testing.T) {
	t.Parallel()
	l := newLinked(t, "a")
	l.Pipeline.Workers = 1
	var links strings.Builder
	for i := range 1200 { // more than one transaction
		fmt.Fprintf(&links, `<a href="/p%d">page %d</a> `, i, i)
		l.page("a", fmt.Sprintf("/p%d", i), "Page", "")
	}
	l.page("a", "/start", "City", links.String()+`<a href="/water">Water levels</a> <a href="/air">Air quality</a>`)
	l.page("a", "/water", "Water", "")
	l.page("a", "/air", "Air", "")
	d := campaign.Document{Name: "x", Seeds: []string{l.at("a", "/start")}, Accept: "any", Keywords: []string{"water"}}
	if _, err := l.Campaigns.Run(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	l.steps(t, 3) // one is of /.well-known/void
	if got := l.order(); len(got) < 2 || got[1] != "/water" {
		t.Fatalf("visits: %v", got)
	}
	d.Keywords = []string{"air quality"}
	if _, err := l.Campaigns.Run(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	c, err := l.Campaigns.Get(t.Context(), "x")
	if err != nil || c.Rescoring || c.Scoring != 1 || c.Round != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	l.steps(t, 1)
	if got := l.order(); len(got) != 1 || got[0] != "/air" {
		t.Errorf("visits: %v", got)
	}
}
