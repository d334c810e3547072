package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/crawl"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Settings that a running server follows when they change. The others need a restart.
var (
	reloadable = []string{
		"log-level", "trust-proxy", "token", "token-file",
		"host-delay", "max-crawl-delay", "host-daily", "retries", "proxy", "proxy-secret", "proxy-resolves", "secrets-file",
		"hours", "bandwidth", "workers", "scope-allow", "scope-deny", "never-keep", "retention-at",
		"dump-every", "dump-kind", "dump-keep",
	}
	secretSettings = []string{"token", "hook", "proxy"} // whose values are not logged
)

// reloader makes a server follow its changed settings.
type reloader struct {
	*cli
	node   *app.Node
	edge   *edge
	flags  map[string]string // values in effect, by name
	tables map[string]string // [[host]], [[token]], [[harvest]] and [[retention]] tables in effect, as text
}

// newReloader returns a reloader of a server whose settings flags hold.
func (c *cli) newReloader(n *app.Node, e *edge, values map[string]string) *reloader {
	return &reloader{cli: c, node: n, edge: e, flags: values, tables: tablesOf(c.cfg)}
}

// valuesOf returns the values of all flags.
func valuesOf(flags *pflag.FlagSet) map[string]string {
	values := map[string]string{}
	flags.VisitAll(func(f *pflag.Flag) { values[f.Name] = f.Value.String() })
	return values
}

// run reloads at each hangup, until ctx ends.
func (r *reloader) run(ctx context.Context, hangups <-chan os.Signal) {
	for {
		select {
		case <-hangups:
		case <-ctx.Done():
			return
		}
		r.edge.notify.Reloading()
		r.reload(ctx)
		r.edge.notify.Ready("ready at " + r.node.Mint.Base)
	}
}

// reload reads everything again that may change while the server runs, and logs what has changed.
func (r *reloader) reload(ctx context.Context) {
	if err := r.logFile.reopen(); err != nil {
		r.log.Error("the log is written to the file that was opened before", "err", err)
	}
	if cert := r.edge.cert; cert != nil {
		if changed, err := cert.Reload(); changed || err != nil {
			r.sayCertificate(cert, err)
		}
	}
	fresh, values, err := r.reread(ctx)
	if ctx.Err() != nil {
		return // the server ends
	}
	some := false
	if err == nil {
		some, err = apply(ctx, r.node, fresh.cfg)
	}
	switch {
	case err == nil:
		r.level.Set(fresh.level.Level())
		r.report(values, tablesOf(fresh.cfg))
	case some: // what has changed is reported when all of it has
		r.log.Error("some of the settings are in force, others stay as they were; another hangup tries again", "err", err)
	default:
		r.log.Error("the settings stay as they were", "err", err)
	}
}

// follower is what a server follows settings with; app.Node implements it.
type follower interface {
	ReloadCrawl(ctx context.Context, settings config.Fetch) error
	ReloadFaces(settings config.Serve) error
	ReloadRetention(settings config.Retention)
	ReloadDumps(settings config.Dumps)
}

// apply makes a server follow settings. some says, after an error, that some of them are in force all the same; the
// error tells which are not. A scope that cannot be stored, for one, is no reason to let a token in that was taken
// away.
func apply(ctx context.Context, n follower, cfg config.Config) (some bool, err error) {
	err = n.ReloadCrawl(ctx, cfg.Fetch)
	if err != nil && !errors.Is(err, crawl.ErrPartly) {
		return false, err
	}
	n.ReloadRetention(cfg.Retention)
	n.ReloadDumps(cfg.Dumps)
	if failed := n.ReloadFaces(cfg.Serve); failed != nil {
		return true, errors.Join(err, fmt.Errorf("the settings of the crawl are in force, not the tokens and trusted proxies: %w", failed))
	}
	return true, err
}

// reread reads the settings as the start of the program did: from the same command line, the environment and the file.
// It waits for a pipe in the place of a file, but not longer than until ctx ends.
func (r *reloader) reread(ctx context.Context) (fresh *cli, values map[string]string, err error) {
	read := make(chan struct{})
	var cmd *cobra.Command
	var failed error
	again := newCLI(r.args, nil, io.Discard, io.Discard)
	go func() {
		defer close(read)
		var rest []string
		cmd, rest, failed = again.root().Find(r.args)
		if failed == nil {
			failed = cmd.ParseFlags(rest)
		}
		if failed == nil {
			failed = again.readSettings(cmd)
		}
	}()
	select {
	case <-read:
	case <-ctx.Done(): // the goroutine changes nothing that anybody uses
		return nil, nil, ctx.Err()
	}
	if failed != nil {
		return nil, nil, failed
	}
	return again, valuesOf(cmd.Flags()), nil
}

// report logs what has changed, a line a setting, and remembers the new values.
func (r *reloader) report(values, tables map[string]string) {
	changed := 0
	for _, name := range slices.Sorted(maps.Keys(values)) {
		before, after := r.flags[name], values[name]
		if before == after {
			continue
		}
		changed++
		if !slices.Contains(reloadable, name) {
			values[name] = before // so that each reload says so
		}
		if slices.Contains(secretSettings, name) {
			before, after = "(not shown)", "(not shown)"
		}
		if slices.Contains(reloadable, name) {
			r.log.Warn("setting changed", "setting", name, "before", before, "now", after)
		} else {
			r.log.Warn("setting changes at the next start", "setting", name, "now", before, "then", after)
		}
	}
	all := maps.Clone(r.tables)
	maps.Copy(all, tables)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if r.tables[name] != tables[name] {
			changed++
			r.log.Warn("setting changed", "setting", name, "before", r.tables[name], "now", tables[name])
		}
	}
	r.flags, r.tables = values, tables
	r.log.Warn("the settings were read again", "changed", changed)
}

// tablesOf returns the [[host]], [[token]], [[harvest]] and [[retention]] tables as text. They name secrets and do not
// hold them.
func tablesOf(cfg config.Config) map[string]string {
	texts := map[string]string{}
	for _, rule := range cfg.Fetch.Hosts {
		text, err := json.Marshal(rule)
		if err != nil {
			text = fmt.Appendf(nil, "%v", err)
		}
		texts[fmt.Sprintf("host %q", rule.Match)] = string(text)
	}
	for i, t := range cfg.Serve.Tokens {
		texts[fmt.Sprintf("token %d, %s", i+1, t.Name)] = fmt.Sprintf("rights %s, expires %v, %g requests a second, hash %x…", t.Rights,
			t.Expires, t.Rate, t.Digest[:4])
	}
	for _, p := range cfg.Fetch.Harvests {
		text, err := json.Marshal(p)
		if err != nil {
			text = fmt.Appendf(nil, "%v", err)
		}
		texts[fmt.Sprintf("harvest %s %s", p.ID(), p.URL)] = string(text)
	}
	for i, r := range cfg.Retention.Rules {
		text, err := json.Marshal(r)
		if err != nil {
			text = fmt.Appendf(nil, "%v", err)
		}
		texts[fmt.Sprintf("retention %d, %s", i+1, r.Name)] = string(text)
	}
	return texts
}
