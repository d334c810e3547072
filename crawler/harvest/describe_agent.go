package harvest

import (
	"strings"

	"odarchive/triplestore/term"
	"odarchive/vocab/dcat"
	"odarchive/vocab/dcterms"
	"odarchive/vocab/foaf"
	"odarchive/vocab/vcard"
)

// agent adds an agent of the dataset in terms of FOAF.
func (s *statements) agent(predicate string, a Agent, role string) {
	if a == (Agent{}) {
		return
	}
	node := s.node(a.IRI, role)
	s.add(predicate, node)
	s.within(node, func() {
		s.isA(agentClass(a.Type))
		s.text(foaf.Name, a.Name)
		if mail, ok := mailAddress(a.Email); ok {
			s.add(foaf.Mbox, term.IRI(mail))
		}
		if home, ok := AsIRI(a.URL); ok {
			s.add(foaf.Homepage, term.IRI(home))
		}
		if class := agentClass(a.Type); class == foaf.Agent {
			s.thing(dcterms.Type, a.Type)
		}
	})
}

// contact adds the contact of the dataset as a vCard, as DCAT requires.
func (s *statements) contact(a Agent) {
	if a == (Agent{}) {
		return
	}
	node := s.node(a.IRI, "contact")
	s.add(dcat.ContactPoint, node)
	s.within(node, func() {
		switch agentClass(a.Type) {
		case foaf.Organization:
			s.isA(vcard.Organization)
		case foaf.Person:
			s.isA(vcard.Individual)
		default:
			s.isA(vcard.Kind)
		}
		s.text(vcard.Fn, a.Name)
		if mail, ok := mailAddress(a.Email); ok {
			s.add(vcard.HasEmail, term.IRI(mail))
		} else {
			s.text(vcard.HasEmail, a.Email)
		}
		if home, ok := AsIRI(a.URL); ok {
			s.add(vcard.HasURL, term.IRI(home))
		}
	})
}

func agentClass(kind string) string {
	kind = strings.ToLower(kind)
	switch kind = kind[strings.LastIndexAny(kind, "/#:")+1:]; kind {
	case "organization", "organisation", "org":
		return foaf.Organization
	case "person", "individual", "personal":
		return foaf.Person
	}
	return foaf.Agent
}

// mailAddress returns a mail address, with or without its scheme, as a mailto IRI.
func mailAddress(s string) (string, bool) {
	s = strings.TrimSpace(s)
	if len(s) > 7 && strings.EqualFold(s[:7], "mailto:") {
		s = s[7:]
	}
	local, domain, ok := strings.Cut(s, "@")
	if !ok || local == "" || domain == "" || strings.ContainsAny(s, " ,;<>\"\\\t\n") {
		return "", false
	}
	return AsIRI("mailto:" + s)
}
