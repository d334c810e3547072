// Harvests the datasets of a repository, or of any search, from the public API of DataCite.
//
// DataCite has landing pages and only sometimes files (contentUrl): it is a source of descriptions more than of
// addresses. If a dataset has no files, its landing page is listed as an access address, which the crawl visits for the
// links on it.

package portals

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loose"
	"odarchive/crawler/harvest/portalapi"
)

// NewDataCite returns the harvester of a search, whose address is like https://api.datacite.org/dois?client-id=… .
func NewDataCite(s portalapi.Source) portalapi.Harvester {
	return portalapi.New(portalapi.Software{
		Kind: "datacite", Name: "DataCite", Paths: []string{"/dois"}, Rows: 200,
		About: dataciteAbout, Page: datacitePage, Read: dataciteRead, Count: dataciteCount,
		ID: func(v loose.Value) string { return cmp.Or(v.Get("attributes", "doi").Text(), v.Get("id").Text()) },
	}, s)
}

func dataciteAbout(_ context.Context, h *portalapi.Harvest) {
	h.Portal.IRI, h.Portal.Homepage = cmp.Or(h.Source.Portal, strings.TrimSpace(h.Source.URL)), ""
}

// dataciteSelected are the parameters of a request for the DOIs that the source's address selects.
func dataciteSelected(h *portalapi.Harvest, rows int) url.Values {
	query := url.Values{}
	if u, err := url.Parse(strings.TrimSpace(h.Source.URL)); err == nil {
		query = u.Query()
	}
	if query.Get("resource-type-id") == "" {
		query.Set("resource-type-id", "dataset")
	}
	query.Set("page[size]", fmt.Sprint(rows))
	return query
}

func dataciteCount(ctx context.Context, h *portalapi.Harvest) (int, bool) {
	v, err := h.Get(ctx, "/dois", dataciteSelected(h, 1))
	return portalapi.Total(v, err, []string{"meta", "total"})
}

// datacitePage is found by a cursor, which is part of the address of the next page.
func datacitePage(ctx context.Context, h *portalapi.Harvest, at string, _ int) (portalapi.Page, error) {
	query := dataciteSelected(h, h.Source.Rows)
	query.Set("page[cursor]", cmp.Or(at, "1"))
	portalapi.UpdatedSince(query, "query", h.Mark.Get("since"))
	p, v, err := h.List(ctx, "/dois", query, "data")
	p.Total = int(v.Get("meta", "total").Int())
	if next, parseErr := url.Parse(v.Get("links", "next").Text()); parseErr == nil && len(p.Items) > 0 {
		p.Next = next.Query().Get("page[cursor]")
	}
	return p, err
}

func dataciteRead(_ context.Context, _ *portalapi.Harvest, doi string, v loose.Value) (portalapi.Entry, error) {
	a := v.Get("attributes")
	state := a.Get("state").Text()
	return portalapi.Entry{Dataset: dataciteDataset(doi, a), Changed: a.Get("updated").Text(), Gone: state != "" && state != "findable"},
		nil
}

// dataciteDataset reads attributes that follow version 4 of the DataCite metadata schema.
func dataciteDataset(doi string, a loose.Value) harvest.Dataset {
	d := harvest.Dataset{
		IRI:         "https://doi.org/" + doi,
		Title:       texts(a.Get("titles"), "title"),
		Description: texts(a.Get("descriptions"), "description"),
		Keywords:    texts(a.Get("subjects"), "subject"),
		Identifiers: []string{"https://doi.org/" + doi},
		LandingPage: a.Get("url").Text(),
		Publisher:   portalapi.Agent(a.Get("publisher")),
		Creators:    dataciteAgents(a.Get("creators")),
		Issued:      cmp.Or(a.Get("published").Text(), a.Get("publicationYear").Text(), a.Get("registered").Text()),
		Modified:    a.Get("updated").Text(),
		Language:    a.Get("language").Texts(),
		Version:     a.Get("version").Text(),
	}
	for _, r := range a.Get("rightsList").List() {
		d.License = cmp.Or(d.License, r.Get("rightsUri").Text(), r.Get("rights").Text())
	}
	for _, date := range a.Get("dates").List() {
		switch t := date.Get("date"); date.Get("dateType").Text() {
		case "Issued":
			d.Issued = cmp.Or(t.Text(), d.Issued)
		case "Collected", "Coverage":
			d.Temporal = append(d.Temporal, portalapi.Periods(t)...)
		}
	}
	for _, l := range a.Get("geoLocations").List() {
		if point := portalapi.Point(l.Get("geoLocationPoint", "pointLongitude"), l.Get("geoLocationPoint", "pointLatitude")); point != "" {
			d.Spatial = append(d.Spatial, harvest.Place{Name: l.Get("geoLocationPlace").Text(), Geometry: point})
		} else {
			d.Spatial = append(d.Spatial, portalapi.Places(l)...)
		}
	}
	for _, r := range a.Get("relatedIdentifiers").List() {
		if r.Get("relationType").Text() != "IsPartOf" {
			continue
		}
		id := r.Get("relatedIdentifier").Text()
		if r.Get("relatedIdentifierType").Text() == "DOI" && !portalapi.IsLink(id) {
			id = "https://doi.org/" + id
		}
		if portalapi.IsLink(id) {
			d.IsPartOf = append(d.IsPartOf, id)
		}
	}
	formats, sizes := a.Get("formats").Texts(), a.Get("sizes").Texts()
	for i, at := range a.Get("contentUrl").Texts() {
		dist := harvest.Distribution{URL: at}
		if i < len(formats) {
			dist.MediaType = formats[i]
		}
		if i < len(sizes) {
			dist.Size = bytesOf(sizes[i])
		}
		d.Distributions = append(d.Distributions, dist)
	}
	if len(d.Distributions) == 0 && portalapi.IsLink(d.LandingPage) {
		d.Distributions = []harvest.Distribution{{URL: d.LandingPage, Title: "Landing page", MediaType: "text/html"}}
	}
	return d
}

// texts returns the member called name of each element, in the element's language.
func texts(list loose.Value, name string) []harvest.Text {
	var all []harvest.Text
	for _, e := range list.List() {
		all = append(all, portalapi.TextsIn(e.Get("lang").Text(), e.Get(name))...)
	}
	return all
}

func dataciteAgents(v loose.Value) []harvest.Agent {
	var all []harvest.Agent
	for _, e := range v.List() {
		a := harvest.Agent{Name: e.Get("name").Text(), Type: e.Get("nameType").Text()}
		for _, i := range e.Get("nameIdentifiers").List() {
			a.IRI = cmp.Or(a.IRI, portalapi.OnlyLink(i.Get("nameIdentifier").Text()))
		}
		if a.Name != "" {
			all = append(all, a)
		}
	}
	return all
}

// bytesOf reads a size like "1234 bytes". It returns 0 for other units.
func bytesOf(size string) int64 {
	number, unit, _ := strings.Cut(size, " ")
	if unit = strings.ToLower(unit); unit == "" || strings.HasPrefix(unit, "b") {
		return loose.String(number).Int()
	}
	return 0
}
