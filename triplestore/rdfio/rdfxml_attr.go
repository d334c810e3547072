package rdfio

import (
	"slices"
	"strings"

	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
)

// forbiddenNode reports whether a name of the RDF namespace cannot be a node element (§6.2.5: coreSyntaxTerms, rdf:li,
// oldTerms).
func forbiddenNode(local string) bool {
	switch local {
	case "RDF", "ID", "about", "parseType", "resource", "nodeID", "datatype", "li", "aboutEach", "aboutEachPrefix", "bagID":
		return true
	}
	return false
}

// forbiddenProperty is forbiddenNode for property elements.
func forbiddenProperty(local string) bool {
	return local == "Description" || local != "li" && forbiddenNode(local)
}

// rdfAttr returns the local name of an attribute in the RDF namespace, or "". A few names need no prefix, as in the
// first version of the syntax (§6.1.4).
func (d *rdfxmlDecoder) rdfAttr(n *xmlName) string {
	if n.space == rdfNS {
		return n.local
	}
	if n.space == "" {
		switch n.raw {
		case "ID", "about", "resource", "parseType", "type":
			return n.local
		}
	}
	return ""
}

// propertyAttrs emits the statements that attributes of a node element or of an empty property element make (§7.2.11,
// §7.2.21). The names in syntax, of the RDF namespace, have another meaning there.
func (d *rdfxmlDecoder) propertyAttrs(f *xframe, subject term.Key, syntax ...string) error {
	for _, a := range d.x.attrs {
		local := d.rdfAttr(a.name)
		switch {
		case f.kind == xNode && d.attr12(a.name) && (local == "annotation" || local == "annotationNodeID"):
			return d.fail("the attribute %s is not allowed on a node element", a.name.raw)
		case a.name.space == xmlNS || ignorable(a.name) || d.attr12(a.name) || local != "" && slices.Contains(syntax, local):
			continue
		case local == "type":
			k, err := d.ref(a.value, f)
			if err != nil {
				return err
			}
			d.emit(subject, rdfType, k)
			continue
		case local != "" && (forbiddenProperty(local) || local == "li"):
			return d.fail("the attribute %s is not allowed here", a.name.raw)
		case a.name.space == "":
			return d.fail("the attribute %s has no namespace", a.name.raw)
		}
		p, err := d.nameIRI(a.name)
		if err != nil {
			return err
		}
		d.text = append(d.text[:0], a.value...)
		d.emit(subject, p, d.textLiteral(f))
	}
	return nil
}

// nameIRI returns the IRI of an element or attribute: its namespace followed by its local name.
func (d *rdfxmlDecoder) nameIRI(n *xmlName) (term.Key, error) {
	if n.checked {
		return n.iri, nil
	}
	if n.space == "" {
		return "", d.fail("%s has no namespace", n.raw)
	}
	s := n.space + n.local
	if err := iri.Check(s); err != nil {
		return "", d.fail("%s: %w", n.raw, err)
	}
	n.iri, n.checked = term.IRI(s), true
	return n.iri, nil
}

// ref resolves the value of rdf:about and other references.
func (d *rdfxmlDecoder) ref(s string, f *xframe) (term.Key, error) {
	if d.mend && iri.CheckChars(s) != nil {
		s = iri.Escape(strings.TrimSpace(s))
	}
	k, err := d.resolve(f.base, []byte(s))
	if err != nil {
		return "", d.fail("%q: %w", s, err)
	}
	return k, nil
}

// maxIDs is how many values of rdf:ID are kept to find repeated ones.
const maxIDs = 1 << 20

// id returns the IRI of an rdf:ID, which must be unique under its base (§7.2.23).
func (d *rdfxmlDecoder) id(s string, f *xframe) (term.Key, error) {
	if !isNCName(s) {
		return "", d.fail("rdf:ID=%q is not an XML name", s)
	}
	k, err := d.ref("#"+s, f)
	if err != nil {
		return "", err
	}
	if d.ids[string(k)] {
		return "", d.fail("rdf:ID=%q is used twice", s)
	}
	if len(d.ids) < maxIDs {
		d.ids[string(k)] = true
	}
	return k, nil
}

// nodeID returns the blank node of an rdf:nodeID.
func (d *rdfxmlDecoder) nodeID(s string) (term.Key, error) {
	if !isNCName(s) {
		return "", d.fail("rdf:nodeID=%q is not an XML name", s)
	}
	return d.label([]byte(s)), nil
}
