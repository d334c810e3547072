package rdfio

import "odarchive/triplestore/term"

// This file reads the additions of RDF 1.2 to RDF/XML: rdf:annotation, and parseType="Triple" and its:dir in the scope
// of rdf:version="1.2".

const itsNS = "http://www.w3.org/2005/11/its"

// scope12 sets version and direction from the attributes of a start tag.
func (d *rdfxmlDecoder) scope12(child *xframe) error {
	for _, a := range d.x.attrs {
		switch {
		case a.name.space == rdfNS && a.name.local == "version":
			child.version12 = a.value == "1.2" || a.value == "1.2-basic"
		case a.name.space == itsNS && a.name.local == "dir":
			if a.value != "ltr" && a.value != "rtl" && a.value != "" {
				return d.fail("its:dir=%q is neither ltr nor rtl", a.value)
			}
			child.dir = a.value
		}
	}
	return nil
}

// attr12 reports whether an attribute is an addition of RDF 1.2, which is no property.
func (d *rdfxmlDecoder) attr12(n *xmlName) bool {
	return d.rdf12 && (n.space == itsNS || n.space == rdfNS &&
		(n.local == "version" || n.local == "annotation" || n.local == "annotationNodeID"))
}

// annotate sets the reifier of the property element's statement from its attributes.
func (d *rdfxmlDecoder) annotate(child *xframe) error {
	for _, a := range d.x.attrs {
		if a.name.space != rdfNS {
			continue
		}
		var k term.Key
		var err error
		switch a.name.local {
		case "annotation":
			k, err = d.ref(a.value, child)
		case "annotationNodeID":
			k, err = d.nodeID(a.value)
		default:
			continue
		}
		if err != nil {
			return err
		}
		if child.annotation != "" {
			return d.fail("both rdf:annotation and rdf:annotationNodeID")
		}
		child.annotation = k
	}
	return nil
}

// openTriple begins the content of parseType="Triple", whose statement is caught instead of emitted. Outside the scope
// of version 1.2 it skips the property element.
func (d *rdfxmlDecoder) openTriple(child xframe) error {
	if !child.version12 {
		_, err := d.x.literal()
		return err
	}
	if len(d.caught) >= maxTripleDepth {
		return d.x.in.failWith(0, limitError("a nesting of triple terms", maxTripleDepth))
	}
	child.kind = xTriple
	d.caught = append(d.caught, nil)
	d.stack = append(d.stack, child)
	return nil
}

// closeTriple ends the content of parseType="Triple" and emits the statement with the triple term as its object.
func (d *rdfxmlDecoder) closeTriple(f *xframe) error {
	last := len(d.caught) - 1
	caught := d.caught[last]
	d.caught = d.caught[:last]
	if len(caught) != 1 {
		return d.fail("a triple term of %d statements", len(caught))
	}
	d.statement(f, term.Triple(caught[0].S, caught[0].P, caught[0].O))
	return nil
}
