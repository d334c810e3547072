package rdfio

import (
	"fmt"
	"io"

	"odarchive/triplestore/internal/terminals"
	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
)

// rdfjsonDecoder reads RDF 1.1 JSON Alternate Serialization: { subject: { predicate: [ object, ... ] } }. The nesting
// is fixed, so its level is the state.
type rdfjsonDecoder struct {
	terms
	j     jsonScanner
	base  iri.Base
	level int  // 1 in the document, 2 in a subject's object, 3 in a predicate's array
	first bool // no member or element of the innermost was read yet
	done  bool
	s, p  term.Key

	fields rdfjsonFields
}

func decodeRDFJSON(r io.Reader, base iri.Base, o Options, _ Syntax) decoder {
	return &rdfjsonDecoder{terms: newTerms(o), j: jsonScanner{in: newInput(r, o), lim: o.Limits}, base: base}
}

func (d *rdfjsonDecoder) read() (term.Quad, error) {
	for {
		if d.done {
			return term.Quad{}, io.EOF
		}
		if d.level == 3 {
			o, more, err := d.element()
			if err != nil {
				return term.Quad{}, err
			}
			if more {
				return term.Quad{S: d.s, P: d.p, O: o}, nil
			}
			continue
		}
		if err := d.member(); err != nil {
			return term.Quad{}, err
		}
	}
}

// member reads the next subject or predicate, or the end of the object.
func (d *rdfjsonDecoder) member() error {
	if d.level == 0 {
		_, err := d.j.expect("'{'", '{')
		d.level, d.first = 1, true
		return err
	}
	k, err := d.separator('}')
	if err != nil {
		return err
	}
	if k == '}' {
		d.level--
		d.first = false
		if d.level == 0 {
			d.done = true
			_, err = d.j.expect("nothing after the document", jsonEnd)
		}
		return err
	}
	if d.level == 1 {
		d.s, err = d.resource(d.j.buf, true)
	} else {
		d.p, err = d.resource(d.j.buf, false)
	}
	if err != nil {
		return err
	}
	if _, err := d.j.expect("':'", ':'); err != nil {
		return err
	}
	open, what := jsonKind('{'), "an object with the predicates"
	if d.level == 2 {
		open, what = '[', "an array with the objects"
	}
	_, err = d.j.expect(what, open)
	d.level++
	d.first = true
	return err
}

// separator reads the comma before all members or elements but the first, and then the name of the member or the
// opening brace of the element. At the end of the object or array it reads end instead.
func (d *rdfjsonDecoder) separator(end jsonKind) (jsonKind, error) {
	item, first, further := jsonString, "a member's name or '}'", "',' or '}'"
	if end == ']' {
		item, first, further = '{', "an object or ']'", "',' or ']'"
	}
	if d.first {
		d.first = false
		return d.j.expect(first, item, end)
	}
	k, err := d.j.expect(further, ',', end)
	if err != nil || k == end {
		return k, err
	}
	return d.j.expect(first, item)
}

// resource returns the IRI b or, if blank is set and b begins with "_:", the blank node.
func (d *rdfjsonDecoder) resource(b []byte, blank bool) (term.Key, error) {
	if blank && len(b) > 2 && b[0] == '_' && b[1] == ':' {
		return d.label(b[2:]), nil
	}
	k, err := d.resolve(&d.base, b)
	if err != nil {
		return "", d.j.in.failWith(0, err)
	}
	return k, nil
}

// element reads the next object of the array, or the end of the array.
func (d *rdfjsonDecoder) element() (o term.Key, more bool, err error) {
	k, err := d.separator(']')
	if err != nil {
		return "", false, err
	}
	if k == ']' {
		d.level--
		d.first = false
		return "", false, nil
	}
	d.fields.reset()
	for {
		if _, err := d.j.expect("a member's name", jsonString); err != nil {
			return "", false, err
		}
		field := d.fields.named(d.j.buf)
		if field == nil {
			return "", false, d.j.in.failWith(0, fmt.Errorf("the member %q is not part of RDF/JSON", d.j.buf))
		}
		if _, err := d.j.expect("':'", ':'); err != nil {
			return "", false, err
		}
		if _, err := d.j.expect("a string", jsonString); err != nil {
			return "", false, err
		}
		field.text, field.given = append(field.text, d.j.buf...), true
		if k, err = d.j.expect("',' or '}'", ',', '}'); err != nil {
			return "", false, err
		}
		if k == '}' {
			break
		}
	}
	o, err = d.object(&d.fields)
	return o, true, err
}

// rdfjsonFields are the members of a JSON object that is the object of a statement.
type rdfjsonFields struct{ kind, value, lang, datatype rdfjsonField }

type rdfjsonField struct {
	text  []byte
	given bool
}

func (f *rdfjsonFields) named(name []byte) *rdfjsonField {
	switch string(name) {
	case "type":
		return &f.kind
	case "value":
		return &f.value
	case "lang":
		return &f.lang
	case "datatype":
		return &f.datatype
	}
	return nil
}

// reset empties the fields and keeps their memory.
func (f *rdfjsonFields) reset() {
	for _, field := range [4]*rdfjsonField{&f.kind, &f.value, &f.lang, &f.datatype} {
		field.text, field.given = field.text[:0], false
	}
}

// object returns the term that the members describe.
func (d *rdfjsonDecoder) object(f *rdfjsonFields) (term.Key, error) {
	if !f.value.given {
		return "", d.j.in.failWith(0, fmt.Errorf("object without a value"))
	}
	switch string(f.kind.text) {
	case "uri", "bnode":
		return d.resource(f.value.text, f.kind.text[0] == 'b')
	case "literal":
	default:
		return "", d.j.in.failWith(0, fmt.Errorf("object of type %q, not uri, bnode or literal", f.kind.text))
	}
	lang, datatype := string(f.lang.text), string(f.datatype.text)
	if terminals.LangTag(lang) != len(lang) {
		return "", d.j.in.failWith(0, fmt.Errorf("%q is not a language tag", lang))
	}
	if err := iri.Check(datatype); err != nil && lang == "" && datatype != "" {
		return "", d.j.in.failWith(0, err)
	}
	return d.literal(f.value.text, lang, datatype), nil
}
