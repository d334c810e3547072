package protocol

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"odarchive/sparqlapi/conneg"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
	"odarchive/vocab/rdf"
	"odarchive/vocab/rdfs"
	"odarchive/vocab/sd"
	"odarchive/vocab/void"
	"odarchive/vocab/xsd"
)

// describe answers a request without a query. A person who accepts HTML gets the console, everyone else the Service
// Description.
func (h *Handler) describe(w http.ResponseWriter, r *http.Request, req *request) error {
	offers := graphOffers()
	html := conneg.Offer{MediaType: "text/html", Name: "html"}
	if h.o.Console != nil {
		offers = append(offers, html)
	}
	offer, ok := conneg.Negotiate(r, offers)
	if len(req.formats) > 0 {
		offer, ok = conneg.Offer{Name: req.formats[0]}, true
	}
	if !ok {
		return notAcceptable(offers)
	}
	if h.o.Console != nil && offer.Name == html.Name {
		h.o.Console.ServeHTTP(w, r)
		return nil
	}
	f, ok := formatByName(offer.Name, true)
	if !ok {
		return unknownFormat(offer.Name, true)
	}
	ds, release := h.o.Snapshot()
	defer release()
	quads, err := h.description(req.base(r, h.o.Endpoint), ds)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", f.contentType())
	if r.Method == http.MethodHead {
		return nil
	}
	out := rdfio.NewWriter(w, f.syntax, map[string]string{"sd": sd.NS, "void": void.NS, "xsd": xsd.NS, "formats": formats, "sh": shacl})
	for _, q := range quads {
		if err := out.Write(q); err != nil {
			return err
		}
	}
	return out.Close()
}

// formats is the namespace in which W3C names file formats.
const formats = "http://www.w3.org/ns/formats/"

// shacl is the namespace whose sh:declare names the prefixes that a query need not declare (SHACL §5.2.1).
const shacl = "http://www.w3.org/ns/shacl#"

// extensions are what the endpoint understands beyond SPARQL 1.1: SPARQL 1.2 (triple terms, base directions), and
// LATERAL as Jena documents it.
var extensions = []string{"https://www.w3.org/TR/sparql12-query/", "https://jena.apache.org/documentation/query/lateral-join.html"}

// limits says in a sentence what a client without the token may ask for.
func (h *Handler) limits() string {
	timeout := h.o.Engine.MaxTimeout()
	if t := h.o.Anonymous.Timeout; t > 0 {
		timeout = min(timeout, t)
	}
	s := fmt.Sprintf("Without a token, a query may have %d bytes and compute for %s", h.o.MaxQuery, timeout)
	if n := h.o.Anonymous.Memory; n > 0 {
		s += fmt.Sprintf(" in %d bytes of memory", n)
	}
	if n := h.o.Anonymous.Rows; n > 0 {
		s += fmt.Sprintf("; a result may have %d rows", n)
	}
	s += "."
	if len(h.o.Engine.Prefixes()) > 0 {
		s += " The prefixes of sh:declare need not be declared; a PREFIX of the query replaces one."
	}
	return s
}

// maxGraphs is the maximum number of named graphs in a description.
const maxGraphs = 1000

// description returns the Service Description of the endpoint (SPARQL 1.1 Service Description).
func (h *Handler) description(endpoint string, ds term.Dataset) ([]term.Quad, error) {
	var quads []term.Quad
	add := func(s term.Key, p string, o term.Key) {
		quads = append(quads, term.Quad{S: s, P: term.IRI(p), O: o})
	}
	a := func(s term.Key, class string) { add(s, rdf.Type, term.IRI(class)) }
	service, dataset, graph := term.Blank("service"), term.Blank("dataset"), term.Blank("default")
	a(service, sd.Service)
	add(service, sd.Endpoint, term.IRI(endpoint))
	add(service, sd.SupportedLanguage, term.IRI(sd.SPARQL11Query))
	if h.o.Store != nil && h.o.Authorise != nil {
		add(service, sd.SupportedLanguage, term.IRI(sd.SPARQL11Update))
	}
	for _, language := range extensions {
		add(service, sd.LanguageExtension, term.IRI(language))
	}
	add(service, rdfs.Comment, term.Lang(h.limits(), "en"))
	for _, prefix := range slices.Sorted(maps.Keys(h.o.Engine.Prefixes())) {
		declared := term.Blank("prefix-" + prefix)
		add(service, shacl+"declare", declared)
		add(declared, shacl+"prefix", term.String(prefix))
		add(declared, shacl+"namespace", term.Typed(h.o.Engine.Prefixes()[prefix], xsd.NS+"anyURI"))
	}
	for _, f := range []string{"SPARQL_Results_JSON", "SPARQL_Results_XML", "SPARQL_Results_CSV", "SPARQL_Results_TSV", "Turtle",
		"N-Triples", "RDF_XML", "JSON-LD"} {
		add(service, sd.ResultFormat, term.IRI(formats+f))
	}
	if h.o.Federated {
		add(service, sd.Feature, term.IRI(sd.BasicFederatedQuery))
	}
	inDefault := term.DefaultGraph
	if h.o.UnionDefault {
		add(service, sd.Feature, term.IRI(sd.UnionDefaultGraph))
		inDefault = term.AnyGraph
	}
	add(service, sd.DefaultDataset, dataset)
	a(dataset, sd.Dataset)
	add(dataset, sd.DefaultGraph, graph)
	count := func(g term.Key, id term.ID) {
		a(g, sd.Graph)
		n := int64(ds.Estimate(term.Pattern{G: id}).Count)
		add(g, void.Triples, term.Typed(strconv.FormatInt(n, 10), xsd.Integer))
	}
	count(graph, inDefault)
	var ids []term.ID
	if err := ds.Graphs(func(g term.ID) bool { ids = append(ids, g); return len(ids) < maxGraphs }); err != nil {
		return nil, err
	}
	names := make([]term.Key, len(ids))
	if err := ds.Keys(ids, names); err != nil {
		return nil, err
	}
	for i, name := range names {
		if name.Kind() != term.KindIRI || strings.ContainsAny(name.Value(), " <>\"") {
			continue
		}
		entry, g := term.Blank("named"+strconv.Itoa(i)), term.Blank("graph"+strconv.Itoa(i))
		add(dataset, sd.NamedGraphProp, entry)
		a(entry, sd.NamedGraph)
		add(entry, sd.Name, name)
		add(entry, sd.GraphProp, g)
		count(g, ids[i])
	}
	return quads, nil
}
