package crawler

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/triplestore"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// versionsSaid returns the number of statements with a predicate.
func versionsSaid(t *testing.T, n *node, predicate string) int {
	t.Helper()
	count := 0
	err := n.triples.View(t.Context(), func(sn *triplestore.Snapshot) error {
		id, ok, err := sn.Lookup(term.IRI(predicate))
		if err != nil || !ok {
			return err
		}
		c := sn.Scan(term.Pattern{P: id, G: term.DefaultGraph}, term.PSO)
		defer c.Close()
		for {
			rows, err := c.Next()
			if err != nil || len(rows) == 0 {
				return err
			}
			count += len(rows)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return count
}

func TestTheSameBytesUnderManyURLsAreAnErrorPageUnlessTheyAreData(t *testing.T) {
	t.Parallel()
	wide := "station;date;value\n" + strings.Repeat("A1;2026-01-02;3.5\nB2;2026-01-03;4.5\n", 20)
	for _, c := range []struct {
		name, ending, body string
		urls, data         int // listed, and versions that count in the end
	}{
		{"a page without a promise", "", "<!doctype html><html><title>Portal</title><p>This dataset has moved.</html>", 20, 0},
		{"a page where data was promised", ".csv", "<!doctype html><html><title>Oops</title></html>", 20, 0},
		{"a text instead of tables", ".csv", "The requested file could not be found.\n", 20, 0},
		{"an error in JSON", ".json", `{"status":404,"error":"resource not found"}`, 20, 0},
		{"an OGC exception", ".xml",
			`<?xml version="1.0"?><ServiceExceptionReport><ServiceException ` +
				`code="LayerNotDefined">no</ServiceException></ServiceExceptionReport>`, 5, 0},
		{"a table listed three times", ".csv", wide, 3, 3},
		{"a table listed twenty times", ".csv", wide, 20, 20},
		{"a list of codes", ".csv", "code\nAT\nDE\nFR\n", 5, 5},
		{"a table called otherwise", ".xls", wide, 4, 4},
		{"two pages that are alike", "", "<!doctype html><html><title>Terms of use</title></html>", 2, 2},
		{"a licence that is a text", ".txt", "You may use these data for any purpose.\n", 6, 6},
		{"JSON that says something", ".json", `{"type":"FeatureCollection","features":[]}`, 6, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, n := newSite(t), newNode(t)
			var seeds []catalog.Seed
			for i := range c.urls {
				path := fmt.Sprintf("/files/%d%s", i, c.ending)
				s.set(path, c.body)
				seeds = append(seeds,
					catalog.Seed{URL: s.URL + path, Portal: "http://portal.example/", Dataset: fmt.Sprintf("http://portal.example/%d", i)})
			}
			if _, err := n.Add(t.Context(), seeds); err != nil {
				t.Fatal(err)
			}
			n.crawl(t, RunOptions{})
			stats, err := n.Pipeline.Archive.Stats(t.Context())
			if err != nil || stats.Versions != c.data || stats.Crawled != c.data {
				t.Errorf("%d versions of %d URLs count, %v; want %d", stats.Versions, stats.Crawled, err, c.data)
			}
			if got := versionsSaid(t, n, vocab.DCTHasVersion); got != c.data {
				t.Errorf("%d statements of versions, want %d", got, c.data)
			}
		})
	}
}

func TestAnErrorPageThatWasKeptIsMarkedAndItsURLGoesOn(t *testing.T) {
	t.Parallel()
	s, n := newSite(t), newNode(t)
	page := "<!doctype html><html><title>Maintenance</title></html>"
	var seeds []catalog.Seed
	for i := range 4 {
		s.set(fmt.Sprintf("/%d", i), page)
		seeds = append(seeds, catalog.Seed{URL: fmt.Sprintf("%s/%d", s.URL, i)})
	}
	other := newSite(t)
	other.set("/page", page)
	if _, err := n.Add(t.Context(), append(seeds, catalog.Seed{URL: other.URL + "/page"})); err != nil {
		t.Fatal(err)
	}
	got := n.crawl(t, RunOptions{})
	outcomes := map[catalog.Outcome]int{}
	for _, r := range got {
		outcomes[r.Outcome]++
	}
	if outcomes[catalog.Archived] != 3 || outcomes[catalog.NoVersion] != 2 {
		t.Errorf("outcomes %v, want two kept before the third told, and the other host's", outcomes)
	}
	if got := versionsSaid(t, n, vocab.ArcErrorPage); got != 2 {
		t.Errorf("%d versions are marked, want 2: the other host's is none of them", got)
	}
	var kept string
	for path, r := range got {
		if r.Outcome == catalog.Archived && path != "/page" {
			kept = path
		}
	}
	newest, err := n.Pipeline.Archive.Newest(t.Context(), s.URL+kept)
	if err != nil || newest.ErrorPage == "" {
		t.Fatalf("the version of %s: %+v, %v; want it marked", kept, newest, err)
	}
	if _, err := n.Pipeline.Archive.Latest(t.Context(), s.URL+kept); err == nil {
		t.Error("an error page is given out as the latest version")
	}
	n.clock.advance(48 * time.Hour)
	if r := n.crawl(t, RunOptions{})[kept]; r.Outcome != catalog.NoVersion || r.ErrorClass != catalog.ErrSoft404 || r.Status != 200 {
		t.Errorf("the page again: %+v, want soft-404 of a full fetch", r)
	}
	s.set(kept, "a,b\n1,2\n3,4\n")
	n.clock.advance(48 * time.Hour)
	if r := n.crawl(t, RunOptions{})[kept]; r.Outcome != catalog.Archived {
		t.Errorf("the file itself: %+v, want it kept", r)
	}
	latest, err := n.Pipeline.Archive.Latest(t.Context(), s.URL+kept)
	if err != nil || latest.N != 1 {
		t.Errorf("latest %+v, %v; want version 1", latest, err)
	}
	stats, err := n.Pipeline.Archive.Stats(t.Context())
	if err != nil || stats.Versions != 2 || stats.Crawled != 2 {
		t.Errorf("%d versions of %d URLs, %v; want the file and the other host's page", stats.Versions, stats.Crawled, err)
	}
}
