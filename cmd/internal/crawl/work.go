package crawl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/store"
	"odarchive/crawler"
	"odarchive/crawler/archive/content"
	"odarchive/crawler/copies/dispatch"
	"odarchive/crawler/inspect/examine"
	"odarchive/crawler/queue/scope"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/hosts"
	"odarchive/crawler/web/politeness"
	"odarchive/crawler/web/spool"
	"odarchive/triplestore/bucket"
)

// Work makes visits for an archive that is elsewhere, until ctx ends.
func Work(ctx context.Context, cfg config.Config, log *slog.Logger) error {
	address, err := dispatch.ParseAddress(cfg.Workers.Join)
	if err != nil {
		return fmt.Errorf("--join: %w", err)
	}
	credentials, err := cfg.Workers.Credentials()
	if err != nil {
		return err
	}
	dir, release, err := workDir(os.TempDir())
	if err != nil {
		return err
	}
	defer func() {
		if err := release(); err != nil {
			log.Warn("temporary files were not removed", "error", err)
		}
	}()
	machine, err := os.Hostname()
	if err != nil {
		machine = "worker"
	}
	var parcels bucket.Bucket
	if cfg.Bytes != "" && cfg.Bytes != config.BytesHere {
		if parcels, err = bucket.Open(ctx, cfg.Bytes, bucket.Options{Logger: log}); err != nil {
			return fmt.Errorf("--bytes: %w", err)
		}
	}
	examiner, err := store.NewExaminer(cfg, log, 0, "")
	if err != nil {
		return err
	}
	defer examiner.Close()
	b := &workshop{cfg: cfg, log: log, dir: dir, examine: examiner}
	w := dispatch.NewWorker(dispatch.WorkerOptions{
		Address: address, Credentials: credentials, Name: fmt.Sprintf("%s/%d", machine, os.Getpid()), Hosts: cfg.Fetch.Workers,
		Bucket: parcels, Build: b.build, Log: log,
	})
	stop, err := serveWorker(cfg.Workers.Status, w, log)
	if err != nil {
		return err
	}
	defer stop()
	return w.Run(ctx)
}

// workshop builds what a worker visits with.
type workshop struct {
	cfg config.Config
	log *slog.Logger
	dir string

	examine *examine.Pool
}

// build returns a kit by the settings of the writer, and by this machine's.
func (b *workshop) build(w *dispatch.Worker, by dispatch.Welcome) (dispatch.Kit, error) {
	settings := b.cfg.Fetch
	base, err := hostDefaults(settings)
	if err != nil {
		return dispatch.Kit{}, err
	}
	secrets, err := hosts.ReadSecrets(settings.SecretsFile)
	if err != nil {
		return dispatch.Kit{}, err
	}
	flags, err := settings.Resolved()
	if err != nil {
		return dispatch.Kit{}, err
	}
	book, err := hosts.NewBook(hosts.Options{Base: base, File: settings.Hosts, Flags: flags, Secrets: secrets,
		ProxySecret: settings.ProxySecret, Log: b.log})
	if err != nil {
		return dispatch.Kit{}, err
	}
	of := func(host string) hosts.Settings {
		s := book.Of(host)
		if h, ok := w.Host(host); ok {
			s.Delay, s.MaxCrawlDelay, s.MaxBody = h.Delay, h.MaxCrawlDelay, h.MaxBody
		}
		s.Parallel, s.Group, s.Daily = 1, "", hosts.Daily{} // the writer decides who asks when
		return s
	}
	bodies, err := spool.New(b.dir, spool.Options{})
	if err != nil {
		return dispatch.Kit{}, err
	}
	settings.UserAgent, settings.Contact, settings.MaxBody = by.UserAgent, by.Contact, config.Bytes(by.MaxBody)
	rules, err := scope.Open(nil, scope.Options{Allow: by.ScopeAllow, Deny: by.ScopeDeny})
	if err != nil {
		return dispatch.Kit{}, fmt.Errorf("the scope of the archive: %w", err)
	}
	options, resolver, err := fetchOptions(settings, bodies)
	if err != nil {
		return dispatch.Kit{}, err
	}
	options.Settings, options.Permit, options.Resolver = of, w.Permit, resolver
	fetcher := fetch.New(options)
	p := &crawler.Pipeline{
		Fetcher: fetcher, Settings: of, Clock: time.Now, Log: b.log, Processors: make(chan struct{}, runtime.GOMAXPROCS(0)),
		Examine: b.examine, Scope: rules,
		MaxBody: by.MaxBody, Honour: by.Honour,
	}
	token, _, _ := strings.Cut(by.UserAgent, "/")
	p.Gate = politeness.New(politeness.Options{Fetch: p.Fetch, Token: token, Delay: cmp.Or(settings.HostDelay, -1), Settings: of,
		Log: b.log, Borrow: w.Borrow, Fetched: w.Fetched})
	room := spool.NewRoom(b.dir, minRoom)
	e := &crawler.Elsewhere{Pipeline: p, Spool: bodies, Wrapper: content.NewWrapper(0)}
	outage := func() (string, time.Time) {
		if why := cmp.Or(room.Short(), p.Outage()); why != "" {
			return why, time.Now().Add(time.Second)
		}
		return "", time.Time{}
	}
	return dispatch.Kit{Gate: p.Gate, Visit: e.Visit, Outage: outage, Close: func() error { fetcher.Close(); return nil }}, nil
}

const workPrefix = "odarchive-work-"

// workDir makes a directory for temporary files, and removes those of workers that were killed. release removes it.
func workDir(parent string) (dir string, release func() error, err error) {
	if entries, err := os.ReadDir(parent); err == nil {
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), workPrefix) && e.IsDir() {
				removeIfLeft(filepath.Join(parent, e.Name()))
			}
		}
	}
	if dir, err = os.MkdirTemp(parent, workPrefix); err != nil {
		return "", nil, fmt.Errorf("temporary directory: %w", err)
	}
	lock, err := lockFile(filepath.Join(dir, "lock"))
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("temporary directory: %w", err), os.RemoveAll(dir))
	}
	return dir, func() error { return errors.Join(os.RemoveAll(dir), lock.Close()) }, nil
}

// removeIfLeft removes a directory whose process has ended.
func removeIfLeft(dir string) {
	name := filepath.Join(dir, "lock")
	if _, err := os.Stat(name); err != nil {
		if info, err := os.Stat(dir); err != nil || time.Since(info.ModTime()) < time.Minute { // it may be being made
			return
		}
	} else if lock, err := lockFile(name); err != nil {
		return // its process is there, or it is another user's
	} else {
		defer lock.Close()
	}
	_ = os.RemoveAll(dir) // another start will try again
}
