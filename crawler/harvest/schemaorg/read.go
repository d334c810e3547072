package schemaorg

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loosejson"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/rdfio/webpage"
	"odarchive/triplestore/term"
	"odarchive/vocab/dcat"
	"odarchive/vocab/dcterms"
	"odarchive/vocab/rdf"
	"odarchive/vocab/xsd"

	"golang.org/x/net/html"
)

// words stand for the context of schema.org, which is never asked for: every name is a term. Unlike there, values that
// should be addresses stay as they are written, because many are words ("CC-BY").
const words = `{"@context":{"@vocab":"http://schema.org/","id":"@id","type":"@type"}}`

func contextOf(iri string) ([]byte, error) {
	if rest := strings.TrimPrefix(strings.TrimPrefix(iri, "http://"), "https://"); strings.HasPrefix(rest, "schema.org") || strings.HasPrefix(rest, "www.schema.org") {
		return []byte(words), nil
	}
	return []byte(`{"@context":{}}`), nil // what it would mean is unknown; what is in words of schema.org can still be read
}

// Read finds the datasets of a page, and what it says of the catalogs they are in. faults are of parts that cannot be read.
func Read(address, contentType string, body []byte) (datasets []harvest.Dataset, catalogs []term.Quad, faults []error) {
	var kinds [][]term.Quad
	if isJSON(contentType, body) {
		quads, err := jsonLD(address, body)
		if err != nil {
			faults = append(faults, err)
		}
		kinds = append(kinds, quads)
	} else {
		page, err := webpage.Read(bytes.NewReader(body), webpage.Options{Base: address, ContentType: contentType, Context: contextOf, Limits: rdfio.Limits{Document: maxPage}})
		if err != nil {
			return nil, nil, []error{err}
		}
		kinds = [][]term.Quad{page.JSONLD, page.Microdata, page.RDFa}
		if len(page.Faults) > 0 {
			var mended []term.Quad
			mended, faults = mend(address, body)
			kinds = append(kinds, mended)
		}
	}
	seen := map[string]bool{}
	for _, quads := range kinds {
		g := graphOf(quads)
		for _, s := range g.order {
			switch {
			case g.is(s, "Dataset") && len(datasets) < maxDatasets:
				d := g.dataset(s, address, len(seen))
				if !seen[d.IRI] { // pages say the same in several ways
					seen[d.IRI] = true
					datasets = append(datasets, d)
				}
			case g.is(s, "DataCatalog") && s.Kind() == term.KindIRI:
				catalogs = append(catalogs, g.catalog(s)...)
			}
		}
	}
	return datasets, catalogs, faults
}

const (
	maxDatasets   = 5_000   // of a page
	maxStatements = 5_000   // about a dataset
	maxQuads      = 500_000 // of a document
)

func isJSON(contentType string, body []byte) bool {
	head := bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	return len(head) > 0 && (head[0] == '{' || head[0] == '[') && !strings.Contains(strings.ToLower(contentType), "html")
}

// jsonLD reads a document, and one with faults that people make (commas, control characters) as what they meant.
func jsonLD(address string, body []byte) ([]term.Quad, error) {
	quads, err := strictly(address, body)
	if err == nil || json.Valid(body) {
		return quads, err
	}
	meant, looseErr := loosejson.Parse(unwrapped(body))
	if looseErr != nil || !(meant.IsObject() || meant.IsArray()) {
		return quads, err
	}
	return strictly(address, []byte(meant.JSON()))
}

// unwrapped is a script without what hid it from browsers and XML parsers of the last century.
func unwrapped(body []byte) []byte {
	body = wrapped.ReplaceAll(body, nil)
	return bytes.TrimRight(bytes.TrimSpace(body), ";")
}

var wrapped = regexp.MustCompile(`^\s*(?://|/\*)?\s*(?:<!\[CDATA\[|<!--)\s*(?:\*/)?|(?://|/\*)?\s*(?:\]\]>|-->)\s*(?:\*/)?\s*$`)

// mend reads the script elements of a page that hold no proper JSON.
func mend(address string, page []byte) (quads []term.Quad, faults []error) {
	tokens := html.NewTokenizer(bytes.NewReader(page))
	inside := false
	for {
		switch tokens.Next() {
		case html.ErrorToken: // the end
			return quads, faults
		case html.StartTagToken:
			t := tokens.Token()
			inside = t.Data == "script" && slices.ContainsFunc(t.Attr, func(a html.Attribute) bool {
				return a.Key == "type" && strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.Val)), "application/ld+json")
			})
		case html.TextToken:
			if text := tokens.Raw(); inside && !json.Valid(text) {
				more, err := jsonLD(address, text)
				if err != nil {
					faults = append(faults, err)
				}
				quads = append(quads, more...)
			}
			inside = false
		}
	}
}

func strictly(address string, body []byte) (quads []term.Quad, err error) {
	o := rdfio.Options{Base: address, Context: contextOf, Limits: rdfio.Limits{Document: maxPage}}
	for q, err := range rdfio.NewReader(bytes.NewReader(body), rdfio.JSONLD(), o).All() {
		if err != nil {
			return quads, err
		}
		if quads = append(quads, q); len(quads) >= maxQuads {
			return quads, fmt.Errorf("more than %d statements", maxQuads)
		}
	}
	return quads, nil
}

// graph is what one way of markup says, by subject.
type graph struct {
	order []term.Key
	about map[term.Key][]term.Quad
}

func graphOf(quads []term.Quad) graph {
	g := graph{about: map[term.Key][]term.Quad{}}
	for _, q := range quads {
		if g.about[q.S] == nil {
			g.order = append(g.order, q.S)
		}
		g.about[q.S] = append(g.about[q.S], q)
	}
	return g
}

// local name of a term of schema.org, or of Croissant, which has some of its own; "" for others.
func local(iri string) string {
	for _, ns := range []string{"http://schema.org/", "https://schema.org/", "http://www.schema.org/", "https://www.schema.org/", "http://mlcommons.org/croissant/", "http://mlcommons.org/schema/"} {
		if rest, ok := strings.CutPrefix(iri, ns); ok {
			return rest
		}
	}
	return ""
}

func (g graph) is(s term.Key, class string) bool {
	for _, q := range g.about[s] {
		if q.P == term.IRI(rdf.Type) && local(q.O.Value()) == class {
			return true
		}
	}
	return false
}

// all objects of properties, in their order.
func (g graph) all(s term.Key, names ...string) []term.Key {
	var found []term.Key
	for _, name := range names {
		for _, q := range g.about[s] {
			if local(q.P.Value()) == name {
				found = append(found, q.O)
			}
		}
	}
	return found
}

// text of the first object that says something: a literal, an IRI, or what a node is called.
func (g graph) text(s term.Key, names ...string) string {
	for _, o := range g.all(s, names...) {
		if t := g.said(o); t != "" {
			return t
		}
	}
	return ""
}

// said is a value as text; of a node without an IRI, its name, value, url or identifier.
func (g graph) said(o term.Key) string {
	if o.Datatype() == xsd.Double { // a number of JSON, as people would write it
		if n, err := strconv.ParseFloat(o.Value(), 64); err == nil {
			return strconv.FormatFloat(n, 'f', -1, 64)
		}
	}
	if o.Kind() != term.KindBlank {
		return strings.TrimSpace(o.Value())
	}
	for _, name := range []string{"name", "value", "url", "identifier", "@value"} {
		for _, q := range g.about[o] {
			if local(q.P.Value()) == name && q.O.Kind() != term.KindBlank {
				return strings.TrimSpace(q.O.Value())
			}
		}
	}
	return ""
}

func (g graph) catalog(s term.Key) []term.Quad {
	quads := []term.Quad{{S: s, P: term.IRI(rdf.Type), O: term.IRI(dcat.Catalog)}}
	for name, property := range map[string]string{"name": dcterms.Title, "description": dcterms.Description} {
		if text := g.text(s, name); text != "" {
			quads = append(quads, term.Quad{S: s, P: term.IRI(property), O: term.String(text)})
		}
	}
	return quads
}
