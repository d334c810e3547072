package rdfio

import (
	"fmt"
	"io"
	"iter"
	"maps"

	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
)

// Limits bound what one document may cost. Zero fields take the defaults.
type Limits struct {
	Token    int   // bytes of one term, literal, XML or JSON token (and of one line of N-Triples); default 16 MiB
	Depth    int   // nesting of [ ], ( ), elements, objects; default 1,000
	Prefixes int   // prefixes declared in one document; default 100,000
	Document int64 // bytes of a document that must be held whole (JSON-LD); default 64 MiB
}

func (l Limits) withDefaults() Limits {
	if l.Token <= 0 {
		l.Token = 16 << 20
	}
	if l.Depth <= 0 {
		l.Depth = 1000
	}
	if l.Prefixes <= 0 {
		l.Prefixes = 100_000
	}
	if l.Document <= 0 {
		l.Document = 64 << 20
	}
	return l
}

// Options of a Reader; the zero value is useful.
type Options struct {
	// File names the document in errors.
	File string
	// Base is the absolute IRI that relative ones are resolved against; without it they are errors.
	Base string
	// BlankPrefix goes before the label of every blank node. Give each file one of its own (NewBlankPrefix) where
	// their blank nodes meet in one graph. It must itself be a valid label.
	BlankPrefix string
	// RDF12 allows what RDF 1.2 adds to N-Triples, N-Quads, Turtle, TriG and RDF/XML: triple terms, reifiers, base
	// directions.
	RDF12 bool
	// MendIRIs percent-encodes characters that must not stand in an IRI (spaces, braces and the like) in RDF/XML, Turtle and
	// TriG, where they are errors otherwise.
	MendIRIs bool
	// Limits bound memory and nesting.
	Limits Limits
	// Context gives the JSON-LD context (a JSON document) that stands at an IRI. Without it, and where it returns an
	// error, a document that names a context instead of holding it is refused: readers ask nobody else.
	Context func(iri string) ([]byte, error)
}

// Reader reads the statements of one document. It belongs to one goroutine, holds no resources besides memory and need
// not be read to its end.
type Reader struct {
	dec    decoder
	syntax Syntax
	err    error
}

// decoder is what each syntax implements. An error is final unless skip says otherwise.
type decoder interface {
	read() (term.Quad, error)
	skip() bool                  // after an error: go on behind the broken statement; false where that cannot be done
	prefixes() map[string]string // declared so far, may be nil
}

// NewReader reads a document of syntax s. A fault in the options is told by the first Read.
func NewReader(r io.Reader, s Syntax, o Options) *Reader {
	o.Limits = o.Limits.withDefaults()
	rd := &Reader{syntax: s}
	base, err := iri.NewBase(o.Base)
	if err != nil {
		rd.err = fmt.Errorf("rdfio: base: %w", err)
		return rd
	}
	if o.BlankPrefix != "" && !validLabel(o.BlankPrefix+"0") {
		rd.err = fmt.Errorf("rdfio: %q cannot begin the label of a blank node", o.BlankPrefix)
		return rd
	}
	if s.decoder == nil {
		rd.err = fmt.Errorf("rdfio: no reader for syntax %q", s.Name)
		return rd
	}
	rd.dec = s.decoder(r, base, o)
	return rd
}

// Syntax is the one the reader was made for.
func (r *Reader) Syntax() Syntax { return r.syntax }

// Read gives the next statement, or io.EOF behind the last one. Any other error repeats until Skip.
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

// Skip goes on after an error of Read, behind the broken line (N-Triples, N-Quads) or statement (Turtle, TriG; found by
// its full stop, so that more than the broken statement may be lost). False where nothing can be saved; the other
// syntaxes never can.
func (r *Reader) Skip() bool {
	if _, ok := r.err.(*Error); !ok || r.dec == nil || !r.dec.skip() {
		return false
	}
	r.err = nil
	return true
}

// Prefixes are the namespaces declared so far, by prefix. The map is the caller's.
func (r *Reader) Prefixes() map[string]string {
	if r.dec == nil {
		return nil
	}
	return maps.Clone(r.dec.prefixes())
}

// All ranges over the rest of the statements; the last pair holds the error, if there is one.
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
