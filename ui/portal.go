package ui

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/describe/about"
)

type portalPage struct {
	Portal      catalog.Portal
	Files       []listed // those that changed last
	Facets      []facet
	Outcomes    []outcomes // of fetches, most frequent first
	Fetches     int
	Search      string // address of the search for all its files
	Zip         string
	Quality     *qualityTable // nil if it was not measured
	Says        about.Dataset
	Description string
	Failing     int  // files whose last visit failed
	Broken      bool // many of its files are failing
}

type outcomes struct {
	Outcome catalog.Outcome
	Count   int
}

// isBroken reports whether so many of a portal's files fail that the portal is named as broken: at least a tenth.
func isBroken(failing, files int) bool { return failing > 0 && 10*failing >= files }

// filesOfPortal is how many files the page of a portal lists.
const filesOfPortal = 10

func (u *UI) portal(ctx context.Context, iri string) (p catalog.Portal, known bool, err error) {
	all, err := u.archive.Portals(ctx)
	if i := slices.IndexFunc(all, func(p catalog.Portal) bool { return p.IRI == iri }); i >= 0 {
		return all[i], true, err
	}
	return p, false, err
}

// portalPage answers with the page of a portal: its size, its types of files, outcomes of fetches, and last changes.
func (u *UI) portalPage(w http.ResponseWriter, r *http.Request, p catalog.Portal) error {
	ctx := r.Context()
	search := catalog.Search{Portal: p.IRI, Sort: "changed", Limit: filesOfPortal, Facets: true}
	found, err := u.archive.Search(ctx, search)
	if err != nil {
		return err
	}
	page := portalPage{Portal: p, Files: list(found.Resources, nil), Search: with(nil, "portal", p.IRI), Zip: searchQuery(search)}
	page.Facets = facets(found, map[string][]string{"portal": {p.IRI}}, search, u.now())
	for outcome, n := range p.Outcomes {
		page.Outcomes = append(page.Outcomes, outcomes{outcome, n})
		page.Fetches += n
	}
	slices.SortFunc(page.Outcomes, func(a, b outcomes) int {
		return cmp.Or(b.Count-a.Count, cmp.Compare(a.Outcome, b.Outcome))
	})
	if page.Quality, err = u.qualityOf(ctx, p.IRI); err != nil {
		return err
	}
	if page.Says, err = u.said(ctx, p.IRI); err != nil {
		return err
	}
	page.Description = plainText(about.Best(page.Says.Description, "en").Value)
	failing, err := u.archive.Search(ctx, catalog.Search{Portal: p.IRI, Outcome: catalog.NoVersion, Limit: 1})
	if err != nil {
		return err
	}
	page.Failing = failing.Total
	page.Broken = isBroken(page.Failing, p.Known())
	return u.render(w, r, http.StatusOK, "portal",
		view{Title: cmp.Or(p.Title, p.IRI), Section: "/portals", Page: page, Feed: feedOf("portal", p.IRI)})
}
