package webpage

import (
	"strings"

	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// byPlace returns the implied subject of the root, head and body elements.
func (d *document) byPlace(s *step) term.Key {
	switch {
	case d.isRoot(s.n):
		return d.key(term.IRI(d.base.String()))
	case s.n.Data == "head", s.n.Data == "body":
		return s.ctx.object
	}
	return ""
}

// about returns the resource that @about names, or "".
func (d *document) about(s *step) term.Key {
	if v, ok := attr(s.n, "about"); ok {
		return d.safeCURIE(s, v)
	}
	return ""
}

// objectResource returns the resource that @resource, @href or @src names, or "".
func (d *document) objectResource(s *step) term.Key {
	if v, ok := attr(s.n, "resource"); ok {
		if k := d.safeCURIE(s, v); k != "" {
			return k
		}
	}
	for _, name := range []string{"href", "src"} {
		if v, ok := attr(s.n, name); ok {
			return d.resource(v)
		}
	}
	return ""
}

// emitRelations emits the statements of @rel and @rev, or records them as incomplete (steps 9 and 10).
func (d *document) emitRelations(s *step) {
	_, list := attr(s.n, "inlist")
	if s.currentObject == "" && (s.hasRel || s.hasRev) {
		for _, p := range s.rel {
			if list {
				s.lists.touch(p)
				s.incomplete = append(s.incomplete, incomplete{p, inList})
			} else {
				s.incomplete = append(s.incomplete, incomplete{p, forward})
			}
		}
		for _, p := range s.rev {
			s.incomplete = append(s.incomplete, incomplete{p, reverse})
		}
		s.currentObject = d.fresh("a-")
		return
	}
	for _, p := range s.rel {
		if list {
			s.lists.add(p, s.currentObject)
		} else {
			d.emit(s.newSubject, p, s.currentObject)
		}
	}
	for _, p := range s.rev {
		d.emit(s.currentObject, p, s.newSubject)
	}
}

// property emits the statements of @property (step 11).
func (d *document) property(s *step) {
	tokens := s.tokens("property")
	if len(tokens) == 0 {
		return
	}
	value := d.propertyValue(s)
	_, list := attr(s.n, "inlist")
	for _, t := range tokens {
		p := d.vocabTerm(s, t)
		switch {
		case p.Kind() != term.KindIRI:
		case list:
			s.lists.add(p, value)
		default:
			d.emit(s.newSubject, p, value)
		}
	}
}

// propertyValue returns the value of @property.
func (d *document) propertyValue(s *step) term.Key {
	content, hasContent := attr(s.n, "content")
	datatype, hasDatatype := attr(s.n, "datatype")
	datetime, hasDatetime := attr(s.n, "datetime")
	_, hasTypeof := attr(s.n, "typeof")
	_, hasAbout := attr(s.n, "about")
	text := func() string {
		switch {
		case hasContent:
			return content
		case hasDatetime:
			return datetime
		}
		return d.textOf(s.n)
	}
	if hasDatatype && strings.TrimSpace(datatype) != "" {
		switch dt := d.vocabTerm(s, strings.TrimSpace(datatype)); {
		case dt.Kind() != term.KindIRI:
			return d.literal(text(), s.lang)
		case dt == "<"+vocab.RDFXMLLiteral && !hasContent, dt == "<"+vocab.RDFHTML && !hasContent:
			return d.key(term.Typed(d.markupOf(s), dt.Value()))
		default:
			return d.key(term.Typed(text(), dt.Value()))
		}
	}
	switch {
	case hasDatatype, hasContent:
		return d.literal(text(), s.lang)
	case hasDatetime, s.n.Data == "time":
		return d.timeValue(strings.TrimSpace(text()), s.lang)
	case !s.hasRel && !s.hasRev:
		if k := d.objectResource(s); k != "" {
			return k
		}
	}
	if hasTypeof && !hasAbout && s.typed != "" {
		return s.typed
	}
	return d.literal(text(), s.lang)
}

// list emits the cells of an RDF list and returns the first.
func (d *document) list(values []term.Key) term.Key {
	head := rdfNil
	for i := len(values) - 1; i >= 0; i-- {
		cell := d.fresh("a-")
		d.emit(cell, rdfFirst, values[i])
		d.emit(cell, rdfRest, head)
		head = cell
	}
	return head
}
