// Package datacite harvests the datasets of a repository, or of a search, from the public interface of DataCite.
//
// DataCite knows landing pages and only sometimes files (contentUrl): what it gives are descriptions more than addresses.
// The landing page is listed as an access address, which the crawl visits for what it links to.
package datacite

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loosejson"
	"odarchive/crawler/harvest/portalapi"
)

// Source is a search of DataCite: https://api.datacite.org/dois?client-id=… .
type Source struct {
	URL    string
	Portal string // IRI of the portal, "" = URL
	HTTP   harvest.Doer
	Rows   int              // entries a page, 0 = 200
	Since  string           // only what changed from this time on; "" = everything, then what changed since the last harvest
	Now    func() time.Time // time.Now
}

var _ harvest.Selective = Source{}

// Select implements harvest.Selective.
func (s Source) Select(part harvest.Selection) (_ harvest.Harvester, err error) {
	s.Since, err = portalapi.Since(part)
	return s, err
}

// Harvest implements harvest.Harvester. Marks: at (the cursor) and n as in portalapi.Listing, and those of portalapi.Begin.
func (s Source) Harvest(ctx context.Context, from string, out harvest.Sink) error {
	root, err := portalapi.Root(s.URL, "/dois")
	if err != nil {
		return fmt.Errorf("datacite: %w", err)
	}
	u, err := url.Parse(strings.TrimSpace(s.URL))
	if err != nil {
		return fmt.Errorf("datacite: %w", err)
	}
	c := &client{http: portalapi.Client{HTTP: s.HTTP}, root: root, query: u.Query(), rows: cmp.Or(max(s.Rows, 0), 200), out: out, mark: portalapi.Begin(from, s.Since, portalapi.Now(s.Now))}
	if err := out.Portal(harvest.Portal{IRI: cmp.Or(s.Portal, strings.TrimSpace(s.URL)), Software: "DataCite"}, c.mark.Whole()); err != nil {
		return err
	}
	err = portalapi.Listing{
		Out: out, Fetch: c.page, Item: c.item,
		ID: func(v loosejson.Value) string { return cmp.Or(v.Get("id").Text(), v.JSON()) },
	}.WalkTurn(ctx, c.mark)
	if err != nil {
		return fmt.Errorf("datacite: %w", err)
	}
	return nil
}

type client struct {
	http  portalapi.Client
	root  string
	query url.Values // that the address has
	rows  int
	out   harvest.Sink
	mark  portalapi.Mark
}

// page behind a cursor, which is taken from the address of the next page.
func (c *client) page(ctx context.Context, at string, _ int) (portalapi.Page, error) {
	query := url.Values{}
	for name, values := range c.query {
		query[name] = values
	}
	query.Set("page[size]", fmt.Sprint(c.rows))
	query.Set("page[cursor]", cmp.Or(at, "1"))
	if query.Get("resource-type-id") == "" {
		query.Set("resource-type-id", "dataset")
	}
	if since := c.mark.Get("since"); since != "" {
		condition := "updated:[" + since + " TO *]"
		if q := query.Get("query"); q != "" {
			condition = "(" + q + ") AND " + condition
		}
		query.Set("query", condition)
	}
	v, err := c.http.Get(ctx, c.root+"/dois", query)
	if err == nil && !v.Get("data").IsArray() {
		err = &portalapi.PageError{URL: c.root + "/dois", Page: "an answer without data"}
	}
	p := portalapi.Page{Items: v.Get("data").List(), Total: int(v.Get("meta", "total").Int())}
	if next, parseErr := url.Parse(v.Get("links", "next").Text()); parseErr == nil && len(p.Items) > 0 {
		p.Next = next.Query().Get("page[cursor]")
	}
	return p, err
}

func (c *client) item(_ context.Context, v loosejson.Value) error {
	a := v.Get("attributes")
	doi := cmp.Or(a.Get("doi").Text(), v.Get("id").Text())
	if doi == "" {
		c.out.Skip("an entry has no DOI")
		return nil
	}
	c.mark.Saw(a.Get("updated").Text())
	d := dataset(doi, a)
	if state := a.Get("state").Text(); state != "" && state != "findable" {
		return c.out.Gone(d.IRI)
	}
	return c.out.Dataset(d)
}

// dataset in the words of the DataCite metadata schema 4.
func dataset(doi string, a loosejson.Value) harvest.Dataset {
	d := harvest.Dataset{
		IRI:         "https://doi.org/" + doi,
		Title:       inLanguage(a.Get("titles"), "title"),
		Description: inLanguage(a.Get("descriptions"), "description"),
		Keywords:    inLanguage(a.Get("subjects"), "subject"),
		Identifiers: []string{"https://doi.org/" + doi},
		LandingPage: a.Get("url").Text(),
		Publisher:   portalapi.Agent(a.Get("publisher")),
		Creators:    agents(a.Get("creators")),
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
		if point := l.Get("geoLocationPoint"); point.IsObject() {
			x, okX := point.Get("pointLongitude").Float()
			y, okY := point.Get("pointLatitude").Float()
			if okX && okY {
				d.Spatial = append(d.Spatial, harvest.Place{Name: l.Get("geoLocationPlace").Text(), Geometry: fmt.Sprintf("POINT (%g %g)", x, y)})
				continue
			}
		}
		d.Spatial = append(d.Spatial, portalapi.Places(l)...)
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

func inLanguage(list loosejson.Value, name string) []harvest.Text {
	var texts []harvest.Text
	for _, e := range list.List() {
		for _, t := range portalapi.Texts(e.Get(name)) {
			t.Lang = cmp.Or(t.Lang, e.Get("lang").Text())
			texts = append(texts, t)
		}
	}
	return texts
}

func agents(v loosejson.Value) []harvest.Agent {
	var all []harvest.Agent
	for _, e := range v.List() {
		a := harvest.Agent{Name: e.Get("name").Text(), Type: e.Get("nameType").Text()}
		for _, i := range e.Get("nameIdentifiers").List() {
			if id := i.Get("nameIdentifier").Text(); portalapi.IsLink(id) && a.IRI == "" {
				a.IRI = id
			}
		}
		if a.Name != "" {
			all = append(all, a)
		}
	}
	return all
}

// bytesOf "1234 bytes"; other units are words.
func bytesOf(size string) int64 {
	number, unit, _ := strings.Cut(size, " ")
	if unit = strings.ToLower(unit); unit == "" || strings.HasPrefix(unit, "b") {
		return loosejson.String(number).Int()
	}
	return 0
}
