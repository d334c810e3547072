package rdfio

import (
	"fmt"
	"io"

	"odarchive/triplestore/internal/terminals"
	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
)

// rdfjsonDecoder reads RDF 1.1 JSON Alternate Serialization: { subject: { predicate: [ object, ... ] } }. The nesting is
// fixed, so the state is what is open.
type rdfjsonDecoder struct {
	j     jsonScanner
	base  iri.Base
	blank blanks
	keys  *keyCache
	buf   []byte
	level int // how many of the document, a subject, a predicate's array are open
	first bool
	done  bool
	s, p  term.Key

	fields rdfjsonFields
}

func decodeRDFJSON(r io.Reader, base iri.Base, o Options) decoder {
	return &rdfjsonDecoder{j: jsonScanner{in: newInput(r, o), lim: o.Limits}, base: base, blank: blanks{prefix: o.BlankPrefix}, keys: newKeyCache()}
}

func (d *rdfjsonDecoder) skip() bool                  { return false }
func (d *rdfjsonDecoder) prefixes() map[string]string { return nil }

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

// member reads the next subject or predicate, or what closes the object.
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
			_, err = d.j.expect("nothing behind the document", jsonEnd)
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

// separator reads the comma before a member that is not the first, and then the member's name, or the end.
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

// resource makes the key of an IRI or, behind "_:", of a blank node.
func (d *rdfjsonDecoder) resource(b []byte, blank bool) (term.Key, error) {
	if blank && len(b) > 2 && b[0] == '_' && b[1] == ':' {
		d.buf = d.blank.appendLabelled(d.buf[:0], b[2:])
		return d.keys.key(d.buf), nil
	}
	d.buf = append(append(d.buf[:0], '<'), b...)
	if k, _ := d.keys.find(d.buf); k != "" {
		return k, nil
	}
	if err := iri.CheckChars(b); err != nil {
		return "", d.j.in.failWith(0, err)
	}
	abs, err := d.base.Resolve(string(b))
	if err != nil {
		return "", d.j.in.failWith(0, err)
	}
	d.buf = append(append(d.buf[:0], '<'), abs...)
	return d.keys.key(d.buf), nil
}

// element reads an object of the array, or the array's end.
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
			return "", false, d.j.in.failWith(0, fmt.Errorf("the member %q, which RDF/JSON does not know", d.j.buf))
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

// rdfjsonFields are the members of an object in the sense of RDF.
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

func (d *rdfjsonDecoder) object(f *rdfjsonFields) (term.Key, error) {
	if !f.value.given {
		return "", d.j.in.failWith(0, fmt.Errorf("an object without a value"))
	}
	switch string(f.kind.text) {
	case "uri", "bnode":
		return d.resource(f.value.text, f.kind.text[0] == 'b')
	case "literal":
	default:
		return "", d.j.in.failWith(0, fmt.Errorf("an object of type %q, not uri, bnode or literal", f.kind.text))
	}
	d.buf = append(append(d.buf[:0], '"'), f.value.text...)
	n := len(d.buf)
	switch {
	case len(f.lang.text) > 0:
		if terminals.LangTag(f.lang.text) != len(f.lang.text) {
			return "", d.j.in.failWith(0, fmt.Errorf("%q is not a language tag", f.lang.text))
		}
		d.buf = appendLang(d.buf, f.lang.text)
	case len(f.datatype.text) > 0 && string(f.datatype.text) != term.XSDString:
		if err := iri.Check(string(f.datatype.text)); err != nil {
			return "", d.j.in.failWith(0, err)
		}
		d.buf = appendTyped(d.buf, string(f.datatype.text))
	default:
		n = 0
	}
	return d.keys.key(d.buf[n:]), nil
}
