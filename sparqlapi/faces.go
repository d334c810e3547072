package sparqlapi

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"odarchive/sparqlapi/conneg"
	"odarchive/sparqlapi/describe"
	"odarchive/sparqlapi/openapi"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"

	"github.com/go-chi/chi/v5"
)

// version answers a version IRI: with the bytes, unless the client asks for the description or, as browsers do, for a
// page. An extension after the id asks too: .ttl, .jsonld, .rdf, .nt, .html.
func (o Options) version(w http.ResponseWriter, r *http.Request) error {
	addVary(w.Header(), "Accept")
	id, format := describe.Extension(target.Value(r, "id"))
	q := r.URL.Query()
	if format == "" {
		format = q.Get("format")
	}
	if o.Citations != nil && !q.Has("download") {
		if name := o.Citations.Wanted(r); name != "" {
			return o.Citations.Version(w, r, id, name)
		}
	}
	switch {
	case q.Has("download"):
	case format == "html" && o.UI != nil, format == "" && o.UI != nil && wantsPage(r):
		return compressed(w, r, func(w http.ResponseWriter, r *http.Request) error { return o.UI.Version(w, r, id) })
	case o.LinkedData != nil && (format != "" || describe.WantsRDF(r, "application/octet-stream", "text/html")):
		return o.LinkedData.Version(w, r, id, format)
	}
	return o.Versions.Version(w, r, id)
}

// member answers a member's IRI: with the bytes, or with the description as version does. An extension asks for the
// description only if there is a member without it and none with it, since a file in an archive may end in one.
func (o Options) member(w http.ResponseWriter, r *http.Request) error {
	addVary(w.Header(), "Accept")
	id, path := target.Value(r, "id"), target.Value(r, "*")
	if path == "" {
		return problem.Newf(http.StatusNotFound, "No member given", "expected %s followed by the path of a file inside the version",
			r.URL.Path)
	}
	format := r.URL.Query().Get("format")
	if whole, ext := describe.Extension(path); ext != "" && format == "" {
		named, err := o.Members.Listed(r.Context(), id, path)
		if err != nil {
			return err
		}
		described, err := o.Members.Listed(r.Context(), id, whole)
		if err != nil {
			return err
		}
		if described && !named {
			path, format = whole, ext
		}
	}
	switch {
	case o.LinkedData == nil, r.URL.Query().Has("download"):
	case format != "", wantsPage(r), describe.WantsRDF(r, "application/octet-stream", "text/html"):
		return o.LinkedData.Member(w, r, id, path, format)
	}
	return o.Members.Member(w, r, id, path)
}

// dataset answers /dataset?url= with a page, or with the description for clients that ask for RDF.
func (o Options) dataset(w http.ResponseWriter, r *http.Request) error {
	addVary(w.Header(), "Accept")
	if o.Citations != nil {
		if name := o.Citations.Wanted(r); name != "" {
			return o.Citations.Dataset(w, r, name)
		}
	}
	if o.LinkedData != nil && r.URL.Query().Get("format") != "html" && describe.WantsRDF(r, "text/html") {
		return o.LinkedData.Resource(w, r)
	}
	return o.UI.Dataset(w, r)
}

// wantsPage reports whether a browser sent the request: Accept must name HTML and prefer nothing to it. Programs that
// accept anything do not name it.
func wantsPage(r *http.Request) bool {
	if !strings.Contains(r.Header.Get("Accept"), "html") {
		return false
	}
	best, ok := conneg.Negotiate(r,
		[]conneg.Offer{{MediaType: "text/html", Name: "page"}, {MediaType: "application/xhtml+xml", Name: "page"},
			{MediaType: "application/octet-stream"}, {MediaType: "text/turtle"}, {MediaType: "application/ld+json"},
			{MediaType: "application/rdf+xml"}, {MediaType: "application/n-triples"}})
	return ok && best.Name == "page"
}

func (o Options) openAPI(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/openapi+json;version=3.1")
	w.Header().Set("Cache-Control", "max-age=3600")
	w.Write(openapi.At(o.Root)) // an error means that the client has left
	return nil
}

func (o Options) robots(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Cache-Control", "max-age=86400")
	text := "User-agent: *\nDisallow: " + o.Root + strings.Join(unwanted, "\nDisallow: "+o.Root)
	if o.LinkedData != nil {
		text += "\n\nSitemap: " + o.LinkedData.SitemapAddress()
	}
	return writeLine(w, text)
}

func alive(w http.ResponseWriter, _ *http.Request) error { return writeLine(w, "ok") }

func writeLine(w http.ResponseWriter, line string) error {
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
		// as JSON for browsers, too
		problem.Send(w, r, problem.With(http.StatusServiceUnavailable, "Not ready", err, "state", state).(*problem.Error))
		return nil
	}
	return writeLine(w, state)
}

// notFound redirects an IRI below a former base that had a path to where it is now, and an address with a '/' too many
// at its end to the route without it. It answers 404 to all else.
func (o Options) notFound(w http.ResponseWriter, r *http.Request) error {
	answer := problem.Newf(http.StatusNotFound, "No such route", "there is no route %s; /openapi.json lists all routes", r.URL.Path)
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return answer
	}
	asked := r.URL.EscapedPath()
	moved := func(path string) error {
		to := "/" + strings.TrimLeft(path, "/") // a second '/' would make the next word a host
		if r.URL.RawQuery != "" {
			to += "?" + r.URL.RawQuery
		}
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusPermanentRedirect)
		return nil
	}
	for _, base := range o.Former {
		former, err := url.Parse(base)
		if err != nil || former.Path == "/" {
			continue
		}
		if rest, below := strings.CutPrefix(asked, former.EscapedPath()); below {
			return moved(rest)
		}
	}
	if c := chi.RouteContext(r.Context()); strings.HasSuffix(asked, "/") && c != nil && c.Routes != nil {
		if without := "/" + strings.Trim(asked, "/"); c.Routes.Match(chi.NewRouteContext(), http.MethodGet, without) {
			return moved(without)
		}
	}
	return answer
}

// notAllowed lists the methods that the route accepts in Allow (RFC 9110 §15.5.6).
func notAllowed(w http.ResponseWriter, r *http.Request) error {
	var takes []string
	if c := chi.RouteContext(r.Context()); c != nil && c.Routes != nil {
		for _, m := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} {
			as := m
			if m == "HEAD" { // is answered as GET
				as = "GET"
			}
			if c.Routes.Match(chi.NewRouteContext(), as, r.URL.EscapedPath()) {
				takes = append(takes, m)
			}
		}
	}
	w.Header().Set("Allow", strings.Join(append(takes, "OPTIONS"), ", "))
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return problem.Newf(http.StatusMethodNotAllowed, "Method not allowed", "%s does not accept %s", cmp.Or(r.URL.Path, r.RequestURI),
		r.Method)
}
