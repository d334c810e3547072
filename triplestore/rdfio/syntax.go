package rdfio

import (
	"io"
	"mime"
	"path"
	"slices"
	"strings"

	"odarchive/triplestore/rdfio/iri"
)

// Syntax is a way to write RDF down. The zero Syntax is none.
type Syntax struct {
	Name       string   // "Turtle"
	MediaType  string   // the registered one
	Aliases    []string // other media types in use
	Extensions []string // with the dot, the usual one first
	Quads      bool     // can hold named graphs
	Text       bool     // a plain-text syntax of the Turtle family, rather than XML or JSON

	decoder func(io.Reader, iri.Base, Options) decoder
	encoder func(io.Writer, map[string]string, Syntax) encoder
}

// IsZero tells that s is no syntax.
func (s Syntax) IsZero() bool { return s.Name == "" }

func (s Syntax) String() string { return s.Name }

// Is tells whether two syntaxes are the same.
func (s Syntax) Is(t Syntax) bool { return s.Name == t.Name }

// Syntaxes are all known ones, the most common first.
func Syntaxes() []Syntax {
	return []Syntax{Turtle(), NTriples(), NQuads(), TriG(), RDFXML(), JSONLD(), RDFJSON(), TriX(), N3()}
}

// NTriples is RDF 1.1 N-Triples.
func NTriples() Syntax {
	return Syntax{Name: "N-Triples", MediaType: "application/n-triples", Extensions: []string{".nt", ".ntriples"}, Text: true,
		decoder: decodeNTriples, encoder: encodeNQuads}
}

// NQuads is RDF 1.1 N-Quads.
func NQuads() Syntax {
	return Syntax{Name: "N-Quads", MediaType: "application/n-quads", Aliases: []string{"text/x-nquads", "text/nquads"},
		Extensions: []string{".nq", ".nquads"}, Quads: true, Text: true, decoder: decodeNQuads, encoder: encodeNQuads}
}

// Turtle is RDF 1.1 Turtle.
func Turtle() Syntax {
	return Syntax{Name: "Turtle", MediaType: "text/turtle", Aliases: []string{"application/x-turtle", "application/turtle"},
		Extensions: []string{".ttl", ".turtle"}, Text: true, decoder: decodeTurtle, encoder: encodeTurtle}
}

// TriG is RDF 1.1 TriG.
func TriG() Syntax {
	return Syntax{Name: "TriG", MediaType: "application/trig", Aliases: []string{"application/x-trig"}, Extensions: []string{".trig"},
		Quads: true, Text: true, decoder: decodeTriG, encoder: encodeTurtle}
}

// N3 is the part of Notation3 that is Turtle, with "=" for owl:sameAs. Formulas, rules and paths are refused.
func N3() Syntax {
	return Syntax{Name: "N3", MediaType: "text/n3", Aliases: []string{"text/rdf+n3", "application/n3"}, Extensions: []string{".n3"},
		Text: true, decoder: decodeN3, encoder: encodeTurtle}
}

// RDFXML is RDF 1.1 XML.
func RDFXML() Syntax {
	return Syntax{Name: "RDF/XML", MediaType: "application/rdf+xml", Extensions: []string{".rdf", ".owl", ".rdfs", ".rdfxml"},
		decoder: decodeRDFXML, encoder: encodeRDFXML}
}

// JSONLD is JSON-LD 1.1. Contexts outside of the document are refused.
func JSONLD() Syntax {
	return Syntax{Name: "JSON-LD", MediaType: "application/ld+json", Extensions: []string{".jsonld", ".json-ld"}, Quads: true,
		decoder: decodeJSONLD, encoder: encodeJSONLD}
}

// RDFJSON is RDF 1.1 JSON Alternate Serialization (W3C Note, 2013).
func RDFJSON() Syntax {
	return Syntax{Name: "RDF/JSON", MediaType: "application/rdf+json", Extensions: []string{".rj", ".rdfj"},
		decoder: decodeRDFJSON, encoder: encodeRDFJSON}
}

// TriX is Triples in XML (HP Labs, 2004).
func TriX() Syntax {
	return Syntax{Name: "TriX", MediaType: "application/trix", Aliases: []string{"application/trix+xml", "text/trix"},
		Extensions: []string{".trix"}, Quads: true, decoder: decodeTriX, encoder: encodeTriX}
}

// ByMediaType finds the syntax of a Content-Type; parameters are ignored.
func ByMediaType(contentType string) (Syntax, bool) {
	mt, _, _ := mime.ParseMediaType(contentType)
	if mt == "" {
		mt, _, _ = strings.Cut(contentType, ";")
		mt = strings.ToLower(strings.TrimSpace(mt))
	}
	for _, s := range Syntaxes() {
		if mt != "" && (s.MediaType == mt || slices.Contains(s.Aliases, mt)) {
			return s, true
		}
	}
	return Syntax{}, false
}

// ByExtension finds the syntax of a file name, also behind the ending of a compression (".nt.gz").
func ByExtension(name string) (Syntax, bool) {
	name = strings.ToLower(name)
	if isCompressedName(name) {
		name = strings.TrimSuffix(name, path.Ext(name))
	}
	ext := path.Ext(name)
	for _, s := range Syntaxes() {
		if ext != "" && slices.Contains(s.Extensions, ext) {
			return s, true
		}
	}
	return Syntax{}, false
}

// ByName finds a syntax by what people call it on a command line: its name in any case with or without punctuation,
// an extension without the dot, or a media type.
func ByName(name string) (Syntax, bool) {
	if s, ok := ByMediaType(name); ok {
		return s, true
	}
	if s, ok := ByExtension("." + name); ok {
		return s, true
	}
	plain := strings.NewReplacer("-", "", "/", "", " ", "", "_", "")
	for _, s := range Syntaxes() {
		if name != "" && strings.EqualFold(plain.Replace(s.Name), plain.Replace(name)) {
			return s, true
		}
	}
	return Syntax{}, false
}
