package sparqlapi

import (
	"log/slog"
	"net/http"
	"net/url"

	"odarchive/crawler/queue/frontier"
	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/files"
	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
	"odarchive/triplestore/term"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

var (
	_ Versions = (*files.FileHandler)(nil)
	_ Members  = (*files.Members)(nil)
	_ Zips     = (*files.BundleHandler)(nil)
	_ Mementos = (*files.Memento)(nil)
)

// New returns the handler of all routes, with the middleware around them.
func New(o Options) http.Handler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Guard == nil {
		o.Guard = NewGuard(access.NewTokens(nil), Site{})
	}
	answers := problem.Options{Table: o.Errors, Log: o.Log}
	if o.UI != nil {
		answers.Page = o.UI.ErrorPage
	}
	r := chi.NewRouter()
	r.Use(below(o.Root, r), behind(o.Proxies), hideSecret, observe(o.Log, o.Observe, o.Root, o.Closed), recoverPanics(o.Log), secure,
		crossOrigin, problem.Use(answers), identify(o.Guard), boundBodies, paceBodies, limit(o.Rate, o.Guard), o.closed, o.refused,
		o.audited, target.Escaped, middleware.GetHead)
	r.NotFound(problem.Handler(o.notFound))
	r.MethodNotAllowed(problem.Handler(notAllowed))
	o.routes(r)
	return r
}

// routes registers every route. It reads like the table of contents of the API.
func (o Options) routes(r chi.Router) {
	for _, base := range []string{"", "/api/v1"} {
		o.apiRoutes(r, r.With(compress), base)
	}
	text := r.With(compress)
	if a := o.Search; a != nil {
		read(text, "/api/v1/search", a.Search) // /search is the page
	}
	if o.GraphStore != nil {
		for _, path := range []string{"/rdf-graph-store", "/rdf-graph-store/*"} {
			serve(text, path, o.GraphStore, "GET", "HEAD")
			serve(o.may(r, access.Update), path, o.GraphStore, "PUT", "POST", "DELETE")
		}
	}
	if m := o.Mementos; m != nil {
		read(r, "/timegate/*", m.TimeGate)
		read(text, "/timemap/link/*", m.TimeMapLink)
		read(text, "/timemap/json/*", m.TimeMapJSON)
		read(r, "/web/{timestamp}/*", m.Web)
	}
	if o.ChangeLog != nil {
		read(text, "/changes/rdf", o.ChangeLog.Changes)
	}
	if o.CDX != nil {
		serve(text, "/cdx", o.CDX, "GET", "HEAD")
		read(text, "/timemap/cdxj/*", o.timeMapCDXJ)
	}
	if f := o.Feeds; f != nil {
		read(text, "/feed.atom", f.Atom)
		read(text, "/feed.json", f.JSON)
		read(text, "/event/{number}", f.Event)
	}
	if l := o.LDES; l != nil {
		read(text, "/ldes", l.Root)
		read(text, "/ldes/shape", l.Shape)
		read(text, "/ldes/{level}/{number}", l.Node)
	}
	if o.Assistants != nil {
		serve(text, "/mcp", o.Assistants, "POST")
	}
	if l := o.LinkedData; l != nil {
		read(text, "/describe", l.Describe)
		read(text, "/activity/{id}", l.Minted)
		read(text, "/graph/*", l.Graph)
		read(text, "/crawler", l.Minted)
		read(text, "/crawler.{ext}", l.Minted)
		read(text, "/.well-known/void", l.VoID)
		read(text, "/dumps", l.Dumps)
		read(text, "/sitemap.xml", l.Sitemap)
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
	if d := o.Dumps; d != nil {
		read(r, "/dumps/{name}", d.File)
	}
	if a := o.Replicate; a != nil {
		replicas := r.With(o.Guard.Need(access.Replicate))
		read(replicas, "/replicate", a.Who)
		read(replicas, "/replicate/state", a.State)
		read(replicas, "/replicate/log", a.Log)
		read(replicas, "/replicate/packs", a.Packs)
		read(replicas, "/replicate/packs/{name}", a.Pack)
	}
	o.evidenceRoutes(r, text)
	if o.UI != nil {
		o.UI.Routes(text)
		read(text, "/dataset", o.dataset)
	}
	read(text, "/openapi.json", o.openAPI)
	if o.Check != nil {
		serve(r.With(o.Guard.Need(access.Admin)), "/check", o.Check, "POST")
	}
	if o.Profiles != nil {
		for _, path := range []string{"/debug/pprof", "/debug/pprof/*"} {
			serve(r.With(o.Guard.Need(access.Admin)), path, o.Profiles, "GET", "HEAD")
		}
	}
	if o.Figures != nil {
		serve(r, "/stats/figures", o.Figures, "GET", "HEAD")
	}
	if o.Metrics != nil {
		serve(r, "/metrics", o.Metrics, "GET", "HEAD")
	}
	read(r, "/robots.txt", o.robots)
	read(r, "/healthz", alive)
	read(r, "/readyz", o.ready)
}

// may returns a router of routes that need a right, and that outlast their client.
func (o Options) may(r chi.Router, right access.Right) chi.Router {
	return r.With(o.Guard.Need(right), answer.LastingHandler)
}

// apiRoutes registers the routes that exist below both roots. text compresses answers.
func (o Options) apiRoutes(r, text chi.Router, base string) {
	adds, crawls, admin := o.may(r, access.Add), o.may(r, access.Crawl), o.may(r, access.Admin)
	if a := o.REST; a != nil {
		read(text, base+"/stats/basic", a.StatsBasic)
		read(text, base+"/stats/datasetCountPerHost", a.StatsPerHost)
		read(text, base+"/stats/fileTypeDistribution", a.StatsFileTypes)
		read(text, base+"/get/dataset/*", a.DatasetByURL)
		read(text, base+"/get/dataset/url/*", a.DatasetByURL)
		read(text, base+"/get/dataset/id/{id}", a.DatasetByID)
		read(text, base+"/get/dataset/type/*", a.DatasetsByType)
		read(text, base+"/get/datasets/type/*", a.DatasetsByType)
		read(text, base+"/get/datasets/hostname/{domain}", a.DatasetsByHost)
		read(text, base+"/get/datasets/{domain}", a.DatasetsByHost)
		read(text, base+"/get/file/dsid/{id}", a.FileByDataset)
		read(text, base+"/get/file/url/*", a.FileByNamedURL)
		adds.Post(base+"/post/resource", problem.Handler(a.PostResources))
		adds.Post(base+"/post/resources", problem.Handler(a.PostResources))
		crawls.Post(base+"/crawl", problem.Handler(a.Crawl))
	}
	if o.Versions != nil {
		read(r, base+"/get/file/id/{id}", o.version)
		read(r, base+"/get/file/*", o.Versions.Latest)
	}
	if a := o.Rows; a != nil {
		read(text, base+"/get/file/id/{id}/rows", a.Rows)
		read(text, base+"/get/file/id/{id}/table.{ext}", a.Table)
	}
	if h := o.Histories; h != nil {
		read(text, base+"/history", h.ServeHistory)
	}
	if o.Members != nil {
		read(r, base+"/get/file/id/{id}/member/*", o.member)
	}
	if z := o.Zips; z != nil {
		serve(r, base+"/get/files/sparql", problem.Handler(z.SPARQL), "GET", "HEAD", "POST")
		serve(r, base+"/get/files/sparql/count", problem.Handler(z.Count), "GET", "HEAD", "POST")
		serve(r, base+"/get/warc/sparql", problem.Handler(z.WARC), "GET", "HEAD", "POST")
		serve(r, base+"/get/wacz/sparql", problem.Handler(z.WACZ), "GET", "HEAD", "POST")
		read(r, base+"/get/files/type/*", z.OfType)
		r.Post(base+"/get/files", problem.Handler(z.ByID))
	}
	if o.SPARQL != nil {
		serve(text, base+"/sparql", o.SPARQL, "GET", "HEAD", "POST")
	}
	if c := o.Control; c != nil {
		read(text, base+"/crawl/status", c.Status)
		read(text, base+"/crawl/hosts", c.Hosts)
		crawls.Post(base+"/crawl/inject", problem.Handler(c.Inject))
		read(text, base+"/crawl/orders", c.Orders)
		read(text, base+"/crawl/series", c.Series)
		for _, kind := range []string{frontier.OrderRequeue, frontier.OrderDrop, frontier.OrderBoost} {
			crawls.Post(base+"/crawl/"+kind, problem.Handler(c.Order(kind)))
		}
		crawls.Post(base+"/crawl/pause", problem.Handler(c.Pause))
		crawls.Post(base+"/crawl/resume", problem.Handler(c.Resume))
		if c.Scope != nil {
			read(text, base+"/crawl/scope", c.ScopeRules)
			read(text, base+"/crawl/scope/refused", c.ScopeRefused)
			read(text, base+"/crawl/scope/test", c.ScopeTest)
			for _, what := range []string{"allow", "deny", "remove"} {
				crawls.Post(base+"/crawl/scope/"+what, problem.Handler(c.ChangeScope(what)))
			}
		}
		if c.Settings != nil {
			read(crawls, base+"/crawl/settings", c.HostSettings)
			crawls.Post(base+"/crawl/settings", problem.Handler(c.SetHosts))
			crawls.Delete(base+"/crawl/settings", problem.Handler(c.UnsetHosts))
			crawls.Post(base+"/crawl/settings/pause", problem.Handler(c.PauseHosts))
			crawls.Post(base+"/crawl/settings/resume", problem.Handler(c.ResumeHosts))
			crawls.Post(base+"/crawl/settings/forget", problem.Handler(c.ForgetHost))
		}
		if c.CampaignStore != nil {
			read(text, base+"/campaigns", c.Campaigns)
			read(text, base+"/campaigns/{name}", c.Campaign)
			crawls.Post(base+"/campaigns", problem.Handler(c.RunCampaign))
			crawls.Post(base+"/campaigns/{name}/pause", problem.Handler(c.PauseCampaign))
			crawls.Post(base+"/campaigns/{name}/resume", problem.Handler(c.ResumeCampaign))
			crawls.Post(base+"/campaigns/{name}/stop", problem.Handler(c.StopCampaign))
		}
		if c.HarvestTable != nil {
			read(text, base+"/harvests", c.Harvests)
			crawls.Post(base+"/harvests", problem.Handler(c.PlanHarvest))
			crawls.Post(base+"/harvests/answer", problem.Handler(c.AnswerQuestion))
			crawls.Delete(base+"/harvests/{id}", problem.Handler(c.OrderHarvest("remove")))
			for _, order := range []string{"run", "pause", "resume"} {
				crawls.Post(base+"/harvests/{id}/"+order, problem.Handler(c.OrderHarvest(order)))
			}
		}
		if c.Withdrawals != nil {
			admin.Post(base+"/withdraw", problem.Handler(c.Withdraw))
			admin.Delete(base+"/get/file/id/{id}", problem.Handler(c.WithdrawVersion))
		}
		if c.Retained != nil {
			read(admin, base+"/retention", c.RetentionPlan)
			admin.Post(base+"/retention", problem.Handler(c.ApplyRetention))
		}
		admin.Post(base+"/backup", problem.Handler(c.Copy))
	}
	if a := o.Access; a != nil {
		read(admin, base+"/tokens", a.List)
		admin.Delete(base+"/tokens/{name}", problem.Handler(a.Revoke))
	}
	if a := o.Audits; a != nil {
		read(admin, base+"/audit", a.Last)
		read(admin, base+"/audit/verify", a.Verify)
	}
	if c := o.Commands; c != nil {
		r.Post(base+"/commands/{name}", problem.Handler(c.Run))
		r.Delete(base+"/commands/{name}", problem.Handler(c.Stop))
	}
	if c := o.Changes; c != nil {
		read(text, base+"/stats/changes", c.Stats)
		read(text, base+"/diff", c.Diff)
	}
	if a := o.Related; a != nil {
		read(text, base+"/joins", a.Joins)
	}
}

// postReads are the routes whose POST only reads, for questions that are too long for an address.
var postReads = []string{"/sparql", "/get/files", "/get/files/sparql", "/get/warc/sparql", "/get/wacz/sparql",
	"/mcp", "/api/v1/sparql", "/api/v1/get/files", "/api/v1/get/files/sparql", "/api/v1/get/warc/sparql", "/api/v1/get/wacz/sparql"}

// unwanted are the paths that robots.txt asks web crawlers to leave alone: they are costly, or serve bytes whose real
// address is elsewhere.
var unwanted = []string{"/get/", "/api/v1/", "/sparql", "/console?", "/diff", "/history", "/describe", "/timegate/", "/timemap/", "/web/",
	"/cdx", "/rdf-graph-store", "/changes/", "/search?", "/table/"}

// timeMapCDXJ answers GET /timemap/cdxj/{URL} as /cdx does for one address.
func (o Options) timeMapCDXJ(w http.ResponseWriter, r *http.Request) error {
	address, own, err := target.URL(r)
	if err != nil {
		return err
	}
	own.Set("url", address)
	own.Set("matchType", "exact")
	r = r.Clone(r.Context())
	r.URL = &url.URL{Path: "/cdx", RawQuery: own.Encode()}
	o.CDX.ServeHTTP(w, r)
	return nil
}

// read registers a handler for GET and HEAD.
func read(r chi.Router, pattern string, h func(http.ResponseWriter, *http.Request) error) {
	r.Get(pattern, problem.Handler(h))
	r.Head(pattern, problem.Handler(h))
}

// serve registers a handler for some methods.
func serve(r chi.Router, pattern string, h http.Handler, methods ...string) {
	for _, m := range methods {
		r.Method(m, pattern, h)
	}
}
