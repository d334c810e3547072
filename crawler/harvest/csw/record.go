package csw

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/dcat"
	"odarchive/crawler/harvest/iso19115"
	"odarchive/crawler/harvest/loose"
	"odarchive/crawler/harvest/portalapi"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// iri returns the IRI of a record: its address or, in a saved answer, a fragment of the answer's.
func (c *client) iri(id string) string {
	if c.saved {
		return c.base + "#" + url.PathEscape(id)
	}
	return portalapi.WithQuery(c.base,
		url.Values{"service": {"CSW"}, "version": {"2.0.2"}, "request": {"GetRecordById"}, "elementSetName": {"full"},
			"outputSchema": {c.Mark.Get("schema")}, "id": {id}})
}

// item hands over one record.
func (c *client) item(_ context.Context, r record) error {
	switch {
	case r.raw != nil:
		return c.rdf(r)
	case iso19115.Is(r.root):
		rec := iso19115.Read(r.root, func(id string) string { return c.iri(cmp.Or(id, r.fallback)) })
		c.saw(rec.Stamp)
		if rec.Service {
			return c.service(rec.Dataset)
		}
		return c.Out.Dataset(rec.Dataset)
	}
	return c.Out.Dataset(c.dublinCore(r))
}

// saw notes the time of a change unless it is in the future, where it would hide other changes.
func (c *client) saw(stamp string) {
	if t, ok := harvest.ParseTime(stamp); ok && !t.After(c.now) {
		c.Mark.Saw(t.Format(time.RFC3339))
	}
}

// service describes a record as a dcat:DataService of the portal. It has no files to crawl.
func (c *client) service(d harvest.Dataset) error {
	node := term.IRI(d.IRI)
	say := func(p string, o term.Key) error { return c.Out.Quad(term.Quad{S: node, P: term.IRI(p), O: o}) }
	if err := say(vocab.RDFType, term.IRI(vocab.DCATDataService)); err != nil {
		return err
	}
	for _, t := range d.Title {
		if err := say(vocab.DCTTitle, term.Lang(t.Value, t.Lang)); err != nil {
			return err
		}
	}
	for _, t := range d.Description {
		if err := say(vocab.DCTDescription, term.Lang(t.Value, t.Lang)); err != nil {
			return err
		}
	}
	for _, at := range d.Distributions {
		if address, ok := harvest.AsIRI(at.URL); ok {
			if err := say(vocab.DCATEndpointURL, term.IRI(address)); err != nil {
				return err
			}
		}
	}
	return c.Out.Quad(term.Quad{S: term.IRI(cmp.Or(c.Source.Portal, c.base)), P: term.IRI(vocab.DCATService), O: node})
}

// rdf hands over the datasets of a record in RDF/XML.
func (c *client) rdf(r record) error {
	var quads []term.Quad
	for q, err := range rdfio.NewReader(bytes.NewReader(r.raw), rdfio.RDFXML(), rdfio.Options{Base: c.base, BlankPrefix: "r"}).All() {
		if err != nil {
			return c.Out.Unknown(r.id, fmt.Sprintf("record %s: %v", cmp.Or(r.id, r.fallback), err))
		}
		quads = append(quads, q)
	}
	found := dcat.Read(quads, cmp.Or(c.Source.Portal, c.base), c.base)
	if len(found.Datasets) == 0 {
		c.Out.Skip("record " + cmp.Or(r.id, r.fallback) + " describes no dataset")
	}
	for _, d := range found.Datasets {
		c.saw(d.Modified)
		if err := c.Out.Dataset(d); err != nil {
			return err
		}
	}
	return nil
}

// dublinCore reads a csw:Record (OGC 07-006r1, 10.2.5.2).
func (c *client) dublinCore(r record) harvest.Dataset {
	d := harvest.Dataset{IRI: c.iri(cmp.Or(r.id, r.fallback)), Extras: map[string]string{}}
	for _, e := range r.root.Children {
		value, lang := e.Text(), e.Attr("lang")
		switch e.Name.Local {
		case "BoundingBox", "WGS84BoundingBox":
			if box := corners(e); box != nil {
				d.Spatial = append(d.Spatial, harvest.Place{Box: box})
			}
			continue
		}
		if value == "" {
			continue
		}
		switch e.Name.Local {
		case "identifier":
			d.Identifiers = append(d.Identifiers, value)
		case "title":
			d.Title = append(d.Title, harvest.Text{Value: value, Lang: lang})
		case "abstract", "description":
			d.Description = append(d.Description, harvest.Text{Value: value, Lang: lang})
		case "subject":
			d.Keywords = append(d.Keywords, harvest.Text{Value: value, Lang: lang})
		case "creator":
			d.Creators = append(d.Creators, harvest.Agent{Name: value})
		case "publisher":
			d.Publisher.Name = cmp.Or(d.Publisher.Name, value)
		case "modified":
			d.Modified = value
			c.saw(value)
		case "date", "issued", "created":
			d.Issued = cmp.Or(d.Issued, value)
		case "language":
			d.Language = append(d.Language, value)
		case "rights", "license", "accessRights":
			if strings.HasPrefix(value, "http") {
				d.License = cmp.Or(d.License, value)
			} else {
				d.Rights = strings.TrimSpace(d.Rights + "\n" + value)
			}
		case "coverage", "spatial":
			d.Spatial = append(d.Spatial, harvest.Place{Name: value})
		case "references", "URI":
			if strings.HasPrefix(value, "http") || strings.HasPrefix(value, "ftp") {
				iso19115.Link{URL: value, Protocol: cmp.Or(e.Attr("protocol"), e.Attr("scheme")), Name: e.Attr("name"),
					Description: e.Attr("description")}.Add(&d)
			}
		case "format", "type", "contributor", "source", "relation", "lineage":
			d.Extras[e.Name.Local] = strings.TrimSpace(d.Extras[e.Name.Local] + " " + value)
		}
	}
	return d
}

// corners returns west, south, east and north of an ows:BoundingBox. Its corners have longitude and latitude, or the
// reverse if its reference system is a URN. Services also swap the corners.
func corners(e *loose.Element) []float64 {
	var a, b, x, y float64
	if n, _ := fmt.Sscan(e.Child("LowerCorner"), &a, &b); n != 2 {
		return nil
	}
	if n, _ := fmt.Sscan(e.Child("UpperCorner"), &x, &y); n != 2 {
		return nil
	}
	if strings.HasPrefix(e.Attr("crs"), "urn:") {
		a, b, x, y = b, a, y, x
	}
	return []float64{min(a, x), min(b, y), max(a, x), max(b, y)}
}
