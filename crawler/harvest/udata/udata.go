// Package udata harvests udata, the software of data.gouv.fr and its kin, through its interface of version 1.
package udata

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

// Harvest implements harvest.Harvester. Marks: at and n as in portalapi.Listing, and those of portalapi.Begin. A whole harvest
// goes in the order of creation, so that what is new comes behind what was read; one of changes begins with the newest
// and ends with the first that is older than the last harvest.
func (s Source) Harvest(ctx context.Context, from string, out harvest.Sink) error {
	root, err := portalapi.Root(s.URL, "/api", "/datasets", "/en", "/fr", "/es", "/pt")
	if err != nil {
		return fmt.Errorf("udata: %w", err)
	}
	c := &client{http: portalapi.Client{HTTP: s.HTTP}, root: root, rows: cmp.Or(max(s.Rows, 0), 100), out: out}
	portal := harvest.Portal{IRI: cmp.Or(s.Portal, portalapi.IRI(root)), Homepage: portalapi.IRI(root), Software: "udata"}
	if site, err := (portalapi.Client{HTTP: s.HTTP, Tries: 1}).Get(ctx, root+"/api/1/site/", nil); err == nil {
		portal.Title = site.Get("title").Text()
		if v := site.Get("version").Text(); v != "" {
			portal.Software += " " + v
		}
	}
	c.mark = portalapi.Begin(from, s.Since, portalapi.Now(s.Now))
	if err := out.Portal(portal, c.mark.Whole()); err != nil {
		return err
	}
	err = portalapi.Listing{
		Out: out, Fetch: c.page, Item: c.item,
		ID: func(v loosejson.Value) string { return cmp.Or(v.First("id", "slug").Text(), v.JSON()) },
	}.WalkTurn(ctx, c.mark)
	if err != nil {
		return fmt.Errorf("udata: %w", err)
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

// page by its number: next_page of the answer only says whether there is one, as it may name an address inside.
func (c *client) page(ctx context.Context, at string, _ int) (portalapi.Page, error) {
	number := max(1, int(loosejson.String(at).Int()))
	order := "created"
	if !c.mark.Whole() {
		order = "-last_update"
	}
	v, err := c.http.Get(ctx, c.root+"/api/1/datasets/", url.Values{"page": {fmt.Sprint(number)}, "page_size": {fmt.Sprint(c.rows)}, "sort": {order}})
	if err == nil && v.Get("data").IsNull() {
		err = &portalapi.PageError{URL: c.root + "/api/1/datasets/", Page: "an answer without data"}
	}
	p := portalapi.Page{Items: v.Get("data").List(), Total: int(v.Get("total").Int())}
	size := cmp.Or(int(v.Get("page_size").Int()), c.rows)
	if !v.Get("next_page").Empty() || len(p.Items) > 0 && p.Total > number*size {
		p.Next = fmt.Sprint(number + 1)
	}
	if since, ok := portalapi.Time(c.mark.Get("since")); ok && len(p.Items) > 0 {
		p.Total = 0 // of everything, which was not asked for
		last, ok := portalapi.Time(changed(p.Items[len(p.Items)-1]))
		if ok && last.Before(since) {
			p.Next = ""
		}
	}
	return p, err
}

func (c *client) item(_ context.Context, v loosejson.Value) error {
	id := v.First("slug", "id").Text()
	if id == "" {
		c.out.Skip("a dataset has neither slug nor id")
		return nil
	}
	c.mark.Saw(changed(v))
	d := c.dataset(id, v)
	if !v.Get("deleted").Empty() || v.Get("private").Bool() {
		return c.out.Gone(d.IRI)
	}
	return c.out.Dataset(d)
}

func changed(v loosejson.Value) string { return v.First("last_update", "last_modified").Text() }

func (c *client) dataset(id string, v loosejson.Value) harvest.Dataset {
	d := harvest.Dataset{
		IRI:         cmp.Or(link(v.Get("page").Text()), c.root+"/datasets/"+url.PathEscape(id)+"/"),
		Title:       portalapi.Texts(v.Get("title")),
		Description: portalapi.Texts(v.Get("description")),
		Keywords:    portalapi.Texts(v.Get("tags")),
		Identifiers: v.Get("id").Texts(),
		LandingPage: link(v.Get("page").Text()),
		License:     v.Get("license").Text(),
		AccessLevel: v.Get("access_type").Text(),
		Frequency:   v.Get("frequency").Text(),
		Issued:      cmp.Or(v.Get("harvest", "issued_at").Text(), v.Get("created_at").Text()),
		Modified:    cmp.Or(v.Get("harvest", "modified_at").Text(), v.First("last_update", "last_modified").Text()),
		Spatial:     places(v.Get("spatial")),
		Temporal:    portalapi.Periods(v.Get("temporal_coverage")),
		Extras:      map[string]string{},
	}
	if org := v.Get("organization"); org.IsObject() {
		d.Publisher = harvest.Agent{IRI: link(org.First("page", "uri").Text()), Name: org.Get("name").Text(), Type: "organization"}
	} else if owner := v.Get("owner"); owner.IsObject() {
		d.Publisher = harvest.Agent{IRI: link(owner.First("page", "uri").Text()), Name: strings.TrimSpace(owner.Get("first_name").Text() + " " + owner.Get("last_name").Text()), Type: "person"}
	}
	for _, contact := range v.First("contact_points", "contact_point").List() {
		if a := portalapi.Agent(contact); d.Contact == (harvest.Agent{}) {
			d.Contact = a
		}
	}
	if remote := v.Get("harvest", "remote_id").Text(); remote != "" {
		d.Identifiers = append(d.Identifiers, remote)
	}
	for key, value := range v.Get("extras").Members() {
		if !value.Empty() {
			d.Extras[key] = cmp.Or(value.Text(), value.JSON())
		}
	}
	for _, r := range v.Get("resources").List() {
		if dist := c.distribution(r, d); dist.URL != "" {
			d.Distributions = append(d.Distributions, dist)
		}
	}
	return d
}

func link(s string) string {
	if portalapi.IsLink(s) {
		return s
	}
	return ""
}

// places that are named (zones of a country's divisions) or drawn.
func places(v loosejson.Value) []harvest.Place {
	all := portalapi.Places(v.Get("geom"))
	for _, zone := range v.Get("zones").List() {
		if t := cmp.Or(zone.Text(), zone.First("name", "id").Text()); t != "" {
			all = append(all, harvest.Place{Name: t})
		}
	}
	return all
}

func (c *client) distribution(r loosejson.Value, d harvest.Dataset) harvest.Distribution {
	dist := harvest.Distribution{
		URL:         portalapi.Resolve(c.root+"/", r.Get("url").Text()),
		Title:       r.Get("title").Text(),
		Description: portalapi.Plain(r.Get("description").Text()),
		Format:      r.Get("format").Text(),
		MediaType:   r.Get("mime").Text(),
		Size:        r.Get("filesize").Int(),
		Checksum:    strings.ToLower(r.Get("checksum", "value").Text()),
		ChecksumAlg: strings.ToLower(r.Get("checksum", "type").Text()),
		Issued:      r.Get("created_at").Text(),
		Modified:    r.First("last_modified", "published").Text(),
		Conforms:    portalapi.Links(r.Get("schema").First("url", "name")),
	}
	// "latest" stays the same when a file is replaced; the URL of the file itself does not.
	dist.IRI = link(r.Get("latest").Text())
	if id := r.Get("id").Text(); dist.IRI == "" && id != "" {
		dist.IRI = d.IRI + "#/resources/" + url.PathEscape(id)
	}
	if dist.Checksum == "" {
		dist.ChecksumAlg = ""
	}
	dist.Service = r.Get("type").Text() == "api" || portalapi.IsService(dist.Format)
	return dist
}
