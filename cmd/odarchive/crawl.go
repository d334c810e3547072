package main

import (
	"cmp"
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
	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
	"odarchive/crawler/exchange/tape"

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

The status is 1 if all that was tried failed or was refused. That robots.txt forbids a file, as it did before, is no failure.

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
			for _, link := range opts.URLs {
				if _, err := address.Parse(link); err != nil {
					return usagef("--url: %w; expected an address such as https://example.org/data.csv", err)
				}
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
	mainFlags(cmd, "once", "url", "for", "max-fetches", "wait", "at", "report", "warc", "backup-to", "json")
	f := cmd.Flags()
	f.BoolVar(&opts.Once, "once", false, "end when nothing is due")
	opts.Wait = time.Minute
	span(f, &opts.Wait, "wait", "with --once: wait for retries that are due within this time")
	f.StringArrayVar(&opts.URLs, "url", nil, "fetch only this URL, due or not (repeatable)")
	number(f, &opts.MaxFetches, "max-fetches", 0, unbounded, "end after this many fetches, 0 for no limit")
	span(f, &limit, "for", "end after this time, 0 for no limit")
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
	seen := newEnding()
	var writeErr error
	opts.Report = func(r crawler.Report) {
		writeErr = errors.Join(writeErr, lines.Encode(reportLine(r)))
		seen.add(r)
	}
	endHooks, err := n.BeginHooks(whole)
	if err != nil {
		return err
	}
	unwatch := c.watchCrawl(n, &opts, seen)
	summary, err := n.Run(ctx, opts)
	unwatch()
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
	if err == nil {
		err = seen.err(summary.Waits)
	}
	return errors.Join(err, c.printCrawl(n, summary, seen))
}

// fetchLine is a line of --report. The order of its members is part of what scripts rely on.
type fetchLine struct {
	URL          string             `json:"url"`
	Outcome      catalog.Outcome    `json:"outcome"`
	ErrorClass   catalog.ErrorClass `json:"error_class"`
	Status       catalog.Figure     `json:"status"` // null if nothing answered
	SHA256       string             `json:"sha256"`
	Size         catalog.Figure     `json:"size"` // null if nothing answered
	DetectedType string             `json:"detected_type"`
	Versions     int                `json:"versions"`
	Milliseconds int64              `json:"ms"`
	Why          string             `json:"why"`
}

// reportLine returns the line of a fetch.
func reportLine(r crawler.Report) fetchLine {
	line := fetchLine{URL: r.URL, Outcome: r.Outcome, ErrorClass: r.ErrorClass, SHA256: r.SHA256, DetectedType: r.DetectedType,
		Versions: r.Versions, Milliseconds: r.Milliseconds, Why: r.Why}
	if r.Status != 0 {
		line.Status = catalog.Counted(r.Status)
	}
	if r.Status != 0 || r.SHA256 != "" {
		line.Size = catalog.Counted(r.Size)
	}
	return line
}

// printCrawl prints what came of a crawl: what was kept, what failed and why, and what waits.
func (c *cli) printCrawl(n *app.Node, sum crawler.Summary, seen *ending) error {
	causes := seen.causes()
	text := []string{
		fmt.Sprintf("%s in %s: %s", english.Plural(sum.Fetches, "fetch", ""), sum.Took.Round(time.Millisecond),
			cmp.Or(seen.words(), notFetched(n, sum.Waits)))}
	if !c.json && !c.quiet {
		text = append(text, failures(causes)...)
		if sum.Waits.Due > 0 && sum.Fetches > 0 {
			text = append(text, sum.Waits.String())
		}
	}
	return c.summary(struct {
		crawler.Summary
		Failed []byCause `json:"failed"`
	}{sum, causes}, "%s", strings.Join(text, "\n"))
}

// missing returns an error if records of something, one or many, could not be written to WARC files. but says what is
// not lost.
func missing(t *tape.Tape, one, many, but string) error {
	if missed := t.Missed(); missed > 0 {
		return fmt.Errorf("%s missing in the WARC files; %s", english.Plural(int(missed), one+" is", many+" are"), but)
	}
	return nil
}

// notFetched says why nothing was fetched, and what to do.
func notFetched(n *app.Node, w crawler.Waits) string {
	switch {
	case w.Due > 0:
		return "nothing was fetched; " + w.String()
	case !w.NextDue.IsZero():
		return w.String() + "; --url URL fetches a file now"
	}
	if f, err := n.Frontier.Stats(); err == nil && f.URLs == 0 {
		return "no file is registered; 'odarchive add URL' and 'odarchive harvest KIND URL' register files"
	}
	return w.String()
}
