package links

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"odarchive/crawler/address"
	"odarchive/triplestore/hdt"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// kindOf returns the kind of the link that a statement with a predicate makes of its object.
func kindOf(predicate string) Kind {
	switch predicate {
	case vocab.VoIDSparqlEndpoint, vocab.SDEndpoint, vocab.DCATEndpointURL:
		return Endpoint
	case vocab.VoIDNS + "dataDump":
		return DataDump
	case vocab.DCATDownloadURL, "http://schema.org/contentUrl", "https://schema.org/contentUrl":
		return Download
	case vocab.OWLNS + "sameAs":
		return SameAs
	case vocab.RDFSNS + "seeAlso":
		return SeeAlso
	case vocab.RDFType:
		return Class
	}
	return Object
}

// rdf reads a file of RDF.
func (r *reader) rdf(name string, syntax rdfio.Syntax, body io.Reader) {
	r.files++
	prefix := ""
	if r.o.BlankPrefix != "" {
		prefix = r.o.BlankPrefix + "f" + strconv.Itoa(r.files) + "."
	}
	src := rdfio.NewSource(body)
	r.statements(name, rdfio.NewReader(src, syntax,
		rdfio.Options{Base: r.self, BlankPrefix: prefix, RDF12: true, MendIRIs: true, Context: r.o.Context}), src)
}

// hdtMemory is how much of an HDT file is kept in memory.
const hdtMemory = 16 << 20

// hdt reads an HDT file.
func (r *reader) hdt(name string, body io.ReaderAt, size int64) {
	in, err := hdt.Open(r.ctx, body, size, hdt.Options{BlankPrefix: r.o.BlankPrefix, Memory: hdtMemory, MaxTerm: 1 << 20})
	if err != nil {
		r.fault(name, err)
		return
	}
	r.statements(name, in, nil)
}

// statements reads all statements of a file. After a syntax error it goes on if the syntax allows. src is the file's
// input, or nil if in reads at random.
func (r *reader) statements(name string, in interface {
	Read() (term.Quad, error)
	Skip() bool
}, src *rdfio.Source) {
	faults := 0
	for n := 0; ; n++ {
		if n&1023 == 0 && r.ctx.Err() != nil {
			return
		}
		q, err := in.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			if faults++; faults == 1 {
				r.fault(name, err)
			}
			if src.Err() != nil || faults >= maxSyntax || !in.Skip() {
				return
			}
			continue
		}
		if !r.statement(q) {
			return
		}
	}
}

// statement takes one statement: its links, and the statement itself if it is to be kept. It returns false if reading
// must end.
func (r *reader) statement(q term.Quad) bool {
	r.doc.Statements++
	r.iri(q.S, Subject)
	kind := kindOf(q.P.Value())
	if kind == Class && !r.o.Vocabularies {
		kind = ""
	}
	if kind != "" {
		if q.O.Kind() == term.KindLiteral && (kind == Endpoint || kind == DataDump || kind == Download) { // addresses are often literals
			r.term(q.O, q.O.Value(), kind)
		} else {
			r.iri(q.O, kind)
		}
	}
	if r.o.Vocabularies {
		r.iri(q.P, Predicate)
	}
	return r.keep(q)
}

// keep keeps a statement if it may be kept.
func (r *reader) keep(q term.Quad) bool {
	switch {
	case r.o.Quads <= 0 || r.over:
		return true
	case len(r.doc.Quads) >= r.o.Quads:
		r.over, r.doc.Quads = true, nil
		return true
	case len(r.doc.Quads) >= ManyQuads && !r.many && r.o.Many != nil:
		r.many = true
		if r.fatal = r.o.Many(r.ctx); r.fatal != nil {
			return false
		}
	}
	q.G = ""
	r.doc.Quads = append(r.doc.Quads, q)
	return true
}

// iri adds a link to an IRI of a statement.
func (r *reader) iri(k term.Key, kind Kind) {
	if k.Kind() == term.KindIRI {
		r.term(k, k.Value(), kind)
	}
}

// term adds a link to the URL that a term names. Most terms occur many times, so only the first occurrence of a plain
// one is parsed.
func (r *reader) term(k term.Key, raw string, kind Kind) {
	plain := kind == Subject || kind == Object || kind == Predicate || kind == Class
	if plain && (r.doc.More || r.seen[k]) {
		return
	}
	if len(raw) > address.MaxURL || !fetchable(raw) {
		return
	}
	if plain && len(r.seen) < maxSeen {
		r.seen[k] = true
	}
	u, err := address.Parse(raw)
	if err != nil {
		return
	}
	r.add(Link{URL: withoutFragment(u), Kind: kind})
}

// fetchable reports whether an IRI has the scheme of a URL that can be fetched.
func fetchable(iri string) bool {
	scheme, _, ok := strings.Cut(iri, "://")
	switch strings.ToLower(strings.TrimSpace(scheme)) {
	case "http", "https", "ftp":
		return ok
	}
	return false
}

// Of returns the links of statements that were read already: those of a document with a URL.
func Of(url string, quads []term.Quad, o Options) (all []Link, more bool) {
	r := &reader{o: Options{Vocabularies: o.Vocabularies}, doc: &Document{at: map[string]int{}}, self: url, seen: map[term.Key]bool{}}
	for _, q := range quads {
		r.statement(q)
	}
	return r.doc.Links, r.doc.More
}
