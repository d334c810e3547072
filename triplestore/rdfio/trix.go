package rdfio

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
)

const trixNS = "http://www.w3.org/2004/03/trix/trix-1/"

// trixDecoder reads TriX (Carroll and Stickler, 2004): <TriX> contains <graph>s, a graph its name and <triple>s, a
// triple three terms. The namespace may be missing, and <qname>s may replace IRIs. In RDF 1.2 a triple may be the
// object of another.
type trixDecoder struct {
	terms
	x     *xmlScanner
	lim   Limits
	rdf12 bool
	base  iri.Base

	root    bool // inside <TriX>
	inGraph bool
	graph   term.Key
	named   bool         // the graph already has a name or a triple
	open    []trixTriple // the open triple, and triple terms inside it

	element  string // name of the open term's element, "" for none
	lang     string
	datatype string
	text     []byte
}

type trixTriple struct {
	terms [3]term.Key
	n     int
}

func decodeTriX(r io.Reader, base iri.Base, o Options, _ Syntax) decoder {
	return &trixDecoder{terms: newTerms(o), x: newXMLScanner(r, o), lim: o.Limits, rdf12: o.RDF12, base: base}
}

func (d *trixDecoder) fail(format string, args ...any) error {
	return d.x.in.failWith(0, fmt.Errorf(format, args...))
}

func (d *trixDecoder) read() (term.Quad, error) {
	for {
		kind, err := d.x.next()
		if err != nil {
			return term.Quad{}, err
		}
		switch kind {
		case xmlStart:
			err = d.start()
		case xmlText:
			err = d.characters()
		case xmlEnd:
			var q term.Quad
			var whole bool
			if q, whole, err = d.end(); whole && err == nil {
				return q, nil
			}
		}
		if err != nil {
			return term.Quad{}, err
		}
	}
}

func (d *trixDecoder) characters() error {
	if d.element == "" {
		if d.x.mixed {
			return d.fail("text where only elements are allowed")
		}
		return nil
	}
	if len(d.text)+len(d.x.text) > d.lim.Token {
		return d.x.in.failWith(0, limitError("a term", int64(d.lim.Token)))
	}
	d.text = append(d.text, d.x.text...)
	return nil
}

// start handles a start tag.
func (d *trixDecoder) start() error {
	name := d.x.name
	if name.space != trixNS && name.space != "" {
		return d.fail("the element %s is not part of TriX", name.raw)
	}
	switch local := name.local; {
	case d.element != "":
	case !d.root && (local == "TriX" || local == "trix"):
		d.root = true
		return nil
	case d.root && !d.inGraph && local == "graph":
		d.graph, d.inGraph, d.named = "", true, false
		return nil
	case d.inGraph && local == "triple" && d.tripleMayBegin():
		if len(d.open) > maxTripleDepth {
			return d.x.in.failWith(0, limitError("a nesting of triples", maxTripleDepth))
		}
		d.named = true
		d.open = append(d.open, trixTriple{})
		return nil
	case d.inGraph && len(d.open) == 0 && !d.named && (local == "uri" || local == "id" || local == "qname"),
		len(d.open) > 0 && (local == "uri" || local == "id" || local == "qname" || local == "plainLiteral" || local == "typedLiteral"):
		return d.startTerm(local)
	}
	return d.fail("the element %s does not belong here", name.raw)
}

// tripleMayBegin reports whether a triple may begin here: in a graph, or in RDF 1.2 as the object of another.
func (d *trixDecoder) tripleMayBegin() bool {
	return len(d.open) == 0 || d.rdf12 && d.open[len(d.open)-1].n == 2
}

// startTerm opens a term. A literal with markup is read whole.
func (d *trixDecoder) startTerm(element string) error {
	d.element, d.lang, d.datatype, d.text = element, "", "", d.text[:0]
	for _, a := range d.x.attrs {
		switch {
		case a.name.space == xmlNS && a.name.local == "lang":
			d.lang = a.value
		case a.name.space == "" && a.name.local == "datatype":
			d.datatype = a.value
		}
	}
	if element != "typedLiteral" || d.datatype != rdfNS+"XMLLiteral" {
		return nil
	}
	markup, text, err := d.x.content() // up to the end of the element: markup, or markup that is escaped as text
	if err != nil {
		return err
	}
	if text != nil {
		markup = text
	}
	d.element = ""
	return d.add(term.Typed(string(markup), d.datatype))
}

// end handles an end tag. It returns a statement, and whole is true, if the tag completes one.
func (d *trixDecoder) end() (q term.Quad, whole bool, err error) {
	switch {
	case d.element != "":
		k, err := d.term()
		d.element = ""
		if err == nil && len(d.open) == 0 {
			d.graph, d.named = k, true
		} else if err == nil {
			err = d.add(k)
		}
		return q, false, err
	case len(d.open) > 0:
		t := d.open[len(d.open)-1]
		d.open = d.open[:len(d.open)-1]
		if t.n != 3 {
			return q, false, d.fail("a triple of %d terms", t.n)
		}
		if len(d.open) > 0 {
			return q, false, d.add(term.Triple(t.terms[0], t.terms[1], t.terms[2]))
		}
		return term.Quad{S: t.terms[0], P: t.terms[1], O: t.terms[2], G: d.graph}, true, nil
	case d.inGraph:
		d.inGraph = false
	default:
		d.root = false
	}
	return q, false, nil
}

// add appends a term to the open triple.
func (d *trixDecoder) add(k term.Key) error {
	t := &d.open[len(d.open)-1]
	switch {
	case t.n == 3:
		return d.fail("a triple of more than three terms")
	case t.n == 0 && !isNode(k):
		return d.fail("a subject that is neither <uri> nor <id>")
	case t.n == 1 && k.Kind() != term.KindIRI:
		return d.fail("a predicate that is not a <uri>")
	}
	t.terms[t.n] = k
	t.n++
	return nil
}

// term returns the open term.
func (d *trixDecoder) term() (term.Key, error) {
	plain := bytes.TrimSpace(d.text)
	switch d.element {
	case "uri":
		return d.resource(plain)
	case "id":
		if len(plain) == 0 {
			return "", d.fail("an <id> without a label")
		}
		return d.label(plain), nil
	case "qname":
		prefix, local, ok := strings.Cut(string(plain), ":")
		ns, declared := d.x.lookup(prefix)
		if !ok || !declared {
			return "", d.fail("%q is not a name in a declared namespace", plain)
		}
		return d.resource([]byte(ns + local))
	case "plainLiteral":
		if tagLen([]byte(d.lang), false, true) != len(d.lang) {
			return "", d.fail("xml:lang=%q is not a language tag", d.lang)
		}
		return term.Lang(string(d.text), d.lang), nil
	}
	if err := iri.Check(d.datatype); err != nil {
		return "", d.fail("datatype: %w", err)
	}
	return term.Typed(string(d.text), d.datatype), nil
}

func (d *trixDecoder) resource(b []byte) (term.Key, error) {
	k, err := d.resolve(&d.base, b)
	if err != nil {
		return "", d.fail("<uri>: %w", err)
	}
	return k, nil
}
