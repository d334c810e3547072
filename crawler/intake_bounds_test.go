package crawler

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"odarchive/crawler/address"
	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/ledger"
	"odarchive/triplestore/term"
)

func TestWhatASourceSaysOfAURLIsCutToWhatRecordsHold(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	long := strings.Repeat("<&> ", 1<<19)
	seed := catalog.Seed{URL: "http://a.example/a.csv", Portal: "http://p.example/", PortalTitle: long, Dataset: "http://p.example/d",
		DatasetTitle: long,
		Title:        long, Format: long, MediaType: "text/" + long}
	if _, err := n.Add(t.Context(), []catalog.Seed{seed}); err != nil {
		t.Fatal(err)
	}
	u, err := n.Intake.Frontier.Get(seed.URL)
	if err != nil || len(u.Format)+len(u.MediaType) > 10_000 {
		t.Errorf("the frontier: %.100v, %v", u, err)
	}
	seed.Dataset = "http://p.example/\x00"
	if _, err := n.Add(t.Context(), []catalog.Seed{seed}); !errors.Is(err, archive.ErrBadIRI) {
		t.Errorf("a zero byte in a name: %v", err)
	}
}

func TestTheLongestURLsAndNamesAreRegisteredAndVisited(t *testing.T) {
	t.Parallel()
	s, n := newSite(t), newNode(t)
	var seeds []catalog.Seed
	for _, filling := range []string{"a", "é", "%20", "?&", "\u4e16"} {
		room := address.MaxURL - len(s.URL) - 10
		url := s.URL + "/" + strings.Repeat(filling, room/len(filling))
		name := "http://p.example/" + strings.Repeat(filling, 4000/len(filling))
		seeds = append(seeds, catalog.Seed{URL: url, Portal: name, Dataset: name + "/d"})
	}
	if _, err := n.Add(t.Context(), seeds); err != nil {
		t.Fatalf("%.300v", err)
	}
	summary, err := n.Run(t.Context(), RunOptions{Once: true})
	if err != nil || summary.Fetches != len(seeds) {
		t.Errorf("%+v, %.300v", summary, err)
	}
	if list, total, err := n.Pipeline.Archive.InternalFailures(t.Context(), 0); err != nil || total > 0 {
		t.Errorf("faults: %.500v, %v", list, err)
	}
}

func TestAHarvestStepThatIsTooMuchForATransactionIsKeptInParts(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	var err error
	if n.Ledger, err = ledger.New(n.Intake.Archive.Mint(), n.Intake.Archive.DB(), n.triples, n.Intake.Archive); err != nil {
		t.Fatal(err)
	}
	r := harvest.Report{Source: "ckan http://p.example/", Started: n.clock.now()}
	if _, err := n.Begin(t.Context(), r, true); err != nil {
		t.Fatal(err)
	}
	step := harvest.Step{Source: r.Source, Portal: "http://p.example/", Mark: "page 2"}
	for i := range 2000 {
		step.Seeds = append(step.Seeds,
			catalog.Seed{URL: fmt.Sprintf("http://a.example/%d", i), Title: strings.Repeat("long ", 400), Portal: step.Portal,
				Dataset: fmt.Sprintf("http://p.example/%d", i)})
	}
	step.Seeds[7].Dataset = "http://p.example/\x00"
	step.Entries = []harvest.Entry{
		{Dataset: "http://p.example/1",
			Quads: []term.Quad{{S: term.IRI("http://p.example/1"), P: term.IRI("http://p.example/p"), O: term.String("o")}}}}
	added, err := n.Keep(t.Context(), step)
	if err != nil || added != len(step.Seeds) {
		t.Fatalf("%d added, %v", added, err)
	}
	if added, err = n.Keep(t.Context(), step); err != nil || added != 0 {
		t.Errorf("again: %d added, %v", added, err)
	}
	if mark, err := n.Begin(t.Context(), r, false); err != nil || mark != step.Mark {
		t.Errorf("the mark is %q, %v", mark, err)
	}
}
