// Package socrata harvests portals of Socrata (Tyler Data & Insights) through their discovery interface, and gives each
// dataset the addresses of its exports. Where a portal does not answer there, its data.json is read.
//
// The interface counts to 10,000 only; beyond that, and so always, pages begin behind the id of the last dataset. A harvest of
// what changed begins with the newest change and ends with the first that is older than the last harvest; where the portal
// passes the order over, it reads everything. A whole harvest once a week notices what was deleted.
package socrata

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/datajson"
	"odarchive/crawler/harvest/loosejson"
	"odarchive/crawler/harvest/portalapi"
)

// Source is one portal.
type Source struct {
	URL    string
	Portal string // IRI of the portal, "" = after URL
	HTTP   harvest.Doer
	Rows   int              // datasets a page, 0 = 100
	Since  string           // only what changed from this time on; "" = everything, then what changed since the last harvest
	Now    func() time.Time // time.Now
}

var _ harvest.Selective = Source{}

// Select implements harvest.Selective.
func (s Source) Select(part harvest.Selection) (_ harvest.Harvester, err error) {
	s.Since, err = portalapi.Since(part)
	return s, err
}

// Harvest implements harvest.Harvester. Marks: at and n as in portalapi.Listing, and those of portalapi.Begin; those of
// data.json, which is always read whole, are datajson's.
func (s Source) Harvest(ctx context.Context, from string, out harvest.Sink) error {
	root, err := portalapi.Root(s.URL, "/api", "/browse", "/d", "/resource")
	if err != nil {
		return fmt.Errorf("socrata: %w", err)
	}
	c := &client{http: portalapi.Client{HTTP: s.HTTP}, root: root, rows: cmp.Or(max(s.Rows, 0), 100), out: out}
	c.portal = harvest.Portal{IRI: cmp.Or(s.Portal, portalapi.IRI(root)), Homepage: portalapi.IRI(root), Software: "Socrata"}
	u, err := url.Parse(root)
	if err != nil {
		return fmt.Errorf("socrata: %w", err)
	}
	c.domain = u.Host
	file := datajson.Source{URL: root + "/data.json", Portal: c.portal.IRI, HTTP: s.HTTP, Now: s.Now}
	if _, whole := harvest.ParseDocument(from); whole || portalapi.ParseMark(from).Get("tag") != "" {
		return file.Harvest(ctx, from, out)
	}
	c.mark = portalapi.Begin(from, s.Since, portalapi.Now(s.Now))
	err = portalapi.Listing{
		Out: out, Fetch: c.page, Item: c.item,
		ID: func(v loosejson.Value) string { return cmp.Or(v.Get("resource", "id").Text(), v.JSON()) },
	}.WalkTurn(ctx, c.mark)
	if !c.began && err != nil && portalapi.Answered(err) && ctx.Err() == nil {
		if fileErr := file.Harvest(ctx, "", out); fileErr == nil {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("socrata: %w", err)
	}
	return nil
}

type client struct {
	http   portalapi.Client
	root   string
	domain string
	rows   int
	portal harvest.Portal
	out    harvest.Sink
	mark   portalapi.Mark
	began  bool
}

// Pages that are not behind the id of the last dataset.
const (
	byCount  = "#" // behind a number of them ("#300"), where the portal does not know how to scroll
	byChange = "~" // behind a number of changes, the newest first
	fromID   = "*" // all, from the first on: the portal does not order changes, or there are too many
	mostBy   = 10_000
)

// page of all datasets, or of those that changed.
func (c *client) page(ctx context.Context, at string, n int) (portalapi.Page, error) {
	if at == "" && !c.mark.Whole() {
		at = byChange + "0"
	}
	query := url.Values{"domains": {c.domain}, "search_context": {c.domain}, "only": {"datasets"}, "limit": {fmt.Sprint(c.rows)}}
	offset, counted := strings.CutPrefix(at, byCount)
	newest, ordered := strings.CutPrefix(at, byChange)
	switch {
	case counted:
		query.Set("offset", offset)
	case ordered:
		query.Set("order", "updatedAt DESC")
		query.Set("offset", newest)
	case at != "" && at != fromID:
		query.Set("scroll_id", at)
	default:
		query.Set("order", "dataset_id")
	}
	v, err := c.http.Get(ctx, c.root+"/api/catalog/v1", query)
	if err == nil && !v.Get("results").IsArray() {
		err = &portalapi.PageError{URL: c.root + "/api/catalog/v1", Page: "an answer without results"}
	}
	if ordered && portalapi.Refused(err) {
		return c.page(ctx, fromID, n)
	}
	if err != nil && !c.began && len(v.Get("results").List()) == 0 {
		return portalapi.Page{}, err
	}
	if !c.began {
		c.began = true
		if beginErr := c.out.Portal(c.portal, c.mark.Whole()); beginErr != nil {
			return portalapi.Page{}, beginErr
		}
	}
	p := portalapi.Page{Items: v.Get("results").List(), Total: int(v.Get("resultSetSize").Int())}
	if ordered {
		return c.changes(p, int(loosejson.String(newest).Int())), err
	}
	if len(p.Items) > 0 {
		p.Next = p.Items[len(p.Items)-1].Get("resource", "id").Text()
		if p.Next == at {
			return c.page(ctx, fmt.Sprint(byCount, n), n)
		}
		if counted {
			p.Next = fmt.Sprint(byCount, int(loosejson.String(offset).Int())+len(p.Items))
		}
	}
	if len(p.Items) < c.rows && n+len(p.Items) >= p.Total {
		p.Next = ""
	}
	return p, err
}

// changes of a page that begins behind so many newer ones; what is older than the last harvest is left out.
func (c *client) changes(p portalapi.Page, newer int) portalapi.Page {
	since, _ := portalapi.Time(c.mark.Get("since"))
	n, last := 0, time.Time{} // how many are not older, and when the last one changed
	for _, item := range p.Items {
		t, ok := portalapi.Time(changed(item))
		if !ok || !last.IsZero() && t.After(last) {
			return portalapi.Page{Items: p.Items, Next: fromID}
		}
		if last = t; !t.Before(since) {
			n++
		}
	}
	next := newer + len(p.Items)
	switch {
	case n < len(p.Items) || n < c.rows && next >= p.Total:
		return portalapi.Page{Items: p.Items[:n]}
	case next+c.rows > mostBy:
		return portalapi.Page{Items: p.Items, Next: fromID}
	}
	return portalapi.Page{Items: p.Items, Next: fmt.Sprint(byChange, next)}
}

func changed(v loosejson.Value) string { return v.Get("resource", "updatedAt").Text() }

func (c *client) item(_ context.Context, v loosejson.Value) error {
	id := v.Get("resource", "id").Text()
	if id == "" {
		c.out.Skip("an entry of the catalog has no id")
		return nil
	}
	c.mark.Saw(changed(v))
	return c.out.Dataset(c.dataset(id, v))
}

// exports that Socrata makes of each table.
func exports() []struct{ name, format, media string } {
	return []struct{ name, format, media string }{
		{"csv", "CSV", "text/csv"}, {"json", "JSON", "application/json"}, {"rdf", "RDF", "application/rdf+xml"}, {"xml", "XML", "application/xml"},
	}
}

func (c *client) dataset(id string, v loosejson.Value) harvest.Dataset {
	r, class := v.Get("resource"), v.Get("classification")
	d := harvest.Dataset{
		IRI:         c.root + "/d/" + url.PathEscape(id),
		Title:       portalapi.Texts(r.Get("name")),
		Description: portalapi.Texts(r.Get("description")),
		Keywords:    portalapi.Texts(class.Get("domain_tags")),
		Themes:      portalapi.Words(class.First("domain_category", "categories")),
		Identifiers: []string{id},
		LandingPage: cmp.Or(v.Get("link").Text(), v.Get("permalink").Text()),
		License:     v.Get("metadata", "license").Text(),
		Publisher:   portalapi.Agent(r.Get("attribution")),
		Creators:    portalapi.Agents(v.First("creator", "owner")),
		Contact:     harvest.Agent{Email: portalapi.Email(r.Get("contact_email").Text())},
		Issued:      r.First("publication_date", "createdAt").Text(),
		Modified:    r.First("data_updated_at", "updatedAt", "metadata_updated_at").Text(),
		Extras:      map[string]string{},
	}
	if len(d.Keywords) == 0 {
		d.Keywords = portalapi.Texts(class.Get("tags"))
	}
	d.Publisher.URL = r.Get("attribution_link").Text()
	for _, m := range class.Get("domain_metadata").List() {
		key, value := m.Get("key").Text(), m.Get("value").Text()
		if key == "" || value == "" {
			continue
		}
		d.Extras[key] = value
		switch lower := strings.ToLower(key); {
		case strings.HasSuffix(lower, "frequency") || strings.HasSuffix(lower, "periodicity"):
			d.Frequency = cmp.Or(d.Frequency, value)
		case d.License == "" && strings.HasSuffix(lower, "license"):
			d.License = value
		case strings.HasSuffix(lower, "temporal") || strings.HasSuffix(lower, "temporal-applicability"):
			d.Temporal = portalapi.Periods(loosejson.String(value))
		case strings.HasSuffix(lower, "spatial") || strings.HasSuffix(lower, "geographic-coverage"):
			d.Spatial = portalapi.Places(loosejson.String(value))
		}
	}
	d.Distributions = c.distributions(id, r, d)
	return d
}

func (c *client) distributions(id string, r loosejson.Value, d harvest.Dataset) []harvest.Distribution {
	switch r.Get("type").Text() {
	case "file":
		return []harvest.Distribution{{URL: c.root + "/download/" + url.PathEscape(id) + "/" + cmp.Or(url.PathEscape(r.Get("blob_mime_type").Text()), "application%2Foctet-stream"),
			MediaType: r.Get("blob_mime_type").Text(), Modified: d.Modified}}
	case "href", "link", "federated_href":
		var list []harvest.Distribution
		for _, link := range portalapi.Links(r.First("access_points", "href", "urls")) {
			if portalapi.IsLink(link) {
				list = append(list, harvest.Distribution{URL: link})
			}
		}
		return list
	case "story", "chart", "calendar", "form", "measure", "visualization":
		return nil
	}
	var list []harvest.Distribution
	for _, e := range exports() {
		list = append(list, harvest.Distribution{
			URL:   fmt.Sprintf("%s/api/views/%s/rows.%s?accessType=DOWNLOAD", c.root, url.PathEscape(id), e.name),
			Title: e.format, Format: e.format, MediaType: e.media, Modified: d.Modified,
		})
	}
	if kind := r.Get("lens_view_type").Text(); kind == "geo" || r.Get("type").Text() == "map" {
		list = append(list, harvest.Distribution{URL: fmt.Sprintf("%s/api/geospatial/%s?method=export&format=GeoJSON", c.root, url.PathEscape(id)),
			Title: "GeoJSON", Format: "GeoJSON", MediaType: "application/geo+json", Modified: d.Modified})
	}
	return append(list, harvest.Distribution{URL: c.root + "/resource/" + url.PathEscape(id) + ".json", Title: "SODA", Format: "API", Service: true})
}
