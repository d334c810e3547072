package rdfio

import (
	"fmt"
	"io"

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
		d.s, err = d.resource(true)
	} else {
		d.p, err = d.resource(false)
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
	item := jsonString
	if end == ']' {
		item = '{'
	}
	if d.first {
		d.first = false
		return d.j.expect(fmt.Sprintf("%q or %q", rune(item), rune(end)), item, end)
	}
	k, err := d.j.expect(fmt.Sprintf("',' or %q", rune(end)), ',', end)
	if err != nil || k == end {
		return k, err
	}
	return d.j.expect(fmt.Sprintf("%q", rune(item)), item)
}

// resource makes the key of the IRI or blank node whose name the scanner has just read.
func (d *rdfjsonDecoder) resource(blank bool) (term.Key, error) {
	b := d.j.buf
	if blank && len(b) > 2 && b[0] == '_' && b[1] == ':' {
		d.buf = d.blank.appendLabelled(d.buf[:0], b[2:])
		return d.keys.key(d.buf), nil
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
	fields := map[string]string{}
	for {
		if _, err := d.j.expect("a member's name", jsonString); err != nil {
			return "", false, err
		}
		name := string(d.j.buf)
		if name != "type" && name != "value" && name != "lang" && name != "datatype" {
			return "", false, d.j.in.failWith(0, fmt.Errorf("the member %q, which RDF/JSON does not know", name))
		}
		if _, err := d.j.expect("':'", ':'); err != nil {
			return "", false, err
		}
		if _, err := d.j.expect("a string", jsonString); err != nil {
			return "", false, err
		}
		fields[name] = string(d.j.buf)
		if k, err = d.j.expect("',' or '}'", ',', '}'); err != nil {
			return "", false, err
		}
		if k == '}' {
			break
		}
	}
	o, err = d.object(fields)
	return o, true, err
}

func (d *rdfjsonDecoder) object(fields map[string]string) (term.Key, error) {
	value, has := fields["value"]
	if !has {
		return "", d.j.in.failWith(0, fmt.Errorf("an object without a value"))
	}
	switch fields["type"] {
	case "uri", "bnode":
		d.j.buf = append(d.j.buf[:0], value...)
		return d.resource(fields["type"] == "bnode")
	case "literal":
	default:
		return "", d.j.in.failWith(0, fmt.Errorf("an object of type %q, not uri, bnode or literal", fields["type"]))
	}
	if lang := fields["lang"]; lang != "" {
		if langLen([]byte(lang)) != len(lang) {
			return "", d.j.in.failWith(0, fmt.Errorf("%q is not a language tag", lang))
		}
		return term.Lang(value, lang), nil
	}
	dt := fields["datatype"]
	if dt == "" {
		return term.String(value), nil
	}
	if err := iri.Check(dt); err != nil {
		return "", d.j.in.failWith(0, err)
	}
	return term.Typed(value, dt), nil
}
