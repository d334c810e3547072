package harvest

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"odarchive/crawler/address"
	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
	"odarchive/vocab/rdf"
)

// statements are gathered about one subject after the other. Nodes without an IRI get labels that follow from what they
// belong to, so that the same description always gives the same statements.
type statements struct {
	quads   []term.Quad
	subject term.Key
	prefix  string // of the labels of blank nodes
}

// NodePrefix begins the label of every blank node in the description of a dataset of a portal, and of no other.
func NodePrefix(portal, dataset string) string {
	sum := sha256.Sum256([]byte(portal + "\n" + dataset))
	return "d" + hex.EncodeToString(sum[:10]) + "-"
}

func (s *statements) about(subject term.Key) { s.subject = subject }

func (s *statements) add(predicate string, o term.Key) {
	s.quads = append(s.quads, term.Quad{S: s.subject, P: term.IRI(predicate), O: o})
}

func (s *statements) isA(class string) { s.add(rdf.Type, term.IRI(class)) }

// text adds a plain literal where there is anything to say, and so do the following for their kinds of values.
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

// node is the IRI where address is one, else a blank node named after its role.
func (s *statements) node(address, role string) term.Key {
	if address, ok := AsIRI(address); ok {
		return term.IRI(address)
	}
	return term.Blank(s.prefix + role)
}

// within says something about another subject and comes back.
func (s *statements) within(subject term.Key, say func()) {
	outer := s.subject
	s.subject = subject
	say()
	s.subject = outer
}

// own takes over statements that a source made itself. What is no RDF statement is repaired or left out.
func (s *statements) own(quads []term.Quad) {
	for _, q := range quads {
		if q, ok := valid(q); ok {
			s.quads = append(s.quads, q)
		}
	}
}

// valid is a statement without a graph, whose IRIs are such; false where that cannot be.
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
	subject := q.S.Kind() == term.KindIRI || q.S.Kind() == term.KindBlank
	return q, subject && q.P.Kind() == term.KindIRI && q.O.Kind() != term.KindNone && len(q.O) <= maxLiteral
}

// withoutSecrets takes users and passwords out of the addresses of a statement.
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

// maxLiteral is the longest object that is kept, in bytes: less than what the store takes.
const maxLiteral = 256 << 10

func number(i int) string { return strconv.Itoa(i + 1) }

func isHex(s string) bool {
	return s != "" && len(s)%2 == 0 && strings.Trim(strings.ToLower(s), "0123456789abcdef") == ""
}
