package ui

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"odarchive/crawler/catalog"
)

type portalPage struct {
	Portal     catalog.Portal
	Files      []listed // changed last
	Facets     []facet
	Outcomes   []outcomes // of fetches, most first
	Fetches    int
	Search     string // address of all its files
	Zip        string
	Quality    *qualityTable // nil where it was not measured
	Statements *statements
}

type outcomes struct {
	Outcome catalog.Outcome
	Count   int
}

// filesOfPortal is how many of a portal's files its page lists.
const filesOfPortal = 10

func (u *UI) portal(ctx context.Context, iri string) (p catalog.Portal, known bool, err error) {
	all, err := u.archive.Portals(ctx)
	if i := slices.IndexFunc(all, func(p catalog.Portal) bool { return p.IRI == iri }); i >= 0 {
		return all[i], true, err
	}
	return p, false, err
}

// portalPage is the page of a source: how much it lists, of what kind, how fetching went, what changed last.
func (u *UI) portalPage(w http.ResponseWriter, r *http.Request, p catalog.Portal) error {
	ctx := r.Context()
	search := catalog.Search{Portal: p.IRI, Sort: "changed", Limit: filesOfPortal, Facets: true}
	found, err := u.archive.Search(ctx, search)
	if err != nil {
		return err
	}
	page := portalPage{Portal: p, Files: list(found.Resources, nil), Search: with(nil, "portal", p.IRI), Zip: searchQuery(search)}
	page.Facets = facets(found, map[string][]string{"portal": {p.IRI}}, search)
	for outcome, n := range p.Outcomes {
		page.Outcomes = append(page.Outcomes, outcomes{outcome, n})
		page.Fetches += n
	}
	slices.SortFunc(page.Outcomes, func(a, b outcomes) int {
		if a.Count != b.Count {
			return b.Count - a.Count
		}
		return strings.Compare(string(a.Outcome), string(b.Outcome))
	})
	if page.Quality, err = u.qualityOf(ctx, p.IRI); err != nil {
		return err
	}
	if page.Statements, err = u.statements(ctx, p.IRI); err != nil {
		return err
	}
	title := p.Title
	if title == "" {
		title = p.IRI
	}
	return u.render(w, r, http.StatusOK, "portal", view{Title: title, Section: "/portals", Page: page})
}
