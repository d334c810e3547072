// Package invenio harvests InvenioRDM, the software of Zenodo and its kin, through its records interface.
//
// The interface serves 10,000 records of a question at the most. Records are asked for in the order of their last change
// and, before that limit, anew from the time of the last one on: so it has no end, a harvest that was cut off goes on where
// it was, and the next one asks for what changed.
package invenio

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

// Source is one repository.
type Source struct {
	URL    string // of the repository, or a search: its q, communities and type are kept
	Portal string // IRI of the portal, "" = after URL
	HTTP   harvest.Doer
	Rows   int              // records a page, 0 = 25, the most that Zenodo gives without an account
	Since  string           // only what changed from this time on; "" = everything, then what changed since the last harvest
	Now    func() time.Time // time.Now
}

var _ harvest.Selective = Source{}

// Select implements harvest.Selective.
func (s Source) Select(part harvest.Selection) (_ harvest.Harvester, err error) {
	s.Since, err = portalapi.Since(part)
	return s, err
}

// window is how many records of one question are asked for; the interface gives 10,000.
const window = 9000

// Harvest implements harvest.Harvester. Marks: at ("time of the window's beginning, page") and n as in portalapi.Listing, and
// those of portalapi.Begin.
func (s Source) Harvest(ctx context.Context, from string, out harvest.Sink) error {
	root, err := portalapi.Root(s.URL, "/api", "/search", "/records", "/communities")
	if err != nil {
		return fmt.Errorf("invenio: %w", err)
	}
	c := &client{http: portalapi.Client{HTTP: s.HTTP}, root: root, rows: cmp.Or(max(s.Rows, 0), 25), out: out, mark: portalapi.Begin(from, s.Since, portalapi.Now(s.Now))}
	c.limit(s.URL)
	portal := harvest.Portal{IRI: cmp.Or(s.Portal, portalapi.IRI(root)), Homepage: portalapi.IRI(root), Software: "InvenioRDM"}
	if err := out.Portal(portal, c.mark.Whole() && len(c.search) == 0); err != nil {
		return err
	}
	err = portalapi.Listing{
		Out: out, Fetch: c.page, Item: c.item,
		ID: func(v loosejson.Value) string { return cmp.Or(v.Get("id").Text(), v.JSON()) },
	}.WalkTurn(ctx, c.mark)
	if err != nil {
		return fmt.Errorf("invenio: %w", err)
	}
	return nil
}

type client struct {
	http   portalapi.Client
	root   string
	rows   int
	search url.Values // that the address was limited by
	out    harvest.Sink
	mark   portalapi.Mark
}

// limit the harvest to the search that an address is of.
func (c *client) limit(address string) {
	c.search = url.Values{}
	u, err := url.Parse(address)
	if err != nil {
		return
	}
	for _, name := range []string{"q", "communities", "type", "subtype"} {
		if v := u.Query().Get(name); v != "" {
			c.search.Set(name, v)
		}
	}
	if _, rest, found := strings.Cut(u.Path, "/communities/"); found {
		community, _, _ := strings.Cut(rest, "/")
		c.search.Set("communities", community)
	}
}

// page of a window: at is "time number", the time of the last change before the window and the page's number in it.
func (c *client) page(ctx context.Context, at string, _ int) (portalapi.Page, error) {
	since, page, _ := strings.Cut(at, " ")
	number := max(1, int(loosejson.String(page).Int()))
	since = cmp.Or(since, c.mark.Get("since"))
	query := url.Values{"size": {fmt.Sprint(c.rows)}, "page": {fmt.Sprint(number)}, "sort": {"updated-asc"}}
	for name, values := range c.search {
		query[name] = values
	}
	if since != "" {
		condition := "updated:[" + since + " TO *]"
		if q := query.Get("q"); q != "" {
			condition = "(" + q + ") AND " + condition
		}
		query.Set("q", condition)
	}
	v, err := c.http.Get(ctx, c.root+"/api/records", query)
	hits := v.Get("hits")
	if err == nil && !hits.Get("hits").IsArray() {
		err = &portalapi.PageError{URL: c.root + "/api/records", Page: "an answer without hits"}
	}
	p := portalapi.Page{Items: hits.Get("hits").List()}
	total := int(cmp.Or(hits.Get("total").Int(), hits.Get("total", "value").Int()))
	if at == "" {
		p.Total = total
	}
	more := len(p.Items) > 0 && (number*c.rows < total || !v.Get("links", "next").Empty())
	if !more {
		return p, err
	}
	p.Next = fmt.Sprintf("%s %d", since, number+1)
	if (number+1)*c.rows > window {
		last, ok := portalapi.Time(changed(p.Items[len(p.Items)-1]))
		if begin := last.Truncate(time.Second).Format(time.RFC3339); ok && begin > since {
			p.Next = begin + " 1"
		}
	}
	return p, err
}

// changed is when a record was changed last.
func changed(v loosejson.Value) string { return v.First("updated", "modified").Text() }

func (c *client) item(_ context.Context, v loosejson.Value) error {
	id := v.Get("id").Text()
	if id == "" {
		c.out.Skip("a record has no id")
		return nil
	}
	c.mark.Saw(changed(v))
	d := c.dataset(id, v)
	if v.Get("is_draft").Bool() || !v.Get("tombstone").Empty() || v.Get("deletion_status", "is_deleted").Bool() {
		return c.out.Gone(d.IRI)
	}
	return c.out.Dataset(d)
}

func (c *client) dataset(id string, v loosejson.Value) harvest.Dataset {
	m := v.Get("metadata")
	page := c.root + "/records/" + url.PathEscape(id)
	d := harvest.Dataset{
		IRI:         page,
		Title:       portalapi.Texts(m.Get("title")),
		Description: portalapi.Texts(m.Get("description")),
		Keywords:    append(portalapi.Texts(m.Get("keywords")), portalapi.Texts(m.Get("subjects"))...),
		Themes:      portalapi.Words(m.Get("resource_type")),
		LandingPage: page,
		License:     portalapi.Link(m.Get("license")),
		AccessLevel: cmp.Or(v.Get("access", "record").Text(), m.Get("access_right").Text()),
		Publisher:   portalapi.Agent(m.Get("publisher")),
		Creators:    agents(m.Get("creators")),
		Contact:     portalapi.Agent(m.Get("contact")),
		Issued:      m.Get("publication_date").Text(),
		Modified:    changed(v),
		Language:    append(m.Get("language").Texts(), ids(m.Get("languages"))...),
		Version:     m.Get("version").Text(),
		Extras:      map[string]string{},
	}
	for _, r := range m.Get("rights").List() {
		d.License = cmp.Or(d.License, r.Get("props", "url").Text(), r.First("link", "id").Text())
	}
	for _, doi := range []loosejson.Value{v.Get("doi"), m.Get("doi"), v.Get("pids", "doi", "identifier")} {
		if t := doi.Text(); t != "" && len(d.Identifiers) == 0 {
			d.Identifiers = append(d.Identifiers, "https://doi.org/"+t)
		}
	}
	if concept := cmp.Or(v.Get("conceptdoi").Text(), v.Get("parent", "pids", "doi", "identifier").Text()); concept != "" {
		d.IsPartOf = append(d.IsPartOf, "https://doi.org/"+concept)
	}
	for _, community := range v.Get("metadata", "communities").List() {
		if t := community.First("identifier", "id").Text(); t != "" {
			d.IsPartOf = append(d.IsPartOf, c.root+"/communities/"+url.PathEscape(t))
		}
	}
	for _, l := range m.Get("locations").List() {
		d.Spatial = append(d.Spatial, place(l))
	}
	for _, f := range m.Get("locations", "features").List() {
		d.Spatial = append(d.Spatial, place(f))
	}
	if restricted := v.Get("access", "files").Text(); restricted != "restricted" {
		d.Distributions = c.files(page, v)
	}
	return d
}

func ids(v loosejson.Value) []string {
	var all []string
	for _, e := range v.List() {
		if t := cmp.Or(e.Get("id").Text(), e.Text()); t != "" {
			all = append(all, t)
		}
	}
	return all
}

// agents in the words of Zenodo ({"name", "orcid"}) or of InvenioRDM ({"person_or_org": {…}}).
func agents(v loosejson.Value) []harvest.Agent {
	var all []harvest.Agent
	for _, e := range v.List() {
		who := e
		if inner := e.Get("person_or_org"); inner.IsObject() {
			who = inner
		}
		a := harvest.Agent{Name: who.Get("name").Text(), Type: who.Get("type").Text()}
		if a.Name == "" {
			continue
		}
		orcid := who.Get("orcid").Text()
		for _, i := range who.Get("identifiers").List() {
			if i.Get("scheme").Text() == "orcid" {
				orcid = i.Get("identifier").Text()
			}
		}
		if orcid != "" && !portalapi.IsLink(orcid) {
			orcid = "https://orcid.org/" + orcid
		}
		a.IRI = orcid
		all = append(all, a)
	}
	return all
}

func place(v loosejson.Value) harvest.Place {
	p := harvest.Place{Name: v.Get("place").Text()}
	lat, okLat := v.Get("lat").Float()
	lon, okLon := v.Get("lon").Float()
	switch {
	case v.Get("geometry").IsObject():
		p.Geometry = v.Get("geometry").JSON()
	case okLat && okLon:
		p.Geometry = fmt.Sprintf("POINT (%g %g)", lon, lat)
	}
	return p
}

// files of a record: a list of Zenodo's, or the entries of InvenioRDM.
func (c *client) files(page string, v loosejson.Value) []harvest.Distribution {
	list := v.Get("files").List()
	if entries := v.Get("files", "entries"); entries.IsObject() {
		list = nil
		for _, e := range entries.Members() {
			list = append(list, e)
		}
	}
	var all []harvest.Distribution
	for _, f := range list {
		name := f.First("key", "filename").Text()
		if name == "" {
			continue
		}
		at := cmp.Or(f.Get("links", "content").Text(), f.Get("links", "download").Text(), f.Get("links", "self").Text())
		if !portalapi.IsLink(at) {
			at = page + "/files/" + url.PathEscape(name)
		}
		d := harvest.Distribution{URL: at, Title: name, MediaType: f.Get("mimetype").Text(), Size: f.First("size", "filesize").Int()}
		if d.Size == 0 {
			d.Size = f.Get("size").Int()
		}
		if alg, sum, found := strings.Cut(f.Get("checksum").Text(), ":"); found {
			d.ChecksumAlg, d.Checksum = strings.ToLower(alg), strings.ToLower(sum)
		} else if sum := f.Get("checksum").Text(); len(sum) == 32 {
			d.ChecksumAlg, d.Checksum = "md5", strings.ToLower(sum)
		}
		all = append(all, d)
	}
	return all
}
