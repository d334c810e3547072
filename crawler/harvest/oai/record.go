package oai

import (
	"net/url"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/iso19115"
	"odarchive/crawler/harvest/loose"
	"odarchive/crawler/harvest/portalapi"
	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// emit hands over one record.
func (h *run) emit(rec record) error {
	if rec.Identifier == "" {
		h.out.Skip("a record without an identifier")
		return nil
	}
	if t, ok := parseStamp(rec.Datestamp); ok && !h.wanted.holds(t, h.granularity) {
		return nil // the repository ignores the requested period
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

// recordIRI returns the address of a record, which every repository has.
func (h *run) recordIRI(identifier string) string {
	return portalapi.WithQuery(h.src.baseURL(), url.Values{"verb": {"GetRecord"}, "metadataPrefix": {"oai_dc"}, "identifier": {identifier}})
}

// catalogOf returns the IRI of a set.
func (h *run) catalogOf(spec string) string {
	return portalapi.WithQuery(h.src.baseURL(), url.Values{"verb": {"ListRecords"}, "metadataPrefix": {"oai_dc"}, "set": {spec}})
}

// baseURL returns the address as it was given, without following redirects, since IRIs must not change.
func (s Source) baseURL() string {
	base, _ := repository(s.URL) // was valid when the harvest began
	return base
}

// portalOf returns the portal that an Identify describes.
func (h *run) portalOf(id *loose.Element) harvest.Portal {
	p := harvest.Portal{IRI: h.portal, TellsGone: h.tellsGone(), Title: id.Child("repositoryName"),
		Publisher: harvest.Agent{Name: id.Child("repositoryName"), Email: strings.TrimPrefix(id.Child("adminEmail"), "mailto:")}}
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
	p.Statements = append(p.Statements,
		term.Quad{S: term.IRI(h.portal), P: term.IRI(vocab.DCTConformsTo), O: term.IRI("http://www.openarchives.org/OAI/2.0/")})
	return p
}

// dataset returns a record that has metadata as a dataset.
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

// isDC reports whether a record is in oai_dc or a qualified variant.
func isDC(root *loose.Element) bool {
	if root.Name.Local == "dc" || root.Name.Local == "qualifieddc" || root.Name.Local == "dcterms" || root.Name.Local == "qdc" {
		return true
	}
	return strings.HasPrefix(root.Name.Space, "http://www.openarchives.org/OAI/2.0/oai_dc")
}

// builder builds the dataset of a record.
type builder struct {
	d     harvest.Dataset
	pages []string // addresses of the dataset that may not be files
	files []harvest.Distribution
	types []string // media types named without a file
}

func (b *builder) add(property, value string) {
	if value = strings.TrimSpace(value); value == "" {
		return
	}
	o := term.String(value)
	if isURL(value) {
		o = term.IRI(iri.Escape(value))
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

// dublinCore reads simple and qualified Dublin Core by the local names of elements. Elements without a place in Dataset
// become statements with the dct: property of the same name.
func (b *builder) dublinCore(root *loose.Element) {
	for _, e := range root.Children {
		value, lang := e.Text(), e.Attr("lang")
		if value == "" {
			value = e.Attr("resource") // RDF style
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
			b.add(vocab.DCTSubject, value)
		case "creator":
			b.d.Creators = append(b.d.Creators, harvest.Agent{Name: value})
		case "publisher":
			if b.d.Publisher.Name == "" {
				b.d.Publisher.Name = value
			} else if b.d.Publisher.Name != value {
				b.add(vocab.DCTPublisher, value)
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
			b.add(vocab.DCTNS+name, value)
		case "format", "medium":
			b.format(value)
			b.add(vocab.DCTFormat, value)
		case "relation", "source", "hasPart", "hasFormat", "isFormatOf", "isVersionOf", "isReferencedBy":
			b.mention(value)
			b.add(vocab.DCTNS+name, value)
		case "coverage", "spatial", "temporal", "contributor", "type":
			b.add(vocab.DCTNS+name, value)
		default:
			if isTerm(name) {
				b.add(vocab.DCTNS+name, value)
			}
		}
	}
}

// isTerm reports whether a local name can end an IRI.
func isTerm(name string) bool {
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return false
		}
	}
	return name != ""
}

// rights prefers an address as the licence.
func (b *builder) rights(value string) {
	switch {
	case isURL(value) && !isURL(b.d.License):
		b.d.License = value
	case strings.HasPrefix(value, "info:eu-repo/semantics/"):
		b.d.AccessLevel = value
	case b.d.Rights == "":
		b.d.Rights = value
	default:
		b.add(vocab.DCTRights, value)
	}
}

// about reads the original repository of a record and the rights to its metadata.
func (b *builder) about(e *loose.Element) {
	if origin := e.Find("originDescription"); origin != nil {
		base, id := origin.Child("baseURL"), origin.Child("identifier")
		switch {
		case isURL(base) && id != "":
			b.add(vocab.PROVWasDerivedFrom,
				portalapi.WithQuery(base, url.Values{"verb": {"GetRecord"}, "metadataPrefix": {"oai_dc"}, "identifier": {id}}))
		case isURL(base):
			b.add(vocab.PROVWasDerivedFrom, base)
		}
		if id != "" {
			b.identifier(id)
		}
	}
}
