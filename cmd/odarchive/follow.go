package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/store"
	"odarchive/crawler"
	"odarchive/crawler/follow/campaign"
	"odarchive/crawler/follow/scrape"
	"odarchive/sparqlapi/operate/access"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
)

func (c *cli) follow() *cobra.Command {
	var d campaign.Document
	var rules string
	cmd := &cobra.Command{
		Use:   "follow NAME --seed URL...",
		Short: "Crawl linked data: follow links from seeds",
		Long: `Crawl linked data: ask for RDF first, follow the links of documents within a scope, and keep every document like any
other file. With --graphs the statements of each document are also a named graph, {base}graph/{URL of the document that
answered}, which follows its versions. SPARQL endpoints within scope are then read whole, and the RDF files of CKAN portals
are added. robots.txt applies to all of it.

With --rules, pages without data become statements, too: a file says, by the address of a page, which elements are things,
which CSS selectors and regular expressions find their values, and which links lead on.

The campaign ends when nothing within its scope is left. It is kept under its name: the same command goes on with one that
was interrupted, and begins a new round of one that is finished. URLs whose hosts cannot be asked for long are left to the
next round, or to a server. If a server holds the archive, or with --endpoint, that server crawls; Ctrl-C ends only the
waiting. 'odarchive campaign' lists, shows, pauses and stops campaigns; a server runs them too.`,
		Example: `  odarchive follow people --seed https://example.org/foaf.rdf --depth 3
  odarchive follow city --seed https://data.example.org/ --scope domain --graphs
  odarchive follow both --seed https://a.example/void --scope prefix:https://a.example/data/ --scope 'pattern:^https://b\.example/'
  odarchive follow trees --seed https://city.example/ --accept any --keyword trees --keyword parks
  odarchive follow shop --seed https://shop.example/ --rules shop.toml --graphs
  odarchive query 'SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g'`,
		Args: exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			d.Name = args[0]
			if rules != "" {
				if err := c.readRules(rules, &d); err != nil {
					return err
				}
			}
			if len(d.Seeds) == 0 {
				return usagef("follow needs at least one --seed URL")
			}
			return c.runCampaign(cmd.Context(), d)
		},
	}
	mainFlags(cmd, "seed", "scope", "depth", "max", "max-per-host", "keyword", "entity", "graphs", "rules", "every", "warc", "json",
		"endpoint")
	f := cmd.Flags()
	f.StringArrayVar(&d.Seeds, "seed", nil, "URL to begin with (repeatable)")
	f.StringArrayVar(&d.Scope, "scope", nil,
		"what may be requested: host (default), domain, prefix:URL or pattern:REGEXP (repeatable, one of them suffices)")
	number(f, &d.Depth, "depth", 1, unbounded, "links from a seed, at most (default 10)")
	number(f, &d.Max, "max", 1, unbounded, "URLs, at most (default 100000)")
	number(f, &d.Host, "max-per-host", 1, unbounded, "URLs of one host, at most (default --max)")
	f.StringVar(&d.Accept, "accept", "rdf", "what to ask servers for: rdf, any, or the value of an Accept field")
	f.BoolVar(&d.Graphs, "graphs", false, "keep the statements of documents in named graphs")
	f.BoolVar(&d.Vocabularies, "vocabularies", false, "follow the IRIs of properties and classes too")
	f.StringArrayVar(&d.Keywords, "keyword", nil, "word or phrase to look for: links that promise it are visited first (repeatable)")
	f.StringArrayVar(&d.Entities, "entity", nil, "name of a place or an organisation to look for (repeatable)")
	f.StringVar(&d.Every, "every", "", "how often the documents change, as 168h: a hint for the schedule of a server")
	f.StringVar(&rules, "rules", "", "file with rules that turn pages into statements, in TOML or the YAML of Squirrel's scraper")
	f.BoolVar(&c.json, "json", false, "machine-readable summary")
	c.cfg.FetchFlags(f)
	c.cfg.WARCFlag(f)
	return c.beside(cmd, besideOptions{right: access.Crawl, inputs: func([]string) []string {
		return slices.DeleteFunc([]string{rules}, func(name string) bool { return name == "" })
	}})
}

// maxRulesFile bounds the file of --rules, in bytes.
const maxRulesFile = 1 << 20

// readRules reads the rules of a campaign from a file, and says what of Squirrel's rules is left out.
func (c *cli) readRules(file string, d *campaign.Document) error {
	in, err := c.openInput(file)
	if err != nil {
		return err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxRulesFile+1))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	_, _, notes, err := scrape.Parse(text)
	for _, note := range notes {
		fmt.Fprintf(c.stderr, "odarchive: %s: %s\n", file, printable(note))
	}
	if err != nil {
		return usagef("%s: %v", file, err)
	}
	d.Rules = string(text)
	return nil
}

// runCampaign runs a campaign to its end.
func (c *cli) runCampaign(ctx context.Context, d campaign.Document) error {
	if c.call != nil {
		return c.awaitCampaign(ctx, c.call.node, d)
	}
	return c.with(ctx, store.Options{Create: true}, func(n *app.Node) error {
		if err := n.Replan(ctx); err != nil {
			return err
		}
		if err := n.Rescope(ctx); err != nil {
			return err
		}
		if _, err := n.Campaigns.Run(ctx, d); err != nil {
			if errors.Is(err, campaign.ErrBad) {
				return usageError{err}
			}
			return err
		}
		bar := c.progress(-1, "fetches")
		var sofar crawler.Summary
		opts := crawler.RunOptions{Once: true, Wait: time.Minute, Report: func(r crawler.Report) {
			sofar.Add(r)
			if bar.watched() {
				now, _ := n.Campaigns.Get(ctx, d.Name)
				bar.set(int64(sofar.Fetches), fmt.Sprintf("%d of %d URLs left", now.Counts.Pending, now.Counts.URLs))
			}
		}}
		now, _, err := n.Follow(ctx, d.Name, opts)
		bar.done()
		n.Tidy(ctx)
		if err != nil {
			return err
		}
		return c.printEnded(ctx, n, now)
	})
}

// campaignEvery is how often a server looks how far the campaign of a client is.
const campaignEvery = 300 * time.Millisecond

// awaitCampaign begins a campaign for a client, and waits until this server's crawl has ended it. If the client leaves,
// the campaign goes on.
func (c *cli) awaitCampaign(ctx context.Context, n *app.Node, d campaign.Document) error {
	if c.cfg.Serve.NoCrawl {
		return errors.New("the server that holds the archive does not crawl (--no-crawl)")
	}
	now, err := n.Campaigns.Run(ctx, d)
	if errors.Is(err, campaign.ErrBad) {
		return usageError{err}
	}
	bar := c.progress(-1, "fetches")
	tick := time.NewTicker(campaignEvery)
	defer tick.Stop()
	for err == nil && now.State == campaign.Running {
		select {
		case <-tick.C:
		case <-ctx.Done():
			fmt.Fprintf(c.stderr, "odarchive: the server goes on with %s; 'odarchive campaign pause %s' holds it\n", printable(d.Name),
				printable(d.Name))
			return ctx.Err()
		}
		if now, err = n.Campaigns.Get(ctx, d.Name); err == nil {
			bar.set(int64(now.Counts.Visited), fmt.Sprintf("%d of %d URLs left", now.Counts.Pending, now.Counts.URLs))
		}
	}
	if err != nil {
		return err
	}
	return c.printEnded(ctx, n, now)
}

// printEnded prints a campaign that has ended.
func (c *cli) printEnded(ctx context.Context, n *app.Node, now campaign.Campaign) error {
	shown, err := n.Campaigns.Show(ctx, now.Document.Name)
	if err != nil {
		return err
	}
	now.Progress = shown.Progress
	for _, t := range shown.Tasks {
		if t.IsHarvest() && t.Bad {
			return errors.Join(c.print(now, "%s", summaryOf(now)), errors.New(t.Result))
		}
	}
	if now.Why != "" {
		fmt.Fprintf(c.stderr, "odarchive: %s\n", printable(now.Why))
	}
	if err := missing(n.Tape, "fetch", "fetches", "the archive has everything"); err != nil {
		return err
	}
	return c.summary(now, "%s", summaryOf(now))
}

// summaryOf returns a campaign as one line for people.
func summaryOf(c campaign.Campaign) string {
	k := c.Counts
	if c.Document.Harvests() {
		text := fmt.Sprintf("%s, round %d", c.State, c.Round)
		if p := c.Progress; p != nil {
			text += fmt.Sprintf(": %s of %s requests, %s", humanize.Comma(int64(p.Requests)), humanize.Comma(int64(p.Budget)),
				english.Plural(p.Files, "file", ""))
		}
		return text
	}
	text := fmt.Sprintf("%s, round %d: %s, %s visited, %s failed", c.State, c.Round, english.Plural(k.URLs, "URL", ""),
		humanize.Comma(int64(k.Visited)), humanize.Comma(int64(k.Failed)))
	if c.Document.Graphs {
		text += fmt.Sprintf(", %s with statements, %s changed", english.Plural(k.Documents, "document", ""),
			english.Plural(k.Changed, "statement", ""))
	}
	if k.Pending > 0 {
		text += ", " + humanize.Comma(int64(k.Pending)) + " left"
	}
	if k.OutOfScope > 0 {
		text += fmt.Sprintf("; %s out of scope", english.Plural(k.OutOfScope, "link", ""))
	}
	if k.TooDeep > 0 {
		text += fmt.Sprintf("; %s too deep", english.Plural(k.TooDeep, "link", ""))
	}
	if k.OverBudget > 0 {
		text += fmt.Sprintf("; %s beyond the budget", english.Plural(k.OverBudget, "link", ""))
	}
	return text
}
