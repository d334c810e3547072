// Package dataverse harvests Dataverse: datasets are searched for, then each is asked for with its files.
//
// A dataset whose own description cannot be had (it is restricted, or broken) is described by what the search says.
package dataverse

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

// Source is one installation, or one collection ("dataverse") in it.
type Source struct {
	URL    string // https://host/ or https://host/dataverse/alias
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

// Harvest implements harvest.Harvester. Marks: at (how many were read) and n as in portalapi.Listing, and those of portalapi.Begin.
// A whole harvest goes in the order of publication; one of changes asks for what was published since.
func (s Source) Harvest(ctx context.Context, from string, out harvest.Sink) error {
	root, err := portalapi.Root(s.URL, "/api", "/dataverse", "/dataset.xhtml", "/dataverse.xhtml")
	if err != nil {
		return fmt.Errorf("dataverse: %w", err)
	}
	c := &client{http: portalapi.Client{HTTP: s.HTTP}, root: root, rows: cmp.Or(max(s.Rows, 0), 100), out: out, mark: portalapi.Begin(from, s.Since, portalapi.Now(s.Now))}
	if _, alias, found := strings.Cut(s.URL, "/dataverse/"); found {
		c.collection = strings.Trim(alias, "/")
	}
	portal := harvest.Portal{IRI: cmp.Or(s.Portal, portalapi.IRI(root)), Homepage: portalapi.IRI(root), Software: "Dataverse"}
	if v, err := (portalapi.Client{HTTP: s.HTTP, Tries: 1}).Get(ctx, root+"/api/info/version", nil); err == nil && v.Get("data", "version").Text() != "" {
		portal.Software += " " + v.Get("data", "version").Text()
	}
	if err := out.Portal(portal, c.mark.Whole() && c.collection == ""); err != nil {
		return err
	}
	err = portalapi.Listing{
		Out: out, Fetch: c.page, Item: c.item,
		ID: func(v loosejson.Value) string { return cmp.Or(v.Get("global_id").Text(), v.JSON()) },
	}.WalkTurn(ctx, c.mark)
	if err != nil {
		return fmt.Errorf("dataverse: %w", err)
	}
	return nil
}

type client struct {
	http       portalapi.Client
	root       string
	collection string
	rows       int
	out        harvest.Sink
	mark       portalapi.Mark
}

func (c *client) page(ctx context.Context, at string, _ int) (portalapi.Page, error) {
	query := url.Values{"q": {"*"}, "type": {"dataset"}, "per_page": {fmt.Sprint(c.rows)}, "start": {cmp.Or(at, "0")}, "sort": {"date"}, "order": {"asc"}}
	if since := c.mark.Get("since"); since != "" {
		query.Set("fq", "dateSort:["+since+" TO *]")
	}
	if c.collection != "" {
		query.Set("subtree", c.collection)
	}
	v, err := c.http.Get(ctx, c.root+"/api/search", query)
	data := v.Get("data")
	if err == nil && !data.Get("items").IsArray() {
		err = &portalapi.PageError{URL: c.root + "/api/search", Page: "an answer without items"}
	}
	p := portalapi.Page{Items: data.Get("items").List(), Total: int(data.Get("total_count").Int())}
	if done := int(loosejson.String(at).Int()) + len(p.Items); len(p.Items) > 0 && done < p.Total {
		p.Next = fmt.Sprint(done)
	}
	return p, err
}

func (c *client) item(ctx context.Context, found loosejson.Value) error {
	id := found.Get("global_id").Text()
	if id == "" {
		c.out.Skip("a dataset has no identifier")
		return nil
	}
	c.mark.Saw(cmp.Or(found.Get("updatedAt").Text(), found.Get("published_at").Text()))
	own, err := c.http.Get(ctx, c.root+"/api/datasets/:persistentId/", url.Values{"persistentId": {id}})
	if err != nil {
		if ctx.Err() != nil || !portalapi.Answered(err) {
			return err
		}
		c.out.Skip(fmt.Sprintf("the files of %s: %v", id, err))
	}
	d := c.dataset(id, found, own.Get("data"))
	if found.Get("versionState").Text() == "DEACCESSIONED" || own.Get("data", "latestVersion", "versionState").Text() == "DEACCESSIONED" {
		return c.out.Gone(d.IRI)
	}
	return c.out.Dataset(d)
}

// dataset by what the search says of it and, where it could be had, its own description.
func (c *client) dataset(id string, found, own loosejson.Value) harvest.Dataset {
	version := own.First("latestVersion", "datasetVersion")
	m := fieldsOf(version.Get("metadataBlocks"))
	page := c.root + "/dataset.xhtml?persistentId=" + url.QueryEscape(id)
	d := harvest.Dataset{
		IRI:         page,
		Title:       portalapi.Texts(either(m["title"], found.Get("name"))),
		Description: portalapi.Texts(found.Get("description")),
		Keywords:    portalapi.Texts(found.Get("keywords")),
		Themes:      portalapi.Words(either(m["subject"], found.Get("subjects"))),
		Identifiers: []string{id},
		LandingPage: page,
		License:     license(version),
		Rights:      portalapi.Plain(version.Get("termsOfUse").Text()),
		Publisher:   portalapi.Agent(either(found.Get("name_of_dataverse"), own.Get("publisher"))),
		Issued:      cmp.Or(own.Get("publicationDate").Text(), found.Get("published_at").Text()),
		Modified:    cmp.Or(version.Get("lastUpdateTime").Text(), found.Get("updatedAt").Text()),
		Language:    m["language"].Texts(),
	}
	if n := version.Get("versionNumber").Text(); n != "" {
		d.Version = n + "." + cmp.Or(version.Get("versionMinorNumber").Text(), "0")
	}
	if texts := compound(m["dsDescription"], "dsDescriptionValue"); len(texts) > 0 {
		d.Description = texts
	}
	if words := compound(m["keyword"], "keywordValue"); len(words) > 0 {
		d.Keywords = words
	}
	for _, a := range m["author"].List() {
		agent := harvest.Agent{Name: a.Get("authorName", "value").Text()}
		if orcid := a.Get("authorIdentifier", "value").Text(); a.Get("authorIdentifierScheme", "value").Text() == "ORCID" && orcid != "" {
			agent.IRI = "https://orcid.org/" + strings.TrimPrefix(orcid, "https://orcid.org/")
		}
		d.Creators = append(d.Creators, agent)
	}
	for _, name := range found.Get("authors").Texts() {
		if len(m["author"].List()) == 0 {
			d.Creators = append(d.Creators, harvest.Agent{Name: name})
		}
	}
	for _, a := range m["datasetContact"].List() {
		if d.Contact == (harvest.Agent{}) {
			d.Contact = harvest.Agent{Name: a.Get("datasetContactName", "value").Text(), Email: a.Get("datasetContactEmail", "value").Text()}
		}
	}
	for _, p := range m["timePeriodCovered"].List() {
		d.Temporal = append(d.Temporal, harvest.Period{Start: p.Get("timePeriodCoveredStart", "value").Text(), End: p.Get("timePeriodCoveredEnd", "value").Text()})
	}
	for _, p := range m["geographicCoverage"].List() {
		if t := cmp.Or(p.Get("city", "value").Text(), p.Get("state", "value").Text(), p.Get("country", "value").Text(), p.Get("otherGeographicCoverage", "value").Text()); t != "" {
			d.Spatial = append(d.Spatial, harvest.Place{Name: t})
		}
	}
	for _, f := range version.Get("files").List() {
		if dist, ok := c.file(f); ok {
			d.Distributions = append(d.Distributions, dist)
		}
	}
	return d
}

func either(a, b loosejson.Value) loosejson.Value {
	if a.Empty() {
		return b
	}
	return a
}

// fieldsOf all metadata blocks, by name.
func fieldsOf(blocks loosejson.Value) map[string]loosejson.Value {
	all := map[string]loosejson.Value{}
	for _, block := range blocks.Members() {
		for _, f := range block.Get("fields").List() {
			if name := f.Get("typeName").Text(); name != "" {
				all[name] = f.Get("value")
			}
		}
	}
	return all
}

func compound(v loosejson.Value, part string) []harvest.Text {
	var texts []harvest.Text
	for _, e := range v.List() {
		texts = append(texts, portalapi.Texts(e.Get(part, "value"))...)
	}
	return texts
}

func license(version loosejson.Value) string {
	l := version.Get("license")
	return cmp.Or(l.Get("uri").Text(), l.Get("name").Text(), l.Text())
}

// file of a dataset. A table that was taken apart is had as it was deposited.
func (c *client) file(v loosejson.Value) (harvest.Distribution, bool) {
	f := v.Get("dataFile")
	id := f.Get("id").Text()
	if id == "" || v.Get("restricted").Bool() {
		return harvest.Distribution{}, false
	}
	d := harvest.Distribution{
		URL:         c.root + "/api/access/datafile/" + url.PathEscape(id),
		Title:       cmp.Or(f.Get("originalFileName").Text(), f.Get("filename").Text(), v.Get("label").Text()),
		Description: v.Get("description").Text(),
		MediaType:   f.Get("contentType").Text(),
		Size:        f.Get("filesize").Int(),
		Issued:      f.Get("publicationDate").Text(),
		Modified:    f.Get("creationDate").Text(),
	}
	if original := f.Get("originalFileFormat").Text(); original != "" {
		d.URL += "?format=original"
		d.MediaType, d.Size = original, f.Get("originalFileSize").Int()
	} else if sum := f.Get("checksum"); sum.IsObject() {
		d.Checksum = strings.ToLower(sum.Get("value").Text())
		d.ChecksumAlg = strings.ToLower(strings.ReplaceAll(sum.Get("type").Text(), "-", ""))
	} else if md5 := f.Get("md5").Text(); md5 != "" {
		d.Checksum, d.ChecksumAlg = strings.ToLower(md5), "md5"
	}
	return d, true
}
