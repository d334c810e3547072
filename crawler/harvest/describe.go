package harvest

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// Quads describes the portal in DCAT 3, without a graph.
func (p Portal) Quads() []term.Quad {
	iri, ok := AsIRI(p.IRI)
	if !ok {
		return nil
	}
	s := &statements{prefix: NodePrefix(iri, "")}
	s.about(term.IRI(iri))
	s.isA(vocab.DCATCatalog)
	s.text(vocab.DCTTitle, p.Title)
	s.text(vocab.DCTDescription, p.Description)
	if home, ok := AsIRI(p.Homepage); ok {
		s.add(vocab.FOAFHomepage, term.IRI(home))
	}
	s.text(vocab.ArcSoftware, p.Software)
	s.agent(vocab.DCTPublisher, p.Publisher, "publisher")
	s.thing(vocab.DCTLanguage, p.Language...)
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
		s.add(vocab.DCATDatasetProp, term.IRI(iri))
	}
	s.about(term.IRI(iri))
	s.isA(vocab.DCATDataset)
	if !d.Verbatim {
		s.dataset(d)
	}
	s.addOwn(Relabelled(d.Statements, s.prefix+"s"))
	return distinct(s.quads)
}

func (s *statements) dataset(d Dataset) {
	s.texts(vocab.DCTTitle, d.Title)
	s.texts(vocab.DCTDescription, d.Description)
	s.texts(vocab.DCATKeyword, d.Keywords)
	s.thing(vocab.DCATTheme, d.Themes...)
	for i, id := range d.Identifiers {
		s.identifier(id, "identifier"+number(i))
	}
	if page, ok := AsIRI(d.LandingPage); ok {
		s.add(vocab.DCATLandingPage, term.IRI(page))
	}
	s.thing(vocab.DCTLicense, d.License)
	s.thing(vocab.DCTRights, d.Rights)
	s.thing(vocab.DCTAccessRights, d.AccessLevel)
	s.agent(vocab.DCTPublisher, d.Publisher, "publisher")
	for i, a := range d.Creators {
		s.agent(vocab.DCTCreator, a, "creator"+number(i))
	}
	s.contact(d.Contact)
	s.thing(vocab.DCTAccrualPeriodicity, d.Frequency)
	s.date(vocab.DCTIssued, d.Issued)
	s.date(vocab.DCTModified, d.Modified)
	for i, p := range d.Spatial {
		s.place(p, "place"+number(i))
	}
	for i, p := range d.Temporal {
		s.period(p, "period"+number(i))
	}
	s.thing(vocab.DCTLanguage, d.Language...)
	s.text(vocab.DCATVersion, d.Version)
	s.thing(vocab.DCTConformsTo, d.Conforms...)
	s.thing(vocab.DCTIsPartOf, d.IsPartOf...)
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
	s.add(vocab.DCTIdentifier, term.String(id))
	global, isDOI := strings.CutPrefix(id, "10.")
	if _, ok := AsIRI(id); !ok && !(isDOI && strings.Contains(global, "/")) {
		return
	}
	node := term.Blank(s.prefix + role)
	s.add(vocab.ADMSIdentifierProp, node)
	s.within(node, func() {
		s.isA(vocab.ADMSIdentifier)
		s.add(vocab.SKOSNotation, term.String(id))
		if isDOI || strings.Contains(strings.ToLower(id), "doi.org/") || strings.HasPrefix(strings.ToLower(id), "doi:") {
			s.text(vocab.ADMSSchemaAgency, "DOI")
		}
	})
}

// extra adds a property that has no term in DCAT.
func (s *statements) extra(name, value, role string) {
	if plain(name) == "" || plain(value) == "" {
		return
	}
	node := term.Blank(s.prefix + role)
	s.add(vocab.SchemaAdditionalProperty, node)
	s.within(node, func() {
		s.isA(vocab.SchemaPropertyValue)
		s.text(vocab.SchemaName, name)
		s.text(vocab.SchemaValue, value)
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
