// Package app builds a whole node from its settings, by hand, from the bottom to the top, and stops it in the opposite
// order.
//
// A Node is one data directory opened by one process: database, triples, file bytes, archive, frontier, fetcher,
// pipeline, query engine. Commands use its parts; Handler puts the HTTP side together.
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/crawler"
	"odarchive/crawler/archive"
	"odarchive/crawler/archive/content"
	"odarchive/crawler/frontier"
	"odarchive/crawler/harvest/ledger"
	"odarchive/crawler/schedule"
	"odarchive/crawler/supervise"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/politeness"
	"odarchive/crawler/web/spool"
	"odarchive/ns"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/sparql"
)

// Options of Open.
type Options struct {
	Create bool             // make the archive where there is none
	Clock  func() time.Time // the archive's time; nil for the system's
	Reads  Reading          // whether, and when, the archive is opened without writing
}

// Node is an opened archive. Close it.
type Node struct {
	Config   config.Config
	Log      *slog.Logger
	Mint     ns.Mint
	Clock    func() time.Time
	DB       *kv.DB
	Triples  *triplestore.Store
	Content  *content.Store
	Spool    *spool.Spool
	Archive  *archive.Archive
	Frontier *frontier.Frontier
	Gate     *politeness.Gate
	Fetcher  *fetch.Fetcher
	Ledger   *ledger.Ledger
	Intake   *crawler.Intake
	Pipeline *crawler.Pipeline
	Engine   *sparql.Engine
	Beside   string          // why the archive is open for reading only, as a sentence; "" if it can be written
	Jobs     *supervise.Jobs // what runs in the background

	described described
	close     []func() error // in the order they were opened
}

// leastRoom is the free space of the disk below which the crawl stands still until there is room again: more than Put
// wants, which is more than the database wants, so that what is under way comes to its end.
const leastRoom = 768 << 20

// Open opens the archive in cfg.Data.
func Open(ctx context.Context, cfg config.Config, log *slog.Logger, opts Options) (*Node, error) {
	n := &Node{Config: cfg, Log: log, Clock: opts.Clock}
	n.Jobs = supervise.New(supervise.Options{Log: log, Final: func(err error) bool { return errors.Is(err, kv.ErrWritesStopped) || errors.Is(err, kv.ErrReadOnly) }})
	if n.Clock == nil {
		n.Clock = time.Now
	}
	var err error
	if n.Mint, err = ns.New(cfg.Base); err != nil {
		return nil, err
	}
	if err := n.openDirectory(opts); err != nil {
		return nil, err
	}
	if err := errors.Join(n.openStores(opts.Reads), ctx.Err()); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	if err := n.prepare(ctx, opts); err != nil {
		return nil, errors.Join(fmt.Errorf("archive %s: %w", cfg.Data, err), n.Close())
	}
	if err := n.openCrawler(); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

// Close stops the parts in the opposite order of opening. It may be called twice.
func (n *Node) Close() error {
	var err error
	for len(n.close) > 0 {
		last := len(n.close) - 1
		err = errors.Join(err, n.close[last]())
		n.close = n.close[:last]
	}
	return err
}

func (n *Node) onClose(f func() error) { n.close = append(n.close, f) }

func (n *Node) openStores(reads Reading) (err error) {
	data := n.Config.Data
	if err := n.openDatabase(reads); err != nil {
		return fmt.Errorf("archive %s: %w", data, err)
	}
	n.onClose(n.DB.Close)
	if n.Triples, err = triplestore.Open(n.DB, triplestore.Options{Log: n.Log, KeepChanges: int64(n.Config.KeepChanges)}); err != nil {
		return fmt.Errorf("archive %s: %w", data, err)
	}
	n.onClose(n.Triples.Close)
	if n.Content, err = content.Open(filepath.Join(data, "packs"), n.DB, content.Options{Logger: n.Log}); err != nil {
		return fmt.Errorf("archive %s: %w", data, err)
	}
	n.onClose(n.Content.Close)
	n.Archive = archive.New(n.Mint, n.DB, n.Triples, n.Content)
	return nil
}

// prepare brings the archive to the formats of this program. An archive that is open for reading only is left as it is.
func (n *Node) prepare(ctx context.Context, opts Options) error {
	if n.DB.ReadOnly() {
		return nil
	}
	if err := n.storeDirectory(ctx, opts); err != nil {
		return err
	}
	n.rememberLosses(ctx)
	n.onClose(func() error { n.rememberLosses(context.WithoutCancel(ctx)); return nil })
	if err := n.Archive.Upgrade(ctx); err != nil {
		return err
	}
	indexed, err := n.Archive.Prepare(ctx)
	if err == nil && indexed > 0 {
		n.Log.Info("search index made", "resources", indexed)
	}
	return err
}

func (n *Node) openCrawler() error {
	settings := n.Config.Fetch
	var err error
	if n.Spool, err = n.openSpool(); err != nil {
		return err
	}
	nets, err := settings.Networks()
	if err != nil {
		return err
	}
	options := fetch.Options{
		Spool: n.Spool, UserAgent: product(settings.UserAgent), UnverifiedHosts: settings.UnverifiedHosts, Contact: settings.Contact, MaxBody: int64(settings.MaxBody),
		AllowPrivateHosts: settings.AllowPrivateHosts, AllowNets: nets, Bandwidth: float64(settings.Bandwidth),
	}
	server, err := settings.NameServer()
	if err != nil {
		return err
	}
	if server != "" {
		options.Resolver = resolver(server)
	}
	n.Fetcher = fetch.New(options)
	n.onClose(func() error { n.Fetcher.Close(); return nil })
	n.Engine = sparql.New(sparql.Options{
		Log: n.Log, Slow: slowQuery, Service: &sparql.Federation{Client: n.Fetcher.Client(), Allow: n.Config.Serve.Service}, Fetch: documents(n.Fetcher.Client()),
	})
	hours, err := politeness.ParseHours(settings.Hours, time.Local)
	if err != nil {
		return err
	}
	room := spool.NewRoom(n.Config.Data, leastRoom)
	hold := func() string { return cmp.Or(room.Short(), hours.Closed(time.Now()), n.Pipeline.Outage()) }
	delay, jobs := settings.HostDelay, 1 // a host that rests after each request gives its worker to another one
	if delay == 0 {
		delay, jobs = -1, 0 // none, where the gate's zero value means its own default
	}
	if n.Frontier, err = frontier.New(n.DB, frontier.Options{Now: n.Clock, Hold: hold, LeaseJobs: jobs, Log: n.Log,
		Recall:     func(key string) (frontier.Recalled, bool, error) { return n.Intake.Recall(key) },
		Everything: func(ctx context.Context, visit func(string) error) error { return n.Intake.Everything(ctx, visit) },
	}); err != nil {
		return err
	}
	token, _, _ := strings.Cut(settings.UserAgent, "/")
	n.Gate = politeness.New(politeness.Options{DB: n.DB, Fetch: n.fetchRobots, Token: token, Delay: delay, Log: n.Log,
		PerAddress: settings.PerAddress, PerDomain: settings.PerDomain, Resolver: cmp.Or[fetch.Resolver](options.Resolver, net.DefaultResolver)})
	if n.Ledger, err = ledger.New(n.Mint, n.DB, n.Triples, n.Archive); err != nil {
		return err
	}
	n.Intake = &crawler.Intake{Archive: n.Archive, Frontier: n.Frontier, Ledger: n.Ledger, Forgive: n.Gate.Forgive, Clock: n.Clock}
	rule, err := n.rule()
	if err != nil {
		return err
	}
	n.Pipeline = &crawler.Pipeline{
		Archive: n.Archive, Frontier: n.Frontier, Gate: n.Gate, Fetcher: n.Fetcher, Clock: n.Clock, Log: n.Log,
		Schedule: rule, Workers: settings.Workers, Processors: make(chan struct{}, runtime.GOMAXPROCS(0)),
		Refused: room.Refused, Jobs: n.Jobs,
	}
	return nil
}

// fetchRobots is the pipeline's Fetch for the gate, which is made first.
func (n *Node) fetchRobots(ctx context.Context, r fetch.Request) (*fetch.Exchange, error) {
	return n.Pipeline.Fetch(ctx, r)
}

// product is the User-Agent's product token with a version.
func product(name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	return name + "/1.0"
}

// rule is the schedule by its name in the settings.
func (n *Node) rule() (schedule.Rule, error) {
	limits := schedule.Limits{Min: n.Config.Fetch.MinInterval, Max: n.Config.Fetch.MaxInterval}
	if n.Config.Fetch.Schedule == "paper" {
		return schedule.PaperRule(limits), nil
	}
	price, err := n.price()
	if err != nil {
		return nil, fmt.Errorf("price of a fetch: %w", err)
	}
	return schedule.NewAdaptiveRule(schedule.AdaptiveOptions{Limits: limits, Round: n.Config.Fetch.Round, Price: price}), nil
}

// nameServer asks one DNS server instead of the system's.
type nameServer struct {
	address string
	net.Resolver
}

func resolver(address string) *nameServer {
	return &nameServer{address, net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}}}
}

// LookupNetIP is net.Resolver's, with errors that name the server that was asked.
func (s *nameServer) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	found, err := s.Resolver.LookupNetIP(ctx, network, host)
	var failed *net.DNSError
	if errors.As(err, &failed) {
		failed.Server = s.address
	}
	return found, err
}

// tidyEvery is how often a running server gives the space of cut segments back.
const tidyEvery = time.Hour

// Background runs what goes on beside a server until ctx ends. Each part is a job of its own (package supervise): what
// ends one of them, and be it a panic, ends neither another nor the server.
func (n *Node) Background(ctx context.Context, crawl bool) {
	var group sync.WaitGroup
	job := func(name string, work func(context.Context) error) {
		group.Go(func() { _ = n.Jobs.Run(ctx, name, work) }) // the set tells its failure
	}
	job("search", n.Archive.Load) // so that the first search need not
	if crawl {
		job("crawling", func(ctx context.Context) error {
			if err := n.Replan(ctx); err != nil {
				return err
			}
			_, err := n.Crawl(ctx, crawler.RunOptions{})
			return err
		})
		job("tidying", n.keepTidy)
		job("quality", n.MeasureInBackground)
	} else if !n.DB.ReadOnly() {
		group.Go(func() { n.Pipeline.KeepJoined(ctx) }) // what an earlier crawl has left
	}
	if rate := n.scrubRate(); rate > 0 {
		for _, part := range n.scrubbedParts() {
			job("scrub of the "+part.name, func(ctx context.Context) error { return part.Scrub(ctx, rate) })
		}
	}
	group.Wait()
}

// keepTidy tidies up now and then until ctx ends.
func (n *Node) keepTidy(ctx context.Context) error {
	tick := time.NewTicker(tidyEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			n.Tidy(ctx)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Tidy gives the space back that segments took before later versions cut them. What it cannot do now it will do another
// time, so a failure is only logged.
func (n *Node) Tidy(ctx context.Context) {
	n.rememberLosses(ctx)
	done, err := n.Content.Compact(ctx)
	if err != nil && ctx.Err() == nil {
		n.Log.Warn("packs not compacted", "error", err)
	}
	if done.Packs > 0 {
		n.Log.Info("packs compacted", "packs", done.Packs, "freed", done.Freed)
	}
}

// NewAreDue makes URLs due that were never visited but registered at a later time than the archive's clock shows now:
// a crawl whose clock was set back begins with them.
func (n *Node) NewAreDue(ctx context.Context) error {
	now := n.Clock()
	var waiting []string
	err := n.Frontier.Each(frontier.Filter{}, "", 0, func(u *frontier.URL) error {
		if u.Fetches == 0 && u.Due.After(now) {
			waiting = append(waiting, u.Seed.URL)
		}
		return ctx.Err()
	})
	if err != nil || len(waiting) == 0 {
		return err
	}
	return n.Frontier.MakeDue(ctx, waiting...)
}
