package faces

import (
	"context"
	"net/http"

	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/describe"
	"odarchive/sparqlapi/describe/about"
	"odarchive/sparqlapi/files"
	"odarchive/triplestore/term"
	"odarchive/ui"
)

// Citations returns what collects citations.
func (a *Faces) Citations() *describe.Collector {
	return &describe.Collector{Archive: a.store.Archive, Mint: a.store.Mint, Proved: a.proved,
		Select: func(ctx context.Context, query string, max int) ([][]term.Key, error) {
			rows, err := a.selectRows(ctx, query, max)
			return rows.Rows, err
		}}
}

// cite returns the citation of a version, or of a file, for a page.
func (a *Faces) cite(ctx context.Context, version, url string) (c ui.Citation, err error) {
	var w describe.Work
	if version != "" {
		w, err = a.Citations().Version(ctx, version)
	} else {
		w, err = a.Citations().Dataset(ctx, url)
	}
	if err != nil {
		return c, err
	}
	c = ui.Citation{Text: w.Text(), RobustLink: w.RobustLink(), Formats: describe.CitationNames()}
	for _, l := range w.Links() {
		c.Links = append(c.Links, l.Header())
	}
	return c, nil
}

// about returns what portals say of datasets, by IRI.
func (a *Faces) about(ctx context.Context, iris ...string) (all map[string]about.Dataset, err error) {
	err = a.view(ctx, func(ds term.Dataset) error {
		all, err = about.Read(ctx, ds, iris...)
		return err
	})
	return all, err
}

// signposted returns the links of a version's bytes: those of Memento, and those that lead to its citation.
func (a *Faces) signposted(m *files.Memento) func(context.Context, http.Header, catalog.Version) error {
	return func(ctx context.Context, h http.Header, v catalog.Version) error {
		for _, l := range a.Citations().Signposts(v) {
			h.Add("Link", l.Header())
		}
		return m.Links(ctx, h, v)
	}
}
