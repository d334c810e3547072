package faces

import (
	"context"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"odarchive/cmd/internal/crawl"
	"odarchive/crawler/address"
	"odarchive/crawler/archive"
	"odarchive/crawler/archive/content"
	"odarchive/crawler/catalog"
	"odarchive/crawler/copies/backup"
	"odarchive/crawler/copies/vault"
	"odarchive/crawler/inspect/apart"
	"odarchive/crawler/inspect/diff"
	"odarchive/crawler/inspect/examine"
	"odarchive/ns"
	"odarchive/sparqlapi"
	"odarchive/sparqlapi/data"
	"odarchive/sparqlapi/describe"
	"odarchive/sparqlapi/files"
	"odarchive/sparqlapi/files/cdx"
	"odarchive/sparqlapi/graphstore"
	"odarchive/sparqlapi/operate"
	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/protocol"
	"odarchive/sparqlapi/rest"
	"odarchive/sparqlapi/target"
	"odarchive/triplestore"
	"odarchive/triplestore/bucket"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/term"
	"odarchive/ui"
	"odarchive/vocab"
)

// Handler returns the handler of everything that is served: pages, SPARQL, downloads, REST, linked data, metrics.
func (a *Faces) Handler() (http.Handler, error) {
	read := reader{a.store.Archive, a.crawl.Frontier, a.crawl.Pipeline}
	if _, err := a.readRevoked(); err != nil {
		return nil, err
	}
	if err := a.openAudit(); err != nil {
		return nil, err
	}
	a.inherit()
	if a.guard == nil {
		a.guard = sparqlapi.NewGuard(a.tokens, sparqlapi.Site{Base: a.store.Mint.Base})
	}
	guard := a.guard
	var orders ui.Guard // nil: there are no forms for orders
	if a.store.ReadOnlyReason == "" || a.store.Config.Serve.Closed {
		orders = guard
	}
	tables, histories := data.NewRows(a.store.Archive), data.NewHistories(a.store.Archive)
	pages, err := ui.New(ui.Options{Before: a.pagesBefore(), Guard: orders, Tables: tables, Histories: histories, Archive: read,
		Examine: a.store.Examine,
		Select:  a.selectRows, Describe: a.describe, Changes: a.showChanges, Harvests: a.crawl.Intake.Ledger.Harvests, Planned: a.crawl,
		Register: a.crawl.Intake.Add, Kinds: append([]string{crawl.Recognised}, crawl.HarvestKinds()...), Crawl: a.crawl.Pipeline.Status,
		Campaigns: a.crawl.Campaigns, Hosts: a.crawl,
		Operation: &ui.Operation{Series: a.crawl.Pipeline.Series, Orders: a.crawl.Intake.Orders, Refused: a.crawl.Scope.Refusals,
			Hosts: a.crawl.Pipeline.Hosts, Space: a.diskSpace, Crawling: a.crawl.Intake, Scope: a.crawl.Scope}, Fixity: a.Fixity,
		Cite: a.cite, About: a.about, Proved: a.proved, Mint: a.store.Mint, Log: a.store.Log, Now: a.store.Clock})
	if err != nil {
		return nil, err
	}
	a.pages, a.shown = pages.Close, pages
	histories.Page = pages.RowHistory
	if err := a.ReloadFaces(a.store.Config.Serve); err != nil {
		return nil, err
	}
	described := describe.NewLinkedData(describe.LinkedOptions{View: a.view, Archive: read, Mint: a.store.Mint, Page: pages.Describe,
		Document: pages.Document, Dumps: a.dumps})
	observed := newMetrics(a, a.seen)
	a.seen = observed
	mementos := &files.Memento{Archive: a.store.Archive, Mint: a.store.Mint}
	versions := &files.FileHandler{Archive: a.store.Archive, Contents: a.store.Content, Links: a.signposted(mementos),
		IRI: a.store.Mint.Version, Log: a.store.Log}
	mementos.Serve = versions.Version
	// takes milliseconds, and states of replicas are many
	assistants := sync.OnceValue(func() http.Handler { return a.assistant(tables).Handler() })
	var refuse func(*http.Request) error
	if a.Replica != nil {
		refuse = a.refuseWrite
	}
	graphs, err := graphstore.New(a.store.Triples, graphstore.Options{
		Base: a.store.Mint.Base + "rdf-graph-store", Authorize: guard.For(access.Update),
		MaxBody: int64(a.store.Config.Serve.Queries.MaxGraph), Owned: a.owned, Prefixes: vocab.Prefixes(), Log: a.store.Log,
		LogID: a.store.DB.Lineage()})
	if err != nil {
		return nil, err
	}
	return sparqlapi.New(sparqlapi.Options{
		Log:        a.store.Log,
		Errors:     a.errorTable(),
		Guard:      guard,
		Observe:    observed.request,
		Root:       a.store.Mint.Root(),
		Former:     a.store.Mint.Former,
		Proxies:    func() sparqlapi.Proxies { return *a.proxies.Load() },
		Audit:      a.audit,
		Audits:     &operate.AuditAPI{Dir: a.auditDir()},
		Closed:     a.store.Config.Serve.Closed,
		Rate:       sparqlapi.Rate{PerSecond: 50, Burst: 300}, // a page makes about five requests; this machine is not limited
		SPARQL:     a.protocol(guard, pages),
		GraphStore: graphs,
		Versions:   versions,
		Members: &files.Members{Archive: a.store.Archive, Examine: a.store.Examine, Spool: a.crawl.Spool,
			Gate: access.NewGate(access.Limits{Places: membersAtOnce, PerClient: membersAtOnce / 2, Queue: 64, PerQueue: 8,
				Wait: 30 * time.Second}), IRI: a.store.Mint.Version},
		Zips: &files.BundleHandler{Archive: a.store.Archive, Contents: a.store.Content, Source: a.store.Archive, Queries: querier{a},
			Mint: a.store.Mint, Origins: a.origins, Log: a.store.Log},
		Mementos: mementos,
		CDX:      &cdx.Handler{Archive: a.store.Archive, URLOf: a.store.Archive.URLOf},
		Metrics:  observed.handler(),
		ChangeLog: data.NewLog(data.LogOptions{Log: a.store.Triples, ID: a.store.DB.Lineage(), Base: a.store.Mint.Base,
			Logs: a.store.Log}),
		Dumps:      &files.DumpsAPI{Open: a.store.Dumps.Open},
		Changes:    &data.ChangesAPI{Archive: a.store.Archive, Page: pages.Diff},
		Related:    &files.RelatedAPI{Archive: a.store.Archive, Mint: a.store.Mint},
		Rows:       tables,
		Histories:  histories,
		Search:     &data.SearchAPI{Archive: a.store.Archive, Mint: a.store.Mint, Now: a.store.Clock},
		Assistants: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { assistants().ServeHTTP(w, r) }),
		Feeds:      &describe.FeedsAPI{Archive: a.store.Archive, Mint: a.store.Mint, Hub: a.store.Config.Serve.Hub},
		LDES:       &describe.StreamAPI{Archive: a.store.Archive, Mint: a.store.Mint},
		Evidence:   a.evidence(pages),
		Citations:  &describe.CitationAPI{Collector: a.Citations()},
		Access:     &access.API{Keeper: a},
		Control: &operate.ControlAPI{Crawl: a.crawl.Intake, Progress: a.crawl.Pipeline, Settings: a.crawl,
			CampaignStore: a.crawl.Campaigns, Scope: a.crawl.Scope, HarvestTable: a.crawl, Withdrawals: a.crawl, Retained: a.crawl,
			Now: a.store.Clock, Log: a.store.Log, Backup: func(ctx context.Context, w io.Writer, since *backup.Info) error {
				_, err := a.Backup(ctx, w, since, nil)
				return err
			}},
		REST:       rest.New(read, a.crawl.Intake, a.store.Mint),
		LinkedData: described,
		UI:         pages,
		Ready:      a.Ready,
		Replicate:  a.replicator(),
		Refuse:     refuse,
		Check:      a.checkHandler(),
		Commands:   newCommands(a.Commands, guard, a),
		Figures:    a.figuresHandler(),
		Profiles:   profiles(),
	}), nil
}

// owned reports whether a graph holds the archive's own records: what a portal says, or the default graph, unless the
// archive has no resources. An error means that it may hold some.
func (a *Faces) owned(g term.Key) bool {
	if g == "" {
		some := false
		err := a.store.Archive.Resources(context.Background(), "", func(catalog.Resource) bool { some = true; return false })
		return some || err != nil
	}
	ref, ok := a.store.Mint.Parse(g.Value())
	return ok && ref.Kind == ns.KindGraph
}

// dumps returns the dumps of the triples.
func (a *Faces) dumps() ([]catalog.Dump, error) {
	list, _, err := a.store.Dumps.List()
	return list, err
}

// membersAtOnce is how many files are unpacked for requests at a time.
const membersAtOnce = 4

// retryBytes is when to ask again for bytes in an object store that is away.
const retryBytes = 30 * time.Second

// retryBusy is when to ask again for what had no place.
const retryBusy = 5 * time.Second

// errorTable maps the archive's sentinel errors to HTTP statuses.
func (a *Faces) errorTable() problem.Table {
	return problem.Table{
		{Err: catalog.ErrWithdrawnByLaw, Status: http.StatusUnavailableForLegalReasons, Title: "Withdrawn for legal reasons", Public: true},
		{Err: catalog.ErrWithdrawn, Status: http.StatusGone, Title: "Withdrawn", Public: true},
		{Err: catalog.ErrQuestion, Status: http.StatusBadRequest, Title: "Not a search", Public: true},
		{Err: archive.ErrNotFound, Status: http.StatusNotFound, Title: "Not in the archive", Public: true},
		{Err: content.ErrNotFound, Status: http.StatusNotFound, Title: "Not in the archive", Public: true},
		{Err: bucket.ErrUnavailable, Status: http.StatusServiceUnavailable,
			Title:  "The bytes are in an object store that cannot be reached now",
			Advice: "Triples and pages are not affected. Try again later.", RetryAfter: retryBytes},
		{Err: apart.ErrBusy, Status: http.StatusServiceUnavailable, Title: "Too many files are being read", Public: true,
			Advice: "Other requests read as many files as the server does at a time. Try again soon.", RetryAfter: retryBusy},
		{Err: apart.ErrOurs, Status: http.StatusServiceUnavailable, Title: "Files cannot be read now", RetryAfter: retryBytes},
		{Err: apart.ErrCost, Status: http.StatusUnprocessableEntity, Title: "The file cannot be read", Public: true,
			Advice: "The version itself can be downloaded."},
		{Err: examine.ErrSetAside, Status: http.StatusUnprocessableEntity, Title: "The file is not read", Public: true},
		{Err: content.ErrDamaged, Status: http.StatusInternalServerError, Title: "The stored bytes are damaged", Public: true},
		{Err: archive.ErrBadIRI, Status: http.StatusBadRequest, Title: "Not a name that can be kept", Public: true},
		{Err: address.ErrBad, Status: http.StatusBadRequest, Title: "Not a URL that can be crawled", Public: true},
		{Err: files.ErrEmpty, Status: http.StatusNotFound, Title: "The query selects no file", Public: true},
		{Err: vault.ErrFenced, Status: http.StatusServiceUnavailable, Title: "Another server writes the archive", Public: true,
			Advice: fencedAdvice, RetryAfter: retryStopped},
		{Err: kv.ErrWritesStopped, Status: http.StatusServiceUnavailable, Title: "The archive accepts no more writes", Public: true,
			Advice: writesStoppedAdvice, RetryAfter: retryStopped},
		{Err: kv.ErrReadOnly, Status: http.StatusForbidden, Title: "The archive is open for reading only", Advice: a.store.ReadOnlyReason},
		{Err: kv.ErrDiskFull, Status: http.StatusInsufficientStorage, Title: "The archive's disk is full", Public: true},
	}
}

// protocol returns the SPARQL endpoint.
func (a *Faces) protocol(guard *sparqlapi.Guard, pages *ui.UI) http.Handler {
	q := a.store.Config.Serve.Queries
	authorise := guard.For(access.Update)
	if a.Replica != nil {
		authorise = a.refuseWrite
	}
	return protocol.New(protocol.Options{
		Engine: a.Engine, Snapshot: snapshots(a.store.Triples), Store: updatable(a.store.Triples),
		Authorise: authorise, Begin: func(ctx context.Context) error { return operate.BeginAct(ctx, "") },
		Known:    func(r *http.Request) bool { c, _ := access.Of(r.Context()); return c.Known() },
		MaxQuery: int64(q.MaxQuery), MaxUpdate: int64(q.MaxUpdate), Anonymous: a.anonymous(), Places: a.places, Strict: q.Strict,
		Console: http.HandlerFunc(toConsole), Page: pages.Results, Endpoint: a.store.Mint.Base + "sparql", Dialect: true, Federated: true,
		Prefixes: vocab.Prefixes(),
	})
}

func toConsole(w http.ResponseWriter, _ *http.Request) {
	target.Redirect(w, "/console", http.StatusSeeOther)
}

// anonymous returns the limits of queries of clients without the token.
func (a *Faces) anonymous() protocol.Limits {
	q := a.store.Config.Serve.Queries
	return protocol.Limits{Timeout: q.AnonymousTimeout, Memory: int64(q.AnonymousMemory), Rows: q.AnonymousRows}
}

// snapshots returns a function that takes a snapshot of a store and its release.
func snapshots(s *triplestore.Store) func() (term.Dataset, func()) {
	return func() (term.Dataset, func()) {
		sn := s.Snapshot()
		return sn, sn.Release
	}
}

// view calls f with a snapshot of the store.
func (a *Faces) view(ctx context.Context, f func(term.Dataset) error) error {
	return a.store.Triples.View(ctx, func(sn *triplestore.Snapshot) error { return f(sn) })
}

// describe returns the triples around an IRI, at most max in each direction.
func (a *Faces) describe(ctx context.Context, iri string, max int) (out, in []term.Quad, err error) {
	err = a.view(ctx, func(ds term.Dataset) error {
		out, in, err = describe.Describe(ctx, ds, iri, max)
		return err
	})
	return out, in, err
}

// showChanges compares two versions for a page.
func (a *Faces) showChanges(ctx context.Context, from, to catalog.Version, o diff.Options) (c ui.Comparison, err error) {
	report, err := a.store.Archive.Compare(ctx, from, to, o)
	if err != nil {
		return c, err
	}
	if t := report.Table; t != nil {
		c.Key, c.KeyFound = t.Key, t.KeyFound
		if len(report.More) == 0 {
			c.Longest = t.Longest()
		}
		for _, column := range t.To {
			if !slices.Contains(t.Added, column) {
				c.Columns = append(c.Columns, column.Name)
			}
		}
	}
	var fragment strings.Builder
	err = report.WriteLinkedHTML(&fragment, historyOf(from, to))
	c.HTML = template.HTML(fragment.String()) // WriteHTML escapes
	return c, err
}

// historyOf returns the function that links a row of a difference to its history.
func historyOf(from, to catalog.Version) func(t *diff.Table, row diff.RowChange) string {
	return func(t *diff.Table, row diff.RowChange) string {
		if len(t.Key) == 0 || len(row.Key) != len(t.Key) || slices.ContainsFunc(row.Key, diff.IsClipped) {
			return ""
		}
		v, where := to, make([]data.Comparison, len(t.Key))
		if row.Op == "removed" {
			v = from
		}
		for i, name := range t.Key {
			for _, c := range t.Renamed { // the old version has the old name
				if row.Op == "removed" && c.To == name {
					name = c.From
				}
			}
			where[i] = data.Comparison{Column: name, Op: "=", Value: row.Key[i]}
		}
		q := url.Values{"version": {v.ID}, "where": {data.Condition(where)}}
		if t.Name != "" {
			q.Set("table", t.Name)
		}
		return "/history?" + q.Encode()
	}
}

// selectRows runs a SELECT query for a page. It returns at most max rows.
func (a *Faces) selectRows(ctx context.Context, query string, max int) (ui.Rows, error) {
	options := queryOptions()
	options.MaxRows = int64(max) + 1
	var rows ui.Rows
	err := a.Query(ctx, query, options, func(r *sparql.Results) error {
		rows.Vars = r.Vars
		for row, err := range rowsOf(r) {
			if err != nil {
				return err
			}
			if len(rows.Rows) == max {
				rows.More = true
				break
			}
			rows.Rows = append(rows.Rows, append([]term.Key(nil), row...))
		}
		return nil
	})
	return rows, err
}
