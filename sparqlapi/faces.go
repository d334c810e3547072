package sparqlapi

import (
	"net/http"
	"strings"

	"odarchive/sparqlapi/conneg"
	"odarchive/sparqlapi/fileserve"
	"odarchive/sparqlapi/linkeddata"
	"odarchive/sparqlapi/openapi"
	"odarchive/sparqlapi/problem"

	"github.com/go-chi/chi/v5"
)

// version answers a version IRI: its bytes, unless the client asks for the description or, as browsers do, for a page.
// An extension after the id asks too: .ttl, .jsonld, .rdf, .nt, .html.
func (o Options) version() http.Handler {
	return problem.Handler(func(w http.ResponseWriter, r *http.Request) error {
		addVary(w.Header(), "Accept")
		id, format := linkeddata.Extension(chi.URLParam(r, "id"))
		if format != "" {
			chi.RouteContext(r.Context()).URLParams.Add("id", id) // the last value wins
		}
		q := r.URL.Query()
		if format == "" {
			format = q.Get("format")
		}
		switch {
		case q.Has("download"):
		case format == "html" && o.UI != nil, format == "" && o.UI != nil && wantsPage(r):
			return o.UI.Version(w, r)
		case o.LinkedData != nil && (format != "" || linkeddata.WantsRDF(r, "application/octet-stream", "text/html")):
			return o.LinkedData.Version(w, r, id, format)
		}
		o.File.ServeHTTP(w, r)
		return nil
	})
}

// member answers a member's IRI: its bytes, or its description as version does. An extension asks for the description
// only if there is a member without it and none with it, since files in an archive may be called so.
func (o Options) member() http.Handler {
	return problem.Handler(func(w http.ResponseWriter, r *http.Request) error {
		addVary(w.Header(), "Accept")
		id, path, err := fileserve.MemberOf(r)
		if err != nil {
			return err
		}
		format := r.URL.Query().Get("format")
		if whole, ext := linkeddata.Extension(path); ext != "" && format == "" {
			named, err := o.Member.Listed(r.Context(), id, path)
			if err != nil {
				return err
			}
			described, err := o.Member.Listed(r.Context(), id, whole)
			if err != nil {
				return err
			}
			if described && !named {
				path, format = whole, ext
			}
		}
		switch {
		case o.LinkedData == nil, r.URL.Query().Has("download"):
		case format != "", wantsPage(r), linkeddata.WantsRDF(r, "application/octet-stream", "text/html"):
			return o.LinkedData.Member(w, r, id, path, format)
		}
		o.Member.ServeHTTP(w, r)
		return nil
	})
}

// dataset answers /dataset?url=: a page, or the description for clients that ask for RDF.
func (o Options) dataset(w http.ResponseWriter, r *http.Request) error {
	addVary(w.Header(), "Accept")
	if o.LinkedData != nil && r.URL.Query().Get("format") != "html" && linkeddata.WantsRDF(r, "text/html") {
		return o.LinkedData.Resource(w, r)
	}
	return o.UI.Dataset(w, r)
}

// wantsPage tells a browser from a program that takes anything: text/html must be named, and nothing be liked better.
func wantsPage(r *http.Request) bool {
	if !strings.Contains(r.Header.Get("Accept"), "html") {
		return false
	}
	best, ok := conneg.Negotiate(r, []conneg.Offer{{MediaType: "text/html", Name: "page"}, {MediaType: "application/xhtml+xml", Name: "page"},
		{MediaType: "application/octet-stream"}, {MediaType: "text/turtle"}, {MediaType: "application/ld+json"}, {MediaType: "application/rdf+xml"}, {MediaType: "application/n-triples"}})
	return ok && best.Name == "page"
}

func openAPI(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/openapi+json;version=3.1")
	w.Header().Set("Cache-Control", "max-age=3600")
	w.Write(openapi.Document()) // the client may have gone; there is nobody left to tell
	return nil
}

// robots keeps crawlers of the web away from what costs much and from bytes that have an address of their own elsewhere.
func robots(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "max-age=86400")
	_, err := w.Write([]byte("User-agent: *\nDisallow: /get/\nDisallow: /api/v1/\nDisallow: /sparql\nDisallow: /console?\nDisallow: /diff\nDisallow: /describe\nDisallow: /timegate/\nDisallow: /timemap/\nDisallow: /cdx\nDisallow: /rdf-graph-store\nDisallow: /search?\n"))
	return err
}

func alive(w http.ResponseWriter, _ *http.Request) error { return say(w, "ok") }

func say(w http.ResponseWriter, line string) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err := w.Write([]byte(line + "\n"))
	return err
}

func (o Options) ready(w http.ResponseWriter, r *http.Request) error {
	if o.Ready == nil {
		return alive(w, r)
	}
	state, err := o.Ready(r.Context())
	if err != nil {
		problem.Send(w, r, problem.With(http.StatusServiceUnavailable, "Not ready", err, "state", state).(*problem.Error)) // to people, too
		return nil
	}
	return say(w, state)
}

func notFound(_ http.ResponseWriter, r *http.Request) error {
	return problem.Newf(http.StatusNotFound, "No such route", "nothing is served at %s; /openapi.json lists what is", r.URL.Path)
}

// notAllowed names the methods the route does take (RFC 9110 §15.5.6).
func notAllowed(w http.ResponseWriter, r *http.Request) error {
	var takes []string
	if c := chi.RouteContext(r.Context()); c != nil && c.Routes != nil {
		for _, m := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} {
			if c.Routes.Match(chi.NewRouteContext(), m, r.URL.EscapedPath()) {
				takes = append(takes, m)
			}
		}
	}
	w.Header().Set("Allow", strings.Join(append(takes, "OPTIONS"), ", "))
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return problem.Newf(http.StatusMethodNotAllowed, "Method not allowed", "%s does not take %s", r.URL.Path, r.Method)
}
