// Package crawl builds what fetches: spool, fetcher, politeness gate, frontier, ledger, intake and pipeline, over an
// opened store. It also runs harvests, the schedule of the queue, and the quality measures that follow from both.
//
// It serves nothing; package faces does.
package crawl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/store"
	"odarchive/crawler"
	"odarchive/crawler/copies/dispatch"
	"odarchive/crawler/exchange/tape"
	"odarchive/crawler/exchange/warc"
	"odarchive/crawler/follow/campaign"
	"odarchive/crawler/follow/graphs"
	"odarchive/crawler/follow/software"
	"odarchive/crawler/harvest/ledger"
	"odarchive/crawler/harvest/schemaorg"
	"odarchive/crawler/harvest/timetable"
	"odarchive/crawler/jobs"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/queue/hints"
	"odarchive/crawler/queue/schedule"
	"odarchive/crawler/queue/scope"
	"odarchive/crawler/queue/supervise"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/hosts"
	"odarchive/crawler/web/politeness"
	"odarchive/crawler/web/spool"
	"odarchive/triplestore/kv"
)

// minRoom is the free disk space below which the crawl pauses. It is more than content.Put needs, which is more than
// the database needs, so that visits in progress can finish.
const minRoom = 768 << 20

// minMaxWait is the least that frontier.Options.MaxWait may be, since pauses after failures last up to a day, however
// short the maximum interval is.
const minMaxWait = 48 * time.Hour

// Crawl is what fetches for one store. Close it before the store.
type Crawl struct {
	*jobs.Importer

	Spool     *spool.Spool
	Frontier  *frontier.Frontier
	Gate      *politeness.Gate
	Fetcher   *fetch.Fetcher
	Hosts     *hosts.Book // what the operator sets for single hosts
	Ledger    *ledger.Ledger
	Intake    *crawler.Intake
	Pipeline  *crawler.Pipeline
	Graphs    *graphs.Store // statements of documents
	Campaigns *campaign.Store
	Scope     *scope.Scope
	Hints     *hints.Hints
	Software  func() (*software.Helper, error) // rules for the software of sites, read when they are first needed
	Timetable *timetable.Timetable             // of harvests
	Jobs      *supervise.Jobs                  // of the background
	Tape      *tape.Tape                       // of --warc; nil without it

	Answers *tape.Tape // of --keep-answers; nil without it

	answersMu  sync.Mutex // guards ownAnswers and, once campaigns run, warcs
	ownAnswers *tape.Tape // of campaigns that keep answers, without --keep-answers; nil before the first of them

	warcs []*warc.Dir // of the tapes

	store    *store.Store
	spoolDir string // a temporary one, to be removed

	retention        atomic.Pointer[config.Retention]
	retentionChanged chan struct{} // of size one: ReloadRetention was called

	hours      atomic.Pointer[politeness.Hours] // in which to fetch
	harvesting turns
	purging    chan struct{} // a lock, held by who removes withdrawn bytes

	softwareRules string // an operator's; "" for none

	rests   time.Time        // until then workers of an earlier process may ask hosts; zero if there were none
	Workers *dispatch.Writer // serves workers; nil if there are to be none
	said    welcomes
}

// New builds a Crawl by the settings of the store. It fetches nothing yet.
func New(s *store.Store) (*Crawl, error) {
	c := &Crawl{store: s, purging: make(chan struct{}, 1), retentionChanged: make(chan struct{}, 1),
		Jobs: supervise.New(supervise.Options{Log: s.Log, Final: func(err error) bool {
			return errors.Is(err, kv.ErrWritesStopped) || errors.Is(err, kv.ErrReadOnly)
		}})}
	c.retention.Store(&s.Config.Retention)
	if err := c.build(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Close ends connections and removes temporary files. It may be called twice.
func (c *Crawl) Close() error {
	if c.Fetcher != nil {
		c.Fetcher.Close()
		c.Fetcher = nil
	}
	closing := errors.Join(c.Scope.Save(context.Background()), c.forgetOutstanding())
	for _, dir := range c.warcs {
		closing = errors.Join(closing, dir.Close())
	}
	c.warcs = nil
	if c.spoolDir == "" {
		return closing
	}
	dir := c.spoolDir
	c.spoolDir = ""
	return errors.Join(closing, os.RemoveAll(dir))
}

func (c *Crawl) build() error {
	s, settings := c.store, c.store.Config.Fetch
	var err error
	if c.Spool, err = c.openSpool(); err != nil {
		return err
	}
	if err := c.openTapes(); err != nil {
		return err
	}
	if c.Hosts, err = c.newBook(); err != nil {
		return err
	}
	var resolver fetch.Resolver
	if c.Fetcher, resolver, err = c.newFetcher(); err != nil {
		return err
	}
	hours, err := politeness.ParseHours(settings.Hours, time.Local)
	if err != nil {
		return err
	}
	c.hours.Store(&hours)
	if c.Scope, err = scope.Open(s.DB, scope.Options{Allow: settings.ScopeAllow, Deny: settings.Denied(), Now: s.Clock}); err != nil {
		return err
	}
	room := spool.NewRoom(s.Config.Data, minRoom)
	if err := c.loadOutstanding(); err != nil {
		return err
	}
	hold := func() string {
		return cmp.Or(room.Short(), c.hours.Load().Closed(time.Now()), c.outstanding(), c.Pipeline.Outage())
	}
	delay, leased := settings.HostDelay, 1 // a host that rests after each request gives its worker to another host
	if delay == 0 {
		delay, leased = -1, 0 // no delay; the gate's zero value means its default
	}
	if c.Frontier, err = frontier.New(s.DB,
		frontier.Options{Now: s.Clock, Hold: hold, LeaseJobs: leased, Log: s.Log, MaxWait: max(settings.MaxInterval, minMaxWait),
			Refuses:    crawler.RefusedBy(c.Scope),
			Jobs:       c.leaseJobs,
			Recall:     func(key string) (frontier.Recalled, bool, error) { return c.Intake.Recall(key) },
			Everything: func(ctx context.Context, visit func(string) error) error { return c.Intake.Everything(ctx, visit) },
		}); err != nil {
		return err
	}
	token, _, _ := strings.Cut(settings.UserAgent, "/")
	c.Gate = politeness.New(politeness.Options{DB: s.DB, Fetch: c.fetchRobots, Token: token, Delay: delay, Log: s.Log,
		Settings: c.Hosts.Of, Files: c.files,
		PerAddress: settings.PerAddress, PerDomain: settings.PerDomain, Resolver: resolver})
	if !c.rests.IsZero() {
		c.Gate.Rest(c.rests)
	}
	if c.Ledger, err = ledger.New(s.Mint, s.DB, s.Triples, s.Archive); err != nil {
		return err
	}
	if c.Graphs, err = graphs.New(s.Mint, s.DB, c.Ledger.Has); err != nil {
		return err
	}
	if err := c.readSoftwareRules(); err != nil {
		return err
	}
	c.Campaigns = &campaign.Store{Archive: s.Archive, Frontier: c.Frontier, Graphs: c.Graphs, Clock: s.Clock, Context: schemaorg.Context,
		Software: c.Software,
		Refuses: func(url string) bool {
			return c.Scope.Refuses(scope.Question{Area: scope.Campaign, URL: url, Size: -1}) != ""
		}}
	c.Hints = &hints.Hints{DB: s.DB, Frontier: c.Frontier, Clock: s.Clock, Min: settings.MinInterval, Doer: c.sitemapDoer}
	c.Intake = &crawler.Intake{Archive: s.Archive, Frontier: c.Frontier, Ledger: c.Ledger, Graphs: c.Graphs, Hints: c.Hints,
		Forgive: c.Gate.Forgive, Clock: s.Clock}
	if err := c.openTimetable(); err != nil {
		return err
	}
	rule, err := c.newRule()
	if err != nil {
		return err
	}
	c.Pipeline = &crawler.Pipeline{
		Archive: s.Archive, Frontier: c.Frontier, Gate: c.Gate, Fetcher: c.Fetcher, Clock: s.Clock, Log: s.Log,
		Settings: c.Hosts.Of,
		Schedule: rule, Workers: settings.Workers, Processors: make(chan struct{}, runtime.GOMAXPROCS(0)), Examine: s.Examine,
		Refused: room.Refused, Jobs: c.Jobs, Tape: c.Tape, Campaigns: c.Campaigns,
		Hints: c.Hints, Scope: c.Scope, MaxBody: int64(settings.MaxBody), Honour: settings.Honour,
	}
	c.Importer = &jobs.Importer{Pipeline: c.Pipeline, Spool: c.Spool}
	return c.openWorkers()
}

// openSpool opens the spool in the data directory, or in a temporary directory if the archive is open for reading only.
func (c *Crawl) openSpool() (*spool.Spool, error) {
	if !c.store.DB.ReadOnly() {
		return spool.New(filepath.Join(c.store.Config.Data, "spool"), spool.Options{})
	}
	dir, err := os.MkdirTemp("", "odarchive-spool-")
	if err != nil {
		return nil, fmt.Errorf("temporary directory of the spool: %w", err)
	}
	c.spoolDir = dir
	return spool.New(dir, spool.Options{})
}

// fetchRobots is the pipeline's Fetch, for the gate, which is built before the pipeline.
func (c *Crawl) fetchRobots(ctx context.Context, r fetch.Request) (*fetch.Exchange, error) {
	return c.Pipeline.Fetch(ctx, r)
}

// maxSoftwareRules bounds the file of --software-rules, in bytes.
const maxSoftwareRules = 1 << 20

// readSoftwareRules reads the operator's rules for software, if there are any. Only these are checked at once.
func (c *Crawl) readSoftwareRules() error {
	var o software.Options
	name := c.store.Config.Fetch.SoftwareRules
	if name != "" {
		in, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("--software-rules: %w", err)
		}
		defer in.Close()
		text, err := io.ReadAll(io.LimitReader(in, maxSoftwareRules))
		if err != nil {
			return fmt.Errorf("--software-rules: %w", err)
		}
		o.Rules = string(text)
	}
	c.softwareRules = o.Rules
	c.Software = sync.OnceValues(func() (*software.Helper, error) { return software.New(o) })
	if name != "" {
		if _, err := c.Software(); err != nil {
			return fmt.Errorf("--software-rules: %s: %w", name, err)
		}
	}
	return nil
}

// newRule returns the schedule that the settings name.
func (c *Crawl) newRule() (schedule.Rule, error) { return c.Rule(c.store.Config.Fetch) }

// Rule returns the schedule that other settings would name.
func (c *Crawl) Rule(settings config.Fetch) (schedule.Rule, error) {
	limits := schedule.Limits{Min: settings.MinInterval, Max: settings.MaxInterval}
	if settings.Schedule == "paper" {
		return schedule.PaperRule(limits), nil
	}
	price, err := c.storedPrice()
	if err != nil {
		return nil, fmt.Errorf("price of a fetch: %w", err)
	}
	return schedule.NewAdaptiveRule(schedule.AdaptiveOptions{Limits: limits, Round: settings.Round, Price: price}), nil
}

// NewAreDue makes URLs due that were never visited and are scheduled for the future of the archive's clock: if the
// clock was set back, a crawl begins with them.
func (c *Crawl) NewAreDue(ctx context.Context) error {
	now := c.store.Clock()
	var waiting []string
	err := c.Frontier.EachByDue(ctx, now, time.Time{}, func(u *frontier.URL) error {
		if u.Fetches == 0 && u.Due.After(now) && !u.Blacklisted {
			waiting = append(waiting, u.URL)
		}
		return nil
	})
	for part := range slices.Chunk(waiting, crawler.SeedsPerTxn) {
		err = errors.Join(err, c.Frontier.MakeDue(ctx, part...))
	}
	return err
}
