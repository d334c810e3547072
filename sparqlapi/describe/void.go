package describe

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"odarchive/crawler/archive/describe"
	"odarchive/crawler/catalog"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
	"odarchive/vocab/arc"
	"odarchive/vocab/csvw"
	"odarchive/vocab/dcat"
	"odarchive/vocab/dcterms"
	"odarchive/vocab/foaf"
	"odarchive/vocab/prov"
	"odarchive/vocab/rdf"
	"odarchive/vocab/sd"
	"odarchive/vocab/spdx"
	"odarchive/vocab/void"
	"odarchive/vocab/xsd"
)

// graph is a list of statements.
type graph []term.Quad

func (g *graph) add(s term.Key, predicate string, o term.Key) {
	*g = append(*g, term.Quad{S: s, P: term.IRI(predicate), O: o})
}

func integer(n int64) term.Key { return term.Typed(strconv.FormatInt(n, 10), xsd.Integer) }

// VoID answers GET /.well-known/void: the archive's triples as a dataset (W3C VoID §4).
func (l *LinkedData) VoID(w http.ResponseWriter, r *http.Request) error {
	w.Header().Add("Vary", "Accept")
	f, err := choose(r, r.URL.Query().Get("format"), l.o.Document != nil)
	if err != nil {
		return err
	}
	alternates(w.Header(), &url.URL{Path: "/.well-known/void"}, l.o.Document != nil)
	stats, err := l.o.Archive.Stats(r.Context())
	if err != nil {
		return err
	}
	base := l.o.Mint.Base
	document, dataset := term.IRI(base+".well-known/void"), term.IRI(base+".well-known/void#dataset")
	var g graph
	g.add(document, rdf.Type, term.IRI(void.NS+"DatasetDescription"))
	g.add(document, foaf.PrimaryTopic, dataset)
	g.add(dataset, rdf.Type, term.IRI(void.Dataset))
	g.add(dataset, dcterms.Title, term.Lang(l.o.Title, "en"))
	g.add(dataset, dcterms.Description,
		term.Lang("Files of open-data portals with every version: what was fetched, when, and what is in it, in DCAT, CSVW and PROV.",
			"en"))
	g.add(dataset, dcterms.Publisher, term.IRI(base+"catalog#publisher"))
	g.add(dataset, foaf.Homepage, term.IRI(base))
	g.add(dataset, void.SparqlEndpoint, term.IRI(base+"sparql"))
	if err := l.dumps(&g, dataset); err != nil {
		return err
	}
	g.add(dataset, void.UriSpace, term.String(base))
	for _, feature := range []rdfio.Syntax{rdfio.Turtle(), rdfio.NTriples(), rdfio.RDFXML(), rdfio.JSONLD()} {
		g.add(dataset, void.NS+"feature",
			term.IRI("http://www.w3.org/ns/formats/"+map[string]string{"Turtle": "Turtle", "N-Triples": "N-Triples", "RDF/XML": "RDF_XML",
				"JSON-LD": "JSON-LD"}[feature.Name]))
	}
	for _, vocabulary := range []string{dcat.NS, dcterms.NS, prov.NS, csvw.NS, spdx.NS, arc.NS} {
		g.add(dataset, void.Vocabulary, term.IRI(vocabulary))
	}
	g.add(dataset, void.Triples, integer(int64(stats.Triples)))
	activities, err := l.instances(r, prov.Activity)
	if err != nil {
		return err
	}
	for i, class := range []struct {
		iri   string
		count int
	}{{dcat.Distribution, stats.Resources}, {dcat.Dataset, stats.Datasets}, {dcat.Catalog, stats.Portals}, {prov.Activity, activities}} {
		part := term.Blank("class" + strconv.Itoa(i))
		g.add(dataset, void.ClassPartition, part)
		g.add(part, void.NS+"class", term.IRI(class.iri))
		g.add(part, void.Entities, integer(int64(class.count)))
	}
	examples := 0
	err = l.o.Archive.Archived(r.Context(), "", func(res catalog.Resource) bool {
		g.add(dataset, void.ExampleResource, describe.IRI(res.URL))
		examples++
		return examples < 3
	})
	if err != nil {
		return err
	}
	if err := l.predicates(r, &g, dataset); err != nil {
		return err
	}
	service := term.IRI(base + "sparql")
	g.add(service, rdf.Type, term.IRI(sd.Service))
	g.add(service, sd.Endpoint, service)
	if f.html {
		return l.o.Document(w, r, "The archive as a dataset", g)
	}
	return write(w, r, f.syntax, g)
}

// instances returns the number of instances of a class, as the store estimates it.
func (l *LinkedData) instances(r *http.Request, class string) (n int, err error) {
	err = l.o.View(r.Context(), func(ds term.Dataset) error {
		p, known, err := ds.Lookup(term.IRI(rdf.Type))
		if err != nil || !known {
			return err
		}
		o, known, err := ds.Lookup(term.IRI(class))
		if err != nil || !known {
			return err
		}
		n = int(ds.Estimate(term.Pattern{P: p, O: o, G: term.DefaultGraph}).Count)
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("linkeddata: void: %w", err)
	}
	return n, nil
}

// predicates adds the number of statements of some properties, as the store estimates it.
func (l *LinkedData) predicates(r *http.Request, g *graph, dataset term.Key) error {
	return l.o.View(r.Context(), func(ds term.Dataset) error {
		for i, p := range []string{rdf.Type, dcterms.Title, dcterms.HasVersion, dcterms.IsVersionOf, dcterms.Issued, dcat.MediaType,
			dcat.ByteSize, arc.HasPortal, prov.Used, csvw.NS + "url", arc.Rows} {
			id, ok, err := ds.Lookup(term.IRI(p))
			if err != nil {
				return fmt.Errorf("linkeddata: void: %w", err)
			}
			if !ok {
				continue
			}
			part := term.Blank("property" + strconv.Itoa(i))
			g.add(dataset, void.PropertyPartition, part)
			g.add(part, void.NS+"property", term.IRI(p))
			g.add(part, void.Triples, integer(int64(ds.Estimate(term.Pattern{P: id}).Count)))
		}
		return nil
	})
}

// readTurtle reads a document that is part of the program.
func readTurtle(text string) ([]term.Quad, error) {
	var quads []term.Quad
	for q, err := range rdfio.NewReader(strings.NewReader(text), rdfio.Turtle(), rdfio.Options{}).All() {
		if err != nil {
			return nil, fmt.Errorf("linkeddata: the vocabulary: %w", err)
		}
		quads = append(quads, q)
	}
	return quads, nil
}
