package harvest

import (
	"strings"

	"odarchive/triplestore/term"
	"odarchive/vocab"
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
		s.text(vocab.FOAFName, a.Name)
		if mail, ok := mailAddress(a.Email); ok {
			s.add(vocab.FOAFMbox, term.IRI(mail))
		}
		if home, ok := AsIRI(a.URL); ok {
			s.add(vocab.FOAFHomepage, term.IRI(home))
		}
		if class := agentClass(a.Type); class == vocab.FOAFAgent {
			s.thing(vocab.DCTType, a.Type)
		}
	})
}

// contact adds the contact of the dataset as a vCard, as DCAT requires.
func (s *statements) contact(a Agent) {
	if a == (Agent{}) {
		return
	}
	node := s.node(a.IRI, "contact")
	s.add(vocab.DCATContactPoint, node)
	s.within(node, func() {
		switch agentClass(a.Type) {
		case vocab.FOAFOrganization:
			s.isA(vocab.VCardOrganization)
		case vocab.FOAFPerson:
			s.isA(vocab.VCardIndividual)
		default:
			s.isA(vocab.VCardKind)
		}
		s.text(vocab.VCardFn, a.Name)
		if mail, ok := mailAddress(a.Email); ok {
			s.add(vocab.VCardHasEmail, term.IRI(mail))
		} else {
			s.text(vocab.VCardHasEmail, a.Email)
		}
		if home, ok := AsIRI(a.URL); ok {
			s.add(vocab.VCardHasURL, term.IRI(home))
		}
	})
}

func agentClass(kind string) string {
	kind = strings.ToLower(kind)
	switch kind = kind[strings.LastIndexAny(kind, "/#:")+1:]; kind {
	case "organization", "organisation", "org":
		return vocab.FOAFOrganization
	case "person", "individual", "personal":
		return vocab.FOAFPerson
	}
	return vocab.FOAFAgent
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
