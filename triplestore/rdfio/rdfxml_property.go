package rdfio

import (
	"strconv"

	"odarchive/triplestore/term"
)

// statement emits the statement of a property element and, if that has a name, its reification (§7.3).
func (d *rdfxmlDecoder) statement(f *xframe, o term.Key) {
	d.emit(f.subject, f.pred, o)
	if f.annotation != "" {
		d.emit(f.annotation, rdfReifies, term.Triple(f.subject, f.pred, o))
	}
	if f.reify == "" {
		return
	}
	d.emit(f.reify, rdfType, "<"+rdfNS+"Statement")
	d.emit(f.reify, "<"+rdfNS+"subject", f.subject)
	d.emit(f.reify, "<"+rdfNS+"predicate", f.pred)
	d.emit(f.reify, "<"+rdfNS+"object", o)
}

// property handles a propertyElt (§7.2.14 to 7.2.21) inside the element of f.
func (d *rdfxmlDecoder) property(f *xframe, child xframe) (err error) {
	name := d.x.name
	child.subject = f.subject
	if name.space == rdfNS && name.local == "li" {
		f.li++
		child.pred = term.Key("<" + rdfNS + "_" + strconv.Itoa(f.li))
	} else {
		if child.pred, err = d.nameIRI(name); err != nil {
			return err
		}
		if name.space == rdfNS && forbiddenProperty(name.local) {
			return d.fail("%s cannot be a property element", name.raw)
		}
	}
	if d.rdf12 {
		if err := d.annotate(&child); err != nil {
			return err
		}
	}
	d.text = d.text[:0]
	parseType, hasType, resource, others := "", false, term.Key(""), 0
	for _, a := range d.x.attrs {
		var k term.Key
		switch d.rdfAttr(a.name) {
		case "ID":
			if child.reify, err = d.id(a.value, &child); err != nil {
				return err
			}
			continue
		case "parseType":
			parseType, hasType = a.value, true
			continue
		case "datatype":
			dt, err := d.ref(a.value, &child)
			if err != nil {
				return err
			}
			child.datatype = dt.Value()
			continue
		case "resource":
			k, err = d.ref(a.value, &child)
		case "nodeID":
			k, err = d.nodeID(a.value)
		default:
			if a.name.space != xmlNS && !ignorable(a.name) && !d.attr12(a.name) {
				others++
			}
			continue
		}
		if err != nil {
			return err
		}
		if resource != "" {
			return d.fail("both rdf:resource and rdf:nodeID")
		}
		resource = k
	}
	switch {
	case hasType && (resource != "" || child.datatype != "" || others > 0):
		return d.fail("rdf:parseType together with other attributes")
	case hasType:
		return d.parseType(parseType, child)
	case child.datatype != "" && (resource != "" || others > 0):
		return d.fail("rdf:datatype together with other attributes")
	case resource != "" || others > 0:
		if resource == "" {
			resource = d.blank.fresh()
		}
		child.kind = xEmpty
		d.statement(&child, resource)
		if err := d.propertyAttrs(&child, resource, "ID", "resource", "nodeID"); err != nil {
			return err
		}
	default:
		child.kind = xProperty
	}
	d.stack = append(d.stack, child)
	return nil
}

// parseType handles a property element with rdf:parseType.
func (d *rdfxmlDecoder) parseType(value string, child xframe) error {
	switch value {
	case "Resource":
		b := d.blank.fresh()
		d.statement(&child, b)
		child.kind, child.subject, child.reify, child.annotation = xNode, b, "", ""
	case "Collection":
		child.kind = xCollection
	case "Triple":
		if d.rdf12 {
			return d.openTriple(child)
		}
		fallthrough
	default: // "Literal", and every unknown value (§7.2.20)
		lex, err := d.x.literal()
		if err != nil {
			return err
		}
		d.statement(&child, term.Key("^"+rdfNS+"XMLLiteral\x00"+lex))
		return nil
	}
	d.stack = append(d.stack, child)
	return nil
}

// textLiteral returns the literal with d.text as its lexical form, in the scope of f.
func (d *rdfxmlDecoder) textLiteral(f *xframe) term.Key {
	lang := f.lang
	switch {
	case f.datatype != "":
		lang = ""
	case lang != "" && f.version12 && f.dir != "":
		lang += "--" + f.dir
	}
	return d.literal(d.text, lang, f.datatype)
}
