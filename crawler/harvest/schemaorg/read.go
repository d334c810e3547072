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
	"odarchive/crawler/harvest/loose"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/rdfio/webpage"
	"odarchive/triplestore/term"
	"odarchive/vocab"

	"golang.org/x/net/html"
)

// words replaces the context of schema.org, which is never requested: every name is a term. Values that should be
// addresses remain literals, because many are words ("CC-BY").
const words = `{"@context":{"@vocab":"http://schema.org/","id":"@id","type":"@type"}}`

// Context returns the JSON-LD context of an IRI, for rdfio.Options, without requesting anything.
func Context(iri string) ([]byte, error) {
	if rest := strings.TrimPrefix(strings.TrimPrefix(iri, "http://"), "https://"); strings.HasPrefix(rest, "schema.org") ||
		strings.HasPrefix(rest, "www.schema.org") {
		return []byte(words), nil
	}
	return []byte(`{"@context":{}}`), nil // other terms are lost; those of schema.org can still be read
}

// Read returns the datasets on a page, statements about their catalogs, and an error for each part that cannot be read.
func Read(address, contentType string, body []byte) (datasets []harvest.Dataset, catalogs []term.Quad, faults []error) {
	var kinds [][]term.Quad
	if isJSON(contentType, body) {
		quads, err := jsonLD(address, body)
		if err != nil {
			faults = append(faults, err)
		}
		kinds = append(kinds, quads)
	} else {
		page, err := webpage.Read(bytes.NewReader(body),
			webpage.Options{Base: address, ContentType: contentType, Context: Context, Limits: rdfio.Limits{Document: maxPage}})
		if err != nil {
			return nil, nil, []error{err}
		}
		kinds = [][]term.Quad{page.JSONLD, page.Microdata, page.RDFa}
		if len(page.Faults) > 0 {
			var mended []term.Quad
			mended, faults = readInvalidScripts(address, body)
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
				if !seen[d.IRI] { // a page may repeat itself in several syntaxes
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
	maxDatasets   = 5_000   // per page
	maxStatements = 5_000   // per dataset
	maxQuads      = 500_000 // per document
)

func isJSON(contentType string, body []byte) bool {
	head := bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	return len(head) > 0 && (head[0] == '{' || head[0] == '[') && !strings.Contains(strings.ToLower(contentType), "html")
}

// jsonLD reads a document. It corrects usual mistakes, such as stray commas and control characters.
func jsonLD(address string, body []byte) ([]term.Quad, error) {
	quads, err := strictly(address, body)
	if err == nil || json.Valid(body) {
		return quads, err
	}
	meant, looseErr := loose.Parse(unwrapped(body))
	if looseErr != nil || !(meant.IsObject() || meant.IsArray()) {
		return quads, err
	}
	return strictly(address, []byte(meant.JSON()))
}

// unwrapped removes comments and CDATA marks that used to hide scripts from browsers and XML parsers.
func unwrapped(body []byte) []byte {
	body = wrapped.ReplaceAll(body, nil)
	return bytes.TrimRight(bytes.TrimSpace(body), ";")
}

var wrapped = regexp.MustCompile(`^\s*(?://|/\*)?\s*(?:<!\[CDATA\[|<!--)\s*(?:\*/)?|(?://|/\*)?\s*(?:\]\]>|-->)\s*(?:\*/)?\s*$`)

// readInvalidScripts reads the script elements of a page that have invalid JSON.
func readInvalidScripts(address string, page []byte) (quads []term.Quad, faults []error) {
	tokens := html.NewTokenizer(bytes.NewReader(page))
	inside := false
	for {
		switch tokens.Next() {
		case html.ErrorToken: // end of the page
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
	o := rdfio.Options{Base: address, Context: Context, Limits: rdfio.Limits{Document: maxPage}}
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

// graph indexes the statements of one syntax by subject.
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

// local returns the local name of a schema.org or Croissant term, "" for other IRIs.
func local(iri string) string {
	for _, ns := range []string{"http://schema.org/", "https://schema.org/", "http://www.schema.org/", "https://www.schema.org/",
		"http://mlcommons.org/croissant/", "http://mlcommons.org/schema/"} {
		if rest, ok := strings.CutPrefix(iri, ns); ok {
			return rest
		}
	}
	return ""
}

func (g graph) is(s term.Key, class string) bool {
	for _, q := range g.about[s] {
		if q.P == term.IRI(vocab.RDFType) && local(q.O.Value()) == class {
			return true
		}
	}
	return false
}

// all returns the objects of properties, ordered by property.
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

// text returns the first object with a text.
func (g graph) text(s term.Key, names ...string) string {
	for _, o := range g.all(s, names...) {
		if t := g.textOf(o); t != "" {
			return t
		}
	}
	return ""
}

// textOf returns a value as text. For a node without an IRI, that is its name, value, url or identifier.
func (g graph) textOf(o term.Key) string {
	if o.Datatype() == vocab.XSDDouble { // a JSON number, to be written without exponent
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
	quads := []term.Quad{{S: s, P: term.IRI(vocab.RDFType), O: term.IRI(vocab.DCATCatalog)}}
	for name, property := range map[string]string{"name": vocab.DCTTitle, "description": vocab.DCTDescription} {
		if text := g.text(s, name); text != "" {
			quads = append(quads, term.Quad{S: s, P: term.IRI(property), O: term.String(text)})
		}
	}
	return quads
}
