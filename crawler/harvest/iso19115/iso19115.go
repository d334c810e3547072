// Package iso19115 reads records in the XML of ISO 19139 (gmd:MD_Metadata and its national profiles) and ISO 19115-3
// (mdb:MD_Metadata), as returned by catalogs of geographic data, into datasets.
//
// Elements are identified by their local names, which are the same in both encodings except for parties and
// identifiers. The mapping follows GeoDCAT-AP as far as that is defined. Unknown elements are ignored, and no element
// is required.
package iso19115

import (
	"cmp"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loose"
)

// Record is one metadata record.
type Record struct {
	ID      string // fileIdentifier, metadataIdentifier
	Stamp   string // time of the record's last change
	Service bool   // the record describes a service, whose operations' addresses are the distributions
	Dataset harvest.Dataset
}

// Is reports whether an element is the root of a record.
func Is(e *loose.Element) bool {
	if e == nil {
		return false
	}
	name := e.Name.Local
	return strings.HasSuffix(name, "MD_Metadata") || strings.HasSuffix(name, "MI_Metadata") ||
		strings.HasSuffix(e.Attr("isoType"), "MD_Metadata")
}

// ID returns the identifier of a record, "" if it has none.
func ID(root *loose.Element) string {
	return cmp.Or(line(root.First("fileIdentifier")), line(root.First("metadataIdentifier/*/code")))
}

// Read reads a record. iri returns the IRI of the record with that identifier, which may be "".
func Read(root *loose.Element, iri func(id string) string) Record {
	r := &reader{root: root, about: root.First("identificationInfo/*")}
	r.languages()
	rec := Record{
		ID: ID(root),
		Stamp: cmp.Or(leaf(root.First("dateStamp")), dateOf(root.All("dateInfo/*"), "revision"),
			dateOf(root.All("dateInfo/*"), "creation")),
	}
	rec.Service = r.about != nil && strings.HasSuffix(r.about.Name.Local, "SV_ServiceIdentification")
	d := &rec.Dataset
	d.IRI = iri(rec.ID)
	d.Title = r.texts(r.about.First("citation/*/title"))
	d.Description = r.texts(r.about.First("abstract"))
	d.Version = line(r.about.First("citation/*/edition"))
	r.identifiers(d, rec.ID)
	r.keywords(d)
	r.parties(d)
	r.rights(d)
	r.coverage(d)
	dates := r.about.All("citation/*/date/*")
	d.Issued = cmp.Or(dateOf(dates, "publication"), dateOf(dates, "released"), dateOf(dates, "creation"))
	d.Modified = cmp.Or(dateOf(dates, "revision"), dateOf(dates, "lastUpdate"))
	maintenance := r.about.First("resourceMaintenance/*")
	d.Frequency = cmp.Or(leaf(maintenance.First("userDefinedMaintenanceFrequency")),
		code(maintenance.First("maintenanceAndUpdateFrequency")))
	for _, l := range r.about.All("language") {
		if c := cmp.Or(code(l), line(l)); c != "" {
			d.Language = append(d.Language, c)
		}
	}
	for _, l := range r.about.All("defaultLocale/*/language") {
		d.Language = append(d.Language, code(l))
	}
	if parent := cmp.Or(line(root.First("parentIdentifier")), line(root.First("parentMetadata/*/identifier/*/code"))); parent != "" {
		d.IsPartOf = append(d.IsPartOf, iri(parent))
	}
	for _, e := range root.All("referenceSystemInfo/*/referenceSystemIdentifier/*/code") {
		if href := link(e); href != "" {
			d.Conforms = append(d.Conforms, href)
		}
	}
	for _, result := range root.All("dataQualityInfo/*/report/*/result/*") {
		if href := link(result.First("specification/*/title")); href != "" && leaf(result.First("pass")) == "true" {
			d.Conforms = append(d.Conforms, href)
		}
	}
	d.Extras = map[string]string{}
	for name, value := range map[string]string{
		"lineage": cmp.Or(line(root.First("dataQualityInfo/*/lineage/*/statement")), line(root.First("resourceLineage/*/statement"))),
		"purpose": line(r.about.First("purpose")),
		"status":  code(r.about.First("status")),
	} {
		if value != "" {
			d.Extras[name] = value
		}
	}
	r.distributions(d)
	return rec
}

// reader reads one record.
type reader struct {
	root, about *loose.Element
	main        string            // language of the texts, "" if unknown
	locales     map[string]string // languages by locale
}

// identifiers adds the identifiers of the record and of its dataset.
func (r *reader) identifiers(d *harvest.Dataset, id string) {
	if id != "" {
		d.Identifiers = append(d.Identifiers, id)
	}
	for _, e := range r.about.All("citation/*/identifier/*") {
		value := cmp.Or(link(e.First("code")), line(e.First("code")))
		if space := line(e.First("codeSpace")); value != "" && space != "" && !strings.Contains(value, "://") {
			value = strings.TrimRight(space, "/") + "/" + value
		}
		if value != "" && value != id {
			d.Identifiers = append(d.Identifiers, value)
		}
	}
}

func (r *reader) keywords(d *harvest.Dataset) {
	for _, e := range r.about.All("descriptiveKeywords/*/keyword") {
		d.Keywords = append(d.Keywords, r.texts(e)...)
		if href := link(e); href != "" {
			d.Themes = append(d.Themes, href)
		}
	}
	for _, e := range r.about.All("topicCategory/MD_TopicCategoryCode") {
		if topic := e.Text(); topic != "" && strings.Trim(topic, letters) == "" {
			d.Themes = append(d.Themes, "http://inspire.ec.europa.eu/metadata-codelist/TopicCategory/"+topic) // as in GeoDCAT-AP
		}
	}
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// parties adds the agents responsible for the dataset.
func (r *reader) parties(d *harvest.Dataset) {
	var contact, first harvest.Agent
	publisher := map[string]harvest.Agent{}
	all := append(r.about.All("pointOfContact/*"), r.about.All("citation/*/citedResponsibleParty/*")...)
	all = append(all, r.root.All("distributionInfo/*/distributor/*/distributorContact/*")...)
	for _, e := range append(all, r.root.All("contact/*")...) {
		a := r.agent(e)
		if a == (harvest.Agent{}) {
			continue
		}
		if first == (harvest.Agent{}) {
			first = a
		}
		role := code(e.First("role"))
		switch role {
		case "pointOfContact":
			if contact == (harvest.Agent{}) {
				contact = a
			}
		case "author", "originator", "principalInvestigator":
			d.Creators = append(d.Creators, a)
		}
		if _, known := publisher[role]; !known && a.Type != "person" {
			publisher[role] = a
		}
	}
	if d.Contact = contact; contact == (harvest.Agent{}) {
		d.Contact = first
	}
	for _, role := range []string{"publisher", "owner", "resourceProvider", "custodian", "distributor", "pointOfContact"} {
		if a, ok := publisher[role]; ok {
			d.Publisher = a
			break
		}
	}
}

// agent reads a CI_ResponsibleParty (ISO 19139) or CI_Responsibility (ISO 19115-3).
func (r *reader) agent(e *loose.Element) harvest.Agent {
	a := harvest.Agent{Name: line(e.First("organisationName")), Type: "organization"}
	info := e.First("contactInfo/*")
	if party := e.First("party/*"); party != nil {
		a.Name = line(party.First("name"))
		if info = party.First("contactInfo/*"); strings.HasSuffix(party.Name.Local, "CI_Individual") {
			a.Type = "person"
		}
	}
	if a.Name == "" {
		if a.Name = line(e.First("individualName")); a.Name != "" {
			a.Type = "person"
		}
	}
	a.Email = line(info.First("address/*/electronicMailAddress"))
	for _, address := range addresses(info.First("onlineResource/*/linkage")) {
		a.URL = cmp.Or(a.URL, address)
	}
	if a.Name == "" && a.Email == "" {
		return harvest.Agent{}
	}
	return a
}

// rights adds licence, rights and access level. As a licence, it prefers an address. INSPIRE's limitations on access
// are in a code list.
func (r *reader) rights(d *harvest.Dataset) {
	var words []string
	take := func(e *loose.Element) {
		href, text := link(e), line(e)
		switch {
		case strings.Contains(href, "/LimitationsOnPublicAccess/"):
			d.AccessLevel = cmp.Or(d.AccessLevel, href)
			return
		case strings.Contains(href, "/ConditionsApplyingToAccessAndUse/"):
		case href == "":
			href = firstAddress(text)
		}
		if href != "" && (d.License == "" || isLicense(href) && !isLicense(d.License)) {
			d.License = href
		}
		if text != "" && text != d.License {
			words = append(words, text)
		}
	}
	for _, c := range r.about.All("resourceConstraints/*") {
		for _, name := range []string{"otherConstraints", "useLimitation"} {
			for _, e := range c.All(name) {
				take(e)
			}
		}
		for _, e := range c.All("reference/*/onlineResource/*/linkage") {
			if all := addresses(e); len(all) > 0 {
				d.License = cmp.Or(d.License, all[0])
			}
		}
	}
	if d.License == "" {
		for _, w := range words {
			if lower := strings.ToLower(w); d.License == "" && (strings.Contains(lower, "licen") || strings.Contains(lower, "lizenz")) {
				d.License = w
			}
		}
	}
	d.Rights = strings.Join(words, "\n")
}

func isLicense(address string) bool {
	lower := strings.ToLower(address)
	return strings.Contains(lower, "licen") || strings.Contains(lower, "creativecommons") || strings.Contains(lower, "opendatacommons")
}

// firstAddress returns the first address in a text.
func firstAddress(text string) string {
	for word := range strings.FieldsSeq(text) {
		if word = strings.Trim(word, `.,;()<>"'`); strings.HasPrefix(word, "http://") || strings.HasPrefix(word, "https://") {
			return word
		}
	}
	return ""
}
