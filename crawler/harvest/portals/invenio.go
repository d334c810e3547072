// Harvests InvenioRDM, the software of Zenodo and others, through its records API.
//
// The API returns at most 10,000 records of one query. Records are requested in the order of their last change and,
// before that limit is reached, with a new query that starts at the change time of the last one. A harvest is thus not
// limited in length, an interrupted one continues where it ended, and the next one asks for changes only.
//
// The address may be that of a search or a community: its q, communities, type and subtype narrow the harvest.

package portals

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loose"
	"odarchive/crawler/harvest/portalapi"
)

// NewInvenio returns the harvester of one repository. A page has 25 records, the most that Zenodo returns without an
// account.
func NewInvenio(s portalapi.Source) portalapi.Harvester {
	return portalapi.New(portalapi.Software{
		Kind: "invenio", Name: "InvenioRDM", Paths: []string{"/api", "/search", "/records", "/communities"}, Rows: 25,
		About: about, Page: page, Read: invenioRead, Count: invenioCount,
		ID: func(v loose.Value) string { return v.Get("id").Text() },
	}, s)
}

func about(_ context.Context, h *portalapi.Harvest) {
	h.Whole = h.Whole && len(search(h.Source.URL)) == 0
}

func invenioCount(ctx context.Context, h *portalapi.Harvest) (int, bool) {
	if len(search(h.Source.URL)) > 0 {
		return 0, false
	}
	v, err := h.Get(ctx, "/api/records", url.Values{"size": {"1"}})
	return portalapi.Total(v, err, []string{"hits", "total"}, []string{"hits", "total", "value"})
}

// search returns the parameters of the search or community that an address leads to.
func search(address string) url.Values {
	parameters := url.Values{}
	u, err := url.Parse(address)
	if err != nil {
		return parameters
	}
	for _, name := range []string{"q", "communities", "type", "subtype"} {
		if v := u.Query().Get(name); v != "" {
			parameters.Set(name, v)
		}
	}
	if _, rest, found := strings.Cut(u.Path, "/communities/"); found {
		community, _, _ := strings.Cut(rest, "/")
		parameters.Set("communities", community)
	}
	return parameters
}

// window is the number of records requested with one query. The API returns 10,000.
const window = 9000

// page is "time number": the change time at which the query starts, and the number of the page in its result.
func page(ctx context.Context, h *portalapi.Harvest, at string, before int) (portalapi.Page, error) {
	since, number, _ := strings.Cut(at, " ")
	n, rows := max(1, int(loose.String(number).Int())), h.Source.Rows
	since = cmp.Or(since, h.Mark.Get("since"))
	query := url.Values{"size": {fmt.Sprint(rows)}, "page": {fmt.Sprint(n)}, "sort": {"updated-asc"}}
	maps.Copy(query, search(h.Source.URL))
	portalapi.UpdatedSince(query, "q", since)
	p, v, err := h.List(ctx, "/api/records", query, "hits", "hits")
	total := int(cmp.Or(v.Get("hits", "total").Int(), v.Get("hits", "total", "value").Int()))
	if at == "" {
		p.Total = total
	} else if len(p.Items) == 0 {
		p.Total = before + max(0, total-(n-1)*rows)
	}
	if len(p.Items) == 0 || n*rows >= total && v.Get("links", "next").Empty() {
		return p, err
	}
	p.Next = fmt.Sprintf("%s %d", since, n+1)
	if (n+1)*rows > window {
		last, ok := harvest.ParseTime(invenioChanged(p.Items[len(p.Items)-1]))
		if start := last.Truncate(time.Second).Format(time.RFC3339); ok && start > since {
			p.Next = start + " 1"
		}
	}
	return p, err
}

func invenioChanged(v loose.Value) string { return v.First("updated", "modified").Text() }

func invenioRead(_ context.Context, h *portalapi.Harvest, id string, v loose.Value) (portalapi.Entry, error) {
	m := v.Get("metadata")
	page := h.Root + "/records/" + url.PathEscape(id)
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
		Modified:    invenioChanged(v),
		Language:    m.Get("language").Texts(),
		Version:     m.Get("version").Text(),
		Extras:      map[string]string{},
	}
	for _, l := range m.Get("languages").List() {
		if t := cmp.Or(l.Get("id").Text(), l.Text()); t != "" {
			d.Language = append(d.Language, t)
		}
	}
	for _, r := range m.Get("rights").List() {
		d.License = cmp.Or(d.License, r.Get("props", "url").Text(), r.First("link", "id").Text())
	}
	if doi := cmp.Or(v.Get("doi").Text(), m.Get("doi").Text(), v.Get("pids", "doi", "identifier").Text()); doi != "" {
		d.Identifiers = []string{"https://doi.org/" + doi}
	}
	if concept := cmp.Or(v.Get("conceptdoi").Text(), v.Get("parent", "pids", "doi", "identifier").Text()); concept != "" {
		d.IsPartOf = append(d.IsPartOf, "https://doi.org/"+concept)
	}
	for _, community := range m.Get("communities").List() {
		if t := community.First("identifier", "id").Text(); t != "" {
			d.IsPartOf = append(d.IsPartOf, h.Root+"/communities/"+url.PathEscape(t))
		}
	}
	for _, l := range slices.Concat(m.Get("locations").List(), m.Get("locations", "features").List()) {
		p := harvest.Place{Name: l.Get("place").Text(), Geometry: portalapi.Point(l.Get("lon"), l.Get("lat"))}
		if g := l.Get("geometry"); g.IsObject() {
			p.Geometry = g.JSON()
		}
		d.Spatial = append(d.Spatial, p)
	}
	if v.Get("access", "files").Text() != "restricted" {
		d.Distributions = files(page, v)
	}
	deleted := v.Get("is_draft").Bool() || !v.Get("tombstone").Empty() || v.Get("deletion_status", "is_deleted").Bool()
	return portalapi.Entry{Dataset: d, Changed: invenioChanged(v), Gone: deleted}, nil
}

// agents reads the creators of Zenodo ({"name", "orcid"}) and of InvenioRDM ({"person_or_org": {…}}).
func agents(v loose.Value) []harvest.Agent {
	var all []harvest.Agent
	for _, e := range v.List() {
		who := e
		if inner := e.Get("person_or_org"); inner.IsObject() {
			who = inner
		}
		orcid := who.Get("orcid").Text()
		for _, i := range who.Get("identifiers").List() {
			if i.Get("scheme").Text() == "orcid" {
				orcid = i.Get("identifier").Text()
			}
		}
		if name := who.Get("name").Text(); name != "" {
			all = append(all, harvest.Agent{IRI: portalapi.ORCID(orcid), Name: name, Type: who.Get("type").Text()})
		}
	}
	return all
}

// files reads Zenodo's list of files and InvenioRDM's object of entries.
func files(page string, v loose.Value) []harvest.Distribution {
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
		if alg, sum, found := strings.Cut(f.Get("checksum").Text(), ":"); found {
			d.ChecksumAlg, d.Checksum = strings.ToLower(alg), strings.ToLower(sum)
		} else if len(alg) == 32 {
			d.ChecksumAlg, d.Checksum = "md5", strings.ToLower(alg)
		}
		all = append(all, d)
	}
	return all
}
