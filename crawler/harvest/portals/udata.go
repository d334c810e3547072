// Harvests udata, the software of data.gouv.fr and others, through version 1 of its API.
//
// A whole harvest reads datasets in the order of creation, so that new ones appear behind those already read. A harvest
// of changes reads the latest change first and ends at the first one that is older than the last harvest.

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

// NewUdata returns the harvester of one portal.
func NewUdata(s portalapi.Source) portalapi.Harvester {
	return portalapi.New(portalapi.Software{
		Kind: "udata", Name: "udata", Paths: []string{"/api", "/datasets", "/en", "/fr", "/es", "/pt"}, Rows: 100,
		About: udataAbout, Page: udataPage, Read: udataRead, Count: udataCount,
		ID: func(v loose.Value) string { return v.First("slug", "id").Text() },
	}, s)
}

func udataAbout(ctx context.Context, h *portalapi.Harvest) {
	site := h.GetOnce(ctx, "/api/1/site/")
	h.Portal.Title = site.Get("title").Text()
	if v := site.Get("version").Text(); v != "" {
		h.Portal.Software += " " + v
	}
}

func udataCount(ctx context.Context, h *portalapi.Harvest) (int, bool) {
	v, err := h.Get(ctx, "/api/1/datasets/", url.Values{"page": {"1"}, "page_size": {"1"}})
	return portalapi.Total(v, err, []string{"total"})
}

// udataPage is found by its number. next_page of the answer only tells whether there is one: it may name an internal
// address.
func udataPage(ctx context.Context, h *portalapi.Harvest, at string, _ int) (portalapi.Page, error) {
	number := max(1, int(loose.String(at).Int()))
	order := "created"
	if !h.Mark.Whole() {
		order = "-last_update"
	}
	p, v, err := h.List(ctx, "/api/1/datasets/",
		url.Values{"page": {fmt.Sprint(number)}, "page_size": {fmt.Sprint(h.Source.Rows)}, "sort": {order}}, "data")
	p.Total = int(v.Get("total").Int())
	size := cmp.Or(int(v.Get("page_size").Int()), h.Source.Rows)
	if !v.Get("next_page").Empty() || len(p.Items) > 0 && p.Total > number*size {
		p.Next = fmt.Sprint(number + 1)
	}
	if since, ok := harvest.ParseTime(h.Mark.Get("since")); ok && len(p.Items) > 0 {
		p.Total = 0 // it counts all datasets, not only the changed ones
		last, ok := harvest.ParseTime(udataChanged(p.Items[len(p.Items)-1]))
		if ok && last.Before(since) {
			p.Next = ""
		}
	}
	return p, err
}

func udataChanged(v loose.Value) string { return v.First("last_update", "last_modified").Text() }

func udataRead(_ context.Context, h *portalapi.Harvest, id string, v loose.Value) (portalapi.Entry, error) {
	site := portalapi.OnlyLink(v.Get("page").Text())
	d := harvest.Dataset{
		IRI:         cmp.Or(site, h.Root+"/datasets/"+url.PathEscape(id)+"/"),
		Title:       portalapi.Texts(v.Get("title")),
		Description: portalapi.Texts(v.Get("description")),
		Keywords:    portalapi.Texts(v.Get("tags")),
		Identifiers: append(v.Get("id").Texts(), v.Get("harvest", "remote_id").Texts()...),
		LandingPage: site,
		License:     v.Get("license").Text(),
		AccessLevel: v.Get("access_type").Text(),
		Publisher:   publisher(v),
		Frequency:   v.Get("frequency").Text(),
		Issued:      cmp.Or(v.Get("harvest", "issued_at").Text(), v.Get("created_at").Text()),
		Modified:    cmp.Or(v.Get("harvest", "modified_at").Text(), udataChanged(v)),
		Spatial:     portalapi.Places(v.Get("spatial", "geom")),
		Temporal:    portalapi.Periods(v.Get("temporal_coverage")),
		Extras:      map[string]string{},
	}
	for _, zone := range v.Get("spatial", "zones").List() {
		if t := cmp.Or(zone.Text(), zone.First("name", "id").Text()); t != "" {
			d.Spatial = append(d.Spatial, harvest.Place{Name: t})
		}
	}
	for _, contact := range v.First("contact_points", "contact_point").List() {
		d.Contact = cmp.Or(d.Contact, portalapi.Agent(contact))
	}
	for key, value := range v.Get("extras").Members() {
		if !value.Empty() {
			d.Extras[key] = cmp.Or(value.Text(), value.JSON())
		}
	}
	for _, r := range v.Get("resources").List() {
		d.List(udataDistribution(h.Root, r, d))
	}
	return portalapi.Entry{Dataset: d, Changed: udataChanged(v), Gone: !v.Get("deleted").Empty() || v.Get("private").Bool()}, nil
}

func publisher(v loose.Value) harvest.Agent {
	if org := v.Get("organization"); org.IsObject() {
		return harvest.Agent{IRI: portalapi.OnlyLink(org.First("page", "uri").Text()), Name: org.Get("name").Text(), Type: "organization"}
	}
	owner := v.Get("owner")
	if !owner.IsObject() {
		return harvest.Agent{}
	}
	name := strings.TrimSpace(owner.Get("first_name").Text() + " " + owner.Get("last_name").Text())
	return harvest.Agent{IRI: portalapi.OnlyLink(owner.First("page", "uri").Text()), Name: name, Type: "person"}
}

func udataDistribution(root string, r loose.Value, d harvest.Dataset) harvest.Distribution {
	dist := harvest.Distribution{
		IRI:         portalapi.OnlyLink(r.Get("latest").Text()), // stays the same when the file is replaced, unlike its URL
		URL:         portalapi.Resolve(root+"/", r.Get("url").Text()),
		Title:       r.Get("title").Text(),
		Description: portalapi.Plain(r.Get("description").Text()),
		Format:      r.Get("format").Text(),
		MediaType:   r.Get("mime").Text(),
		Size:        r.Get("filesize").Int(),
		Checksum:    strings.ToLower(r.Get("checksum", "value").Text()),
		Issued:      r.Get("created_at").Text(),
		Modified:    r.First("last_modified", "published").Text(),
		Conforms:    portalapi.Links(r.Get("schema").First("url", "name")),
		Service:     r.Get("type").Text() == "api" || portalapi.IsService(r.Get("format").Text()),
	}
	if id := r.Get("id").Text(); dist.IRI == "" && id != "" {
		dist.IRI = d.IRI + "#/resources/" + url.PathEscape(id)
	}
	if dist.Checksum != "" {
		dist.ChecksumAlg = strings.ToLower(r.Get("checksum", "type").Text())
	}
	return dist
}
