package rdfio

import (
	"unicode/utf8"

	"odarchive/triplestore/internal/terminals"
	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
)

// Check returns a *TermError if q is not RDF, so that every written document can be read again.
func Check(q term.Quad) error {
	if !isNode(q.S) {
		return &TermError{q.S, "a subject must be an IRI or a blank node"}
	}
	if q.P.Kind() != term.KindIRI {
		return &TermError{q.P, "a predicate must be an IRI"}
	}
	if q.O.Kind() == term.KindNone {
		return &TermError{q.O, "an object must be a term"}
	}
	if q.G != "" && !isNode(q.G) {
		return &TermError{q.G, "the name of a graph must be an IRI or a blank node"}
	}
	for _, k := range [4]term.Key{q.S, q.P, q.O, q.G} {
		if err := checkTerm(k, 0); err != nil {
			return err
		}
	}
	return nil
}

func isNode(k term.Key) bool { return k.Kind() == term.KindIRI || k.Kind() == term.KindBlank }

// maxTripleDepth bounds the nesting of triple terms, for readers and writers.
const maxTripleDepth = 64

func checkTerm(k term.Key, depth int) error {
	switch k.Kind() {
	case term.KindIRI:
		if err := iri.Check(k.Value()); err != nil {
			return &TermError{k, err.Error()}
		}
	case term.KindLiteral:
		if !utf8.ValidString(string(k)) {
			return &TermError{k, "not UTF-8"}
		}
		if k[0] == '^' {
			if err := iri.Check(k.Datatype()); err != nil {
				return &TermError{k, err.Error()}
			}
		}
		if k[0] == '@' && terminals.LangTag(k.Lang()) != len(k.Lang()) {
			return &TermError{k, "not a language tag"}
		}
	case term.KindTriple:
		s, p, o, ok := k.Parts()
		if !ok || depth == maxTripleDepth {
			return &TermError{k, "a triple term that is malformed or nested too deeply"}
		}
		if !isNode(s) || p.Kind() != term.KindIRI {
			return &TermError{k, "a triple term must have an IRI or blank node as its subject and an IRI as its predicate"}
		}
		for _, part := range [3]term.Key{s, p, o} {
			if err := checkTerm(part, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}
