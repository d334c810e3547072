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
	"odarchive/vocab"
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
	out := rdfio.NewWriter(w, f.syntax,
		map[string]string{"sd": vocab.SDNS, "void": vocab.VoIDNS, "xsd": vocab.XSDNS, "formats": formats, "sh": shacl})
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
	a := func(s term.Key, class string) { add(s, vocab.RDFType, term.IRI(class)) }
	service, dataset, graph := term.Blank("service"), term.Blank("dataset"), term.Blank("default")
	a(service, vocab.SDService)
	add(service, vocab.SDEndpoint, term.IRI(endpoint))
	add(service, vocab.SDSupportedLanguage, term.IRI(vocab.SDSPARQL11Query))
	if h.o.Store != nil && h.o.Authorise != nil {
		add(service, vocab.SDSupportedLanguage, term.IRI(vocab.SDSPARQL11Update))
	}
	for _, language := range extensions {
		add(service, vocab.SDLanguageExtension, term.IRI(language))
	}
	add(service, vocab.RDFSComment, term.Lang(h.limits(), "en"))
	for _, prefix := range slices.Sorted(maps.Keys(h.o.Engine.Prefixes())) {
		declared := term.Blank("prefix-" + prefix)
		add(service, shacl+"declare", declared)
		add(declared, shacl+"prefix", term.String(prefix))
		add(declared, shacl+"namespace", term.Typed(h.o.Engine.Prefixes()[prefix], vocab.XSDNS+"anyURI"))
	}
	for _, f := range []string{"SPARQL_Results_JSON", "SPARQL_Results_XML", "SPARQL_Results_CSV", "SPARQL_Results_TSV", "Turtle",
		"N-Triples", "RDF_XML", "JSON-LD"} {
		add(service, vocab.SDResultFormat, term.IRI(formats+f))
	}
	if h.o.Federated {
		add(service, vocab.SDFeature, term.IRI(vocab.SDBasicFederatedQuery))
	}
	inDefault := term.DefaultGraph
	if h.o.UnionDefault {
		add(service, vocab.SDFeature, term.IRI(vocab.SDUnionDefaultGraph))
		inDefault = term.AnyGraph
	}
	add(service, vocab.SDDefaultDataset, dataset)
	a(dataset, vocab.SDDataset)
	add(dataset, vocab.SDDefaultGraph, graph)
	count := func(g term.Key, id term.ID) {
		a(g, vocab.SDGraph)
		n := int64(ds.Estimate(term.Pattern{G: id}).Count)
		add(g, vocab.VoIDTriples, term.Typed(strconv.FormatInt(n, 10), vocab.XSDInteger))
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
		add(dataset, vocab.SDNamedGraphProp, entry)
		a(entry, vocab.SDNamedGraph)
		add(entry, vocab.SDName, name)
		add(entry, vocab.SDGraphProp, g)
		count(g, ids[i])
	}
	return quads, nil
}
