package describe

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"odarchive/ns"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
	"odarchive/triplestore/term"
)

// Describe answers GET /describe?iri=&format= with the statements about any IRI.
func (l *LinkedData) Describe(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	iri := q.Get("iri")
	if iri == "" {
		return problem.New(http.StatusBadRequest, "No IRI given", "expected /describe?iri= followed by an absolute IRI")
	}
	return l.describe(w, r, iri, q.Get("format"))
}

// Resource answers GET /dataset?url= for clients that ask for RDF.
func (l *LinkedData) Resource(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	iri := q.Get("url")
	if iri == "" {
		return problem.New(http.StatusBadRequest, "No address given", "expected /dataset?url= followed by the URL of a file or a dataset")
	}
	return l.describe(w, r, iri, q.Get("format"))
}

// Version answers GET of a version IRI for clients that ask for its description instead of its bytes.
func (l *LinkedData) Version(w http.ResponseWriter, r *http.Request, id, format string) error {
	if format == "" {
		format = r.URL.Query().Get("format")
	}
	return l.describe(w, r, l.o.Mint.Version(id), format)
}

// Member answers GET of the IRI of a file inside a version, for clients that ask for its description.
func (l *LinkedData) Member(w http.ResponseWriter, r *http.Request, id, path, format string) error {
	return l.describe(w, r, l.o.Mint.Member(id, path), format)
}

// Minted answers GET of the IRIs below the base that have no handler of their own: fetches and the crawler. An
// extension chooses the syntax.
func (l *LinkedData) Minted(w http.ResponseWriter, r *http.Request) error {
	path, format := Extension(strings.TrimPrefix(r.URL.EscapedPath(), "/"))
	if format == "" {
		format = r.URL.Query().Get("format")
	}
	return l.describe(w, r, l.o.Mint.Base+path, format)
}

// Graph answers GET /graph/{IRI} by a redirect to the content of a named graph: programs go to the Graph Store, people
// to a query.
func (l *LinkedData) Graph(w http.ResponseWriter, r *http.Request) error {
	iri, format := l.o.Mint.Graph(r.PathValue("*")), r.URL.Query().Get("format")
	if r.URL.RawQuery != "" && format == "" {
		iri += "?" + r.URL.RawQuery // a portal's address may have its own query string
	}
	w.Header().Add("Vary", "Accept")
	f, err := choose(r, format, l.o.Page != nil)
	if err != nil {
		return err
	}
	known := false
	err = l.o.View(r.Context(), func(ds term.Dataset) error {
		for _, alias := range l.o.Mint.Aliases(iri) {
			id, ok, err := ds.Lookup(term.IRI(alias))
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			err = ds.Graphs(func(g term.ID) bool {
				known = g == id
				return !known
			})
			if known || err != nil {
				iri = alias
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !known {
		return problem.Newf(http.StatusNotFound, "Unknown graph", "the archive has no graph %s", iri)
	}
	to := url.URL{Path: "/rdf-graph-store", RawQuery: url.Values{"graph": {iri}}.Encode()}
	if f.html {
		to = url.URL{Path: "/console",
			RawQuery: url.Values{"query": {"SELECT * WHERE {\n  GRAPH <" + iri + "> { ?s ?p ?o }\n}\nLIMIT 1000"}}.Encode()}
	}
	target.Redirect(w, to.String(), http.StatusSeeOther)
	return nil
}

// describe answers with the description of an IRI, or with 404 if the archive has no statements about it.
func (l *LinkedData) describe(w http.ResponseWriter, r *http.Request, iri, format string) error {
	w.Header().Add("Vary", "Accept")
	f, err := choose(r, format, l.o.Page != nil)
	if err != nil {
		return err
	}
	alternates(w.Header(), &url.URL{Path: "/describe", RawQuery: url.Values{"iri": {iri}}.Encode()}, l.o.Page != nil)
	if f.html {
		return l.o.Page(w, r, iri)
	}
	var out, in []term.Quad
	err = l.o.View(r.Context(), func(ds term.Dataset) (err error) {
		for _, alias := range l.o.Mint.Aliases(iri) { // minted before the archive's base was changed
			if out, in, err = Describe(r.Context(), ds, alias, maxStatements); err != nil || len(out)+len(in) > 0 {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(out)+len(in) == 0 {
		return problem.Newf(http.StatusNotFound, "Unknown IRI", "the archive has no statements about %s", iri)
	}
	sortQuads(out)
	sortQuads(in)
	in = slices.DeleteFunc(in, func(q term.Quad) bool { return q.S == q.O }) // these are in out already
	return write(w, r, f.syntax, append(out, in...))
}

// Vocabulary answers GET /ns/...: the archive's terms (csvw), as a page by html if it is not nil, and the SHACL shapes
// of its triples (shapes).
func (l *LinkedData) Vocabulary(html func(http.ResponseWriter, *http.Request, []term.Quad) error) func(http.ResponseWriter,
	*http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Add("Vary", "Accept")
		path, format := Extension(r.URL.Path)
		document, html := ns.Vocabulary, html
		switch name, _ := Extension(strings.Trim(target.Value(r, "*"), "/")); name {
		case "csvw", "":
		case "shapes":
			document, html = ns.Shapes, l.document("Shapes of the archive's triples")
		default:
			return problem.Newf(http.StatusNotFound, "Unknown vocabulary", "%s is not /ns/csvw or /ns/shapes", path)
		}
		if format == "" {
			format = r.URL.Query().Get("format")
		}
		f, err := choose(r, format, html != nil)
		if err != nil {
			return err
		}
		alternates(w.Header(), &url.URL{Path: path}, html != nil)
		quads, err := readTurtle(document)
		if err != nil {
			return err
		}
		if f.html {
			return html(w, r, quads)
		}
		return write(w, r, f.syntax, quads)
	}
}

// document returns the handler of a page of statements, or nil if there are no pages.
func (l *LinkedData) document(title string) func(http.ResponseWriter, *http.Request, []term.Quad) error {
	if l.o.Document == nil {
		return nil
	}
	return func(w http.ResponseWriter, r *http.Request, quads []term.Quad) error {
		return l.o.Document(w, r, title, quads)
	}
}

func hostOfIRI(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return base
	}
	return u.Host
}
