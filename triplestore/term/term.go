// Package term says what makes two RDF terms the same, and gives each a small number.
//
// A Key is the canonical form of one RDF 1.1 (and 1.2) term: two terms are the same term exactly if
// their keys are equal as strings. An ID is a 64-bit name for a term, valid within one store: either an
// inline value that is its own dictionary entry, or a number that only the store's dictionary can turn
// back. IDQuad, Pattern and Cursor are how quads of ids are asked for and handed out.
//
// The package knows neither disk nor SPARQL. Terms of github.com/knakk/rdf are the public vocabulary of
// the project; Of and Key.RDF are the only doors between the two, because knakk's own equality ignores
// datatypes and some of its literals panic as map keys.
package term

import (
	"encoding/binary"
	"strings"
)

// Key is the canonical encoding of one term. The first byte is its kind:
//
//	'<' iri                          an IRI, absolute, as written
//	'_' label                        a blank node, label without "_:"
//	'"' lexical                      a literal of xsd:string
//	'@' lang 0x00 lexical            a language-tagged string, lang in lower case (with "--ltr" / "--rtl" where it has a direction)
//	'^' datatype 0x00 lexical        any other typed literal, lexical form as written
//	'(' len s len p len o            a triple term (RDF 1.2), len as uvarint, s p o as keys
//
// The empty Key is no term (an unbound variable).
type Key string

// Kind is what a Key or an ID stands for.
type Kind byte

const (
	KindNone Kind = iota
	KindIRI
	KindBlank
	KindLiteral
	KindTriple
)

// Well-known datatype IRIs that the encoding itself depends on.
const (
	XSDString  = "http://www.w3.org/2001/XMLSchema#string"
	LangString = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"
	DirLang    = "http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString"
)

// IRI, Blank, String, Lang and Typed build keys. Typed with XSDString gives the same key as String.
func IRI(iri string) Key     { return Key("<" + iri) }
func Blank(label string) Key { return Key("_" + label) }
func String(s string) Key    { return Key("\"" + s) }

// Lang makes a language-tagged string; the tag is folded to lower case (RDF 1.1 §3.3), an empty tag gives a plain string.
func Lang(s, tag string) Key {
	if tag == "" {
		return String(s)
	}
	return Key("@" + strings.ToLower(tag) + "\x00" + s)
}

// Typed makes a literal of the datatype named by an absolute IRI.
func Typed(lexical, datatype string) Key {
	if datatype == XSDString || datatype == "" {
		return String(lexical)
	}
	return Key("^" + datatype + "\x00" + lexical)
}

// Triple makes a triple term (RDF 1.2).
func Triple(s, p, o Key) Key {
	var b []byte
	b = append(b, '(')
	for _, k := range [3]Key{s, p, o} {
		b = binary.AppendUvarint(b, uint64(len(k)))
		b = append(b, k...)
	}
	return Key(b)
}

// Kind tells what the key stands for; KindNone for the empty or a malformed key.
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

// Value is the IRI, the blank node's label or the lexical form; for a triple term it is "".
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

// Datatype is the datatype IRI of a literal, "" for other terms.
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

// Lang is the language tag of a literal without its direction, "" where there is none.
func (k Key) Lang() string {
	tag, _ := k.tag()
	return tag
}

// Dir is the base direction ("ltr", "rtl") of a literal, "" where there is none.
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

// Parts of a triple term; ok is false for every other key.
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
