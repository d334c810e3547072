package oai

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// page is one answer of a repository without its records, which are handed over as they are read.
type page struct {
	Date     string // responseDate
	Errors   []fault
	Token    token
	Identify element // what stands in Identify; without children where there is none
	Formats  []format
	Sets     []set
	Listed   bool // there was a list, even an empty one
}

// fault is an <error> of the protocol.
type fault struct{ Code, Text string }

type token struct {
	Value   string
	Expires string
	Size    string // completeListSize
}

type format struct{ Prefix, Schema, Namespace string }

type set struct{ Spec, Name, Description string }

// record is one of a list; of ListIdentifiers only the header.
type record struct {
	Identifier, Datestamp string
	Sets                  []string
	Deleted               bool
	Metadata              *element
	Raw                   []byte // the metadata's XML, a document of its own; belongs to the caller
	About                 []*element
}

// element is a piece of XML, held whole.
type element struct {
	Name     xml.Name
	Attr     []xml.Attr
	Text     string // all character data directly inside
	Children []*element
}

const (
	maxDepth = 200     // of nested elements
	maxText  = 4 << 20 // bytes of character data in one element
)

var errDeep = fmt.Errorf("elements are nested more than %d deep", maxDepth)

// reader walks through one answer.
type reader struct {
	dec    *xml.Decoder
	body   []byte
	scope  []xml.Attr // namespaces declared on the envelope, the innermost last
	page   page
	record func(record) error
}

// sinkError carries an error of the caller through the reading.
type sinkError struct{ error }

func (e sinkError) Unwrap() error { return e.error }

// parse reads an answer in UTF-8. Records go to emit one at a time. Names are told by their local part: prefixes and
// namespaces vary. Reading ends with the closing tag; an error means that the answer is broken from there on, and what was
// handed over is good.
func parse(body []byte, emit func(record) error) (page, error) {
	begin := root(body)
	if begin < 0 {
		return page{}, errNoOAI
	}
	body = clean(body[begin:])
	r := &reader{dec: xml.NewDecoder(bytes.NewReader(body)), body: body, record: emit}
	r.dec.Strict = false
	r.dec.Entity = xml.HTMLEntity
	r.dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // Ask has decoded it
	err := r.envelope(0)
	return r.page, err
}

var errNoOAI = errors.New("there is no OAI-PMH element")

// envelope reads what stands around records: the root and the verb's element.
func (r *reader) envelope(depth int) error {
	for {
		t, err := r.dec.Token()
		if err != nil {
			if depth == 1 && r.page.Listed && endsEarly(err) {
				return nil // only the root's closing tag is missing
			}
			return broken(err)
		}
		switch t := t.(type) {
		case xml.EndElement:
			if depth--; depth <= 0 {
				return nil
			}
		case xml.StartElement:
			switch local := t.Name.Local; local {
			case "OAI-PMH", "ListRecords", "ListIdentifiers", "GetRecord", "ListSets", "ListMetadataFormats":
				r.declare(t)
				depth++
				r.page.Listed = r.page.Listed || local != "OAI-PMH"
			default:
				if err := r.part(t); err != nil {
					return err
				}
			}
		}
	}
}

func (r *reader) declare(t xml.StartElement) {
	for _, a := range t.Attr {
		if a.Name.Space == "xmlns" || (a.Name.Space == "" && a.Name.Local == "xmlns") {
			r.scope = append(r.scope, a)
		}
	}
}

// endsEarly tells an answer that stops inside of an element.
func endsEarly(err error) bool {
	var syntax *xml.SyntaxError
	return errors.Is(err, io.EOF) || (errors.As(err, &syntax) && syntax.Msg == "unexpected EOF")
}

func broken(err error) error {
	if endsEarly(err) {
		return errors.New("the answer breaks off")
	}
	return fmt.Errorf("broken XML: %w", err)
}

// part reads one element of the envelope.
func (r *reader) part(t xml.StartElement) error {
	switch t.Name.Local {
	case "record":
		return r.oneRecord(t)
	}
	e, err := r.element(t, 1)
	if err != nil {
		return err
	}
	p := &r.page
	switch t.Name.Local {
	case "responseDate":
		p.Date = e.text()
	case "error":
		p.Errors = append(p.Errors, fault{e.attr("code"), e.text()})
	case "Identify":
		p.Identify = *e
	case "header":
		rec := record{}
		rec.header(e)
		return r.emit(rec)
	case "resumptionToken":
		p.Token = token{Value: e.text(), Expires: e.attr("expirationDate"), Size: e.attr("completeListSize")}
	case "set":
		p.Sets = append(p.Sets, set{e.child("setSpec"), e.child("setName"), e.descriptionOfSet()})
	case "metadataFormat":
		p.Formats = append(p.Formats, format{e.child("metadataPrefix"), e.child("schema"), e.child("metadataNamespace")})
	}
	return nil
}

func (r *reader) emit(rec record) error {
	if err := r.record(rec); err != nil {
		return sinkError{err}
	}
	return nil
}

func (r *reader) oneRecord(start xml.StartElement) error {
	rec := record{}
	mine := len(r.scope)
	r.declare(start)
	defer func() { r.scope = r.scope[:mine] }()
	for {
		t, err := r.dec.Token()
		if err != nil {
			return broken(err)
		}
		switch t := t.(type) {
		case xml.EndElement:
			return r.emit(rec)
		case xml.StartElement:
			switch t.Name.Local {
			case "header":
				e, err := r.element(t, 2)
				if err != nil {
					return err
				}
				rec.header(e)
			case "metadata":
				if err := r.metadata(t, &rec); err != nil {
					return err
				}
			default:
				e, err := r.element(t, 2)
				if err != nil {
					return err
				}
				if t.Name.Local == "about" {
					rec.About = append(rec.About, e.Children...)
				}
			}
		}
	}
}

// metadata reads the first element inside, and cuts out its bytes.
func (r *reader) metadata(start xml.StartElement, rec *record) error {
	mine := len(r.scope)
	r.declare(start)
	defer func() { r.scope = r.scope[:mine] }()
	for {
		from := r.dec.InputOffset()
		t, err := r.dec.Token()
		if err != nil {
			return broken(err)
		}
		switch t := t.(type) {
		case xml.EndElement:
			return nil
		case xml.StartElement:
			e, err := r.element(t, 3)
			if err != nil {
				return err
			}
			if rec.Metadata == nil {
				rec.Metadata, rec.Raw = e, alone(r.body[from:r.dec.InputOffset()], t, r.scope)
			}
		}
	}
}

// alone makes a document of an element: the namespaces that were declared around it move onto it.
func alone(raw []byte, start xml.StartElement, scope []xml.Attr) []byte {
	declared := map[string]bool{}
	for _, a := range start.Attr {
		if a.Name.Space == "xmlns" || (a.Name.Space == "" && a.Name.Local == "xmlns") {
			declared[a.Name.Space+":"+a.Name.Local] = true
		}
	}
	cut := 1
	for cut < len(raw) && !bytes.ContainsRune([]byte(" \t\r\n/>"), rune(raw[cut])) {
		cut++
	}
	var b bytes.Buffer
	b.Write(raw[:cut])
	for i := len(scope) - 1; i >= 0; i-- {
		a := scope[i]
		if declared[a.Name.Space+":"+a.Name.Local] {
			continue
		}
		declared[a.Name.Space+":"+a.Name.Local] = true
		b.WriteString(" xmlns")
		if a.Name.Space == "xmlns" {
			b.WriteString(":" + a.Name.Local)
		}
		b.WriteString(`="`)
		xml.EscapeText(&b, []byte(a.Value)) // a buffer takes everything
		b.WriteByte('"')
	}
	b.Write(raw[cut:])
	return b.Bytes()
}

func (rec *record) header(e *element) {
	rec.Deleted = strings.EqualFold(e.attr("status"), "deleted")
	for _, c := range e.Children {
		switch c.Name.Local {
		case "identifier":
			rec.Identifier = c.text()
		case "datestamp":
			rec.Datestamp = c.text()
		case "setSpec":
			if spec := c.text(); spec != "" && len(rec.Sets) < 1000 {
				rec.Sets = append(rec.Sets, spec)
			}
		}
	}
}

// element reads the rest of an element that has begun.
func (r *reader) element(start xml.StartElement, depth int) (*element, error) {
	if depth > maxDepth {
		return nil, errDeep
	}
	e := &element{Name: start.Name, Attr: start.Attr}
	var text strings.Builder
	for {
		t, err := r.dec.Token()
		if err != nil {
			return nil, broken(err)
		}
		switch t := t.(type) {
		case xml.EndElement:
			e.Text = text.String()
			return e, nil
		case xml.CharData:
			if text.Len()+len(t) <= maxText {
				text.Write(t)
			}
		case xml.StartElement:
			c, err := r.element(t, depth+1)
			if err != nil {
				return nil, err
			}
			e.Children = append(e.Children, c)
		}
	}
}

func (e *element) text() string { return strings.TrimSpace(e.Text) }

func (e *element) attr(local string) string {
	for _, a := range e.Attr {
		if a.Name.Local == local {
			return strings.TrimSpace(a.Value)
		}
	}
	return ""
}

// child is the text of the first child of that local name.
func (e *element) child(local string) string {
	for _, c := range e.Children {
		if c.Name.Local == local {
			return c.text()
		}
	}
	return ""
}

// children are the texts of all children of that local name.
func (e *element) children(local string) []string {
	var all []string
	for _, c := range e.Children {
		if c.Name.Local == local {
			all = append(all, c.text())
		}
	}
	return all
}

// walk visits e and everything below it, parents first; up holds the ancestors, the nearest last.
func (e *element) walk(visit func(e *element, up []*element)) { e.walkIn(nil, visit) }

func (e *element) walkIn(up []*element, visit func(*element, []*element)) {
	visit(e, up)
	up = append(up, e)
	for _, c := range e.Children {
		c.walkIn(up, visit)
	}
}

// find is the first element of that local name at or below e, nil where there is none.
func (e *element) find(local string) (found *element) {
	e.walk(func(e *element, _ []*element) {
		if found == nil && e.Name.Local == local {
			found = e
		}
	})
	return found
}

// descriptionOfSet is the Dublin Core description in a setDescription.
func (e *element) descriptionOfSet() string {
	if d := e.find("description"); d != nil {
		return d.text()
	}
	return ""
}
