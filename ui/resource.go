package ui

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"html/template"

	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/problem"
	"odarchive/ui/plot"
)

type resourcePage struct {
	Resource   catalog.Resource
	Data       int           // versions that are no error pages
	Versions   []versionLine // newest first
	Timeline   template.HTML
	Sizes      template.HTML
	Rows       template.HTML
	Visits     []catalog.Activity
	VisitLine  template.HTML
	Joins      []joinable // of the latest version
	Statements *statements
	Cite       string
	All        string // query for all versions of this resource
	Encoded    string // the URL as one path segment
}

type versionLine struct {
	catalog.Version
	Rows   string // of a table, "" where not known
	Delta  int64  // bytes more than the version before
	Before string // id of the version before, "" for the first
}

// profilesRead is for how many versions, the newest ones, a page tells the number of rows.
const profilesRead = 100

// Dataset answers GET /dataset?url=: the page of a crawled URL, of a portal's dataset, or of a portal, whichever the
// IRI names.
func (u *UI) Dataset(w http.ResponseWriter, r *http.Request) error {
	address := r.URL.Query().Get("url")
	if address == "" {
		return problem.New(http.StatusBadRequest, "No address given", "expected /dataset?url= followed by the URL of a file or a dataset")
	}
	res, err := u.archive.Resource(r.Context(), address)
	if err == nil {
		return u.resource(w, r, res)
	}
	entry, datasetErr := u.archive.Dataset(r.Context(), address)
	if datasetErr != nil {
		return err
	}
	return u.portalDataset(w, r, entry)
}

func (u *UI) resource(w http.ResponseWriter, r *http.Request, res catalog.Resource) error {
	ctx := r.Context()
	versions, err := u.archive.Versions(ctx, res.URL)
	if err != nil {
		return err
	}
	visits, err := u.archive.Activities(ctx, catalog.ActivityQuery{URL: res.URL, Limit: 50})
	if err != nil {
		return err
	}
	page := resourcePage{Resource: res, Data: res.Versions - res.ErrorPages, Visits: visits, All: allVersions(res.URL), Encoded: url.PathEscape(res.URL)}
	var moments []plot.Moment
	var sizes, rowLine []float64
	for i, v := range versions {
		line := versionLine{Version: v}
		if len(versions)-i <= profilesRead {
			profile, err := u.archive.Profile(ctx, v.ID)
			if err != nil {
				return err
			}
			if profile != nil {
				line.Rows = humanCount(profile.Rows)
				rowLine = append(rowLine, float64(profile.Rows))
			}
		}
		if i > 0 {
			line.Delta, line.Before = v.Size-versions[i-1].Size, versions[i-1].ID
		}
		page.Versions = append(page.Versions, line)
		sizes = append(sizes, float64(v.Size))
		moments = append(moments, plot.Moment{At: v.At, Size: float64(v.Size), Href: u.versionPath(v.ID),
			Title: fmt.Sprintf("Version %d, %s, %s", v.N, v.At.UTC().Format("2 Jan 2006 15:04:05"), humanBytes(v.Size))})
	}
	slices.Reverse(page.Versions)
	page.Timeline = plot.Timeline(moments, fmt.Sprintf("When the %s of this file were archived", plural(len(versions), "version")))
	page.Sizes = plot.Spark(sizes, "Size of the versions, oldest to newest")
	page.Rows = plot.Spark(rowLine, "Rows of the versions, oldest to newest")
	page.VisitLine = visitLine(visits)
	if page.Statements, err = u.statements(ctx, res.URL); err != nil {
		return err
	}
	if len(versions) > 0 {
		last := versions[len(versions)-1]
		page.Cite = citation(res, last, u.mint.Version(last.ID))
		if page.Joins, err = u.joins(ctx, last.ID); err != nil {
			return err
		}
	}
	title := res.Title
	if title == "" {
		title = fileName(res.URL)
	}
	h := w.Header()
	h.Add("Link", `<`+u.mint.TimeMap(res.URL)+`>; rel="timemap"; type="application/link-format"`)
	h.Add("Link", `<`+u.mint.TimeGate(res.URL)+`>; rel="timegate"`)
	h.Add("Link", `</describe?iri=`+url.QueryEscape(res.URL)+`&format=ttl>; rel="describedby"; type="text/turtle"`)
	return u.render(w, r, http.StatusOK, "resource", view{Title: title, Page: page})
}

// visitLine draws the last visits: what was new, what was not, what failed.
func visitLine(visits []catalog.Activity) template.HTML {
	var moments []plot.Moment
	for i := len(visits) - 1; i >= 0; i-- {
		v := visits[i]
		m := plot.Moment{At: v.Start, Title: v.Start.UTC().Format("2 Jan 2006 15:04:05") + ": " + outcomeWord(v.Outcome)}
		switch v.Outcome {
		case catalog.Archived:
		case catalog.Unchanged:
			m.Class = "muted"
		default:
			m.Class = "bad"
			m.Title += " (" + string(v.ErrorClass) + ")"
		}
		moments = append(moments, m)
	}
	return plot.Timeline(moments, fmt.Sprintf("The last %s", plural(len(visits), "visit")))
}

// citation names one version so that others can find exactly these bytes again.
func citation(res catalog.Resource, v catalog.Version, iri string) string {
	title := res.Title
	if title == "" {
		title = fileName(res.URL)
	}
	return fmt.Sprintf("%s. %s, version %d of %s. Archived copy: %s", title, res.URL, v.N, v.At.UTC().Format("2 January 2006, 15:04:05 UTC"), iri)
}

func allVersions(address string) string {
	return withPrefixes("SELECT ?version ?issued ?size WHERE {\n  <" + iriText(address) + "> dct:hasVersion ?version .\n  ?version dct:issued ?issued ; dcat:byteSize ?size .\n}\nORDER BY ?issued")
}

func (u *UI) portalDataset(w http.ResponseWriter, r *http.Request, entry catalog.DatasetEntry) error {
	page := struct {
		Entry      catalog.DatasetEntry
		Resources  []listed
		Statements *statements
		All        string
	}{Entry: entry, All: withPrefixes("SELECT ?version WHERE {\n  <" + iriText(entry.IRI) + "> dcat:distribution ?resource .\n  ?resource dct:hasVersion ?version .\n}")}
	for _, address := range entry.URLs[:min(len(entry.URLs), 200)] {
		res, err := u.archive.Resource(r.Context(), address)
		if err != nil {
			if errors.Is(err, r.Context().Err()) {
				return err
			}
			res = catalog.Resource{URL: address, Host: hostOf(address)} // listed, not yet taken up by the crawler
		}
		page.Resources = append(page.Resources, listed{Resource: res})
	}
	var err error
	if page.Statements, err = u.statements(r.Context(), entry.IRI); err != nil {
		return err
	}
	title := entry.Title
	if title == "" {
		title = entry.IRI
	}
	return u.render(w, r, http.StatusOK, "portaldataset", view{Title: title, Page: page})
}
