// Package magda harvests Magda, the software of data.gov.au, through its registry: records of datasets with the aspects that
// say what they are, where their files are and who publishes them.
package magda

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loosejson"
	"odarchive/crawler/harvest/portalapi"
)

// Source is one portal.
type Source struct {
	URL    string
	Portal string // IRI of the portal, "" = after URL
	HTTP   harvest.Doer
	Rows   int // records a page, 0 = 100
}

var _ harvest.Harvester = Source{}

// Harvest implements harvest.Harvester. Marks: at (the registry's page token) and n as in portalapi.Listing.
func (s Source) Harvest(ctx context.Context, from string, out harvest.Sink) error {
	root, err := portalapi.Root(s.URL, "/api", "/dataset", "/search", "/home")
	if err != nil {
		return fmt.Errorf("magda: %w", err)
	}
	c := &client{http: portalapi.Client{HTTP: s.HTTP}, root: root, rows: cmp.Or(max(s.Rows, 0), 100), out: out}
	if err := out.Portal(harvest.Portal{IRI: cmp.Or(s.Portal, portalapi.IRI(root)), Homepage: portalapi.IRI(root), Software: "Magda"}, true); err != nil {
		return err
	}
	err = portalapi.Listing{
		Out: out, Fetch: c.page, Item: c.item,
		ID: func(v loosejson.Value) string { return cmp.Or(v.Get("id").Text(), v.JSON()) },
	}.Walk(ctx, portalapi.ParseMark(from))
	if err != nil {
		return fmt.Errorf("magda: %w", err)
	}
	return nil
}

type client struct {
	http portalapi.Client
	root string
	rows int
	out  harvest.Sink
}

func (c *client) page(ctx context.Context, at string, _ int) (portalapi.Page, error) {
	query := url.Values{"aspect": {"dcat-dataset-strings"}, "optionalAspect": {"dataset-distributions", "dataset-publisher", "source"},
		"dereference": {"true"}, "limit": {fmt.Sprint(c.rows)}}
	if at != "" {
		query.Set("pageToken", at)
	}
	v, err := c.http.Get(ctx, c.root+"/api/v0/registry/records", query)
	if err == nil && !v.Get("records").IsArray() {
		err = &portalapi.PageError{URL: c.root + "/api/v0/registry/records", Page: "an answer without records"}
	}
	p := portalapi.Page{Items: v.Get("records").List()}
	if v.Get("hasMore").Bool() {
		p.Next = v.Get("nextPageToken").Text()
	}
	return p, err
}

func (c *client) item(_ context.Context, v loosejson.Value) error {
	id := v.Get("id").Text()
	if id == "" {
		c.out.Skip("a record has no id")
		return nil
	}
	return c.out.Dataset(c.dataset(id, v))
}

func (c *client) dataset(id string, v loosejson.Value) harvest.Dataset {
	m := v.Get("aspects", "dcat-dataset-strings")
	page := c.root + "/dataset/" + url.PathEscape(id)
	d := harvest.Dataset{
		IRI:         page,
		Title:       portalapi.Texts(m.Get("title")),
		Description: portalapi.Texts(m.Get("description")),
		Keywords:    portalapi.Texts(m.Get("keywords")),
		Themes:      portalapi.Words(m.Get("themes")),
		Identifiers: []string{id},
		LandingPage: cmp.Or(m.Get("landingPage").Text(), page),
		AccessLevel: m.Get("accessLevel").Text(),
		Publisher:   portalapi.Agent(m.Get("publisher")),
		Contact:     portalapi.Agent(m.Get("contactPoint")),
		Frequency:   m.Get("accrualPeriodicity").Text(),
		Issued:      m.Get("issued").Text(),
		Modified:    m.Get("modified").Text(),
		Spatial:     portalapi.Places(m.Get("spatial")),
		Temporal:    portalapi.Periods(m.Get("temporal")),
		Language:    m.Get("languages").Texts(),
		Extras:      map[string]string{},
	}
	if len(d.Title) == 0 {
		d.Title = portalapi.Texts(v.Get("name"))
	}
	if org := v.Get("aspects", "dataset-publisher", "publisher"); org.IsObject() && org.Get("id").Text() != "" {
		d.Publisher.IRI = c.root + "/organisations/" + url.PathEscape(org.Get("id").Text())
		d.Publisher.Name = cmp.Or(d.Publisher.Name, org.Get("name").Text())
	}
	if source := v.Get("aspects", "source"); source.IsObject() { // where the portal has it from
		d.Extras["source"] = strings.TrimSpace(source.Get("name").Text() + " " + source.Get("url").Text())
	}
	for _, r := range v.Get("aspects", "dataset-distributions", "distributions").List() {
		if dist := c.distribution(r); dist.URL != "" {
			d.Distributions = append(d.Distributions, dist)
			d.License = cmp.Or(d.License, dist.License)
		}
	}
	return d
}

func (c *client) distribution(r loosejson.Value) harvest.Distribution {
	m := r.Get("aspects", "dcat-distribution-strings")
	download, access := m.Get("downloadURL").Text(), m.Get("accessURL").Text()
	d := harvest.Distribution{
		URL:         portalapi.Resolve(c.root+"/", cmp.Or(download, access)),
		Title:       cmp.Or(m.Get("title").Text(), r.Get("name").Text()),
		Description: portalapi.Plain(m.Get("description").Text()),
		Format:      cmp.Or(m.Get("format").Text(), r.Get("aspects", "dataset-format", "format").Text()),
		MediaType:   m.Get("mediaType").Text(),
		License:     m.Get("license").Text(),
		Size:        m.Get("byteSize").Int(),
		Issued:      m.Get("issued").Text(),
		Modified:    m.Get("modified").Text(),
	}
	if id := r.Get("id").Text(); id != "" {
		d.IRI = c.root + "/distribution/" + url.PathEscape(id)
	}
	if access != d.URL {
		d.AccessURL = access
	}
	d.Service = portalapi.IsService(d.Format)
	return d
}
