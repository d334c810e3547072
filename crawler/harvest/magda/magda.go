// Package magda harvests Magda, the software of data.gov.au, through its registry: records of datasets with the aspects that
// say what they are, where their files are and who publishes them.
//
// The registry gives records in the order of their first registration, so what is new stands behind the page that was the last
// one before. A harvest of what changed reads from there on, and then the records whose dataset says that it was modified
// since. A whole harvest once a week notices what was deleted, and what changed without saying so.
package magda

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

// Source is one portal.
type Source struct {
	URL    string
	Portal string // IRI of the portal, "" = after URL
	HTTP   harvest.Doer
	Rows   int              // records a page, 0 = 100
	Since  string           // only what changed from this time on; "" = everything, then what changed since the last harvest
	Now    func() time.Time // time.Now
}

var _ harvest.Selective = Source{}

// Select implements harvest.Selective.
func (s Source) Select(part harvest.Selection) (_ harvest.Harvester, err error) {
	s.Since, err = portalapi.Since(part)
	return s, err
}

// Harvest implements harvest.Harvester. Marks: at (the registry's page token) and n as in portalapi.Listing, those of
// portalapi.Begin, and tail (the token of the last page of all records).
func (s Source) Harvest(ctx context.Context, from string, out harvest.Sink) error {
	root, err := portalapi.Root(s.URL, "/api", "/dataset", "/search", "/home")
	if err != nil {
		return fmt.Errorf("magda: %w", err)
	}
	c := &client{http: portalapi.Client{HTTP: s.HTTP}, root: root, rows: cmp.Or(max(s.Rows, 0), 100), out: out}
	c.mark = portalapi.Begin(from, s.Since, portalapi.Now(s.Now))
	if before := portalapi.ParseMark(from); !c.mark.Whole() && before.Get("tail") != "" {
		c.mark.Set("tail", before.Get("tail"))
	}
	if err := out.Portal(harvest.Portal{IRI: cmp.Or(s.Portal, portalapi.IRI(root)), Homepage: portalapi.IRI(root), Software: "Magda"}, c.mark.Whole()); err != nil {
		return err
	}
	err = portalapi.Listing{
		Out: out, Fetch: c.page, Item: c.item, Keep: append(portalapi.Turn(), "tail"),
		ID: func(v loosejson.Value) string { return cmp.Or(v.Get("id").Text(), v.JSON()) },
	}.Walk(ctx, c.mark)
	if err != nil {
		return fmt.Errorf("magda: %w", err)
	}
	if next := portalapi.ParseMark(c.mark.Next()); next.Get("next") != "" {
		next.Set("tail", c.mark.Get("tail"))
		out.Next(next.String())
	}
	return nil
}

type client struct {
	http portalapi.Client
	root string
	rows int
	out  harvest.Sink
	mark portalapi.Mark
}

// Pages of a harvest of what changed, by their registry's tokens.
const (
	newest   = "new " // what was registered since
	modified = "mod " // what was modified since
	unknown  = "all " // everything: the registry does not know conditions
)

// page of all records; or of the new ones, then of the modified ones.
func (c *client) page(ctx context.Context, at string, n int) (portalapi.Page, error) {
	if at == "" && !c.mark.Whole() {
		at = modified
		if tail := c.mark.Get("tail"); tail != "" {
			at = newest + tail
		}
	}
	kind, token := "", at
	if !c.mark.Whole() {
		kind, token = at[:len(newest)], at[len(newest):]
	}
	query := url.Values{"aspect": {"dcat-dataset-strings"}, "optionalAspect": {"dataset-distributions", "dataset-publisher", "source"},
		"dereference": {"true"}, "limit": {fmt.Sprint(c.rows)}}
	if token != "" {
		query.Set("pageToken", token)
	}
	if kind == modified {
		query.Set("aspectQuery", "dcat-dataset-strings.modified:>="+url.QueryEscape(c.since())) // encoded in itself: the last colon ends the name
	}
	v, err := c.http.Get(ctx, c.root+"/api/v0/registry/records", query)
	if kind == modified && token == "" && err != nil && portalapi.Answered(err) {
		return c.page(ctx, unknown, n)
	}
	if err == nil && !v.Get("records").IsArray() {
		err = &portalapi.PageError{URL: c.root + "/api/v0/registry/records", Page: "an answer without records"}
	}
	p := portalapi.Page{Items: v.Get("records").List()}
	switch next := v.Get("nextPageToken").Text(); {
	case v.Get("hasMore").Bool() && next != "":
		p.Next = kind + next
	case kind == newest:
		p.Next = modified
	}
	if kind != modified && err == nil {
		c.mark.Set("tail", token)
	}
	return p, err
}

// since when records were modified. The registry compares texts, and a day comes before each of its hours.
func (c *client) since() string {
	t, _ := portalapi.Time(c.mark.Get("since"))
	return t.AddDate(0, 0, -1).Format("2006-01-02T00:00:00Z")
}

func (c *client) item(_ context.Context, v loosejson.Value) error {
	id := v.Get("id").Text()
	if id == "" {
		c.out.Skip("a record has no id")
		return nil
	}
	d := c.dataset(id, v)
	c.mark.Saw(d.Modified)
	return c.out.Dataset(d)
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
