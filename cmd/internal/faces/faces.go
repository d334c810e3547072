// Package faces is how an archive is asked: the query engine, the HTTP server with everything behind it, and the client
// that asks a running server on behalf of a command.
//
// Handler puts the HTTP side together; Serve runs it until its context ends.
package faces

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"odarchive/cmd/internal/check"
	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/crawl"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/archive"
	"odarchive/crawler/archive/describe"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/sparqlapi"
	"odarchive/sparqlapi/operate"
	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/replicate"
	"odarchive/triplestore/sparql"
	"odarchive/ui"
	"odarchive/vocab"
)

// Faces answers questions about one archive. Close it before the crawl and the store.
type Faces struct {
	Engine   *sparql.Engine
	Commands map[string]Command // what a server runs for clients, by name; set before Handler is called

	Replica *Replica // set before Handler is called; nil if the archive is no replica

	store *store.Store
	crawl *crawl.Crawl
	guard *sparqlapi.Guard // of Handler
	seen  *metrics         // of Handler
	ships *replicate.API   // of Handler, for replicas; nil if it has none
	shown *ui.UI           // of Handler
	pages func() error     // closes the pages of Handler

	audit     *operate.AuditLog // of Handler
	tokens    *access.Tokens
	revoking  sync.Mutex // of one token at a time
	checking  sync.Mutex // of one check at a time
	places    *access.Places
	space     space                             // measured for the page of operation
	proxies   atomic.Pointer[sparqlapi.Proxies] // that are trusted
	unpacking chan struct{}                     // bounds how many files are unpacked for requests at a time
}

// New makes the faces of an archive. Federated queries and LOAD fetch through the crawler's client.
func New(s *store.Store, c *crawl.Crawl) *Faces {
	client := c.Fetcher.Client()
	temp := filepath.Join(s.Config.Data, "tmp")
	if s.ReadOnlyReason != "" {
		temp = "" // the system's
	}
	q := s.Config.Serve.Queries
	places := access.NewPlaces(access.GateSettings{Queries: q.Slots, PerClient: q.ClientSlots, Queue: q.Queue, Wait: q.Wait,
		Answers: int64(q.TotalTemp) / 2})
	files := &opener{archive: s.Archive, mint: s.Mint, spool: c.Spool, slots: make(chan struct{}, membersAtOnce)}
	tokens := access.NewTokens(append(access.Single(s.Config.Serve.Token), s.Config.Serve.Tokens...))
	return &Faces{store: s, crawl: c, tokens: tokens, places: places, unpacking: files.slots, Engine: sparql.New(sparql.Options{
		Timeout: q.Timeout, MaxTimeout: q.MaxTimeout, Memory: int64(q.Memory), MaxMemory: int64(q.TotalMemory),
		MaxTemp: maxTemp(q.TotalTemp), TempDir: temp, Resolve: files.resolve,
		MaxQuery: int64(q.MaxQuery), MaxUpdate: int64(q.MaxUpdate), Prefixes: vocab.QueryPrefixes(), DefaultGraph: defaultGraphs(s.Mint),
		Log: s.Log, Slow: slowQuery,
		Service: &sparql.Federation{Client: c.Fetcher.Patient(), Named: &http.Client{}, Allow: s.Config.Serve.Service},
		Fetch:   documents(client), Find: find(s.Archive),
	})}
}

// defaultGraphs returns the names by which the queries of the original archive mean its only graph.
func defaultGraphs(m ns.Mint) (names []string) {
	for _, base := range m.Bases() {
		names = append(names, base+"graph")
	}
	return names
}

// find searches for arc:search as the pages do.
func find(a *archive.Archive) sparql.Find {
	return func(ctx context.Context, text string, limit int) (found []sparql.Hit, total int, err error) {
		hits, total, err := a.Hits(ctx, catalog.Search{Text: text}, limit)
		if errors.Is(err, catalog.ErrQuestion) {
			err = fmt.Errorf("%w: %w", sparql.ErrArguments, err)
		}
		for _, h := range hits {
			found = append(found, sparql.Hit{IRI: describe.IRI(h.URL).Value(), Score: h.Score})
		}
		return found, total, err
	}
}

// maxTemp returns a size as an Engine's option, whose zero is a default.
func maxTemp(size config.Bytes) int64 {
	if size == 0 {
		return -1
	}
	return int64(size)
}

// ReloadFaces makes a running server follow changed settings: the proxies that it trusts, and the tokens. After an
// error, nothing has changed.
func (a *Faces) ReloadFaces(settings config.Serve) error {
	networks, local, err := settings.TrustedProxies()
	if err != nil {
		return err
	}
	a.proxies.Store(&sparqlapi.Proxies{Networks: networks, Unix: local})
	a.tokens.Replace(append(access.Single(settings.Token), settings.Tokens...))
	return nil
}

// Close frees what Handler holds. It may be called twice.
func (a *Faces) Close() (err error) {
	if a.pages != nil {
		err = a.pages()
		a.pages = nil
	}
	if a.ships != nil {
		err = errors.Join(err, a.ships.Close())
		a.ships = nil
	}
	if a.audit != nil {
		err = errors.Join(err, a.audit.Close())
		a.audit = nil
	}
	return err
}

// auditDir is the folder of the audit log.
func (a *Faces) auditDir() string { return AuditDir(a.store.Config.Data) }

// AuditDir is the folder of the audit log of a data directory.
func AuditDir(data string) string { return filepath.Join(data, "audit") }

// openAudit opens the audit log, unless nothing can be written.
func (a *Faces) openAudit() (err error) {
	if a.audit == nil && a.store.ReadOnlyReason == "" {
		a.audit, err = operate.OpenAudit(a.auditDir(), operate.AuditOptions{Now: a.store.Clock})
	}
	return err
}

// CheckDeep does what Check does, and also reads what is only in a bucket.
func (a *Faces) CheckDeep(ctx context.Context, repair bool, since time.Time, progress check.Progress) (check.Report, error) {
	return a.examine(ctx, check.Checker{Store: a.store, Frontier: a.crawl.Frontier, Deep: true}, repair, since, progress)
}

// Check checks the archive (package check).
func (a *Faces) Check(ctx context.Context, repair bool, since time.Time, progress check.Progress) (check.Report, error) {
	return a.examine(ctx, check.Checker{Store: a.store, Frontier: a.crawl.Frontier}, repair, since, progress)
}

// errChecking is the error of a check while another one runs.
var errChecking = errors.New("a check is running already")

func (a *Faces) examine(ctx context.Context, c check.Checker, repair bool, since time.Time, progress check.Progress) (check.Report, error) {
	if !a.checking.TryLock() {
		return check.Report{}, errChecking
	}
	defer a.checking.Unlock()
	return c.Check(ctx, repair, since, progress)
}
