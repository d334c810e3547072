package rdfio

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"maps"

	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
)

// Limits bound what one document may cost. Zero fields mean the defaults.
type Limits struct {
	Token    int   // bytes of one term, literal, XML or JSON token, or line of N-Triples; default 16 MiB
	Depth    int   // nesting of [ ], ( ), elements and objects; default 1,000
	Prefixes int   // prefixes declared in one document; default 100,000
	Document int64 // bytes of a document that must be held whole (JSON-LD); default 64 MiB
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Token:    cmp.Or(max(l.Token, 0), 16<<20),
		Depth:    cmp.Or(max(l.Depth, 0), 1000),
		Prefixes: cmp.Or(max(l.Prefixes, 0), 100_000),
		Document: cmp.Or(max(l.Document, 0), 64<<20),
	}
}

// Options configure a Reader. The zero value is useful.
type Options struct {
	// File names the document in errors.
	File string
	// Base is the absolute IRI that relative IRIs are resolved against. If it is empty, relative IRIs are errors.
	Base string
	// BlankPrefix is put before the label of every blank node. To keep the blank nodes of several files apart in one
	// graph, use one prefix per file (NewBlankPrefix). It must be a valid label itself.
	BlankPrefix string
	// RDF12 allows what RDF 1.2 adds to N-Triples, N-Quads, Turtle, TriG and RDF/XML: triple terms, reifiers and base
	// directions.
	RDF12 bool
	// LongTags accepts language tags that RDF 1.1 allows and RDF 1.2 does not: with subtags of more than 8 characters.
	// RDF/XML, RDF/JSON and JSON-LD documents contain them, so a store that read such documents can write them.
	LongTags bool
	// MendIRIs percent-encodes characters that IRIs must not contain, such as spaces and braces, in RDF/XML, Turtle and
	// TriG. Otherwise they are errors.
	MendIRIs bool
	// Limits bound memory and nesting.
	Limits Limits
	// Context returns the JSON-LD context, a JSON document, that an IRI names. A document that refers to a context is
	// an error if Context is nil or fails: readers never fetch anything themselves.
	Context func(iri string) ([]byte, error)
}

// Reader reads the statements of one document. It is not safe for concurrent use, holds no resources besides memory,
// and need not be read to the end.
type Reader struct {
	dec    decoder
	syntax Syntax
	err    error
}

// A decoder reads one syntax. After an error it is not read again, unless it is a skipper whose skip returned true.
type decoder interface {
	read() (term.Quad, error)
}

// A skipper can go on after an error.
type skipper interface {
	// skip moves past the malformed statement and returns false if that is impossible.
	skip() bool
}

// A prefixer knows the prefixes declared so far. Callers must not modify the map.
type prefixer interface {
	prefixes() map[string]string
}

// NewReader returns a Reader of a document of syntax s. The first Read reports invalid options.
func NewReader(r io.Reader, s Syntax, o Options) *Reader {
	o.Limits = o.Limits.withDefaults()
	rd := &Reader{syntax: s}
	base, err := iri.NewBase(o.Base)
	switch {
	case err != nil:
		rd.err = fmt.Errorf("rdfio: base: %w", err)
	case o.BlankPrefix != "" && !validLabel(o.BlankPrefix+"0"):
		rd.err = fmt.Errorf("rdfio: %q cannot begin the label of a blank node", o.BlankPrefix)
	case s.decoder == nil:
		rd.err = fmt.Errorf("rdfio: no reader for syntax %q", s.Name)
	default:
		rd.dec = s.decoder(r, base, o, s)
	}
	return rd
}

// Syntax returns the syntax that the reader was made for.
func (r *Reader) Syntax() Syntax { return r.syntax }

// Read returns the next statement, or io.EOF at the end of the document. It repeats any other error until Skip.
func (r *Reader) Read() (term.Quad, error) {
	if r.err != nil {
		return term.Quad{}, r.err
	}
	q, err := r.dec.read()
	if err != nil {
		r.err = err
	}
	return q, err
}

// Skip moves past the malformed line (N-Triples, N-Quads) or statement (Turtle, TriG, N3) after an error of Read. The
// end of a statement is guessed by its full stop, so more than that statement may be lost. Skip returns false if the
// rest of the document cannot be read, which is always so in other syntaxes.
func (r *Reader) Skip() bool {
	s, ok := r.dec.(skipper)
	if _, fault := r.err.(*Error); !fault || !ok || !s.skip() {
		return false
	}
	r.err = nil
	return true
}

// Prefixes returns the namespaces declared so far, by prefix. The caller owns the map.
func (r *Reader) Prefixes() map[string]string {
	if p, ok := r.dec.(prefixer); ok {
		return maps.Clone(p.prefixes())
	}
	return nil
}

// All ranges over the remaining statements. If reading fails, the last pair holds the error.
func (r *Reader) All() iter.Seq2[term.Quad, error] {
	return func(yield func(term.Quad, error) bool) {
		for {
			q, err := r.Read()
			if err == io.EOF || !yield(q, err) || err != nil {
				return
			}
		}
	}
}
