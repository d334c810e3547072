package ckan

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loose"
	"odarchive/crawler/harvest/portalapi"
)

// pack is a package with its extras. Fields are looked up in both.
type pack struct {
	loose.Value
	extras map[string]loose.Value
	keys   []string // of extras, in their order
}

// packOf reads the extras of a package: a list of keys and values, or an object.
func packOf(v loose.Value) pack {
	p := pack{v, map[string]loose.Value{}, nil}
	add := func(key string, value loose.Value) {
		if key == "" || value.Empty() {
			return
		}
		if t := value.Text(); len(t) > 1 && t[0] == '"' { // the first versions store JSON in strings
			if inner, err := loose.Parse([]byte(t)); err == nil {
				value = inner
			}
		}
		if _, found := p.extras[key]; !found {
			p.keys = append(p.keys, key)
		}
		p.extras[key] = value
	}
	if extras := portalapi.Unfold(v.Get("extras")); extras.IsArray() {
		for _, e := range extras.List() {
			if state := e.Get("state").Text(); state == "" || state == "active" {
				add(e.Get("key").Text(), e.Get("value"))
			}
		}
	} else {
		for key, value := range extras.Members() {
			add(key, value)
		}
	}
	return p
}

// field returns the first field that is not empty or, if there is none, the first extra.
func (p pack) field(names ...string) loose.Value {
	if v := p.First(names...); !v.Empty() {
		return v
	}
	for _, name := range names {
		if v, found := p.extras[name]; found {
			return v
		}
	}
	return loose.Value{}
}

func (p pack) text(names ...string) string { return p.field(names...).Text() }

func (p pack) texts(names ...string) []harvest.Text { return portalapi.Texts(p.field(names...)) }

// dataset returns a package as a dataset of the portal at root.
func dataset(root string, v loose.Value) harvest.Dataset {
	p := packOf(v)
	d := harvest.Dataset{
		IRI:         datasetIRI(root, cmp.Or(p.First("name", "id").Text(), "?")),
		Title:       p.texts("title_translated", "title", "name"),
		Description: p.texts("notes_translated", "notes", "description"),
		Keywords:    keywords(p),
		Themes:      themes(p),
		Identifiers: identifiers(p),
		LandingPage: portalapi.OnlyLink(p.text("landing_page", "url")),
		License:     license(p),
		Rights:      harvest.FirstText(p.texts("rights", "terms_of_use")),
		AccessLevel: p.text("access_level", "accessLevel", "public_access_level", "access_rights"),
		Publisher:   publisher(root, p),
		Creators:    creators(p),
		Contact:     contact(p),
		Frequency: p.text("frequency", "accrual_periodicity", "accrualPeriodicity", "update_frequency", "updateFrequency",
			"frequency_of_update", "periodicity", "frequency-of-update"),
		Issued:   p.text("issued", "date_released", "release_date", "publication_date", "metadata_created"),
		Modified: p.text("modified", "date_updated", "last_modified", "metadata_modified"),
		Spatial:  places(p),
		Temporal: periods(p),
		Language: portalapi.Words(p.field("language", "languages", "metadata_language")),
		Version:  p.text("version", "dcat_version"),
		Conforms: portalapi.Links(p.field("conforms_to")),
		IsPartOf: series(root, p),
		Extras:   map[string]string{},
	}
	if len(d.Title) == 0 {
		d.Title = []harvest.Text{{Value: p.First("name", "id").Text()}}
	}
	for _, key := range p.keys {
		value := p.extras[key]
		d.Extras[key] = cmp.Or(value.Text(), value.JSON())
	}
	resources := portalapi.Unfold(p.First("resources")).List()
	d.Unaddressed = max(0, int(p.Get("num_resources").Int())-len(resources)) // a portal may count some that it does not show
	for _, r := range resources {
		if dist, active := distribution(root, r, d); active {
			d.List(dist)
		}
	}
	return d
}

// publisher returns the publisher that the extras name, else the organisation.
func publisher(root string, p pack) harvest.Agent {
	a := portalapi.Agent(p.field("publisher"))
	if name := harvest.FirstText(p.texts("publisher_name")); name != "" {
		a = harvest.Agent{Name: name, Email: portalapi.Email(p.text("publisher_email")), URL: p.text("publisher_url"),
			Type: p.text("publisher_type")}
	}
	if iri := p.text("publisher_uri"); portalapi.IsLink(iri) {
		a.IRI = iri
	}
	org := p.Get("organization")
	if a != (harvest.Agent{}) || !org.IsObject() {
		return a
	}
	a.Name = harvest.FirstText(portalapi.Texts(org.First("title_translated", "title", "display_name", "name")))
	if name := org.First("name", "id").Text(); name != "" {
		a.IRI = root + "/organization/" + url.PathEscape(name)
	}
	return a
}

func creators(p pack) []harvest.Agent {
	if listed := portalapi.Agents(p.field("creator")); len(listed) > 0 {
		return listed
	}
	a := portalapi.Agent(p.field("author", "creator_name"))
	a.Email = cmp.Or(portalapi.Email(p.text("author_email", "creator_email")), a.Email)
	if a == (harvest.Agent{}) {
		return nil
	}
	return []harvest.Agent{a}
}

func contact(p pack) harvest.Agent {
	a := portalapi.Agent(p.field("contact", "contact_point", "contact_points", "contactPoint"))
	a.Name = cmp.Or(a.Name, harvest.FirstText(p.texts("contact_name", "maintainer")))
	a.Email = cmp.Or(a.Email, portalapi.Email(p.text("contact_email", "maintainer_email")))
	return a
}

func keywords(p pack) []harvest.Text {
	words := p.texts("keywords")
	for _, w := range append(p.texts("tags"), p.texts("tag_string")...) {
		known := slices.ContainsFunc(words, func(k harvest.Text) bool { return k.Value == w.Value })
		if !known {
			words = append(words, w)
		}
	}
	return words
}

// themes returns the declared themes and the titles of groups.
func themes(p pack) []string {
	return unique(portalapi.Links(p.field("theme", "themes")), portalapi.Words(p.Get("groups")))
}

func identifiers(p pack) []string {
	return unique(p.field("identifier", "guid").Texts(), p.Get("id").Texts(), portalapi.Links(p.field("alternate_identifier")),
		p.field("doi").Texts())
}

// unique returns the elements of all lists, each once.
func unique(lists ...[]string) []string {
	var all []string
	for _, t := range slices.Concat(lists...) {
		if !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	return all
}

// license returns the address of a licence, else its title, else its ID.
func license(p pack) string {
	if at := p.text("license_url", "license_uri"); portalapi.IsLink(at) {
		return at
	}
	return portalapi.Plain(cmp.Or(portalapi.Link(p.field("license")), p.text("license_title"), p.text("license_id")))
}

// places reads the field or extra "spatial", and the fields into which some portals divide it.
func places(p pack) []harvest.Place {
	all := portalapi.Places(p.field("spatial", "spatial_coverage", "spatial-geojson"))
	if len(all) == 0 {
		all = portalapi.Places(p.field("bbox", "geographic_bbox", "spatial_bbox"))
	}
	if box := portalapi.Box(p.field("bbox-west-long"), p.field("bbox-south-lat"), p.field("bbox-east-long"),
		p.field("bbox-north-lat")); box != nil && len(all) == 0 {
		all = []harvest.Place{{Box: box}}
	}
	named := harvest.Place{IRI: p.text("spatial_uri", "geonames_url"),
		Name: harvest.FirstText(p.texts("spatial_text", "geographic_toponym", "geographic_coverage"))}
	if named.IRI != "" || named.Name != "" {
		if len(all) == 1 && all[0].IRI == "" && all[0].Name == "" {
			all[0].IRI, all[0].Name = named.IRI, named.Name
		} else {
			all = append(all, named)
		}
	}
	return all
}

func periods(p pack) []harvest.Period {
	if all := portalapi.Periods(p.field("temporal_coverage", "temporals", "temporal")); len(all) > 0 {
		return all
	}
	one := harvest.Period{
		Start: p.text("temporal_start", "begin_datetime", "temporal_coverage_from", "temporal_coverage-from", "time_period_coverage_start",
			"temporal-extent-begin"),
		End: p.text("temporal_end", "end_datetime", "temporal_coverage_to", "temporal_coverage-to", "time_period_coverage_end",
			"temporal-extent-end"),
	}
	if one == (harvest.Period{}) {
		return nil
	}
	return []harvest.Period{one}
}

// series returns the series, collections or relationships that the dataset is part of.
func series(root string, p pack) []string {
	var all []string
	for _, t := range p.field("in_series", "collection_package_id", "is_part_of").Texts() {
		if !portalapi.IsLink(t) {
			t = root + "/dataset/" + url.PathEscape(t)
		}
		all = append(all, t)
	}
	return all
}

// distribution returns a resource, false if it was deleted. It may have no address.
func distribution(root string, v loose.Value, d harvest.Dataset) (harvest.Distribution, bool) {
	if !v.IsObject() {
		return harvest.Distribution{URL: v.Text()}, portalapi.IsLink(v.Text())
	}
	r := pack{Value: v}
	download := portalapi.Link(r.First("download_url", "url"))
	access := portalapi.Link(r.First("access_url", "url"))
	dist := harvest.Distribution{
		URL:         portalapi.Resolve(root+"/", cmp.Or(download, access)),
		Title:       harvest.FirstText(r.texts("name_translated", "title", "display_name", "name")),
		Description: harvest.FirstText(r.texts("description_translated", "description")),
		Format:      cmp.Or(r.text("format"), r.text("mimetype_inner")),
		MediaType:   r.text("mimetype", "media_type", "mediaType"),
		License:     cmp.Or(r.text("license_url"), portalapi.Link(r.First("license", "license_id", "rights"))),
		Size:        r.First("size", "byte_size", "filesize").Int(),
		Checksum:    strings.ToLower(r.text("hash")),
		Issued:      r.text("issued", "created"),
		Modified:    r.text("modified", "last_modified", "revision_timestamp"),
		Conforms:    portalapi.Links(r.First("conforms_to")),
	}
	if access = portalapi.Resolve(root+"/", access); access != dist.URL {
		dist.AccessURL = access
	}
	if id := r.Get("id").Text(); id != "" {
		dist.IRI = d.IRI + "/resource/" + url.PathEscape(id)
	}
	dist.Checksum, dist.ChecksumAlg = checksum(dist.Checksum, r.text("hash_algorithm"))
	kind := r.text("resource_type")
	dist.Service = portalapi.IsService(dist.Format) || kind == "api" || d.LandingPage != "" && dist.URL == d.LandingPage
	state := r.text("state")
	return dist, state == "" || state == "active"
}

// checksum returns a checksum and its algorithm, as declared or as its length implies. Both are "" if they do not
// match.
func checksum(hash, declared string) (string, string) {
	if alg, rest, found := strings.Cut(hash, ":"); found {
		hash, declared = rest, alg
	}
	if strings.Trim(hash, "0123456789abcdef") != "" {
		return "", ""
	}
	declared = strings.ToLower(strings.ReplaceAll(declared, "-", ""))
	for _, alg := range []struct {
		name   string
		length int
	}{{"md5", 32}, {"sha1", 40}, {"sha256", 64}, {"sha512", 128}} {
		if len(hash) == alg.length && (declared == "" || strings.HasSuffix(declared, alg.name)) {
			return hash, alg.name
		}
	}
	return "", ""
}
