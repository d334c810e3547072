package ui

import (
	"log/slog"
	"net/http"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect/examine"
	"odarchive/ns"
	"odarchive/sparqlapi/openapi"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
	"odarchive/ui/docs"

	"github.com/go-chi/chi/v5"
)

// Options of New. Archive and Mint are required.
type Options struct {
	Before    *UI // of an earlier state of the same archive, which lends what does not depend on the state; nil for none
	Archive   Archive
	Examine   *examine.Pool // reads the first rows of tables; nil does so in this process
	Select    Select        // nil: pages have no parts that need a query
	Describe  Describe      // nil: pages show no triples
	Changes   Changes       // nil: differences are shown by line only
	Planned   Planned       // nil: no planned harvests are shown, and no questions about portals
	Harvests  Harvests      // nil: no harvests are shown
	Crawl     Crawl         // nil: pages do not show the state of the crawl
	Campaigns Campaigns     // nil: no campaigns are shown
	Hosts     Hosts         // nil: what is set for single hosts cannot be seen or changed
	Operation *Operation    // nil: the page of crawls shows no orders, and nothing over time
	Guard     Guard         // nil: pages have no forms for orders
	Tables    Tables        // nil: rows of tables cannot be seen page by page
	Histories Histories     // nil: histories of rows cannot be seen
	Register  Register      // nil: no page registers addresses
	Kinds     []string      // of sources that can be harvested, for the form that plans a harvest
	Cite      Cite          // nil: pages cite by what the records say
	About     About         // nil: pages do not show what portals say of datasets
	Fixity    func() Fixity // nil: pages do not show fixity
	// Proved reports whether a signed checkpoint has a version. Nil: no page links to proofs.
	Proved   func(catalog.Version) (bool, error)
	Mint     ns.Mint
	Examples []Example // in the console; nil for Examples(Mint)
	Log      *slog.Logger
	Now      func() time.Time // nil for time.Now
	Version  string           // of the program, for the footer
}

// UI serves the pages. Call Close when done.
type UI struct {
	archive   Archive
	query     Select
	describe  Describe
	changes   Changes
	harvests  Harvests
	planned   Planned
	registers Register
	kinds     []string
	crawl     Crawl
	campaigns Campaigns
	hosts     Hosts
	guard     Guard
	tables    Tables
	histories Histories
	operation *Operation
	cite      Cite
	says      About
	fixity    func() Fixity
	proved    func(catalog.Version) (bool, error)
	mint      ns.Mint
	examples  []Example
	log       *slog.Logger
	now       func() time.Time
	release   string
	assets    *assets
	pages     *templates
	figures   *figures
	docs      *docs.Library

	apiAbout  string
	apiGroups []routeGroup

	completions completions
	recent      recentStats
	examine     *examine.Pool
	sampling    chan struct{} // limits concurrent reading of samples
}

// New parses the embedded templates and loads the embedded assets. It fails only in a broken build.
func New(o Options) (*UI, error) {
	u := &UI{archive: o.Archive, query: o.Select, describe: o.Describe, changes: o.Changes, harvests: o.Harvests, planned: o.Planned,
		registers: o.Register, kinds: o.Kinds, crawl: o.Crawl, campaigns: o.Campaigns, hosts: o.Hosts, guard: o.Guard, tables: o.Tables,
		histories: o.Histories, operation: o.Operation, fixity: o.Fixity, cite: o.Cite, says: o.About, proved: o.Proved, mint: o.Mint,
		examples: o.Examples, log: o.Log, now: o.Now, release: o.Version, examine: o.Examine,
		sampling: make(chan struct{}, samplesAtOnce)}
	if u.examples == nil {
		u.examples = Examples(o.Mint)
	}
	if u.log == nil {
		u.log = slog.New(slog.DiscardHandler)
	}
	if u.now == nil {
		u.now = time.Now
	}
	if b := o.Before; b != nil && b.mint.Base == o.Mint.Base {
		u.assets, u.docs, u.apiAbout, u.apiGroups, u.pages = b.assets, b.docs, b.apiAbout, b.apiGroups, b.pages.with(u.funcs())
		u.figures = newFigures(u.query)
		return u, nil
	}
	var err error
	if u.assets, err = loadAssets(); err != nil {
		return nil, err
	}
	u.figures = newFigures(u.query)
	if u.apiAbout, u.apiGroups, err = readAPI(openapi.Document(), o.Mint.Base); err != nil {
		return nil, err
	}
	if u.docs, err = docs.New(); err != nil {
		return nil, err
	}
	u.pages, err = loadTemplates(u)
	return u, err
}

// Close stops the background work.
func (u *UI) Close() error {
	u.figures.close()
	return nil
}

// Routes adds every page to a router.
func (u *UI) Routes(r chi.Router) {
	for pattern, page := range map[string]func(http.ResponseWriter, *http.Request) error{
		"/":           u.home,
		"/search":     u.search,
		"/portals":    u.portals,
		"/dataset":    u.Dataset,
		"/version":    u.versionPage,
		"/table/{id}": u.tablePage,
		"/crawls":     u.crawls,
		"/campaign":   u.campaignPage,
		"/hosts":      u.hostsPage,
		"/operation":  u.operate,
		"/sign-in":    u.signInPage,
		"/statistics": u.statistics,
		"/fixity":     u.fixityPage,
		"/console":    u.console,
		"/basket":     u.basket,
		"/api-doc":    u.apiDoc,
		"/docs":       u.docsHome,
		"/docs/*":     u.docsPage,
	} {
		h := problem.Handler(page)
		r.Get(pattern, h)
		r.Head(pattern, h)
	}
	// Pages of the original archive, by their addresses there. Its console's fragment (#query=) is kept by browsers.
	for old, page := range map[string]string{"/yasgui": "/console", "/stats": "/statistics", "/api-explorer": "/api-doc",
		"/api/v1/spec": "/openapi.json"} {
		h := problem.Handler(func(w http.ResponseWriter, _ *http.Request) error {
			target.Redirect(w, page, http.StatusMovedPermanently)
			return nil
		})
		r.Get(old, h)
		r.Head(old, h)
	}
	r.Post("/campaign", problem.Handler(u.campaignForm))
	r.Post("/portals", problem.Handler(u.portalsForm))
	r.Post("/operation", problem.Handler(u.operateForm))
	r.Post("/hosts", problem.Handler(u.hostsForm))
	r.Post("/sign-in", problem.Handler(u.signIn))
	r.Post("/sign-out", problem.Handler(u.signOut))
	r.Get("/quality.json", problem.Handler(u.quality))
	r.Get("/harvests.json", problem.Handler(u.harvestsJSON))
	r.Get("/completion.json", problem.Handler(u.completion))
	r.Get("/assets/{name}", u.assets.serve)
	r.Get("/favicon.ico", u.assets.serveIcon)
	r.Get("/favicon.svg", u.assets.serveIcon)
}

// Handler serves the pages by themselves, with an error page for other paths.
func (u *UI) Handler() http.Handler {
	r := chi.NewRouter()
	r.NotFound(problem.Handler(func(_ http.ResponseWriter, r *http.Request) error {
		return problem.Newf(http.StatusNotFound, "No such page", "nothing is served at %s", r.URL.Path)
	}))
	u.Routes(r)
	r.Get("/describe", problem.Handler(u.describePage))
	r.Get("/diff", problem.Handler(u.Diff))
	r.Get("/history", problem.Handler(u.RowHistory))
	return r
}
