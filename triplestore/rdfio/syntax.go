package rdfio

import (
	"bufio"
	"io"
	"mime"
	"path"
	"slices"
	"strings"

	"odarchive/triplestore/rdfio/iri"
)

// Syntax is a way to write RDF as text. The zero Syntax stands for none.
type Syntax struct {
	Name       string   // "Turtle"
	MediaType  string   // as registered
	Aliases    []string // other media types in use
	Extensions []string // of file names, with the dot; the usual one first
	Quads      bool     // can hold named graphs
	Text       bool     // a plain-text syntax of the Turtle family, rather than XML or JSON

	decoder func(io.Reader, iri.Base, Options, Syntax) decoder
	encoder func(*bufio.Writer, map[string]string, Syntax) encoder
}

// IsZero reports whether s is the zero Syntax.
func (s Syntax) IsZero() bool { return s.Name == "" }

func (s Syntax) String() string { return s.Name }

// Is reports whether s and t are the same syntax.
func (s Syntax) Is(t Syntax) bool { return s.Name == t.Name }

// Syntaxes returns all syntaxes, the most common first.
func Syntaxes() []Syntax {
	return []Syntax{Turtle(), NTriples(), NQuads(), TriG(), RDFXML(), JSONLD(), RDFJSON(), TriX(), N3()}
}

// NTriples returns RDF 1.1 N-Triples.
func NTriples() Syntax {
	return Syntax{Name: "N-Triples", MediaType: "application/n-triples", Extensions: []string{".nt", ".ntriples"}, Text: true,
		decoder: decodeLines, encoder: encodeLines}
}

// NQuads returns RDF 1.1 N-Quads.
func NQuads() Syntax {
	return Syntax{Name: "N-Quads", MediaType: "application/n-quads", Aliases: []string{"text/x-nquads", "text/nquads"},
		Extensions: []string{".nq", ".nquads"}, Quads: true, Text: true, decoder: decodeLines, encoder: encodeLines}
}

// Turtle returns RDF 1.1 Turtle.
func Turtle() Syntax {
	return Syntax{Name: "Turtle", MediaType: "text/turtle", Aliases: []string{"application/x-turtle", "application/turtle"},
		Extensions: []string{".ttl", ".turtle"}, Text: true, decoder: decodeTurtle, encoder: encodeTurtle}
}

// TriG returns RDF 1.1 TriG.
func TriG() Syntax {
	return Syntax{Name: "TriG", MediaType: "application/trig", Aliases: []string{"application/x-trig"}, Extensions: []string{".trig"},
		Quads: true, Text: true, decoder: decodeTurtle, encoder: encodeTurtle}
}

// N3 returns the subset of Notation3 that is Turtle, with "=" for owl:sameAs. Formulas, rules and paths are errors.
func N3() Syntax {
	return Syntax{Name: "N3", MediaType: "text/n3", Aliases: []string{"text/rdf+n3", "application/n3"}, Extensions: []string{".n3"},
		Text: true, decoder: decodeTurtle, encoder: encodeTurtle}
}

// RDFXML returns RDF 1.1 XML.
func RDFXML() Syntax {
	return Syntax{Name: "RDF/XML", MediaType: "application/rdf+xml", Extensions: []string{".rdf", ".owl", ".rdfs", ".rdfxml"},
		decoder: decodeRDFXML, encoder: encodeRDFXML}
}

// JSONLD returns JSON-LD 1.1. Contexts outside the document come from Options.Context or are errors.
func JSONLD() Syntax {
	return Syntax{Name: "JSON-LD", MediaType: "application/ld+json", Extensions: []string{".jsonld", ".json-ld"}, Quads: true,
		decoder: decodeJSONLD, encoder: encodeJSONLD}
}

// RDFJSON returns RDF 1.1 JSON Alternate Serialization (W3C Note, 2013).
func RDFJSON() Syntax {
	return Syntax{Name: "RDF/JSON", MediaType: "application/rdf+json", Extensions: []string{".rj", ".rdfj"},
		decoder: decodeRDFJSON, encoder: encodeRDFJSON}
}

// TriX returns Triples in XML (HP Labs, 2004).
func TriX() Syntax {
	return Syntax{Name: "TriX", MediaType: "application/trix", Aliases: []string{"application/trix+xml", "text/trix"},
		Extensions: []string{".trix"}, Quads: true, decoder: decodeTriX, encoder: encodeTriX}
}

// ByMediaType returns the syntax with the media type of a Content-Type, whose parameters it ignores.
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

// ByExtension returns the syntax of a file name, ignoring the extension of a compression (".nt.gz").
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

// ByName returns the syntax that name means on a command line: its name, in any case and with or without punctuation,
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
