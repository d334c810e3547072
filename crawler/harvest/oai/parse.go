package oai

import (
	"encoding/xml"
	"errors"
	"strings"

	"odarchive/crawler/harvest/loose"
)

// page is an answer of a repository. Its records are handed over while it is read.
type page struct {
	Date     string // responseDate
	Errors   []fault
	Token    token
	Identify loose.Element // without children if there is none
	Formats  []format
	Sets     []set
	Listed   bool // the answer has a list, which may be empty
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

// record is a record of a list. For ListIdentifiers it has only a header.
type record struct {
	Identifier, Datestamp string
	Sets                  []string
	Deleted               bool
	Metadata              *loose.Element
	Raw                   []byte // XML of Metadata as a document of its own, owned by the caller
	About                 []*loose.Element
}

// reader reads one answer.
type reader struct {
	*loose.XMLReader
	page   page
	record func(record) error
}

// sinkError is an error of the record function.
type sinkError struct{ error }

func (e sinkError) Unwrap() error { return e.error }

// parse parses an answer in UTF-8 and passes its records to emit. Elements are identified by their local names, since
// prefixes and namespaces vary. Bytes after the closing tag are ignored. With an error, everything before the fault has
// been handed over.
func parse(body []byte, emit func(record) error) (page, error) {
	begin := root(body)
	if begin < 0 {
		return page{}, errNoOAI
	}
	r := &reader{XMLReader: loose.NewXMLReader(body[begin:]), record: emit}
	err := r.envelope(0)
	return r.page, err
}

var errNoOAI = errors.New("the OAI-PMH element is missing")

// envelope reads what surrounds the records: the root and the verb's element.
func (r *reader) envelope(depth int) error {
	for {
		start, _, err := r.Next()
		switch {
		case err != nil && depth == 1 && r.page.Listed && loose.EndsEarly(err):
			return nil // only the root's closing tag is missing
		case err != nil:
			return loose.Broken(err)
		case start == nil:
			if depth--; depth <= 0 {
				return nil
			}
			continue
		}
		switch local := start.Name.Local; local {
		case "OAI-PMH", "ListRecords", "ListIdentifiers", "GetRecord", "ListSets", "ListMetadataFormats":
			r.Enter(start)
			depth++
			r.page.Listed = r.page.Listed || local != "OAI-PMH"
		default:
			if err := r.part(start); err != nil {
				return err
			}
		}
	}
}

// part reads one element of the envelope.
func (r *reader) part(start *xml.StartElement) error {
	if start.Name.Local == "record" {
		return r.oneRecord(start)
	}
	e, err := r.Element(start)
	if err != nil {
		return err
	}
	p := &r.page
	switch start.Name.Local {
	case "responseDate":
		p.Date = e.Text()
	case "error":
		p.Errors = append(p.Errors, fault{e.Attr("code"), e.Text()})
	case "Identify":
		p.Identify = *e
	case "header":
		rec := record{}
		rec.header(e)
		return r.emit(rec)
	case "resumptionToken":
		p.Token = token{Value: e.Text(), Expires: e.Attr("expirationDate"), Size: e.Attr("completeListSize")}
	case "set":
		p.Sets = append(p.Sets, set{e.Child("setSpec"), e.Child("setName"), descriptionOf(e)})
	case "metadataFormat":
		p.Formats = append(p.Formats, format{e.Child("metadataPrefix"), e.Child("schema"), e.Child("metadataNamespace")})
	}
	return nil
}

func (r *reader) emit(rec record) error {
	if err := r.record(rec); err != nil {
		return sinkError{err}
	}
	return nil
}

func (r *reader) oneRecord(start *xml.StartElement) error {
	rec := record{}
	defer r.Leave(r.Enter(start))
	for {
		start, _, err := r.Next()
		switch {
		case err != nil:
			return loose.Broken(err)
		case start == nil:
			return r.emit(rec)
		case start.Name.Local == "metadata":
			if err := r.metadata(start, &rec); err != nil {
				return err
			}
			continue
		}
		e, err := r.Element(start)
		if err != nil {
			return err
		}
		switch start.Name.Local {
		case "header":
			rec.header(e)
		case "about":
			rec.About = append(rec.About, e.Children...)
		}
	}
}

// metadata reads the first element inside, as a tree and as bytes.
func (r *reader) metadata(start *xml.StartElement, rec *record) error {
	defer r.Leave(r.Enter(start))
	for {
		start, from, err := r.Next()
		switch {
		case err != nil:
			return loose.Broken(err)
		case start == nil:
			return nil
		}
		e, err := r.Element(start)
		if err != nil {
			return err
		}
		if rec.Metadata == nil {
			rec.Metadata, rec.Raw = e, r.Raw(start, from)
		}
	}
}

func (rec *record) header(e *loose.Element) {
	rec.Deleted = strings.EqualFold(e.Attr("status"), "deleted")
	for _, c := range e.Children {
		switch c.Name.Local {
		case "identifier":
			rec.Identifier = c.Text()
		case "datestamp":
			rec.Datestamp = c.Text()
		case "setSpec":
			if spec := c.Text(); spec != "" && len(rec.Sets) < 1000 {
				rec.Sets = append(rec.Sets, spec)
			}
		}
	}
}

// descriptionOf returns the Dublin Core description in a setDescription.
func descriptionOf(set *loose.Element) string {
	if d := set.Find("description"); d != nil {
		return d.Text()
	}
	return ""
}
