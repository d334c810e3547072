// Harvests Dataverse: it searches for datasets and asks for each one with its files.
//
// A dataset whose own description is restricted or broken is described by what the search returns. A whole harvest
// reads datasets in the order of publication; a harvest of changes asks for those published since the last one. The
// address may be that of one collection ("/dataverse/alias"), which is then all that is harvested.

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

// NewDataverse returns the harvester of one installation, or of one collection in it.
func NewDataverse(s portalapi.Source) portalapi.Harvester {
	return portalapi.New(portalapi.Software{
		Kind: "dataverse", Name: "Dataverse", Paths: []string{"/api", "/dataverse", "/dataset.xhtml", "/dataverse.xhtml"}, Rows: 100,
		About: dataverseAbout, Page: dataversePage, Read: dataverseRead, Count: dataverseCount,
		ID: func(v loose.Value) string { return v.Get("global_id").Text() },
	}, s)
}

func dataverseAbout(ctx context.Context, h *portalapi.Harvest) {
	if v := h.GetOnce(ctx, "/api/info/version").Get("data", "version").Text(); v != "" {
		h.Portal.Software += " " + v
	}
	h.Whole = h.Whole && collection(h) == ""
}

// collection returns the alias of the collection that the source's address names, "" if it names none.
func collection(h *portalapi.Harvest) string {
	_, alias, _ := strings.Cut(h.Source.URL, "/dataverse/")
	return strings.Trim(alias, "/")
}

func dataverseCount(ctx context.Context, h *portalapi.Harvest) (int, bool) {
	if collection(h) != "" {
		return 0, false
	}
	v, err := h.Get(ctx, "/api/search", url.Values{"q": {"*"}, "type": {"dataset"}, "per_page": {"1"}})
	return portalapi.Total(v, err, []string{"data", "total_count"})
}

// dataversePage starts behind a number of datasets.
func dataversePage(ctx context.Context, h *portalapi.Harvest, at string, _ int) (portalapi.Page, error) {
	query := url.Values{"q": {"*"}, "type": {"dataset"}, "per_page": {fmt.Sprint(h.Source.Rows)}, "start": {cmp.Or(at, "0")},
		"sort": {"date"}, "order": {"asc"}}
	if since := h.Mark.Get("since"); since != "" {
		query.Set("fq", "dateSort:["+since+" TO *]")
	}
	if alias := collection(h); alias != "" {
		query.Set("subtree", alias)
	}
	p, v, err := h.List(ctx, "/api/search", query, "data", "items")
	p.Total = int(v.Get("data", "total_count").Int())
	if done := int(loose.String(at).Int()) + len(p.Items); len(p.Items) > 0 && done < p.Total {
		p.Next = fmt.Sprint(done)
	}
	return p, err
}

func dataverseRead(ctx context.Context, h *portalapi.Harvest, id string, found loose.Value) (portalapi.Entry, error) {
	own, err := h.Get(ctx, "/api/datasets/:persistentId/", url.Values{"persistentId": {id}})
	if err != nil {
		if ctx.Err() != nil || !portalapi.Answered(err) {
			return portalapi.Entry{}, err
		}
		h.Out.Skip(fmt.Sprintf("the files of %s: %v", id, err))
	}
	own = own.Get("data")
	return portalapi.Entry{
		Dataset: dataset(h.Root, id, found, own),
		Changed: cmp.Or(found.Get("updatedAt").Text(), found.Get("published_at").Text()),
		Gone:    found.Get("versionState").Text() == "DEACCESSIONED" || own.Get("latestVersion", "versionState").Text() == "DEACCESSIONED",
	}, nil
}

// dataset reads the search's description of a dataset and, unless it is null, the dataset's own.
func dataset(root, id string, found, own loose.Value) harvest.Dataset {
	version := own.First("latestVersion", "datasetVersion")
	m := fieldsOf(version.Get("metadataBlocks"))
	page := root + "/dataset.xhtml?persistentId=" + url.QueryEscape(id)
	d := harvest.Dataset{
		IRI:         page,
		Title:       portalapi.Texts(loose.FirstOf(m["title"], found.Get("name"))),
		Description: compound(m["dsDescription"], "dsDescriptionValue"),
		Keywords:    compound(m["keyword"], "keywordValue"),
		Themes:      portalapi.Words(loose.FirstOf(m["subject"], found.Get("subjects"))),
		Identifiers: []string{id},
		LandingPage: page,
		License:     cmp.Or(version.Get("license", "uri").Text(), version.Get("license", "name").Text(), version.Get("license").Text()),
		Rights:      portalapi.Plain(version.Get("termsOfUse").Text()),
		Publisher:   portalapi.Agent(loose.FirstOf(found.Get("name_of_dataverse"), own.Get("publisher"))),
		Issued:      cmp.Or(own.Get("publicationDate").Text(), found.Get("published_at").Text()),
		Modified:    cmp.Or(version.Get("lastUpdateTime").Text(), found.Get("updatedAt").Text()),
		Language:    m["language"].Texts(),
	}
	if n := version.Get("versionNumber").Text(); n != "" {
		d.Version = n + "." + cmp.Or(version.Get("versionMinorNumber").Text(), "0")
	}
	if len(d.Description) == 0 {
		d.Description = portalapi.Texts(found.Get("description"))
	}
	if len(d.Keywords) == 0 {
		d.Keywords = portalapi.Texts(found.Get("keywords"))
	}
	for _, a := range m["author"].List() {
		agent := harvest.Agent{Name: a.Get("authorName", "value").Text()}
		if a.Get("authorIdentifierScheme", "value").Text() == "ORCID" {
			agent.IRI = portalapi.ORCID(a.Get("authorIdentifier", "value").Text())
		}
		d.Creators = append(d.Creators, agent)
	}
	if len(d.Creators) == 0 {
		for _, name := range found.Get("authors").Texts() {
			d.Creators = append(d.Creators, harvest.Agent{Name: name})
		}
	}
	for _, a := range m["datasetContact"].List() {
		d.Contact = cmp.Or(d.Contact,
			harvest.Agent{Name: a.Get("datasetContactName", "value").Text(), Email: a.Get("datasetContactEmail", "value").Text()})
	}
	for _, p := range m["timePeriodCovered"].List() {
		d.Temporal = append(d.Temporal,
			harvest.Period{Start: p.Get("timePeriodCoveredStart", "value").Text(), End: p.Get("timePeriodCoveredEnd", "value").Text()})
	}
	for _, p := range m["geographicCoverage"].List() {
		if t := cmp.Or(p.Get("city", "value").Text(), p.Get("state", "value").Text(), p.Get("country", "value").Text(),
			p.Get("otherGeographicCoverage", "value").Text()); t != "" {
			d.Spatial = append(d.Spatial, harvest.Place{Name: t})
		}
	}
	for _, f := range version.Get("files").List() {
		if dist, ok := file(root, f); ok {
			d.Distributions = append(d.Distributions, dist)
		}
	}
	return d
}

// fieldsOf returns the fields of all metadata blocks by name.
func fieldsOf(blocks loose.Value) map[string]loose.Value {
	all := map[string]loose.Value{}
	for _, block := range blocks.Members() {
		for _, f := range block.Get("fields").List() {
			if name := f.Get("typeName").Text(); name != "" {
				all[name] = f.Get("value")
			}
		}
	}
	return all
}

// compound returns the values that one part of a compound field has.
func compound(v loose.Value, part string) []harvest.Text {
	var texts []harvest.Text
	for _, e := range v.List() {
		texts = append(texts, portalapi.Texts(e.Get(part, "value"))...)
	}
	return texts
}

// file returns a file of a dataset, false if it is restricted. A table that the software converted is fetched in the
// format in which it was deposited.
func file(root string, v loose.Value) (harvest.Distribution, bool) {
	f := v.Get("dataFile")
	id := f.Get("id").Text()
	if id == "" || v.Get("restricted").Bool() {
		return harvest.Distribution{}, false
	}
	d := harvest.Distribution{
		URL:         root + "/api/access/datafile/" + url.PathEscape(id),
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
