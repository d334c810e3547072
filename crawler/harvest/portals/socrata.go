// Harvests portals of Socrata (Tyler Data & Insights) through their discovery API, and lists the exports
// of each dataset. If a portal does not answer there, its data.json is read instead.
//
// The API counts only to 10,000, so pages start behind the ID of the last dataset. A harvest of changes reads the
// latest change first and ends at the first one that is older than the last harvest; if the portal ignores that order,
// it reads everything.

package portals

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/datajson"
	"odarchive/crawler/harvest/loose"
	"odarchive/crawler/harvest/portalapi"
)

// NewSocrata returns the harvester of one portal. While it reads data.json, which is always read whole, its marks are
// datajson's.
func NewSocrata(s portalapi.Source) portalapi.Harvester {
	return portalapi.New(portalapi.Software{
		Kind: "socrata", Name: "Socrata", Paths: []string{"/api", "/browse", "/d", "/resource"}, Rows: 100,
		Run: run, Read: read, Count: count,
		ID: func(v loose.Value) string { return v.Get("resource", "id").Text() },
	}, s)
}

func run(ctx context.Context, h *portalapi.Harvest) error {
	file := datajson.Source{URL: h.Root + "/data.json", Portal: h.Portal.IRI, HTTP: h.Source.HTTP, Now: h.Source.Now}
	if _, whole := harvest.ParseDocument(h.From); whole || portalapi.ParseMark(h.From).Get("tag") != "" {
		return file.Harvest(ctx, h.From, h.Out)
	}
	u, err := url.Parse(h.Root)
	if err != nil {
		return err
	}
	c := &client{Harvest: h, domain: u.Host}
	err = h.Walk(ctx, c.page)
	if !c.began && err != nil && portalapi.Answered(err) && ctx.Err() == nil && file.Harvest(ctx, "", h.Out) == nil {
		return nil
	}
	return err
}

func count(ctx context.Context, h *portalapi.Harvest) (int, bool) {
	u, err := url.Parse(h.Root)
	if err != nil {
		return 0, false
	}
	v, err := h.Get(ctx, "/api/catalog/v1", selected(u.Host, 1))
	return portalapi.Total(v, err, []string{"resultSetSize"})
}

// selected are the parameters of a request for the datasets of a portal.
func selected(domain string, rows int) url.Values {
	return url.Values{"domains": {domain}, "search_context": {domain}, "only": {"datasets"}, "limit": {fmt.Sprint(rows)}}
}

// client is a harvest whose portal begins with the first page that the API returns.
type client struct {
	*portalapi.Harvest
	domain string
	began  bool
}

// Pages that do not start behind the ID of a dataset.
const (
	byCount   = "#" // behind a number of datasets ("#300"), as the portal ignores scroll_id
	byChange  = "~" // behind a number of changes, the latest first
	fromID    = "*" // the first of all datasets: changes are not in order, or there are too many
	maxOffset = 10_000
)

// page asks for datasets, all or changed ones.
func (c *client) page(ctx context.Context, at string, n int) (portalapi.Page, error) {
	if at == "" && !c.Mark.Whole() {
		at = byChange + "0"
	}
	query := selected(c.domain, c.Source.Rows)
	offset, counted := strings.CutPrefix(at, byCount)
	newer, latestFirst := strings.CutPrefix(at, byChange)
	switch {
	case counted:
		query.Set("offset", offset)
	case latestFirst:
		query.Set("order", "updatedAt DESC")
		query.Set("offset", newer)
	case at != "" && at != fromID:
		query.Set("scroll_id", at)
	default:
		query.Set("order", "dataset_id")
	}
	p, v, err := c.List(ctx, "/api/catalog/v1", query, "results")
	if latestFirst && portalapi.Refused(err) {
		return c.page(ctx, fromID, n)
	}
	if err != nil && !c.began && len(p.Items) == 0 {
		return portalapi.Page{}, err
	}
	if !c.began {
		c.began = true
		if beginErr := c.Out.Portal(c.Portal, c.Whole); beginErr != nil {
			return portalapi.Page{}, beginErr
		}
	}
	p.Total = int(v.Get("resultSetSize").Int())
	if latestFirst {
		return c.changes(p, int(loose.String(newer).Int())), err
	}
	if len(p.Items) > 0 {
		p.Next = p.Items[len(p.Items)-1].Get("resource", "id").Text()
		if p.Next == at {
			return c.page(ctx, fmt.Sprint(byCount, n), n)
		}
		if counted {
			p.Next = fmt.Sprint(byCount, int(loose.String(offset).Int())+len(p.Items))
		}
	}
	if len(p.Items) < c.Source.Rows && n+len(p.Items) >= p.Total {
		p.Next = ""
	}
	return p, err
}

// changes cuts a page, which follows a number of newer changes, where its changes are older than the last harvest.
func (c *client) changes(p portalapi.Page, newer int) portalapi.Page {
	since, _ := harvest.ParseTime(c.Mark.Get("since"))
	n, last := 0, time.Time{} // number of changes that are not older, and the time of the last one
	for _, item := range p.Items {
		t, ok := harvest.ParseTime(changed(item))
		if !ok || !last.IsZero() && t.After(last) {
			return portalapi.Page{Items: p.Items, Next: fromID}
		}
		if last = t; !t.Before(since) {
			n++
		}
	}
	next := newer + len(p.Items)
	switch {
	case n < len(p.Items) || n < c.Source.Rows && next >= p.Total:
		return portalapi.Page{Items: p.Items[:n]}
	case next+c.Source.Rows > maxOffset:
		return portalapi.Page{Items: p.Items, Next: fromID}
	}
	return portalapi.Page{Items: p.Items, Next: fmt.Sprint(byChange, next)}
}

func changed(v loose.Value) string { return v.Get("resource", "updatedAt").Text() }

func read(_ context.Context, h *portalapi.Harvest, id string, v loose.Value) (portalapi.Entry, error) {
	r, class := v.Get("resource"), v.Get("classification")
	d := harvest.Dataset{
		IRI:         h.Root + "/d/" + url.PathEscape(id),
		Title:       portalapi.Texts(r.Get("name")),
		Description: portalapi.Texts(r.Get("description")),
		Keywords:    portalapi.Texts(class.First("domain_tags", "tags")),
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
			d.Temporal = portalapi.Periods(loose.String(value))
		case strings.HasSuffix(lower, "spatial") || strings.HasSuffix(lower, "geographic-coverage"):
			d.Spatial = portalapi.Places(loose.String(value))
		}
	}
	d.Distributions = distributions(h.Root, url.PathEscape(id), r, d.Modified)
	return portalapi.Entry{Dataset: d, Changed: changed(v)}, nil
}

// exports lists the formats in which Socrata offers each table.
var exports = []struct{ name, format, media string }{
	{"csv", "CSV", "text/csv"}, {"json", "JSON", "application/json"}, {"rdf", "RDF", "application/rdf+xml"},
	{"xml", "XML", "application/xml"},
}

func distributions(root, id string, r loose.Value, modified string) []harvest.Distribution {
	var list []harvest.Distribution
	switch r.Get("type").Text() {
	case "file":
		media := r.Get("blob_mime_type").Text()
		return []harvest.Distribution{
			{URL: root + "/download/" + id + "/" + cmp.Or(url.PathEscape(media), "application%2Foctet-stream"), MediaType: media,
				Modified: modified}}
	case "href", "link", "federated_href":
		for _, link := range portalapi.Links(r.First("access_points", "href", "urls")) {
			if portalapi.IsLink(link) {
				list = append(list, harvest.Distribution{URL: link})
			}
		}
		return list
	case "story", "chart", "calendar", "form", "measure", "visualization":
		return nil
	}
	for _, e := range exports {
		list = append(list, harvest.Distribution{
			URL:   fmt.Sprintf("%s/api/views/%s/rows.%s?accessType=DOWNLOAD", root, id, e.name),
			Title: e.format, Format: e.format, MediaType: e.media, Modified: modified,
		})
	}
	if kind := r.Get("lens_view_type").Text(); kind == "geo" || r.Get("type").Text() == "map" {
		list = append(list, harvest.Distribution{URL: fmt.Sprintf("%s/api/geospatial/%s?method=export&format=GeoJSON", root, id),
			Title: "GeoJSON", Format: "GeoJSON", MediaType: "application/geo+json", Modified: modified})
	}
	return append(list, harvest.Distribution{URL: root + "/resource/" + id + ".json", Title: "SODA", Format: "API", Service: true})
}
