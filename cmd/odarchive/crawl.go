package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/store"
	"odarchive/crawler"
	"odarchive/crawler/catalog"
	"odarchive/crawler/warc/tape"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
)

func (c *cli) crawl() *cobra.Command {
	var at, report string
	var opts crawler.RunOptions
	var limit time.Duration
	cmd := &cobra.Command{
		Use:   "crawl",
		Short: "Fetch what is due",
		Long: `Fetch what is due, keep what changed, and describe it. Without --once the crawl then waits for what is due next.
Ctrl-C stops it at once: finished fetches are kept, the others are repeated later.

A file is due by its schedule; when it may be asked for is up to its host. With --once the crawl ends when nothing that is due
may be asked for within 2 minutes; it says what waits, why and until when. With --url a file that cannot be fetched is an error. After a failure that may be temporary, such as a time-out or an error of
the server, a file is fetched again after about 40 seconds; --once waits for that (see --wait), but not for the next retry
after 5 minutes. With --at no retry is waited for unless --wait is given.

If this machine has a problem (no file descriptors, memory or local ports, or no network), the crawl waits and records
nothing about hosts. With --once it fails after 2 minutes of that.`,
		Example: `  odarchive crawl --once                             until nothing is due
  odarchive crawl --for 10m --report fetches.jsonl   for ten minutes, with a line for each fetch
  odarchive crawl --url https://example.org/a.csv    this file now, due or not, though its host has failed
  odarchive crawl --once --at 2026-12-24T18:00:00Z   as if it were that time
  odarchive crawl --once --warc warcs                also write requests and responses to WARC files in warcs`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			now, err := clock(at)
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			if at != "" && !cmd.Flags().Changed("wait") {
				opts.Wait = 0
			}
			if limit > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, limit)
				defer cancel()
			}
			return c.with(cmd.Context(), store.Options{Create: true, Clock: now}, func(n *app.Node) error {
				if at != "" {
					if err := n.NewAreDue(ctx); err != nil {
						return err
					}
				}
				if err := n.Replan(ctx); err != nil {
					return err
				}
				if err := n.Rescope(ctx); err != nil {
					return err
				}
				return c.runCrawl(ctx, cmd.Context(), n, opts, report)
			})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&opts.Once, "once", false, "end when nothing is due")
	f.DurationVar(&opts.Wait, "wait", time.Minute, "with --once: wait for retries that are due within this time")
	f.StringArrayVar(&opts.URLs, "url", nil, "fetch only this URL, due or not (repeatable)")
	f.IntVar(&opts.MaxFetches, "max-fetches", 0, "end after this many fetches, 0 for no limit")
	f.DurationVar(&limit, "for", 0, "end after this time, 0 for no limit")
	f.StringVar(&at, "at", "", "set the archive's clock, as 2026-11-21T06:00:00Z")
	f.StringVar(&report, "report", "", "write a JSON line for each fetch to this file")
	f.BoolVar(&c.json, "json", false, "machine-readable summary")
	c.cfg.FetchFlags(f)
	c.cfg.WARCFlag(f)
	c.cfg.BackupFlags(f)
	c.cfg.HookFlags(f)
	return cmd
}

func (c *cli) runCrawl(ctx, whole context.Context, n *app.Node, opts crawler.RunOptions, reportName string) error {
	lines := json.NewEncoder(io.Discard)
	if reportName != "" {
		file, err := os.Create(reportName)
		if err != nil {
			return err
		}
		defer file.Close()
		lines = json.NewEncoder(file)
	}
	bar := c.progress(-1, "fetches")
	var writeErr error
	var sofar crawler.Summary
	opts.Report = func(r crawler.Report) {
		writeErr = errors.Join(writeErr, lines.Encode(r))
		sofar.Add(r)
		if !bar.watched() {
			return
		}
		hosts, waits := n.Pipeline.Active()
		bar.set(int64(sofar.Fetches), fmt.Sprintf("%d versions, %d failed, %s, %d hosts active, %d waiting", sofar.Outcomes[catalog.Archived],
			sofar.Outcomes[catalog.NoVersion], humanize.IBytes(uint64(sofar.Bytes)), hosts, waits))
	}
	opts.Indexing = func(left int) {
		bar.set(int64(sofar.Fetches), fmt.Sprintf("looking for columns to join: %d versions left", left))
	}
	endHooks, err := n.BeginHooks(whole)
	if err != nil {
		return err
	}
	summary, err := n.Run(ctx, opts)
	bar.done()
	endHooks()
	n.Tidy(whole)
	if errors.Is(err, context.DeadlineExceeded) && whole.Err() == nil {
		err = nil // the end of --for
	}
	if err == nil {
		err = writeErr
	}
	if err == nil {
		err = missing(n.Tape, "fetch", "fetches", "the archive has everything")
	}
	if printErr := c.print(summary, "%s in %s: %s", english.Plural(summary.Fetches, "fetch", ""), summary.Took.Round(time.Millisecond), outcomes(n, summary)); err == nil {
		err = printErr
	}
	return err
}

// missing returns an error if records of something, one or many, could not be written to WARC files. but says what is not
// lost.
func missing(t *tape.Tape, one, many, but string) error {
	if missed := t.Missed(); missed > 0 {
		return fmt.Errorf("%s missing in the WARC files; %s", english.Plural(int(missed), one+" is", many+" are"), but)
	}
	return nil
}

// outcomes returns the number of fetches by outcome, and what is due and waits. If there were no fetches, it says what to do.
func outcomes(n *app.Node, s crawler.Summary) string {
	var parts []string
	for _, o := range []catalog.Outcome{catalog.Archived, catalog.Unchanged, catalog.NoVersion, catalog.RobotsDenied, catalog.Blocked, catalog.RetryLater} {
		if n := s.Outcomes[o]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, o))
		}
	}
	if len(parts) == 0 {
		parts = []string{"nothing was fetched"}
	}
	w := s.Waits
	switch said := strings.Join(parts, ", "); {
	case s.Fetches > 0 && w.Due == 0:
		return said
	case w.Due == 0 && w.NextDue.IsZero():
		if f, err := n.Frontier.Stats(); err == nil && f.URLs == 0 {
			return "no file is registered; 'odarchive add URL' and 'odarchive harvest KIND URL' register files"
		}
		return w.String()
	case w.Due == 0:
		return w.String() + "; --url URL fetches a file now"
	default:
		return said + "; " + w.String()
	}
}
