package rdfio

import (
	"fmt"
	"io"

	"odarchive/triplestore/internal/terminals"
	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
)

// rdfxmlDecoder reads RDF 1.1 XML Syntax. Comments name the productions of its grammar (§7.2). The xframe of each open
// element tells what its children are. Statements are returned as soon as they are complete.
type rdfxmlDecoder struct {
	terms
	queue
	x     *xmlScanner
	lim   Limits
	stack []xframe
	ids   map[string]bool // resolved values of rdf:ID
	text  []byte          // of the open property element; only the innermost can have any
	rdf12 bool
	mend  bool // mend IRIs

	caught [][]term.Quad // RDF 1.2: statements inside open triple terms
}

// xframe is an open element.
type xframe struct {
	kind xframeKind
	base *iri.Base
	lang string

	subject term.Key // of a node element: its term; of a property element: the subject of its statement
	li      int      // number of rdf:li so far in a node element

	pred     term.Key
	reify    term.Key // of a property element with rdf:ID: the name of its statement
	datatype string
	hasText  bool     // contains text other than white space
	object   term.Key // of a property element: the object of its statement, if known
	cell     term.Key // of a collection: the last cell

	version12  bool     // RDF 1.2 is declared
	dir        string   // base direction in scope
	annotation term.Key // of a property element: the reifier of its statement
}

type xframeKind byte

const (
	xDoc        xframeKind = iota // around the root element
	xRDF                          // rdf:RDF: node elements
	xNode                         // a node element (or parseType="Resource"): property elements
	xProperty                     // a property element: text or one node element
	xEmpty                        // a property element whose attributes hold its object: nothing
	xCollection                   // parseType="Collection": node elements
	xTriple                       // parseType="Triple": one node element with one property
)

func decodeRDFXML(r io.Reader, base iri.Base, o Options, _ Syntax) decoder {
	return &rdfxmlDecoder{terms: newTerms(o), x: newXMLScanner(r, o), lim: o.Limits,
		stack: []xframe{{kind: xDoc, base: &base}}, ids: map[string]bool{}, rdf12: o.RDF12, mend: o.MendIRIs}
}

func (d *rdfxmlDecoder) prefixes() map[string]string {
	ns := map[string]string{}
	for _, b := range d.x.ns[2:] {
		if b.iri != "" {
			ns[b.prefix] = b.iri
		}
	}
	return ns
}

func (d *rdfxmlDecoder) read() (term.Quad, error) { return d.queue.read(d.step) }

// emit adds a statement to the queue or, in a triple term, to those caught.
func (d *rdfxmlDecoder) emit(s, p, o term.Key) {
	if open := len(d.caught); open > 0 {
		d.caught[open-1] = append(d.caught[open-1], term.Quad{S: s, P: p, O: o})
		return
	}
	d.out = append(d.out, term.Quad{S: s, P: p, O: o})
}

func (d *rdfxmlDecoder) fail(format string, args ...any) error {
	return d.x.in.failWith(0, fmt.Errorf(format, args...))
}

// step handles the next tag or text.
func (d *rdfxmlDecoder) step() error {
	kind, err := d.x.next()
	if err != nil {
		return err
	}
	f := &d.stack[len(d.stack)-1]
	switch kind {
	case xmlStart:
		return d.start(f)
	case xmlEnd:
		return d.end(f)
	case xmlText:
		if f.kind == xProperty {
			if len(d.text)+len(d.x.text) > d.lim.Token {
				return d.x.in.failWith(0, limitError("a literal", int64(d.lim.Token)))
			}
			d.text = append(d.text, d.x.text...)
			f.hasText = f.hasText || d.x.mixed
			if f.object == "" || !f.hasText {
				return nil
			}
		}
		if d.x.mixed {
			return d.fail("text where only elements are allowed")
		}
	}
	return nil
}

// start handles a start tag inside the element of f.
func (d *rdfxmlDecoder) start(f *xframe) error {
	child := xframe{base: f.base, lang: f.lang, version12: f.version12, dir: f.dir}
	if d.rdf12 {
		if err := d.scope12(&child); err != nil {
			return err
		}
	}
	for _, a := range d.x.attrs {
		if a.name.space != xmlNS {
			continue
		}
		switch a.name.local {
		case "lang":
			if n := terminals.LangTag(a.value); n != len(a.value) {
				return d.fail("xml:lang=%q is not a language tag", a.value)
			}
			child.lang = a.value
		case "base":
			s, err := f.base.Resolve(a.value)
			if err != nil {
				return d.fail("xml:base: %w", err)
			}
			b, err := iri.NewBase(s)
			if err != nil {
				return d.fail("xml:base: %w", err)
			}
			child.base = &b
		}
	}
	name := d.x.name
	switch {
	case f.kind == xDoc && name.space == rdfNS && name.local == "RDF":
		for _, a := range d.x.attrs {
			if a.name.space != xmlNS && !ignorable(a.name) && !d.attr12(a.name) {
				return d.fail("the attribute %s does not belong on rdf:RDF", a.name.raw)
			}
		}
		child.kind = xRDF
		d.stack = append(d.stack, child)
		return nil
	case f.kind == xNode:
		return d.property(f, child)
	case f.kind == xEmpty:
		return d.fail("an element inside an empty property element")
	case f.kind == xProperty && (f.object != "" || f.datatype != ""):
		return d.fail("more than one node element inside a property element, or one beside rdf:datatype")
	case f.kind == xTriple && f.object != "":
		return d.fail("more than one node element in a triple term")
	case f.kind == xProperty && f.hasText:
		return d.fail("an element beside text in a property element")
	}
	return d.node(f, child)
}

// ignorable reports whether an attribute means nothing here: its name has no prefix and begins with "xml".
func ignorable(n *xmlName) bool {
	return len(n.local) >= 3 && n.space == "" && (n.local[0]|0x20 == 'x' && n.local[1]|0x20 == 'm' && n.local[2]|0x20 == 'l')
}

// node handles a nodeElement (§7.2.11).
func (d *rdfxmlDecoder) node(f *xframe, child xframe) error {
	name := d.x.name
	typ, err := d.nameIRI(name)
	if err != nil {
		return err
	}
	if name.space == rdfNS && forbiddenNode(name.local) {
		return d.fail("%s cannot be a node element", name.raw)
	}
	child.kind = xNode
	for _, a := range d.x.attrs {
		var k term.Key
		switch d.rdfAttr(a.name) {
		case "ID":
			k, err = d.id(a.value, &child)
		case "about":
			k, err = d.ref(a.value, &child)
		case "nodeID":
			k, err = d.nodeID(a.value)
		default:
			continue
		}
		if err != nil {
			return err
		}
		if child.subject != "" {
			return d.fail("more than one of rdf:ID, rdf:about and rdf:nodeID")
		}
		child.subject = k
	}
	if child.subject == "" {
		child.subject = d.blank.fresh()
	}
	d.link(f, child.subject)
	if name.space != rdfNS || name.local != "Description" {
		d.emit(child.subject, rdfType, typ)
	}
	if err := d.propertyAttrs(&child, child.subject, "ID", "about", "nodeID"); err != nil {
		return err
	}
	d.stack = append(d.stack, child)
	return nil
}

// link makes node, a node element inside the element of f, the object of its statement.
func (d *rdfxmlDecoder) link(f *xframe, node term.Key) {
	switch f.kind {
	case xTriple:
		f.object = node
	case xProperty:
		f.object = node
		d.statement(f, node)
	case xCollection:
		cell := d.blank.fresh()
		if f.cell == "" {
			d.statement(f, cell)
		} else {
			d.emit(f.cell, rdfRest, cell)
		}
		f.cell = cell
		d.emit(cell, rdfFirst, node)
	}
}

// end handles the end tag of the element of f.
func (d *rdfxmlDecoder) end(f *xframe) error {
	switch f.kind {
	case xProperty:
		if f.object == "" {
			d.statement(f, d.textLiteral(f))
		}
	case xTriple:
		if err := d.closeTriple(f); err != nil {
			return err
		}
	case xCollection:
		if f.cell == "" {
			d.statement(f, rdfNil)
		} else {
			d.emit(f.cell, rdfRest, rdfNil)
		}
	}
	d.stack = d.stack[:len(d.stack)-1]
	return nil
}
