package crawler

import (
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/hints"
)

func TestAPortalThatSaysThatAFileHasChangedBringsItsVisitForward(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	h := &hints.Hints{DB: n.db, Frontier: n.Pipeline.Frontier, Clock: n.clock.now, Min: time.Hour}
	n.Intake.Hints, n.Pipeline.Hints = h, h
	s := newSite(t)
	s.set("/a.csv", "id,name\n1,Ada\n")
	s.set("/b.csv", "id,name\n1,Bob\n")
	n.add(t, s.URL+"/a.csv", s.URL+"/b.csv")
	n.crawl(t, RunOptions{})
	n.clock.advance(6 * time.Hour)
	if reports := n.crawl(t, RunOptions{}); len(reports) != 0 {
		t.Fatalf("%+v: nothing should be due", reports)
	}
	s.set("/a.csv", "id,name\n1,Ada\n2,Eve\n")
	now := n.clock.now()
	list := []catalog.Seed{
		{URL: s.URL + "/a.csv", Portal: "http://portal.example/", Modified: now.Add(-time.Hour)},
		{URL: s.URL + "/b.csv", Portal: "http://portal.example/", Modified: now.Add(-12 * time.Hour)}, // before its visit
		{URL: s.URL + "/new.csv", Portal: "http://portal.example/", Modified: now.Add(-time.Hour)},
	}
	s.set("/new.csv", "id,name\n1,New\n")
	if _, err := n.Add(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	reports := n.crawl(t, RunOptions{})
	if len(reports) != 2 || reports["/a.csv"].Versions != 2 || reports["/new.csv"].Versions != 1 {
		t.Errorf("%+v", reports)
	}
	if _, err := n.Add(t.Context(), list); err != nil { // the same listing again: the file was visited since
		t.Fatal(err)
	}
	if reports := n.crawl(t, RunOptions{}); len(reports) != 0 {
		t.Errorf("%+v", reports)
	}
}
