package oai

import (
	"net/url"
	"strings"

	"odarchive/crawler/archive/describe"
	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/iso19115"
	"odarchive/crawler/harvest/loosexml"
	"odarchive/triplestore/term"
	"odarchive/vocab/dcterms"
	"odarchive/vocab/prov"
)

// take hands over one record.
func (h *run) take(rec record) error {
	if rec.Identifier == "" {
		h.out.Skip("a record without an identifier")
		return nil
	}
	if t, ok := parseStamp(rec.Datestamp); ok && !h.wanted.holds(t, h.granularity) {
		return nil // the repository does not listen
	}
	h.stats.Record(h.src.Now(), rec.Deleted)
	iri := h.recordIRI(rec.Identifier)
	if rec.Deleted {
		return h.out.Gone(iri)
	}
	if rec.Metadata == nil {
		h.out.Skip("record " + rec.Identifier + " has no metadata")
		return nil
	}
	return h.out.Dataset(h.dataset(iri, rec))
}

// recordIRI is where a record can be read, as every repository has it.
func (h *run) recordIRI(identifier string) string {
	return withQuery(h.src.baseURL(), url.Values{"verb": {"GetRecord"}, "metadataPrefix": {"oai_dc"}, "identifier": {identifier}})
}

// catalogOf a set.
func (h *run) catalogOf(spec string) string {
	return withQuery(h.src.baseURL(), url.Values{"verb": {"ListRecords"}, "metadataPrefix": {"oai_dc"}, "set": {spec}})
}

// baseURL as it was given, wherever it redirects to: names must last.
func (s Source) baseURL() string {
	base, _ := repository(s.URL) // was fine when the harvest began
	return base
}

// portalOf an Identify.
func (h *run) portalOf(id *loosexml.Element) harvest.Portal {
	p := harvest.Portal{IRI: h.portal, Title: id.Child("repositoryName"), Publisher: harvest.Agent{Name: id.Child("repositoryName"), Email: strings.TrimPrefix(id.Child("adminEmail"), "mailto:")}}
	if u, err := url.Parse(h.src.baseURL()); err == nil {
		p.Homepage = u.Scheme + "://" + u.Host + "/"
	}
	if kit := id.Find("toolkit"); kit != nil {
		p.Software = strings.TrimSpace(kit.Child("title") + " " + kit.Child("version"))
	}
	for _, description := range id.Children {
		if description.Name.Local != "description" {
			continue
		}
		if d := description.Find("description"); d != nil && d != description && p.Description == "" {
			p.Description = d.Text()
		}
		if e := description.Find("content"); e != nil && p.Description == "" { // of the eprints schema
			p.Description = e.Child("text")
		}
	}
	p.Statements = append(p.Statements, term.Quad{S: term.IRI(h.portal), P: term.IRI(dcterms.ConformsTo), O: term.IRI("http://www.openarchives.org/OAI/2.0/")})
	return p
}

// dataset of a record with metadata.
func (h *run) dataset(iri string, rec record) harvest.Dataset {
	b := &builder{d: harvest.Dataset{IRI: iri, Modified: rec.Datestamp}}
	b.identifier(rec.Identifier)
	for _, spec := range rec.Sets {
		b.d.IsPartOf = append(b.d.IsPartOf, h.catalogOf(spec))
	}
	switch root := rec.Metadata; {
	case isDC(root):
		b.dublinCore(root)
	case root.Name.Local == "RDF":
		b.rdf(rec.Raw, h.src.baseURL())
	case iso19115.Is(root):
		b.iso(root, rec.Raw)
	default:
		b.other(root, rec.Raw)
	}
	b.links()
	for _, about := range rec.About {
		b.about(about)
	}
	return b.d
}

// isDC tells oai_dc and its qualified relatives.
func isDC(root *loosexml.Element) bool {
	if root.Name.Local == "dc" || root.Name.Local == "qualifieddc" || root.Name.Local == "dcterms" || root.Name.Local == "qdc" {
		return true
	}
	return strings.HasPrefix(root.Name.Space, "http://www.openarchives.org/OAI/2.0/oai_dc")
}

// builder makes a dataset of what a record says.
type builder struct {
	d     harvest.Dataset
	pages []string // addresses of the dataset's own, whatever is behind them
	files []harvest.Distribution
	types []string // media types that the record names without a file
}

func (b *builder) say(property, value string) {
	if value = strings.TrimSpace(value); value == "" {
		return
	}
	o := term.String(value)
	if isURL(value) {
		o = describe.IRI(value)
	}
	b.d.Statements = append(b.d.Statements, term.Quad{S: term.IRI(b.d.IRI), P: term.IRI(property), O: o})
}

func (b *builder) identifier(id string) {
	for _, have := range b.d.Identifiers {
		if have == id {
			return
		}
	}
	b.d.Identifiers = append(b.d.Identifiers, id)
}

// dublinCore reads simple and qualified Dublin Core, told apart by the elements' local names. What has a place in DCAT
// goes there; all else becomes a statement with the dct: property of the same name.
func (b *builder) dublinCore(root *loosexml.Element) {
	for _, e := range root.Children {
		value, lang := e.Text(), e.Attr("lang")
		if value == "" {
			value = e.Attr("resource") // of elements in the manner of RDF
		}
		if value == "" {
			continue
		}
		switch name := e.Name.Local; name {
		case "title":
			b.d.Title = append(b.d.Title, harvest.Text{Value: value, Lang: lang})
		case "description", "abstract":
			b.d.Description = append(b.d.Description, harvest.Text{Value: value, Lang: lang})
		case "subject":
			b.d.Keywords = append(b.d.Keywords, harvest.Text{Value: value, Lang: lang})
			b.say(dcterms.Subject, value)
		case "creator":
			b.d.Creators = append(b.d.Creators, harvest.Agent{Name: value})
		case "publisher":
			if b.d.Publisher.Name == "" {
				b.d.Publisher.Name = value
			} else if b.d.Publisher.Name != value {
				b.say(dcterms.Publisher, value)
			}
		case "language":
			b.d.Language = append(b.d.Language, value)
		case "rights", "license", "accessRights":
			b.rights(value)
		case "identifier":
			b.identifier(value)
			b.address(value)
		case "date", "issued", "created", "available":
			if b.d.Issued == "" {
				if _, ok := parseStamp(value); ok {
					b.d.Issued = value
				}
			}
			b.say(dcterms.NS+name, value)
		case "format", "medium":
			b.format(value)
			b.say(dcterms.Format, value)
		case "relation", "source", "hasPart", "hasFormat", "isFormatOf", "isVersionOf", "isReferencedBy":
			b.mention(value)
			b.say(dcterms.NS+name, value)
		case "coverage", "spatial", "temporal", "contributor", "type":
			b.say(dcterms.NS+name, value)
		default:
			if isTerm(name) {
				b.say(dcterms.NS+name, value)
			}
		}
	}
}

// isTerm tells a local name that can end an IRI.
func isTerm(name string) bool {
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return false
		}
	}
	return name != ""
}

// rights: the address of a licence goes before all words.
func (b *builder) rights(value string) {
	switch {
	case isURL(value) && !isURL(b.d.License):
		b.d.License = value
	case strings.HasPrefix(value, "info:eu-repo/semantics/"):
		b.d.AccessLevel = value
	case b.d.Rights == "":
		b.d.Rights = value
	default:
		b.say(dcterms.Rights, value)
	}
}

// about reads where a record was harvested before, and the rights in the metadata itself.
func (b *builder) about(e *loosexml.Element) {
	if origin := e.Find("originDescription"); origin != nil {
		base, id := origin.Child("baseURL"), origin.Child("identifier")
		switch {
		case isURL(base) && id != "":
			b.say(prov.WasDerivedFrom, withQuery(base, url.Values{"verb": {"GetRecord"}, "metadataPrefix": {"oai_dc"}, "identifier": {id}}))
		case isURL(base):
			b.say(prov.WasDerivedFrom, base)
		}
		if id != "" {
			b.identifier(id)
		}
	}
}
