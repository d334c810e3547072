package rdfio

import (
	"bufio"
	"maps"
	"slices"
	"strings"

	"odarchive/triplestore/term"
)

// rdfxmlEncoder writes RDF/XML: an element for each subject, named by its type if it has one, with its properties.
// Namespaces with a prefix are declared at the root, others where they are used.
type rdfxmlEncoder struct {
	group
	w        *bufio.Writer
	prefixes map[string]string // namespace -> prefix
	order    []string          // namespaces to declare at the root
	started  bool
	buf      []byte
}

func encodeRDFXML(w *bufio.Writer, prefixes map[string]string, _ Syntax) encoder {
	e := &rdfxmlEncoder{w: w, prefixes: map[string]string{rdfNS: "rdf"}, order: []string{rdfNS}}
	e.emit = e.subject
	for _, p := range slices.Sorted(maps.Keys(prefixes)) {
		ns := prefixes[p]
		if p == "rdf" || p != "" && !isNCName(p) || len(p) >= 3 && strings.EqualFold(p[:3], "xml") || e.prefixes[ns] != "" ||
			checkTerm(term.IRI(ns), 0) != nil || checkXML(term.Quad{S: term.IRI(ns)}) != nil || ns == xmlNS || ns == xmlnsNS {
			continue
		}
		if _, taken := e.prefixes[ns]; taken {
			continue
		}
		e.prefixes[ns] = p
		e.order = append(e.order, ns)
	}
	return e
}

func (e *rdfxmlEncoder) write(q term.Quad) error {
	if err := checkXML(q); err != nil {
		return err
	}
	p := q.P.Value()
	i, ok := splitQName(p)
	if !ok || p[:i] == rdfNS && (p[i:] == "li" || forbiddenProperty(p[i:])) || p[:i] == xmlNS || p[:i] == xmlnsNS {
		return &TermError{q.P, "RDF/XML has no element with this name"}
	}
	return e.group.write(q)
}

func (e *rdfxmlEncoder) close() {
	e.start()
	e.w.WriteString("</rdf:RDF>\n")
}

// start writes the beginning of the document, once.
func (e *rdfxmlEncoder) start() {
	if e.started {
		return
	}
	e.started = true
	b := append(e.buf[:0], `<?xml version="1.0" encoding="UTF-8"?>`+"\n<rdf:RDF"...)
	for _, ns := range e.order {
		name := "xmlns"
		if p := e.prefixes[ns]; p != "" {
			name += ":" + p
		}
		b = appendXMLAttr(append(b, "\n   "...), name, ns)
	}
	e.buf = append(b, ">\n"...)
	e.w.Write(e.buf)
}

// subject writes the element of a subject.
func (e *rdfxmlEncoder) subject(props []term.Quad) {
	e.start()
	subject, typed := props[0].S, false
	element, b := "rdf:Description", append(e.buf[:0], "  <"...)
	if first := props[0]; first.P == rdfType && first.O.Kind() == term.KindIRI {
		t := first.O.Value()
		if i, ok := splitQName(t); ok && !(t[:i] == rdfNS && (forbiddenNode(t[i:]) || t[i:] == "Description")) && t[:i] != xmlNS &&
			t[:i] != xmlnsNS {
			var declare string
			element, declare = e.qname(t[:i], t[i:])
			b = append(append(b, element...), declare...)
			props, typed = props[1:], true
		}
	}
	if !typed {
		b = append(b, element...)
	}
	b = appendNode(b, "rdf:about", subject)
	b = append(b, ">\n"...)
	for _, q := range props {
		b = e.property(b, q)
	}
	e.buf = append(append(append(b, "  </"...), element...), ">\n"...)
	e.w.Write(e.buf)
}

// qname returns the name of an element, and the namespace declaration it needs.
func (e *rdfxmlEncoder) qname(ns, local string) (name, declare string) {
	switch p, ok := e.prefixes[ns]; {
	case !ok:
		return "ns:" + local, string(appendXMLAttr(nil, "xmlns:ns", ns))
	case p == "":
		return local, ""
	default:
		return p + ":" + local, ""
	}
}

func (e *rdfxmlEncoder) property(b []byte, q term.Quad) []byte {
	iri := q.P.Value()
	i, _ := splitQName(iri)
	name, declare := e.qname(iri[:i], iri[i:])
	b = append(append(append(b, "    <"...), name...), declare...)
	if q.O.Kind() != term.KindLiteral {
		return append(appendNode(b, "rdf:resource", q.O), "/>\n"...)
	}
	switch q.O[0] {
	case '@':
		b = appendXMLAttr(b, "xml:lang", q.O.Lang())
	case '^':
		b = appendXMLAttr(b, "rdf:datatype", q.O.Datatype())
	}
	b = escapeXML(append(b, '>'), q.O.Value(), &textEscapes)
	return append(append(append(b, "</"...), name...), ">\n"...)
}

// appendNode appends the attribute that names a node: attr for an IRI, rdf:nodeID for a blank node.
func appendNode(b []byte, attr string, k term.Key) []byte {
	if k.Kind() == term.KindBlank {
		return appendXMLAttr(b, "rdf:nodeID", writableLabel(k.Value(), true))
	}
	return appendXMLAttr(b, attr, k.Value())
}
