package sparqlapi

import (
	"context"
	"log/slog"
	"net/http"

	"odarchive/sparqlapi/changes"
	"odarchive/sparqlapi/control"
	"odarchive/sparqlapi/linkeddata"
	"odarchive/sparqlapi/outlast"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/related"
	"odarchive/sparqlapi/rest"
	"odarchive/triplestore/term"

	"github.com/go-chi/chi/v5"
)

// Members serves the files inside versions, and knows which there are.
type Members interface {
	http.Handler
	Listed(ctx context.Context, versionID, path string) (bool, error)
}

// Options of New. A nil handler leaves its routes out.
type Options struct {
	Log     *slog.Logger
	Errors  problem.Table // the program's sentinels
	Guard   *Guard        // nil refuses every write
	Rate    Rate          // of one client address; zero for none
	Observe func(Event)   // metrics

	SPARQL     http.Handler // SPARQL 1.1 Protocol; asks Guard itself, because only it can tell an update
	GraphStore http.Handler // Graph Store Protocol; GET and HEAD are open, the guard stands before the rest
	File       http.Handler // bytes of a version: by id ({id}), by URL (the latest)
	Member     Members      //  bytes of a file inside a version
	Files      http.Handler // zips: of a query, a type, a list of ids; and what a query's zip will hold
	Memento    http.Handler // time gates and time maps
	CDX        http.Handler
	Metrics    http.Handler
	Check      http.Handler // an order to read everything stored
	Figures    http.Handler // of the archive, for programs
	Changes    *changes.API
	Related    *related.API
	Control    *control.API
	// Ready returns the state of the archive, and why it is not ready; nil: ready when it answers.
	Ready func(context.Context) (state string, err error)

	REST       *rest.API
	LinkedData *linkeddata.LinkedData
	UI         UI
}

// UI is what the router asks of the pages.
type UI interface {
	Routes(chi.Router)
	Version(w http.ResponseWriter, r *http.Request) error // the page of version {id}
	Dataset(w http.ResponseWriter, r *http.Request) error // the page of /dataset?url=
	Vocabulary(w http.ResponseWriter, r *http.Request, quads []term.Quad) error
	ErrorPage(w http.ResponseWriter, r *http.Request, e *problem.Error) bool
}

// New makes the whole HTTP face: middleware from the outside in, then the routes.
func New(o Options) http.Handler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Guard == nil {
		o.Guard = NewGuard("")
	}
	answers := problem.Options{Table: o.Errors, Log: o.Log}
	if o.UI != nil {
		answers.Page = o.UI.ErrorPage
	}
	r := chi.NewRouter()
	r.Use(hideSecret, observe(o.Log, o.Observe), recoverPanics(o.Log), secure, crossOrigin, problem.Use(answers), limit(o.Rate))
	r.NotFound(problem.Handler(notFound))
	r.MethodNotAllowed(problem.Handler(notAllowed))
	o.routes(r)
	return r
}

// routes is the contents page of the API.
func (o Options) routes(r chi.Router) {
	for _, base := range []string{"", "/api/v1"} {
		if a := o.REST; a != nil {
			text := r.With(compress)
			read(text, base+"/stats/basic", a.StatsBasic)
			read(text, base+"/stats/datasetCountPerHost", a.StatsPerHost)
			read(text, base+"/stats/fileTypeDistribution", a.StatsFileTypes)
			read(text, base+"/get/dataset/*", a.DatasetByURL)
			read(text, base+"/get/dataset/url/*", a.DatasetByNamedURL)
			read(text, base+"/get/dataset/id/{id}", a.DatasetByID)
			read(text, base+"/get/dataset/type/*", a.DatasetsByType)
			read(text, base+"/get/datasets/type/*", a.DatasetsByType)
			read(text, base+"/get/file/dsid/{id}", a.FileByDataset)
			read(text, base+"/get/file/url/*", a.FileByNamedURL)
			read(text, base+"/get/datasets/hostname/{domain}", a.DatasetsByHost)
			read(text, base+"/get/datasets/{domain}", a.DatasetsByHost)
			write := r.With(o.Guard.Require, outlast.Handler)
			write.Post(base+"/post/resource", problem.Handler(a.PostResources))
			write.Post(base+"/post/resources", problem.Handler(a.PostResources))
			write.Post(base+"/crawl", problem.Handler(a.Crawl))
		}
		if o.File != nil {
			serve(r, base+"/get/file/id/{id}", o.version(), "GET", "HEAD")
			serve(r, base+"/get/file/*", o.File, "GET", "HEAD")
		}
		if o.Member != nil {
			serve(r, base+"/get/file/id/{id}/member/*", o.member(), "GET", "HEAD")
		}
		if o.Files != nil {
			serve(r, base+"/get/files/sparql", o.Files, "GET", "HEAD", "POST")
			serve(r, base+"/get/files/sparql/count", o.Files, "GET", "HEAD", "POST")
			serve(r, base+"/get/files/type/*", o.Files, "GET", "HEAD")
			serve(r, base+"/get/files", o.Files, "POST")
		}
	}
	if o.SPARQL != nil {
		serve(r, "/sparql", compress(o.SPARQL), "GET", "HEAD", "POST")
		serve(r, "/api/v1/sparql", compress(o.SPARQL), "GET", "HEAD", "POST")
	}
	if o.GraphStore != nil {
		for _, path := range []string{"/rdf-graph-store", "/rdf-graph-store/*"} {
			serve(r, path, compress(o.GraphStore), "GET", "HEAD")
			serve(r, path, o.Guard.Require(outlast.Handler(o.GraphStore)), "PUT", "POST", "DELETE")
		}
	}
	if o.Memento != nil {
		serve(r, "/timegate/*", o.Memento, "GET", "HEAD")
		serve(r, "/timemap/*", compress(o.Memento), "GET", "HEAD")
	}
	if o.CDX != nil {
		serve(r, "/cdx", compress(o.CDX), "GET", "HEAD")
	}
	if l := o.LinkedData; l != nil {
		text := r.With(compress)
		read(text, "/describe", l.Describe)
		read(text, "/activity/{id}", l.Minted)
		read(text, "/graph/*", l.Minted)
		read(text, "/crawler", l.Minted)
		read(text, "/crawler.{ext}", l.Minted)
		read(text, "/.well-known/void", l.VoID)
		for _, ext := range []string{"", ".ttl", ".rdf", ".jsonld", ".nt"} {
			read(text, "/catalog"+ext, l.Catalog)
		}
		var page func(http.ResponseWriter, *http.Request, []term.Quad) error
		if o.UI != nil {
			page = o.UI.Vocabulary
		}
		read(text, "/ns", l.Vocabulary(page))
		read(text, "/ns/*", l.Vocabulary(page))
	}
	if o.UI != nil {
		text := r.With(compress)
		o.UI.Routes(text)
		read(text, "/dataset", o.dataset)
	}
	if c := o.Control; c != nil {
		guarded := r.With(o.Guard.Require)
		write := guarded.With(outlast.Handler)
		for _, base := range []string{"", "/api/v1"} {
			read(r.With(compress), base+"/crawl/status", c.Status)
			read(r.With(compress), base+"/crawl/hosts", c.Hosts)
			write.Post(base+"/crawl/inject", problem.Handler(c.Inject))
			write.Post(base+"/crawl/requeue", problem.Handler(c.Requeue))
			write.Post(base+"/crawl/drop", problem.Handler(c.Drop))
			write.Post(base+"/crawl/pause", problem.Handler(c.Pause))
			write.Post(base+"/crawl/resume", problem.Handler(c.Resume))
			write.Post(base+"/backup", problem.Handler(c.Copy))
		}
	}
	if c := o.Changes; c != nil {
		for _, base := range []string{"", "/api/v1"} {
			read(r.With(compress), base+"/stats/changes", c.Stats)
			read(r.With(compress), base+"/diff", c.Diff)
		}
	}
	if a := o.Related; a != nil {
		for _, base := range []string{"", "/api/v1"} {
			read(r.With(compress), base+"/joins", a.Joins)
		}
	}
	read(r.With(compress), "/openapi.json", openAPI)
	if o.Check != nil {
		serve(r, "/check", o.Guard.Require(o.Check), "POST")
	}
	if o.Figures != nil {
		serve(r, "/stats/figures", o.Figures, "GET", "HEAD")
	}
	if o.Metrics != nil {
		serve(r, "/metrics", o.Metrics, "GET", "HEAD")
	}
	read(r, "/robots.txt", robots)
	read(r, "/healthz", alive)
	read(r, "/readyz", o.ready)
}

// read registers a handler that only reads.
func read(r chi.Router, pattern string, h func(http.ResponseWriter, *http.Request) error) {
	r.Get(pattern, problem.Handler(h))
	r.Head(pattern, problem.Handler(h))
}

func serve(r chi.Router, pattern string, h http.Handler, methods ...string) {
	for _, m := range methods {
		r.Method(m, pattern, h)
	}
}
