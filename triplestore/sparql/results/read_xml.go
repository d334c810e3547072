package results

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"odarchive/triplestore/term"
)

// xmlDecoder reads the document by tokens. It ignores entities that a document type declaration defines.
type xmlDecoder struct {
	d    *xml.Decoder
	b    *budget
	l    Limits
	vars map[string]int // positions in a row
	n    int            // number of variables
}

func (r *Reader) openXML(b *budget, l Limits) error {
	d := &xmlDecoder{d: xml.NewDecoder(b), b: b, l: l, vars: map[string]int{}}
	r.dec = d
	root, err := d.child()
	if err != nil {
		return err
	}
	if root.Name.Local != "sparql" || root.Name.Space != sparqlNS {
		return fmt.Errorf("the root is <%s>, expected <sparql> of %s", root.Name.Local, sparqlNS)
	}
	for {
		e, err := d.child()
		if err != nil {
			return err
		}
		switch e.Name.Local {
		case "head":
			if err := d.head(r); err != nil {
				return err
			}
		case "boolean":
			s, err := d.text(e)
			if err != nil {
				return err
			}
			r.isBool, r.boolean = true, strings.TrimSpace(s) == "true"
			return d.finish()
		case "results":
			return nil
		default:
			if err := d.d.Skip(); err != nil {
				return err
			}
		}
	}
}

// errEnd reports the end of an element.
var errEnd = errors.New("end of element")

// child skips white space and reads the start tag of the next child. At the end of the parent it returns errEnd.
func (d *xmlDecoder) child() (xml.StartElement, error) {
	for {
		t, err := d.d.Token()
		if err != nil {
			return xml.StartElement{}, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			return t, nil
		case xml.EndElement:
			return xml.StartElement{}, errEnd
		case xml.CharData:
			if strings.TrimSpace(string(t)) != "" {
				return xml.StartElement{}, fmt.Errorf("text %.20q between elements", t)
			}
		}
	}
}

// text reads the text of e, which has no children, and its end tag.
func (d *xmlDecoder) text(e xml.StartElement) (string, error) {
	var b strings.Builder
	for {
		t, err := d.d.Token()
		if err != nil {
			return "", err
		}
		switch t := t.(type) {
		case xml.CharData:
			b.Write(t)
		case xml.EndElement:
			return b.String(), nil
		case xml.StartElement:
			return "", fmt.Errorf("<%s> inside <%s>", t.Name.Local, e.Name.Local)
		}
	}
}

// head reads the variables.
func (d *xmlDecoder) head(r *Reader) error {
	for {
		e, err := d.child()
		if err == errEnd {
			d.n = len(r.vars)
			return nil
		}
		if err != nil {
			return err
		}
		if e.Name.Local == "variable" {
			name := attr(e, "", "name")
			if len(r.vars) >= d.l.Vars {
				return fmt.Errorf("variables: %w", ErrLimit)
			}
			d.vars[name] = len(r.vars)
			r.vars = append(r.vars, name)
		}
		if err := d.d.Skip(); err != nil {
			return err
		}
	}
}

// attr returns the value of an attribute, or "".
func attr(e xml.StartElement, space, local string) string {
	for _, a := range e.Attr {
		if a.Name.Local == local && a.Name.Space == space {
			return a.Value
		}
	}
	return ""
}

func (d *xmlDecoder) next() ([]term.Key, error) {
	d.b.refill()
	e, err := d.child()
	if err == errEnd {
		if err := d.finish(); err != nil {
			return nil, unexpected(err)
		}
		return nil, io.EOF
	}
	if err != nil {
		return nil, unexpected(err)
	}
	if e.Name.Local != "result" {
		return nil, fmt.Errorf("<%s> among the results", e.Name.Local)
	}
	row := make([]term.Key, d.n)
	for {
		e, err := d.child()
		if err == errEnd {
			return row, nil
		}
		if err != nil {
			return nil, unexpected(err)
		}
		name := attr(e, "", "name")
		i, ok := d.vars[name]
		if e.Name.Local != "binding" || !ok {
			return nil, fmt.Errorf("<%s> of %q in a result", e.Name.Local, name)
		}
		if row[i], err = d.only(d.l.Depth); err != nil {
			return nil, fmt.Errorf("?%s: %w", name, unexpected(err))
		}
	}
}

// only reads the only term in an element, and the end tag of the element.
func (d *xmlDecoder) only(depth int) (term.Key, error) {
	e, err := d.child()
	if err != nil {
		return "", err
	}
	k, err := d.term(e, depth)
	if err != nil {
		return "", err
	}
	if _, err := d.child(); err != errEnd {
		return "", errors.New("more than one term")
	}
	return k, nil
}

// term reads the term whose start tag is e. Triple terms may nest depth deep.
func (d *xmlDecoder) term(e xml.StartElement, depth int) (term.Key, error) {
	if e.Name.Local == "triple" {
		return d.triple(depth)
	}
	s, err := d.text(e)
	if err != nil {
		return "", err
	}
	switch e.Name.Local {
	case "uri":
		return term.IRI(strings.TrimSpace(s)), nil
	case "bnode":
		return term.Blank(strings.TrimSpace(s)), nil
	case "literal":
		return literal(s, attr(e, "http://www.w3.org/XML/1998/namespace", "lang"), attr(e, itsNS, "dir"), attr(e, "", "datatype"))
	}
	return "", fmt.Errorf("<%s> is not a term", e.Name.Local)
}

func (d *xmlDecoder) triple(depth int) (term.Key, error) {
	if depth == 0 {
		return "", fmt.Errorf("nested triple terms: %w", ErrLimit)
	}
	var k [3]term.Key
	for i, want := range [3]string{"subject", "predicate", "object"} {
		e, err := d.child()
		if err != nil {
			return "", err
		}
		if e.Name.Local != want {
			return "", fmt.Errorf("found <%s>, expected <%s>", e.Name.Local, want)
		}
		if k[i], err = d.only(depth - 1); err != nil {
			return "", err
		}
	}
	if _, err := d.child(); err != errEnd {
		return "", errors.New("more than a triple in <triple>")
	}
	return term.Triple(k[0], k[1], k[2]), nil
}

// finish reads the rest of the document.
func (d *xmlDecoder) finish() error {
	for {
		_, err := d.child()
		if err == io.EOF {
			return nil
		}
		if err != nil && err != errEnd {
			return err
		}
		if err == nil {
			if err := d.d.Skip(); err != nil {
				return err
			}
		}
	}
}
