package discover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"odarchive/vocab"
)

func TestFilesAreFoundWithoutAskingForThem(t *testing.T) {
	t.Parallel()
	s := &site{pages: map[string]string{
		"/":     pageOf("City", "/news", "News", "/data", "Open data"),
		"/news": pageOf("News", "/a.pdf", "Report"),
		"/data": `<html lang="de"><head><meta property="og:site_name" content="Stadt"><link rel="license" ` +
			`href="https://creativecommons.org/licenses/by/4.0/"></head>` +
			`<body><table><tr><td>Trees 2020</td><td><a href="/f/1.csv">Download</a></td></tr><tr><td>x</td><td><a ` +
			`href="/f/2.xlsx?v=1">Budget</a></td></tr></table></body></html>`,
	}}
	k, finds := discovered(t, s, "", Options{})
	if k.files() != "/f/1.csv /f/2.xlsx?v=1" {
		t.Fatalf("found %q, asked %q", k.files(), s.asked)
	}
	if slices.ContainsFunc(s.asked, func(u string) bool { return strings.HasPrefix(u, "/f/") || u == "/a.pdf" }) {
		t.Errorf("asked %q", s.asked)
	}
	if !slices.Equal(s.asked, []string{"/", "/data", "/news"}) {
		t.Errorf("asked %q: the link with the word first", s.asked)
	}
	d := k.datasets[0]
	if d.IRI != "http://city.example/f/1.csv#dataset" || d.Title[0].Value != "Trees 2020" || d.LandingPage != "http://city.example/data" ||
		d.License != "https://creativecommons.org/licenses/by/4.0/" || d.Publisher.Name != "Stadt" || d.Distributions[0].Format != "csv" {
		t.Errorf("%+v", d)
	}
	path := ""
	for _, q := range d.Quads(home) {
		if q.P.Value() == vocab.ArcFoundPath {
			path = q.O.Value()
		}
	}
	if path != "http://city.example/ http://city.example/data" {
		t.Errorf("path %q", path)
	}
	f := finds[1]
	if f.URL != "http://city.example/f/2.xlsx?v=1" || f.Page != "http://city.example/data" || f.Title != "Budget" || f.Requests != 3 ||
		len(f.Path) != 2 || f.Why == "" {
		t.Errorf("%+v", f)
	}
}

func TestRobotsAreObeyedInEverything(t *testing.T) {
	t.Parallel()
	s := &site{
		robots: "User-agent: *\nDisallow: /private\nSitemap: http://city.example/private/sitemap.xml\nSitemap: " +
			"http://other.example/sitemap.xml", pages: map[string]string{
			"/": `<html><head><link rel="alternate" type="text/turtle" href="/private/catalog.ttl"></head><body><a ` +
				`href="/private/data.csv">Open data</a><a href="/go">Go</a>` +
				`<a href="/private/page">Data</a><a href="/bait.csv" style="display: none">Data</a><a href="/bait2.csv" ` +
				`rel="nofollow">Data</a>` +
				`<a href="http://other.example/data">Data</a><a href="http://sub.city.example/x.csv">x</a></body></html>`,
			"/go": "->/private/page",
		}}
	k, _ := discovered(t, s, "", Options{})
	if k.files() != "http://sub.city.example/x.csv" || !slices.Equal(s.asked, []string{"/", "/go"}) {
		t.Errorf("found %q, asked %q", k.files(), s.asked)
	}
	s = &site{robots: "User-agent: *\nDisallow: /", pages: map[string]string{"/": pageOf("x")}}
	if _, _, err := try(t.Context(), s, "", Options{}); err == nil || len(s.asked) != 0 {
		t.Errorf("%v, asked %q", err, s.asked)
	}
}

// endless is a site with many pages: a list of items with files, and a calendar without end.
func endless(items int) *site {
	s := &site{pages: map[string]string{"/": pageOf("City", "/list/0", "List", "/calendar/1", "Calendar")}, busy: map[string]int{}}
	for i := range items / 10 {
		var links []string
		for j := range 10 {
			item := fmt.Sprintf("/item/%d", i*10+j)
			links = append(links, item, fmt.Sprintf("Record %d", i*10+j))
			s.pages[item] = pageOf("Record", fmt.Sprintf("/files/%d.csv", i*10+j), "Table", fmt.Sprintf("/get/%d", i*10+j), "Other")
			s.pages[fmt.Sprintf("/get/%d", i*10+j)] = "application/pdf|%PDF"
		}
		s.pages[fmt.Sprintf("/list/%d", i)] = pageOf("List", append(links, fmt.Sprintf("/list/%d", i+1), "next")...)
	}
	for i := range 3000 {
		s.pages[fmt.Sprintf("/calendar/%d", i)] = pageOf(fmt.Sprint("Month ", i), fmt.Sprintf("/calendar/%d", i+1), "next")
	}
	return s
}

func TestTheBudgetIsNeverExceeded(t *testing.T) {
	t.Parallel()
	for _, budget := range []int{1, 2, 3, 10, 57, 200} {
		s := endless(300)
		s.retries = budget % 2
		k, _, err := try(t.Context(), s, "", Options{Budget: budget, Whole: true})
		if len(s.asked)+1 > budget { // and robots.txt
			t.Errorf("budget %d: %d requests", budget, len(s.asked)+1)
		}
		if err == nil && budget > 100 && len(k.datasets) < budget/8 {
			t.Errorf("budget %d: %d files", budget, len(k.datasets))
		}
	}
}

func TestADiscoveryEndsWhereNothingIsExpected(t *testing.T) {
	t.Parallel()
	s := endless(60)
	k, _ := discovered(t, s, "", Options{})
	if len(k.datasets) != 60 || len(s.asked) > 700 {
		t.Errorf("%d files, %d requests", len(k.datasets), len(s.asked))
	}
}

var errKilled = errors.New("killed")

func TestAKilledDiscoveryGoesOnWithinFiftyRequests(t *testing.T) {
	t.Parallel()
	const items = 400
	for _, at := range []int{1, 30, 120, 333} {
		s := endless(items)
		s.retries = at % 2
		ctx, kill := context.WithCancelCause(t.Context())
		s.onAsk = func(n int) {
			if n == at {
				kill(errKilled)
			}
		}
		first, reported, err := try(ctx, s, "", Options{Budget: 5000})
		if err == nil {
			t.Fatal("it was not killed")
		}
		mark := ""
		if n := len(first.marks); n > 0 {
			mark = first.marks[n-1]
			if late := at - first.asked[n-1]; late > markRequests {
				t.Errorf("killed at %d, %d requests after the last mark", at, late)
			}
		} else if at > markRequests {
			t.Errorf("no mark after %d requests", at)
		}
		if len(reported) > first.kept {
			t.Errorf("%d files were reported, %d kept", len(reported), first.kept)
		}
		before := len(s.asked)
		s.onAsk = nil
		second, again := discovered(t, s, mark, Options{Budget: 5000})
		all := map[string]int{}
		for _, f := range append(reported, again...) {
			all[f.URL]++
		}
		for u, n := range all {
			if n > 1 {
				t.Errorf("killed at %d: %s was reported %d times", at, u, n)
			}
		}
		if len(all) != items || first.kept+len(second.datasets) != items {
			t.Errorf("killed at %d: %d files reported, %d and %d kept", at, len(all), first.kept, len(second.datasets))
		}
		repeated := 0
		for _, u := range s.asked[before:] {
			if slices.Contains(s.asked[:before], u) {
				repeated++
			}
		}
		if repeated > markRequests {
			t.Errorf("killed at %d: %d requests were repeated", at, repeated)
		}
	}
}

func TestTheBudgetHoldsOverCrashes(t *testing.T) {
	t.Parallel()
	s, mark := endless(400), ""
	for range 8 {
		ctx, kill := context.WithCancelCause(t.Context())
		from := len(s.asked)
		s.onAsk = func(n int) {
			if n == from+40 {
				kill(errKilled)
			}
		}
		k, _, _ := try(ctx, s, mark, Options{Budget: 200})
		if n := len(k.marks); n > 0 {
			mark = k.marks[n-1]
		}
	}
	if len(s.asked) > 200 {
		t.Errorf("%d requests of 200", len(s.asked))
	}
}

func TestTheNextRoundAsksForWhatMayHaveChanged(t *testing.T) {
	t.Parallel()
	s := endless(100)
	first, _ := discovered(t, s, "", Options{})
	if len(first.datasets) != 100 || first.next == "" {
		t.Fatalf("%d files", len(first.datasets))
	}
	before := len(s.asked)
	s.pages["/item/7"] = pageOf("Record", "/files/new.csv", "Table")
	s.pages["/item/8"] = pageOf("Record", "/files/7.csv", "moved here")
	delete(s.pages, "/item/9")
	s.pages["/list/3"] = strings.Replace(s.pages["/list/3"], "<ul>", `<ul><li><a href="/item/x">New record</a></li>`, 1)
	s.pages["/item/x"] = pageOf("Record", "/files/x.csv", "Table")
	second, _ := discovered(t, s, first.next, Options{})
	if got := second.files(); got != "/files/new.csv /files/x.csv" && got != "/files/x.csv /files/new.csv" {
		t.Errorf("found %q", got)
	}
	if !slices.Equal(second.gone, []string{"http://city.example/files/8.csv#dataset", "http://city.example/files/9.csv#dataset"}) {
		t.Errorf("gone %q", second.gone)
	}
	n := len(s.asked) - before
	if s.unless < 90 || n > s.unless+40 {
		t.Errorf("%d requests, %d were answered with 304: %q", n, s.unless, s.asked[before:])
	}
	third, _ := discovered(t, s, second.next, Options{})
	if len(third.datasets)+len(third.gone) > 0 {
		t.Errorf("the third round found %q and lost %q", third.files(), third.gone)
	}
}

func TestADamagedMarkBeginsAnew(t *testing.T) {
	t.Parallel()
	s := endless(20)
	k, _ := discovered(t, s, "", Options{})
	for _, mark := range []string{"other", k.next[:len(k.next)/2], strings.Replace(k.next, "A", "B", 3), markPrefix + "e30"} {
		if again, _ := discovered(t, s, mark, Options{}); len(again.datasets) != 20 && len(again.skipped) == 0 && mark != "other" {
			t.Errorf("%.40s: %d files, %q", mark, len(again.datasets), again.skipped)
		}
	}
}

func TestWhatTheSiteDeclaresComesFirst(t *testing.T) {
	t.Parallel()
	s := &site{robots: "Sitemap: http://city.example/sitemap.xml", pages: map[string]string{
		"/":            pageOf("City", "/news", "News"),
		"/news":        pageOf("News"),
		"/sitemap.xml": `application/xml|<sitemapindex><sitemap><loc>http://city.example/s1.xml</loc></sitemap></sitemapindex>`,
		"/s1.xml": `application/xml|<urlset><url><loc>http://city.example/open-data/1</loc></url><url><loc>http://city.example/f.csv` +
			`</loc></url><url><loc>http://city.example/gone</loc></url></urlset>`,
		"/open-data/1": `<html><body><script ` +
			`type="application/ld+json">{"@context":"https://schema.org/","@type":"Dataset","name":"Trees","license":"CC0","distribution"` +
			`:[{"@type":"DataDownload","contentUrl":"http://city.example/get?id=1","encodingFormat":"text/csv"}]}</script><a ` +
			`href="/get?id=1">get</a></body></html>`,
	}}
	k, _ := discovered(t, s, "", Options{})
	if got := k.files(); got != "/f.csv /get?id=1" {
		t.Errorf("found %q, asked %q", got, s.asked)
	}
	if d := k.datasets[1]; d.Title[0].Value != "Trees" || d.License != "CC0" {
		t.Errorf("%+v", d)
	}
	if slices.Contains(s.asked, "/get?id=1") {
		t.Errorf("asked %q", s.asked)
	}
}

func TestFilesWithoutExtensionAreJudgedByTheirGroup(t *testing.T) {
	t.Parallel()
	s := &site{pages: map[string]string{}}
	var links []string
	for i := range 40 {
		get := fmt.Sprintf("/download/%d", i)
		if links = append(links, get, fmt.Sprintf("Table %d (CSV, 3 kB)", i)); i%4 == 3 {
			links[len(links)-1] = fmt.Sprintf("Report %d (PDF, 3 kB)", i)
		}
		s.pages[get] = "text/csv|a,b\n1,2\n"
	}
	s.pages["/"] = pageOf("Data", links...)
	k, _ := discovered(t, s, "", Options{})
	if len(k.datasets) != 30 || len(s.asked) > 6 {
		t.Errorf("%d files, asked %q", len(k.datasets), s.asked)
	}
}
