package ui

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/describe/about"
)

// What pages say of themselves to search engines: a dataset in terms of schema.org, as JSON-LD inside the page. The
// rules are those of Google's dataset search: a name and a description of at least 50 and at most 5,000 characters are
// required.

const (
	leastDescription = 50
	mostDescription  = 4900
	filesInData      = 12 // keeps pages small; the catalog has all
)

// datasetData describes the dataset of a portal.
func (u *UI) datasetData(p datasetPage) map[string]any {
	page := u.mint.Page(p.Entry.IRI)
	d := map[string]any{"@context": "https://schema.org/", "@type": "Dataset", "@id": page + "#dataset", "url": page,
		"name": cmp.Or(line(p.Entry.Title), p.Entry.IRI), "sameAs": p.Entry.IRI,
		"isAccessibleForFree": true, "includedInDataCatalog": u.catalogData()}
	described(d, p.Says, p.Description,
		fmt.Sprintf("%s of the dataset “%s”, which %s lists; archived in %s.", plural(len(p.Entry.URLs), "file"),
			cmp.Or(line(p.Entry.Title), p.Entry.IRI), hostOf(cmp.Or(p.Entry.Portal, p.Entry.IRI)), plural(p.Versions, "version")))
	if !p.Changed.IsZero() && d["dateModified"] == nil {
		d["dateModified"] = p.Changed.UTC().Format(time.DateOnly)
	}
	var files []any
	for _, f := range p.Files {
		if f.Versions > 0 && len(files) < filesInData {
			files = append(files, u.downloadData(f.Resource))
		}
	}
	if len(files) > 0 {
		d["distribution"] = files
	}
	return d
}

// fileData describes a file of which the archive keeps versions.
func (u *UI) fileData(r catalog.Resource, says about.Dataset) map[string]any {
	page := u.mint.Page(r.URL)
	d := map[string]any{"@context": "https://schema.org/", "@type": "Dataset", "@id": page + "#dataset", "url": page,
		"name": line(titleOf(r)), "sameAs": r.URL, "isAccessibleForFree": true,
		"includedInDataCatalog": u.catalogData()}
	described(d, says, plainText(about.Best(says.Description, "en").Value),
		fmt.Sprintf("Archived versions of the file %s: %s since %s.", r.URL, plural(r.Versions-r.ErrorPages, "version"),
			r.FirstSeen.UTC().Format("2 January 2006")))
	if len(r.Datasets) > 0 {
		d["isPartOf"] = map[string]any{"@type": "Dataset", "@id": u.mint.Page(r.Datasets[0]) + "#dataset",
			"name": line(cmp.Or(r.DatasetTitle, r.Datasets[0])), "url": u.mint.Page(r.Datasets[0]),
			"description": d["description"]}
	}
	if !r.Changed.IsZero() {
		d["dateModified"] = r.Changed.UTC().Format(time.DateOnly)
	}
	if r.Versions > 0 {
		d["distribution"] = []any{u.downloadData(r)}
		d["version"] = fmt.Sprint(r.LatestN())
	}
	return d
}

func (u *UI) catalogData() map[string]any {
	return map[string]any{"@type": "DataCatalog", "@id": u.mint.Base + "catalog", "name": "ODArchive", "url": u.mint.Base}
}

func (u *UI) downloadData(r catalog.Resource) map[string]any {
	d := map[string]any{"@type": "DataDownload", "contentUrl": u.mint.Base + "get/file/" + r.URL, "name": line(titleOf(r))}
	if r.MediaType != "" {
		d["encodingFormat"] = r.MediaType
	}
	if r.Size > 0 {
		d["contentSize"] = fmt.Sprintf("%d B", r.Size)
	}
	return d
}

// described adds what portals say. other is the description if they say nothing, or too little.
func described(d map[string]any, says about.Dataset, description, other string) {
	description = shortened(description, mostDescription)
	if n := len([]rune(description)); n == 0 {
		description = other
	} else if n < leastDescription {
		description += " " + other
	}
	d["description"] = description
	agent := func(a about.Agent) any {
		if a.Name == "" {
			return nil
		}
		o := map[string]any{"@type": "Organization", "name": a.Name}
		if link := linkTo(cmp.Or(a.Page, a.IRI)); link != "" {
			o["url"] = link
		}
		return o
	}
	set := func(name string, v any) {
		if v != nil && v != "" {
			d[name] = v
		}
	}
	set("publisher", agent(says.Publisher))
	var creators []any
	for _, c := range says.Creators[:min(len(says.Creators), 10)] {
		if c := agent(c); c != nil {
			creators = append(creators, c)
		}
	}
	if len(creators) > 0 {
		d["creator"] = creators
	} else {
		set("creator", agent(says.Publisher))
	}
	if link := linkTo(says.Licence.IRI); link != "" {
		d["license"] = link
	}
	var words []string
	for _, k := range says.Keywords[:min(len(says.Keywords), 20)] {
		words = append(words, k.Value)
	}
	if len(words) > 0 {
		d["keywords"] = words
	}
	set("datePublished", isoDay(says.Issued))
	set("dateModified", isoDay(says.Modified))
	if len(says.Temporal) > 0 {
		if from, to := isoDay(says.Temporal[0].Start), isoDay(says.Temporal[0].End); from != "" || to != "" {
			d["temporalCoverage"] = cmp.Or(from, "..") + "/" + cmp.Or(to, "..")
		}
	}
	if len(says.Spatial) > 0 {
		set("spatialCoverage", cmp.Or(says.Spatial[0].Label, says.Spatial[0].IRI))
	}
}

// isoDay returns the date of a portal's date or time, "" if it is none.
func isoDay(s string) string {
	if len(s) < len(time.DateOnly) {
		return ""
	}
	s = s[:len(time.DateOnly)]
	if _, err := time.Parse(time.DateOnly, s); err != nil {
		return ""
	}
	return s
}

// line returns a text as one line.
func line(s string) string { return strings.Join(strings.Fields(s), " ") }
