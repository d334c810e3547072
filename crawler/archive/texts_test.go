package archive

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/archive/search"
	"odarchive/crawler/catalog"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

const somePortal = "http://portal.example/"

// said returns statements of a portal about a dataset.
func said(a *Archive, dataset, description, publisher, licence string, keywords ...string) []term.Quad {
	graph, s, agent := term.IRI(a.Mint().Graph(somePortal)), term.IRI(dataset), term.IRI(dataset+"#agent")
	quads := []term.Quad{{S: s, P: term.IRI(vocab.DCTDescription), O: term.String(description), G: graph},
		{S: s, P: term.IRI(vocab.DCTPublisher), O: agent, G: graph},
		{S: agent, P: term.IRI(vocab.FOAFName), O: term.String(publisher), G: graph},
		{S: s, P: term.IRI(vocab.DCTLicense), O: term.IRI(licence), G: graph}}
	for _, k := range keywords {
		quads = append(quads, term.Quad{S: s, P: term.IRI(vocab.DCATKeyword), O: term.String(k), G: graph})
	}
	return quads
}

func list(t *testing.T, a *Archive, seed catalog.Seed, quads []term.Quad) {
	t.Helper()
	if _, err := a.Register(t.Context(), day, Listing{Seeds: []catalog.Seed{seed}, Quads: quads}, nil); err != nil {
		t.Fatal(err)
	}
}

// describedArchive has three files of two datasets, whose texts are indexed.
func describedArchive(t *testing.T) *Archive {
	t.Helper()
	a := newArchive(t)
	const one, two = somePortal + "d/1", somePortal + "d/2"
	list(t, a, catalog.Seed{URL: "http://wien.example/pop.csv", Portal: somePortal, PortalTitle: "Offene Daten", Dataset: one,
		DatasetTitle: "Einwohner", Title: "Einwohner nach Bezirk"},
		said(a, one, "Wohnbevölkerung der <b>Stadt Wien</b>, gegliedert nach Bezirken.", "Magistrat Wien",
			"https://creativecommons.org/licenses/by/4.0/", "Demographie"))
	list(t, a, catalog.Seed{URL: "http://wien.example/pop.pdf", Portal: somePortal, Dataset: one, DatasetTitle: "Einwohner",
		Title: "Erläuterungen"}, nil)
	list(t, a, catalog.Seed{URL: "http://graz.example/trees.csv", Portal: somePortal, Dataset: two, DatasetTitle: "Baumkataster",
		Title: "Baumkataster Graz"},
		said(a, two, "Alle Bäume der Stadt Graz. Wien kommt nicht vor.", "Magistrat Graz", "https://example.org/own-licence"))
	visit(t, a, "http://wien.example/pop.csv", "Bezirk,Anzahl\nFavoriten,1\nFavoriten,2\nHietzing,3\n", day)
	visit(t, a, "http://graz.example/trees.csv", "Art,Anzahl\nLinde,1\nLinde,2\n", day.Add(48*time.Hour))
	indexTexts(t, a)
	return a
}

func TestFilesAreFoundByWhatPortalsAndContentsSay(t *testing.T) {
	t.Parallel()
	a := describedArchive(t)
	const pop, pdf, trees = "wien.example/pop.csv", "wien.example/pop.pdf", "graz.example/trees.csv"
	for question, want := range map[string][]string{
		"Wohnbevölkerung":                {pop, pdf},
		"wohnbevoelkerung":               {pop, pdf},
		"bevölkerung":                    {pop, pdf},
		"Demographie":                    {pop, pdf},
		"Magistrat":                      {pop, pdf, trees},
		"publisher:graz":                 {trees},
		`"Stadt Wien"`:                   {pop, pdf},
		`"Stadt Graz"`:                   {trees},
		`"Graz Stadt"`:                   {},
		"Favoriten":                      {pop},
		"value:favoriten":                {pop},
		"title:favoriten":                {},
		"wien -graz":                     {pop, pdf},
		"magistrat -wien":                {},
		"linde OR hietzing":              {pop, trees},
		"Baum":                           {trees},
		"Kataster":                       {trees},
		"Baumkatatser":                   {trees},
		"licence:cc":                     {pop, pdf},
		`publisher="Magistrat Graz"`:     {trees},
		`licence=CC-BY type:csv`:         {pop},
		"type:csv":                       {pop, trees},
		"-type:csv":                      {pdf},
		"portal:offene type:csv":         {pop, trees},
		"portal:nowhere":                 {},
		"rows:>2":                        {pop},
		"rows:2":                         {trees},
		"since:2026-11-22":               {trees},
		"before:2026-11-22":              {pop},
		"host:graz.example":              {trees},
		"dataset:" + somePortal + "d/1":  {pop, pdf},
		"-dataset:" + somePortal + "d/1": {trees},
		"gone:yes":                       {},
		"gone:no linde":                  {trees},
		"size:>1GB":                      {},
		"column:anzahl wien":             {pop, trees},
		"column:anzahl title:bezirk":     {pop},
	} {
		f := found(t, a, catalog.Search{Text: question, Strict: true})
		got := urls(f.Resources)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || f.Total != len(want) {
			t.Errorf("%s: %q, want %q", question, got, want)
		}
	}
	f := found(t, a, catalog.Search{Text: "bevölkerung", Facets: true})
	about := f.About[f.Resources[0].ID]
	if about.Publisher != "Magistrat Wien" || about.Licence != "CC-BY" || about.Rows != 3 || about.Score <= 0 ||
		!slices.Contains(about.Text, catalog.Piece{Text: "Wohnbevölkerung", Found: true}) {
		t.Errorf("about %+v", about)
	}
	if len(f.Licences) != 1 || f.Licences[0].Count != 2 || len(f.Publishers) != 1 || f.Publishers[0].Key != "Magistrat Wien" ||
		len(f.TableRows) != 1 || f.TableRows[0].Key != "1..99" {
		t.Errorf("facets %+v %+v %+v", f.Licences, f.Publishers, f.TableRows)
	}
	if f := found(t, a, catalog.Search{Text: "Baumkatatser"}); len(f.Corrected) != 1 || f.Corrected[0].By != "baumkataster" {
		t.Errorf("corrected %+v", f.Corrected)
	}
	if f := found(t, a, catalog.Search{Text: "wohnbevölkerung hietzing marsmission"}); !f.Partly || f.Total != 1 ||
		!slices.Equal(f.Missing, []string{"marsmission"}) {
		t.Errorf("most of the words: %+v", f)
	}
	if _, err := a.Search(t.Context(), catalog.Search{Text: "since:never"}); !errors.Is(err, catalog.ErrQuestion) {
		t.Errorf("a date that is none: %v", err)
	}
}

func TestHitsAreThoseOfAllPages(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	var seeds []catalog.Seed
	for i := range 600 {
		seeds = append(seeds, catalog.Seed{URL: fmt.Sprintf("http://h.example/%d.csv", i),
			Title: fmt.Sprint("water ", strings.Repeat("level ", i%3))})
	}
	register(t, a, seeds...)
	hits, total, err := a.Hits(t.Context(), catalog.Search{Text: "water level"}, 10_000)
	if err != nil || total != 400 || len(hits) != 400 {
		t.Fatalf("%d of %d, %v", len(hits), total, err)
	}
	var pages []string
	for after := ""; ; {
		f := found(t, a, catalog.Search{Text: "water level", After: after, Limit: 90})
		for _, r := range f.Resources {
			pages = append(pages, r.URL)
		}
		if after = f.Next; after == "" {
			break
		}
	}
	for i, h := range hits {
		if pages[i] != h.URL || h.Score <= 0 || i > 0 && h.Score > hits[i-1].Score {
			t.Fatalf("hit %d is %v, on the pages %s", i, h, pages[i])
		}
	}
	if some, total, err := a.Hits(t.Context(), catalog.Search{Text: "water"}, 7); len(some) != 7 || total != 600 || err != nil {
		t.Errorf("%d of %d, %v", len(some), total, err)
	}
}

func TestWhatIsWithdrawnIsNotFoundByItsContents(t *testing.T) {
	t.Parallel()
	a := describedArchive(t)
	if f := found(t, a, catalog.Search{Text: "hietzing"}); f.Total != 1 {
		t.Fatalf("found %d", f.Total)
	}
	r, err := a.Resource(t.Context(), "http://wien.example/pop.csv")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Withdraw(t.Context(), Withdrawing{Targets: []string{r.ID + "_0"}},
		catalog.Withdrawal{Status: 410, Reason: "asked for", At: day}); err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		t.Helper()
		for _, word := range []string{"hietzing", "favoriten", "column:anzahl type:nothing"} {
			if f := found(t, a, catalog.Search{Text: word, Strict: true}); f.Total != 0 {
				t.Errorf("%s, %s finds %v", when, word, urls(f.Resources))
			}
		}
		err := a.db.View(func(txn *kv.Txn) error {
			return txn.Scan(kv.SpaceSearch, nil, nil, func(k, v []byte) (bool, error) {
				if strings.Contains(string(k), "hietzing") || strings.Contains(string(v), "hietzing") {
					t.Errorf("%s, %q is in the index", when, k)
				}
				return true, nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	check("at once")
	indexTexts(t, a)
	check("indexed again")
	if f := found(t, a, catalog.Search{Text: "Wohnbevölkerung"}); f.Total != 2 {
		t.Errorf("what the portal says of it finds %d", f.Total)
	}
}

func TestWhatPortalsSayNoLongerIsNotFound(t *testing.T) {
	t.Parallel()
	a := describedArchive(t)
	const two = somePortal + "d/2"
	r, err := a.Resource(t.Context(), "http://graz.example/trees.csv")
	if err != nil {
		t.Fatal(err)
	}
	err = a.triples.Update(t.Context(), func(txn *triplestore.Txn) error {
		for _, q := range said(a, two, "Alle Bäume der Stadt Graz. Wien kommt nicht vor.", "Magistrat Graz",
			"https://example.org/own-licence") {
			if err := txn.Delete(q); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.db.Update(t.Context(), func(txn *kv.Txn) error { return search.Mark(txn, r.ID) }); err != nil {
		t.Fatal(err)
	}
	indexTexts(t, a)
	for word, want := range map[string]int{"alle": 0, "kommt": 0, `publisher="Magistrat Graz"`: 0, "linde": 1, "baumkataster": 1} {
		if f := found(t, a, catalog.Search{Text: word, Strict: true}); f.Total != want {
			t.Errorf("%s finds %d, want %d", word, f.Total, want)
		}
	}
}

func TestFilesThatCanNoLongerBeFetchedAreFoundAsGone(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	list(t, a, catalog.Seed{URL: file, Title: "A"}, nil)
	at := day
	for _, step := range []struct {
		event func()
		gone  []string
	}{
		{func() { visit(t, a, file, "a,b\n1,2\n", at) }, []string{}},
		{func() { fail(t, a, 404, catalog.ErrHTTPStatus, at) }, []string{strings.TrimPrefix(file, "http://")}},
		{func() { visit(t, a, file, "a,b\n1,2\n", at) }, []string{}},
	} {
		at = at.Add(24 * time.Hour)
		step.event()
		f := found(t, a, catalog.Search{Text: "gone:yes", Strict: true, Facets: true})
		if got := urls(f.Resources); !slices.Equal(got, step.gone) || f.Gone != len(step.gone) {
			t.Errorf("%q are gone, and %d by the facet; want %q", got, f.Gone, step.gone)
		}
		if f := found(t, a, catalog.Search{Text: "gone:no", Strict: true}); f.Total != 1-len(step.gone) {
			t.Errorf("%d files are there", f.Total)
		}
	}
}
