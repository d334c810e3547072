package harvest

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"odarchive/triplestore/term"
	"odarchive/vocab/adms"
	"odarchive/vocab/arc"
	"odarchive/vocab/dcat"
	"odarchive/vocab/dcterms"
	"odarchive/vocab/foaf"
	"odarchive/vocab/schema"
	"odarchive/vocab/skos"
)

// Quads describes the portal in DCAT 3, without a graph.
func (p Portal) Quads() []term.Quad {
	iri, ok := AsIRI(p.IRI)
	if !ok {
		return nil
	}
	s := &statements{prefix: NodePrefix(iri, "")}
	s.about(term.IRI(iri))
	s.isA(dcat.Catalog)
	s.text(dcterms.Title, p.Title)
	s.text(dcterms.Description, p.Description)
	if home, ok := AsIRI(p.Homepage); ok {
		s.add(foaf.Homepage, term.IRI(home))
	}
	s.text(arc.Software, p.Software)
	s.agent(dcterms.Publisher, p.Publisher, "publisher")
	s.thing(dcterms.Language, p.Language...)
	s.addOwn(Relabelled(p.Statements, s.prefix+"s"))
	return s.quads
}

// Quads describes the dataset as the portal lists it, in DCAT 3, without a graph. Equal datasets have equal statements,
// including the labels of blank nodes, which begin with NodePrefix. It returns nil if the dataset's IRI is not valid.
func (d Dataset) Quads(portal string) []term.Quad {
	iri, ok := AsIRI(d.IRI)
	if !ok {
		return nil
	}
	s := &statements{prefix: NodePrefix(portal, d.IRI)}
	if portal, ok := AsIRI(portal); ok {
		s.about(term.IRI(portal))
		s.add(dcat.DatasetProp, term.IRI(iri))
	}
	s.about(term.IRI(iri))
	s.isA(dcat.Dataset)
	if !d.Verbatim {
		s.dataset(d)
	}
	s.addOwn(Relabelled(d.Statements, s.prefix+"s"))
	return distinct(s.quads)
}

func (s *statements) dataset(d Dataset) {
	s.texts(dcterms.Title, d.Title)
	s.texts(dcterms.Description, d.Description)
	s.texts(dcat.Keyword, d.Keywords)
	s.thing(dcat.Theme, d.Themes...)
	for i, id := range d.Identifiers {
		s.identifier(id, "identifier"+number(i))
	}
	if page, ok := AsIRI(d.LandingPage); ok {
		s.add(dcat.LandingPage, term.IRI(page))
	}
	s.thing(dcterms.License, d.License)
	s.thing(dcterms.Rights, d.Rights)
	s.thing(dcterms.AccessRights, d.AccessLevel)
	s.agent(dcterms.Publisher, d.Publisher, "publisher")
	for i, a := range d.Creators {
		s.agent(dcterms.Creator, a, "creator"+number(i))
	}
	s.contact(d.Contact)
	s.thing(dcterms.AccrualPeriodicity, d.Frequency)
	s.date(dcterms.Issued, d.Issued)
	s.date(dcterms.Modified, d.Modified)
	for i, p := range d.Spatial {
		s.place(p, "place"+number(i))
	}
	for i, p := range d.Temporal {
		s.period(p, "period"+number(i))
	}
	s.thing(dcterms.Language, d.Language...)
	s.text(dcat.Version, d.Version)
	s.thing(dcterms.ConformsTo, d.Conforms...)
	s.thing(dcterms.IsPartOf, d.IsPartOf...)
	for _, name := range slices.Sorted(maps.Keys(d.Extras)) {
		sum := sha256.Sum256([]byte(name)) // not its index: a new extra leaves the others unchanged
		s.extra(name, d.Extras[name], "extra"+hex.EncodeToString(sum[:4]))
	}
	for i, dist := range d.Distributions {
		s.distribution(dist, "distribution"+number(i))
	}
}

// identifier adds an identifier of the dataset. A global one (a DOI, a URN, an address) also becomes an
// adms:Identifier.
func (s *statements) identifier(id, role string) {
	id = plain(id)
	if id == "" {
		return
	}
	s.add(dcterms.Identifier, term.String(id))
	global, isDOI := strings.CutPrefix(id, "10.")
	if _, ok := AsIRI(id); !ok && !(isDOI && strings.Contains(global, "/")) {
		return
	}
	node := term.Blank(s.prefix + role)
	s.add(adms.IdentifierProp, node)
	s.within(node, func() {
		s.isA(adms.Identifier)
		s.add(skos.Notation, term.String(id))
		if isDOI || strings.Contains(strings.ToLower(id), "doi.org/") || strings.HasPrefix(strings.ToLower(id), "doi:") {
			s.text(adms.SchemaAgency, "DOI")
		}
	})
}

// extra adds a property that has no term in DCAT.
func (s *statements) extra(name, value, role string) {
	if plain(name) == "" || plain(value) == "" {
		return
	}
	node := term.Blank(s.prefix + role)
	s.add(schema.AdditionalProperty, node)
	s.within(node, func() {
		s.isA(schema.PropertyValue)
		s.text(schema.Name, name)
		s.text(schema.Value, value)
	})
}

// distinct removes duplicates from quads, in place.
func distinct(quads []term.Quad) []term.Quad {
	seen := make(map[term.Quad]bool, len(quads))
	return slices.DeleteFunc(quads, func(q term.Quad) bool {
		again := seen[q]
		seen[q] = true
		return again
	})
}
