package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/crawl"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/follow/discover"
	"odarchive/crawler/harvest"
	"odarchive/sparqlapi/operate/access"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
)

func (c *cli) discover() *cobra.Command {
	var d crawl.Discovery
	var fresh bool
	cmd := &cobra.Command{
		Use:   "discover URL",
		Short: "Find the data files of a web site that no portal lists, with few requests",
		Long: `Find the data files of a web site, with as few requests as possible, and register them as datasets of that site: with
titles, publisher, licence and dates where the pages say so. The files become due for the crawl.

What the site declares comes first: catalogs (CKAN, DCAT and other portals), sitemaps, feeds, and schema.org in pages. Then
its pages are followed, the most promising first: links are judged by words for data in 24 languages, and by what similar links led
to. A file that is recognised by its address is not requested. robots.txt is asked for first and obeyed in everything; one
request is made at a time. Every request counts for the budget: robots.txt, sitemaps and redirects too.

The discovery ends when 100 more requests are expected to bring less than one file. The same command continues one that was
interrupted, and begins another round of one that is finished: that asks for the pages that led to files, unless they are
unchanged, follows what is new, and marks files that are no longer linked as withdrawn.

Each file is printed when it is kept; with --explain, also the pages that led to it, with what each link had promised: files
per request, expected then.

If a server holds the archive, or with --endpoint, that server asks the site, with its own settings of what fetches.

Exit status: 0 done, 1 the site could not be read (what was found is kept), 2 wrong usage.`,
		Example: `  odarchive discover https://city.example --budget 2000
  odarchive discover https://city.example --keyword haushalt --keyword radverkehr
  odarchive discover https://city.example --dry-run --explain
  odarchive discover https://city.example --json >> found.jsonl
  odarchive query 'PREFIX arc: <https://archiver.ai.wu.ac.at/ns/csvw#>
    SELECT ?dataset ?page ?score { GRAPH ?site { ?dataset arc:foundBy [ arc:foundOn ?page ; arc:foundScore ?score ] } }'`,
		Args: exactly("URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			d.Options.URL = args[0]
			if _, err := d.Options.Normalise(); err != nil {
				return usageError{err}
			}
			return c.with(cmd.Context(), store.Options{Create: true}, func(n *app.Node) error {
				bar := c.progress(int64(d.Options.Budget), "requests")
				var printErr error
				d.Tracker = &discover.Tracker{}
				d.Found = func(f discover.Find) {
					bar.done()
					printErr = errors.Join(printErr, c.printFind(f))
				}
				opts := harvest.Options{Fresh: fresh, Progress: func(harvest.Report) {
					p := d.Tracker.Progress()
					bar.set(int64(p.Requests), fmt.Sprintf("%d files on %d pages", p.Files, p.Pages))
				}}
				report, err := n.Discover(cmd.Context(), d, opts)
				bar.done()
				for _, why := range report.Skipped {
					fmt.Fprintln(c.stderr, "skipped:", printable(why))
				}
				if report.Source != "" {
					printErr = errors.Join(printErr, c.printDiscovery(report, d.Tracker.Progress(), d.Dry))
				}
				return errors.Join(err, printErr,
					missing(n.Answers, "answer", "answers", "the archive has what the discovery read of it, but not its bytes"))
			})
		},
	}
	f := cmd.Flags()
	d.Options.Budget = discover.DefaultBudget
	number(f, &d.Options.Budget, "budget", 1, discover.MaxBudget, "requests, at most, of every kind")
	f.StringArrayVar(&d.Options.Keywords, "keyword", nil, "a word that makes links more promising, besides those for data (repeatable)")
	f.BoolVar(&d.Options.Whole, "whole", false, "go on until the budget is spent, even if hardly a file is expected any more")
	f.BoolVar(&d.Explain, "explain", false, "print the pages that led to each file, and why")
	f.BoolVar(&d.Dry, "dry-run", false, "print what is found, and keep nothing")
	f.BoolVar(&fresh, "fresh", false, "start from the beginning instead of continuing or beginning another round")
	f.StringVar(&c.cfg.Fetch.KeepAnswers, "keep-pages", c.cfg.Fetch.KeepAnswers,
		"keep the pages, byte for byte, in WARC files in this directory")
	f.BoolVar(&c.json, "json", false, "a line of JSON for each file; the summary goes to standard error")
	c.cfg.FetchFlags(f)
	return c.beside(cmd, besideOptions{right: access.Crawl})
}

// printFind prints one file that was found.
func (c *cli) printFind(f discover.Find) error {
	if c.json {
		line, err := json.Marshal(f)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.stdout, "%s\n", line)
		return err
	}
	if _, err := fmt.Fprintf(c.stdout, "%s\t%s\n", printable(f.URL), printable(f.Title)); err != nil {
		return err
	}
	if len(f.Path) == 0 {
		return nil
	}
	for _, s := range f.Path {
		fmt.Fprintf(c.stdout, "  %6.2f  %s  %q  %s\n", s.Score, printable(s.URL), s.Text, printable(s.Why))
	}
	_, err := fmt.Fprintf(c.stdout, "  %6.2f  after %d requests: %s\n", f.Score, f.Requests, printable(f.Why))
	return err
}

// printDiscovery prints what came of a discovery: on standard error if the files went to standard output as JSON.
func (c *cli) printDiscovery(r harvest.Report, p discover.Progress, dry bool) error {
	out := c.stdout
	if c.json {
		out = c.stderr
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	became := fmt.Sprintf("%s new here; withdrawn: %s", humanize.Comma(int64(r.Added)), r.Withdrawn.Or("not looked for"))
	if dry {
		became = "not compared with the archive"
	}
	fmt.Fprintf(w, "files\t%s (%s)\n", humanize.Comma(int64(p.Files)), became)
	fmt.Fprintf(w, "requests\t%s of %s, %s\n", humanize.Comma(int64(p.Requests)), humanize.Comma(int64(p.Budget)),
		humanize.IBytes(uint64(r.Bytes)))
	fmt.Fprintf(w, "pages\t%s, %s links left\n", humanize.Comma(int64(p.Pages)), humanize.Comma(int64(p.Queued)))
	if len(p.Software) > 0 {
		fmt.Fprintf(w, "software\t%s\n", printable(strings.Join(p.Software, ", ")))
	}
	fmt.Fprintf(w, "ended\t%s\n", printable(p.State))
	return w.Flush()
}
