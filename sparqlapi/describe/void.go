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
	"odarchive/vocab"
)

// graph is a list of statements.
type graph []term.Quad

func (g *graph) add(s term.Key, predicate string, o term.Key) {
	*g = append(*g, term.Quad{S: s, P: term.IRI(predicate), O: o})
}

func integer(n int64) term.Key { return term.Typed(strconv.FormatInt(n, 10), vocab.XSDInteger) }

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
	g.add(document, vocab.RDFType, term.IRI(vocab.VoIDNS+"DatasetDescription"))
	g.add(document, vocab.FOAFPrimaryTopic, dataset)
	g.add(dataset, vocab.RDFType, term.IRI(vocab.VoIDDataset))
	g.add(dataset, vocab.DCTTitle, term.Lang(l.o.Title, "en"))
	g.add(dataset, vocab.DCTDescription,
		term.Lang("Files of open-data portals with every version: what was fetched, when, and what is in it, in DCAT, CSVW and PROV.",
			"en"))
	g.add(dataset, vocab.DCTPublisher, term.IRI(base+"catalog#publisher"))
	g.add(dataset, vocab.FOAFHomepage, term.IRI(base))
	g.add(dataset, vocab.VoIDSparqlEndpoint, term.IRI(base+"sparql"))
	if err := l.dumps(&g, dataset); err != nil {
		return err
	}
	g.add(dataset, vocab.VoIDUriSpace, term.String(base))
	for _, feature := range []rdfio.Syntax{rdfio.Turtle(), rdfio.NTriples(), rdfio.RDFXML(), rdfio.JSONLD()} {
		g.add(dataset, vocab.VoIDNS+"feature",
			term.IRI("http://www.w3.org/ns/formats/"+map[string]string{"Turtle": "Turtle", "N-Triples": "N-Triples", "RDF/XML": "RDF_XML",
				"JSON-LD": "JSON-LD"}[feature.Name]))
	}
	for _, vocabulary := range []string{vocab.DCATNS, vocab.DCTNS, vocab.PROVNS, vocab.CSVWNS, vocab.SPDXNS, vocab.ArcNS} {
		g.add(dataset, vocab.VoIDVocabulary, term.IRI(vocabulary))
	}
	g.add(dataset, vocab.VoIDTriples, integer(int64(stats.Triples)))
	activities, err := l.instances(r, vocab.PROVActivity)
	if err != nil {
		return err
	}
	for i, class := range []struct {
		iri   string
		count int
	}{{vocab.DCATDistribution, stats.Resources}, {vocab.DCATDataset, stats.Datasets}, {vocab.DCATCatalog, stats.Portals},
		{vocab.PROVActivity, activities}} {
		part := term.Blank("class" + strconv.Itoa(i))
		g.add(dataset, vocab.VoIDClassPartition, part)
		g.add(part, vocab.VoIDNS+"class", term.IRI(class.iri))
		g.add(part, vocab.VoIDEntities, integer(int64(class.count)))
	}
	examples := 0
	err = l.o.Archive.Archived(r.Context(), "", func(res catalog.Resource) bool {
		g.add(dataset, vocab.VoIDExampleResource, describe.IRI(res.URL))
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
	g.add(service, vocab.RDFType, term.IRI(vocab.SDService))
	g.add(service, vocab.SDEndpoint, service)
	if f.html {
		return l.o.Document(w, r, "The archive as a dataset", g)
	}
	return write(w, r, f.syntax, g)
}

// instances returns the number of instances of a class, as the store estimates it.
func (l *LinkedData) instances(r *http.Request, class string) (n int, err error) {
	err = l.o.View(r.Context(), func(ds term.Dataset) error {
		p, known, err := ds.Lookup(term.IRI(vocab.RDFType))
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
		for i, p := range []string{vocab.RDFType, vocab.DCTTitle, vocab.DCTHasVersion, vocab.DCTIsVersionOf, vocab.DCTIssued,
			vocab.DCATMediaType,
			vocab.DCATByteSize, vocab.ArcHasPortal, vocab.PROVUsed, vocab.CSVWNS + "url", vocab.ArcRows} {
			id, ok, err := ds.Lookup(term.IRI(p))
			if err != nil {
				return fmt.Errorf("linkeddata: void: %w", err)
			}
			if !ok {
				continue
			}
			part := term.Blank("property" + strconv.Itoa(i))
			g.add(dataset, vocab.VoIDPropertyPartition, part)
			g.add(part, vocab.VoIDNS+"property", term.IRI(p))
			g.add(part, vocab.VoIDTriples, integer(int64(ds.Estimate(term.Pattern{P: id}).Count)))
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
