package protocol

import (
	"net/http"
	"slices"
	"strings"

	"odarchive/sparqlapi/conneg"
	"odarchive/sparqlapi/problem"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/sparql/results"
)

// format is how an answer is written, as rows or as a graph.
type format struct {
	rows   results.Format
	syntax rdfio.Syntax // of a graph; zero for rows
}

func (f format) contentType() string {
	switch {
	case f.syntax.IsZero():
		return f.rows.ContentType()
	case f.syntax.Text:
		return f.syntax.MediaType + "; charset=utf-8"
	}
	return f.syntax.MediaType
}

// rowFormats and graphSyntaxes are the offered formats, the best first.
var rowFormats = []results.Format{results.JSON, results.XML, results.CSV, results.TSV, results.HTML, results.Table}

func graphSyntaxes() []rdfio.Syntax {
	return []rdfio.Syntax{rdfio.Turtle(), rdfio.NTriples(), rdfio.RDFXML(), rdfio.JSONLD(), rdfio.TriG(), rdfio.NQuads(), rdfio.RDFJSON(),
		rdfio.TriX()}
}

// formatParams are the parameters that name a format. SPARQL leaves them open, so stores use different ones, and
// clients such as SPARQLWrapper send all of them, some twice.
var formatParams = []string{"format", "output", "results"}

// chooseFormat returns the format of a query's answer: the first known value of the format parameters, or else what
// Accept prefers. named reports that a parameter chose it.
func (h *Handler) chooseFormat(r *http.Request, req *request, q *sparql.Query) (f format, named bool, err error) {
	graph := q.Kind() == sparql.Triples
	for _, name := range req.formats {
		if f, ok := formatByName(name, graph); ok {
			return f, true, nil
		}
	}
	if len(req.formats) > 0 && !wantsSomething(r) {
		return format{}, false, unknownFormat(req.formats[0], graph)
	}
	f, err = negotiate(r, graph, nil)
	return f, false, err
}

// wantsSomething reports whether Accept names a type.
func wantsSomething(r *http.Request) bool {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	return strings.Trim(accept, "*/, ") != ""
}

// negotiate returns the format that Accept prefers, without the syntaxes called without.
func negotiate(r *http.Request, graph bool, without []string) (format, error) {
	offers := rowOffers()
	if graph {
		offers = slices.DeleteFunc(graphOffers(), func(o conneg.Offer) bool { return slices.Contains(without, o.Name) })
	}
	offer, ok := conneg.Negotiate(r, offers)
	if !ok {
		return format{}, notAcceptable(offers)
	}
	f, _ := formatByName(offer.Name, graph)
	return f, nil
}

func rowOffers() []conneg.Offer {
	var offers []conneg.Offer
	for _, f := range rowFormats {
		offers = append(offers, conneg.Offer{MediaType: f.MediaType(), Name: f.String()})
	}
	return append(offers, conneg.Offer{MediaType: "application/json", Name: "json"},
		conneg.Offer{MediaType: "application/xml", Name: "xml"},
		conneg.Offer{MediaType: "text/xml", Name: "xml"})
}

func graphOffers() []conneg.Offer {
	var offers, others []conneg.Offer
	for _, s := range graphSyntaxes() {
		offers = append(offers, conneg.Offer{MediaType: s.MediaType, Name: s.Name})
		for _, a := range s.Aliases {
			others = append(others, conneg.Offer{MediaType: a, Name: s.Name})
		}
	}
	n3 := rdfio.N3()
	for _, mediaType := range append([]string{n3.MediaType}, n3.Aliases...) {
		others = append(others, conneg.Offer{MediaType: mediaType, Name: n3.Name})
	}
	// Aliases come last, so that the answer to a range such as application/* has a type that the range covers.
	return append(append(offers, others...), conneg.Offer{MediaType: "text/plain", Name: "N-Triples"},
		conneg.Offer{MediaType: "application/json", Name: "JSON-LD"},
		conneg.Offer{MediaType: "application/xml", Name: "RDF/XML"}, conneg.Offer{MediaType: "text/xml", Name: "RDF/XML"},
		// rdflib asks for results in JSON or XML whatever the query is, and reads no graph but RDF/XML. Others may read
		// Turtle, if RDF/XML cannot hold the graph.
		conneg.Offer{MediaType: results.JSON.MediaType(), Name: "RDF/XML"},
		conneg.Offer{MediaType: results.XML.MediaType(), Name: "RDF/XML"},
		conneg.Offer{MediaType: results.JSON.MediaType(), Name: "Turtle"})
}

// formatByName returns the format of a format parameter. "xml" and "json", and their media types, mean RDF/XML and
// JSON-LD for a graph.
func formatByName(name string, graph bool) (format, bool) {
	if !graph {
		f, ok := results.ByName(name)
		return format{rows: f}, ok
	}
	switch strings.ToLower(name) {
	case "xml", "application/xml", "text/xml":
		return format{syntax: rdfio.RDFXML()}, true
	case "json", "application/json":
		return format{syntax: rdfio.JSONLD()}, true
	}
	s, ok := rdfio.ByName(name)
	return format{syntax: s}, ok
}

func unknownFormat(name string, graph bool) error {
	kind, known := "result", "json, xml, csv, tsv, html or table"
	if graph {
		kind, known = "graph", "ttl, nt, rdfxml, jsonld, trig, nq, n3, rj or trix"
	}
	return problem.Newf(http.StatusBadRequest, "Unknown format", "%q is not a format of a %s: try %s.", name, kind, known)
}

func notAcceptable(offers []conneg.Offer) error {
	var types []string
	for _, o := range offers {
		types = append(types, o.MediaType)
	}
	return &problem.Error{Status: http.StatusNotAcceptable, Title: "None of the accepted formats is offered",
		Detail: "This answer is available as " + strings.Join(types, ", ") + ".", Fields: map[string]any{"offers": types}}
}
