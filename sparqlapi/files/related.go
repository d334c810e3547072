// Serves tables that can be joined: GET /joins answers with the columns of other tables that share
// values with those of a version.
//
// /joins?url= is about the latest version of a URL, /joins?id= about the version with an id. The same facts are in
// triples (arc:joinableWith, arc:containedIn, arc:Join).

package files

import (
	"context"
	"fmt"
	"math"
	"net/http"

	"odarchive/crawler/archive/describe"
	"odarchive/crawler/archive/joins"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
)

// RelatedArchive is what the handler reads. An unknown thing is an error that the program's problem table answers with
// 404.
type RelatedArchive interface {
	Version(ctx context.Context, id string) (catalog.Version, error)
	Latest(ctx context.Context, urlOrID string) (catalog.Version, error)
	Joins(ctx context.Context, versionID string) ([]joins.Match, error)
}

// RelatedAPI has the handler.
type RelatedAPI struct {
	Archive RelatedArchive
	Mint    ns.Mint
}

// matches is the answer. Its JSON names are part of the API.
type matches struct {
	Version string `json:"version"` // IRI
	URL     string `json:"url"`
	Joins   []join `json:"joins"` // best first
}

type join struct {
	Column      column  `json:"column"`
	With        column  `json:"with"`
	Containment float64 `json:"containment"` // share of the column's distinct values that the other has
	Reverse     float64 `json:"reverse"`     // share of the other's distinct values that the column has
	Jaccard     float64 `json:"jaccard"`
}

type column struct {
	IRI     string `json:"iri"`
	Name    string `json:"name"`
	Version string `json:"version"`
	URL     string `json:"url"`
	Member  string `json:"member,omitempty"`
}

// Joins answers GET /joins.
func (a *RelatedAPI) Joins(w http.ResponseWriter, r *http.Request) error {
	v, err := a.version(r)
	if err != nil {
		return err
	}
	limit, err := target.Int(r.URL.Query(), "limit", 64, 1, math.MaxInt32)
	if err != nil {
		return err
	}
	found, err := a.Archive.Joins(r.Context(), v.ID)
	if err != nil {
		return err
	}
	out := matches{Version: a.Mint.Version(v.ID), URL: v.URL, Joins: []join{}}
	for _, m := range found[:min(len(found), limit)] {
		other, err := a.Archive.Version(r.Context(), m.Other.Version)
		if err != nil {
			return fmt.Errorf("joins of %s: %w", v.ID, err)
		}
		out.Joins = append(out.Joins,
			join{a.column(m.Column, m.Name, v), a.column(m.Other, m.OtherName, other), m.Containment, m.Reverse, m.Jaccard})
	}
	return answer.JSON(w, r, out)
}

func (a *RelatedAPI) version(r *http.Request) (catalog.Version, error) {
	q := r.URL.Query()
	switch {
	case q.Get("id") != "":
		return a.Archive.Version(r.Context(), q.Get("id"))
	case q.Get("url") != "":
		return a.Archive.Latest(r.Context(), target.Parameter(r, "url"))
	}
	return catalog.Version{}, problem.New(http.StatusBadRequest, "No file given",
		"expected /joins?url= followed by the URL of a file, or /joins?id= followed by a version's id")
}

func (a *RelatedAPI) column(p joins.Place, name string, v catalog.Version) column {
	return column{IRI: describe.Column(a.Mint, p), Name: name, Version: a.Mint.Version(v.ID), URL: v.URL, Member: p.Member}
}
