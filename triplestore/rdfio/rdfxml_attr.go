package rdfio

import (
	"strings"

	"slices"

	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
)

// forbiddenNode tells which names of the RDF namespace cannot be node elements (§6.2.5: coreSyntaxTerms, rdf:li, oldTerms).
func forbiddenNode(local string) bool {
	switch local {
	case "RDF", "ID", "about", "parseType", "resource", "nodeID", "datatype", "li", "aboutEach", "aboutEachPrefix", "bagID":
		return true
	}
	return false
}

// forbiddenProperty is the same for property elements.
func forbiddenProperty(local string) bool {
	return local == "Description" || local != "li" && forbiddenNode(local)
}

// rdfAttr is the local name of an attribute in the RDF namespace. A few without a prefix are taken for theirs, as the
// first version of the syntax wrote them (§6.1.4).
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

// propertyAttrs emits the statements that stand as attributes on a node element, or an empty property element (§7.2.11,
// §7.2.21). The given names of the RDF namespace mean something else there.
func (d *rdfxmlDecoder) propertyAttrs(f *xframe, subject term.Key, syntax ...string) error {
	for _, a := range d.x.attrs {
		local := d.rdfAttr(a.name)
		switch {
		case f.kind == xNode && d.attr12(a.name) && (local == "annotation" || local == "annotationNodeID"):
			return d.fail("the attribute %s cannot stand on a node element", a.name.raw)
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
			return d.fail("the attribute %s cannot stand here", a.name.raw)
		case a.name.space == "":
			return d.fail("the attribute %s has no namespace", a.name.raw)
		}
		p, err := d.nameIRI(a.name)
		if err != nil {
			return err
		}
		d.text = append(d.text[:0], a.value...)
		d.emit(subject, p, d.literal(f))
	}
	return nil
}

// nameIRI is the IRI of an element or attribute: its namespace and local name, one behind the other.
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

// ref resolves a reference of rdf:about and the like.
func (d *rdfxmlDecoder) ref(s string, f *xframe) (term.Key, error) {
	if d.mend && iri.CheckChars(s) != nil {
		s = strings.ReplaceAll(string(mendIRI([]byte(strings.TrimSpace(s)))), `\`, "%5C")
	}
	if err := iri.CheckChars(s); err != nil {
		return "", d.fail("%q: %w", s, err)
	}
	if iri.IsAbsolute(s) {
		d.buf = append(append(d.buf[:0], '<'), s...)
		return d.keys.key(d.buf), nil
	}
	abs, err := f.base.Resolve(s)
	if err != nil {
		return "", d.fail("%w", err)
	}
	return term.IRI(abs), nil
}

// maxIDs is how many values of rdf:ID are remembered to find one that is used twice.
const maxIDs = 1 << 20

// id is the IRI of an rdf:ID, which must be unique under its base (§7.2.23).
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

// nodeID is the blank node of an rdf:nodeID.
func (d *rdfxmlDecoder) nodeID(s string) (term.Key, error) {
	if !isNCName(s) {
		return "", d.fail("rdf:nodeID=%q is not an XML name", s)
	}
	d.buf = d.blank.appendLabelled(d.buf[:0], []byte(s))
	return d.keys.key(d.buf), nil
}
