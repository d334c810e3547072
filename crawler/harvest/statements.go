package harvest

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"odarchive/crawler/address"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// statements collects statements about one subject at a time. The labels of nodes without an IRI are derived from what
// they belong to, so that equal descriptions have equal statements.
type statements struct {
	quads   []term.Quad
	subject term.Key
	prefix  string // of blank node labels
}

// NodePrefix returns the prefix of all blank node labels in a portal's description of a dataset. No other description
// uses it.
func NodePrefix(portal, dataset string) string {
	sum := sha256.Sum256([]byte(portal + "\n" + dataset))
	return "d" + hex.EncodeToString(sum[:10]) + "-"
}

func (s *statements) about(subject term.Key) { s.subject = subject }

func (s *statements) add(predicate string, o term.Key) {
	s.quads = append(s.quads, term.Quad{S: s.subject, P: term.IRI(predicate), O: o})
}

func (s *statements) isA(class string) { s.add(vocab.RDFType, term.IRI(class)) }

// text adds a plain literal unless it is empty. So do the following methods for other kinds of values.
func (s *statements) text(predicate, value string) {
	if value = plain(value); value != "" {
		s.add(predicate, term.String(value))
	}
}

func (s *statements) texts(predicate string, values []Text) {
	for _, t := range values {
		if plain(t.Value) != "" {
			s.add(predicate, tagged(t))
		}
	}
}

func (s *statements) thing(predicate string, values ...string) {
	for _, v := range values {
		if plain(v) != "" {
			s.add(predicate, thing(v))
		}
	}
}

func (s *statements) date(predicate, value string) {
	if plain(value) != "" {
		s.add(predicate, date(value))
	}
}

// node returns the IRI for a valid address, else a blank node named after its role.
func (s *statements) node(address, role string) term.Key {
	if address, ok := AsIRI(address); ok {
		return term.IRI(address)
	}
	return term.Blank(s.prefix + role)
}

// within calls say with another subject.
func (s *statements) within(subject term.Key, say func()) {
	outer := s.subject
	s.subject = subject
	say()
	s.subject = outer
}

// addOwn adds a source's own statements, repaired if necessary. Those that cannot be repaired are omitted.
func (s *statements) addOwn(quads []term.Quad) {
	for _, q := range quads {
		if q, ok := valid(q); ok {
			s.quads = append(s.quads, q)
		}
	}
}

// valid returns a statement without its graph and with repaired IRIs and literals, false if it cannot be repaired.
// Results of SPARQL endpoints may have anything where RDF has a language tag, and a store with such a literal could not
// be dumped.
func valid(q term.Quad) (term.Quad, bool) {
	q = withoutSecrets(q)
	q.G = ""
	for _, k := range []*term.Key{&q.S, &q.P, &q.O} {
		if k.Kind() != term.KindIRI || len(*k) < maxIRI && iri.Check(k.Value()) == nil {
			continue
		}
		address, ok := AsIRI(k.Value())
		switch {
		case ok:
			*k = term.IRI(address)
		case k == &q.O:
			*k = term.String(plain(k.Value()))
		default:
			return q, false
		}
	}
	if q.O.Kind() == term.KindLiteral && rdfio.Check(q) != nil { // its language or its datatype is none
		q.O = tagged(Text{Value: q.O.Value(), Lang: q.O.Lang()})
	}
	return q, rdfio.Check(q) == nil && len(q.O) <= maxLiteral
}

// withoutSecrets removes users and passwords from the addresses in a statement.
func withoutSecrets(q term.Quad) term.Quad {
	for _, k := range []*term.Key{&q.S, &q.O} {
		if k.Kind() != term.KindIRI {
			continue
		}
		if public, stripped := address.WithoutSecret(k.Value()); stripped {
			*k = term.IRI(public)
		}
	}
	return q
}

// maxLiteral is the maximum size of an object in bytes, below the store's own limit.
const maxLiteral = 256 << 10

func number(i int) string { return strconv.Itoa(i + 1) }

func isHex(s string) bool {
	return s != "" && len(s)%2 == 0 && strings.Trim(strings.ToLower(s), "0123456789abcdef") == ""
}
