package ui

import (
	"context"
	"fmt"
	"net/http"

	"odarchive/crawler/catalog"
)

// Citation is how a page says that it is cited.
type Citation struct {
	Text       string
	RobustLink string   // a link in HTML that says where the original is archived; "" for none
	Formats    []string // names that ?format= takes
	Links      []string // values of the field Link
}

// Cite returns the citation of a version, or, if that is "", of a file or dataset.
type Cite func(ctx context.Context, version, url string) (Citation, error)

// citation returns the citation of a version, or of the file if v is the zero value, and adds its links to the answer.
func (u *UI) citation(ctx context.Context, h http.Header, res catalog.Resource, v catalog.Version) (Citation, error) {
	if u.cite == nil {
		if v.ID == "" {
			return Citation{}, nil
		}
		return Citation{Text: plainCitation(res, v, u.mint.Version(v.ID))}, nil
	}
	c, err := u.cite(ctx, v.ID, res.URL)
	for _, l := range c.Links {
		h.Add("Link", l)
	}
	return c, err
}

// plainCitation describes a version so that others can find the same bytes.
func plainCitation(res catalog.Resource, v catalog.Version, iri string) string {
	return fmt.Sprintf("%s. %s, version %d of %s. Archived copy: %s", titleOf(res), res.URL, v.N,
		v.At.UTC().Format("2 January 2006, 15:04:05 UTC"), iri)
}
