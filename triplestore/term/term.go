// Package term represents RDF terms and quads.
//
// A Key is the canonical form of an RDF 1.1 or 1.2 term: two terms are the same if and only if their keys are equal as
// strings. An ID is a 64-bit name for a term, valid within one store. It is either an inline value, which carries the
// term itself, or a number that only the store's dictionary can translate. Pattern selects quads of ids, and a Cursor
// returns them as IDQuads.
//
// The package does not access the disk and does not interpret SPARQL. Of and Key.RDF convert from and to the terms of
// github.com/knakk/rdf, which this project uses only at public edges: their equality ignores datatypes, and some of its
// literals panic as map keys.
package term

import (
	"encoding/binary"
	"strings"
)

// Key is the canonical encoding of one term. The first byte is its kind:
//
//	'<' iri                          an IRI, absolute, as written
//	'_' label                        a blank node; the label has no "_:"
//	'"' lexical                      a literal of type xsd:string
//	'@' lang 0x00 lexical            a language-tagged string; lang in lower case, with "--ltr" or "--rtl" if it has a
//	    direction
//	'^' datatype 0x00 lexical        any other literal; the lexical form as written
//	'(' len s len p len o            a triple term (RDF 1.2); len as uvarint, s p o as keys
//
// The empty Key is not a term. It stands for the default graph or an unbound variable.
type Key string

// Kind is the kind of term that a Key or an ID represents.
type Kind byte

const (
	KindNone Kind = iota
	KindIRI
	KindBlank
	KindLiteral
	KindTriple
)

// Datatype IRIs that the encoding depends on.
const (
	XSDString  = "http://www.w3.org/2001/XMLSchema#string"
	LangString = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"
	DirLang    = "http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString"
)

// IRI returns the key of an absolute IRI.
func IRI(iri string) Key { return Key("<" + iri) }

// Blank returns the key of a blank node. The label has no "_:".
func Blank(label string) Key { return Key("_" + label) }

// String returns the key of an xsd:string.
func String(s string) Key { return Key("\"" + s) }

// Lang returns the key of a language-tagged string. It folds the tag to lower case (RDF 1.1 Concepts §3.3); with an
// empty tag it returns String(s).
func Lang(s, tag string) Key {
	if tag == "" {
		return String(s)
	}
	return Key("@" + strings.ToLower(tag) + "\x00" + s)
}

// Typed returns the key of a literal with the given datatype, an absolute IRI.
func Typed(lexical, datatype string) Key {
	if datatype == XSDString || datatype == "" {
		return String(lexical)
	}
	return Key("^" + datatype + "\x00" + lexical)
}

// Triple returns the key of a triple term (RDF 1.2).
func Triple(s, p, o Key) Key {
	b := make([]byte, 0, 1+3*binary.MaxVarintLen16+len(s)+len(p)+len(o))
	b = append(b, '(')
	for _, k := range [3]Key{s, p, o} {
		b = binary.AppendUvarint(b, uint64(len(k)))
		b = append(b, k...)
	}
	return Key(b)
}

// Kind returns the kind of the term, or KindNone if the key is empty or malformed.
func (k Key) Kind() Kind {
	if k == "" {
		return KindNone
	}
	switch k[0] {
	case '<':
		return KindIRI
	case '_':
		return KindBlank
	case '"', '@', '^':
		return KindLiteral
	case '(':
		return KindTriple
	}
	return KindNone
}

// Value returns the IRI, the label of the blank node or the lexical form. For a triple term it returns "".
func (k Key) Value() string {
	switch k.Kind() {
	case KindIRI, KindBlank:
		return string(k[1:])
	case KindLiteral:
		if k[0] == '"' {
			return string(k[1:])
		}
		_, lex, _ := strings.Cut(string(k[1:]), "\x00")
		return lex
	}
	return ""
}

// Datatype returns the datatype IRI of a literal, or "" for other terms.
func (k Key) Datatype() string {
	if k.Kind() != KindLiteral {
		return ""
	}
	switch k[0] {
	case '"':
		return XSDString
	case '@':
		if tag, _, _ := strings.Cut(string(k[1:]), "\x00"); strings.Contains(tag, "--") {
			return DirLang
		}
		return LangString
	}
	dt, _, _ := strings.Cut(string(k[1:]), "\x00")
	return dt
}

// Lang returns the language tag of a literal, without its direction, or "" if it has none.
func (k Key) Lang() string {
	tag, _ := k.tag()
	return tag
}

// Dir returns the base direction ("ltr" or "rtl") of a literal, or "" if it has none.
func (k Key) Dir() string {
	_, dir := k.tag()
	return dir
}

func (k Key) tag() (lang, dir string) {
	if k == "" || k[0] != '@' {
		return "", ""
	}
	tag, _, _ := strings.Cut(string(k[1:]), "\x00")
	lang, dir, _ = strings.Cut(tag, "--")
	return lang, dir
}

// Parts returns the components of a triple term. ok is false for other keys.
func (k Key) Parts() (s, p, o Key, ok bool) {
	if k == "" || k[0] != '(' {
		return "", "", "", false
	}
	rest := []byte(k[1:])
	var part [3]Key
	for i := range part {
		n, w := binary.Uvarint(rest)
		if w <= 0 || uint64(len(rest)-w) < n {
			return "", "", "", false
		}
		part[i] = Key(rest[w : w+int(n)])
		rest = rest[w+int(n):]
	}
	return part[0], part[1], part[2], len(rest) == 0
}
