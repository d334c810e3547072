// Package iso19115 reads records in the XML of ISO 19139 (gmd:MD_Metadata and its national profiles) and ISO 19115-3
// (mdb:MD_Metadata), as catalogs of geographic data give them, and says them in the words of DCAT.
//
// Elements are told by their local names, in which both encodings agree but for those of parties and identifiers. The mapping
// follows GeoDCAT-AP where that is decided. What is not understood is left out; nothing is required.
package iso19115

import (
	"cmp"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loosexml"
)

// Record is what one description says.
type Record struct {
	ID      string // fileIdentifier, metadataIdentifier
	Stamp   string // when the description was last changed
	Service bool   // it describes a service; the operations' addresses are the distributions
	Dataset harvest.Dataset
}

// Is tells the root element of a record.
func Is(e *loosexml.Element) bool {
	if e == nil {
		return false
	}
	name := e.Name.Local
	return strings.HasSuffix(name, "MD_Metadata") || strings.HasSuffix(name, "MI_Metadata") || strings.HasSuffix(e.Attr("isoType"), "MD_Metadata")
}

// ID of a record, "" where it has none.
func ID(root *loosexml.Element) string {
	return cmp.Or(line(root.First("fileIdentifier")), line(root.First("metadataIdentifier/*/code")))
}

// Read a record. iri names records by their identifiers, "" for one that has none.
func Read(root *loosexml.Element, iri func(id string) string) Record {
	r := &reader{root: root, about: root.First("identificationInfo/*")}
	r.languages()
	rec := Record{
		ID:    ID(root),
		Stamp: cmp.Or(leaf(root.First("dateStamp")), dateOf(root.All("dateInfo/*"), "revision"), dateOf(root.All("dateInfo/*"), "creation")),
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
	d.Frequency = cmp.Or(leaf(maintenance.First("userDefinedMaintenanceFrequency")), code(maintenance.First("maintenanceAndUpdateFrequency")))
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

// reader of one record.
type reader struct {
	root, about *loosexml.Element
	main        string            // language of texts, "" where it is not said
	locales     map[string]string // languages by the names of their locales
}

// identifiers of the record and of what it describes.
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
			d.Themes = append(d.Themes, "http://inspire.ec.europa.eu/metadata-codelist/TopicCategory/"+topic) // as GeoDCAT-AP has it
		}
	}
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// parties that stand behind the data.
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

// agent of CI_ResponsibleParty (ISO 19139) or CI_Responsibility (ISO 19115-3).
func (r *reader) agent(e *loosexml.Element) harvest.Agent {
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

// rights: the address of a licence goes before words, INSPIRE's limitations of access have a code list of their own.
func (r *reader) rights(d *harvest.Dataset) {
	var words []string
	take := func(e *loosexml.Element) {
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

// firstAddress in a text.
func firstAddress(text string) string {
	for word := range strings.FieldsSeq(text) {
		if word = strings.Trim(word, `.,;()<>"'`); strings.HasPrefix(word, "http://") || strings.HasPrefix(word, "https://") {
			return word
		}
	}
	return ""
}
