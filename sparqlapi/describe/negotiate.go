package describe

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"odarchive/sparqlapi/conneg"
	"odarchive/sparqlapi/problem"
	"odarchive/triplestore/rdfio"
)

// face is a representation: an RDF syntax, or a page.
type face struct {
	name   string // for ?format=
	syntax rdfio.Syntax
	html   bool
}

// faces returns all RDF syntaxes, the most usual first.
func faces() []face {
	return append(usual(), face{name: "nq", syntax: rdfio.NQuads()}, face{name: "trig", syntax: rdfio.TriG()},
		face{name: "n3", syntax: rdfio.N3()},
		face{name: "rj", syntax: rdfio.RDFJSON()}, face{name: "trix", syntax: rdfio.TriX()})
}

// usual returns the syntaxes that Link headers name, and that have addresses of their own for the catalog.
func usual() []face {
	return []face{{name: "ttl", syntax: rdfio.Turtle()}, {name: "jsonld", syntax: rdfio.JSONLD()}, {name: "rdf", syntax: rdfio.RDFXML()},
		{name: "nt", syntax: rdfio.NTriples()}}
}

// typesOf returns an offer of each media type of the syntaxes, also the aliases, by a name or by that of the face.
func typesOf(name string) (offers []conneg.Offer) {
	for _, f := range faces() {
		for _, mediaType := range append([]string{f.syntax.MediaType}, f.syntax.Aliases...) {
			offers = append(offers, conneg.Offer{MediaType: mediaType, Name: cmp.Or(name, f.name)})
		}
	}
	return offers
}

var page = face{name: "html", html: true}

// choose returns the representation that format names, or else the best one for Accept. offerPage reports whether there
// is a page.
func choose(r *http.Request, format string, offerPage bool) (face, error) {
	if format != "" {
		return byName(format, offerPage)
	}
	offers := typesOf("")
	if offerPage {
		offers = append(offers, conneg.Offer{MediaType: "text/html", Name: "html"},
			conneg.Offer{MediaType: "application/xhtml+xml", Name: "html"})
	}
	offers = append(offers, conneg.Offer{MediaType: "application/json", Name: "jsonld"}, conneg.Offer{MediaType: "text/plain", Name: "nt"})
	best, ok := conneg.Negotiate(r, offers)
	if !ok {
		return face{}, problem.New(http.StatusNotAcceptable, "Not acceptable",
			"this is available as text/turtle, application/ld+json, application/rdf+xml, application/n-triples and the other syntaxes of "+
				"RDF")
	}
	return byName(best.Name, offerPage)
}

func byName(name string, offerPage bool) (face, error) {
	if offerPage && (name == "html" || name == "text/html") {
		return page, nil
	}
	for _, f := range faces() {
		if f.name == name {
			return f, nil
		}
	}
	if s, ok := rdfio.ByName(name); ok {
		for _, f := range faces() {
			if f.syntax.Is(s) {
				return f, nil
			}
		}
	}
	return face{}, problem.Newf(http.StatusBadRequest, "Unknown format",
		"format=%q: expected ttl, jsonld, rdf, nt, nq, trig, n3, rj, trix or html", name)
}

// Extension splits a known extension, that of a syntax or .html, off a path. format is "" if there is none.
func Extension(path string) (rest, format string) {
	i := strings.LastIndexByte(path, '.')
	if i < 0 {
		return path, ""
	}
	ext := path[i+1:]
	if ext != "html" && !slices.ContainsFunc(faces(), func(f face) bool { return f.name == ext }) {
		return path, ""
	}
	return path[:i], ext
}

// WantsRDF reports whether a request for something with other representations, such as a file or a page, asks for RDF:
// by ?format=, or because Accept prefers an RDF syntax to every type in other. The caller sets Vary.
func WantsRDF(r *http.Request, other ...string) bool {
	if format := r.URL.Query().Get("format"); format != "" {
		_, err := byName(format, false)
		return err == nil
	}
	best, ok := conneg.Negotiate(r, append(conneg.Of(other...), typesOf("rdf")...))
	return ok && best.Name == "rdf"
}

// alternates adds the other representations of an address to Link (RFC 8288).
func alternates(h http.Header, u *url.URL, offerPage bool) {
	q := u.Query()
	add := func(name, mediaType string) {
		q.Set("format", name)
		h.Add("Link", "<"+u.EscapedPath()+"?"+q.Encode()+`>; rel="alternate"; type="`+mediaType+`"`)
	}
	for _, f := range usual() {
		add(f.name, f.syntax.MediaType)
	}
	if offerPage {
		add("html", "text/html")
	}
}
