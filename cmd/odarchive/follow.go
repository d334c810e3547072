package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/store"
	"odarchive/crawler"
	"odarchive/crawler/campaign"
	"odarchive/crawler/scrape"

	"github.com/BurntSushi/toml"
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
next round, or to a server. 'odarchive campaign' lists, shows, pauses and stops campaigns; a server runs them too.`,
		Example: `  odarchive follow people --seed https://example.org/foaf.rdf --depth 3
  odarchive follow city --seed https://data.example.org/ --scope domain --graphs
  odarchive follow both --seed https://a.example/void --scope prefix:https://a.example/data/ --scope 'pattern:^https://b\.example/'
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
	f := cmd.Flags()
	f.StringArrayVar(&d.Seeds, "seed", nil, "URL to begin with (repeatable)")
	f.StringArrayVar(&d.Scope, "scope", nil, "what may be requested: host (default), domain, prefix:URL or pattern:REGEXP (repeatable, one of them suffices)")
	f.IntVar(&d.Depth, "depth", 0, "links from a seed, at most (default 10)")
	f.IntVar(&d.Max, "max", 0, "URLs, at most (default 100000)")
	f.IntVar(&d.Host, "max-per-host", 0, "URLs of one host, at most (default --max)")
	f.StringVar(&d.Accept, "accept", "rdf", "what to ask servers for: rdf, any, or the value of an Accept field")
	f.BoolVar(&d.Graphs, "graphs", false, "keep the statements of documents in named graphs")
	f.BoolVar(&d.Vocabularies, "vocabularies", false, "follow the IRIs of properties and classes too")
	f.StringVar(&d.Every, "every", "", "how often the documents change, as 168h: a hint for the schedule of a server")
	f.StringVar(&rules, "rules", "", "file with rules that turn pages into statements, in TOML or the YAML of Squirrel's scraper")
	f.BoolVar(&c.json, "json", false, "machine-readable summary")
	c.cfg.FetchFlags(f)
	c.cfg.WARCFlag(f)
	return cmd
}

// maxRulesFile bounds the file of --rules, in bytes.
const maxRulesFile = 1 << 20

// readRules reads the rules of a campaign from a file, and says what of Squirrel's rules is left out.
func (c *cli) readRules(file string, d *campaign.Document) error {
	in, err := os.Open(file)
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

// runCampaign runs a campaign to its end: here, or by the server that holds the directory.
func (c *cli) runCampaign(ctx context.Context, d campaign.Document) error {
	return c.with(ctx, store.Options{Create: true}, func(n *app.Node) error {
		if err := n.Replan(ctx); err != nil {
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
			if bar.shown != nil {
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
		if now.Why != "" {
			fmt.Fprintf(c.stderr, "odarchive: %s\n", now.Why)
		}
		if err := missing(n.Tape, "fetch", "fetches", "the archive has everything"); err != nil {
			return err
		}
		return c.print(now, "%s", summaryOf(now))
	})
}

// summaryOf returns a campaign as one line for people.
func summaryOf(c campaign.Campaign) string {
	k := c.Counts
	text := fmt.Sprintf("%s, round %d: %s, %s visited, %s failed", c.State, c.Round, english.Plural(k.URLs, "URL", ""), humanize.Comma(int64(k.Visited)), humanize.Comma(int64(k.Failed)))
	if c.Document.Graphs {
		text += fmt.Sprintf(", %s with statements, %s changed", english.Plural(k.Documents, "document", ""), english.Plural(k.Changed, "statement", ""))
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

func (c *cli) campaign() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "campaign",
		Short: "List, run, pause and stop campaigns",
		Long: `A campaign is one document of seeds, scope, depth and budget, and a state that outlives the program. 'odarchive follow'
runs one from the command line; here they are listed, run from a file, paused, resumed and stopped.

A paused campaign puts its URLs off until it is resumed. A stopped one gives up what it has not visited. Its files and
graphs stay, and are visited like others. URLs that add or harvest listed, too, are visited in any case.`,
		Example: `  odarchive campaign list
  odarchive campaign run city.toml
  odarchive campaign show city --json
  odarchive campaign pause city`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("there is no command %q", "campaign "+args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.campaignList(), c.campaignShow(), c.campaignRun(),
		c.campaignOrder("pause", "Pause a campaign", (*campaign.Store).Pause),
		c.campaignOrder("resume", "Resume a paused campaign", (*campaign.Store).Resume),
		c.campaignOrder("stop", "Stop a campaign and give up what it has not visited", (*campaign.Store).Stop))
	return cmd
}

func (c *cli) campaignList() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List campaigns", Args: exactly(),
		Example: "  odarchive campaign list --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			if r := c.remote(ctx); r != nil {
				all, err := r.Campaigns(ctx)
				if err != nil {
					return err
				}
				return c.printCampaigns(all)
			}
			return c.reading(ctx, func(n *app.Node) error {
				all, err := n.Campaigns.List(ctx)
				if err != nil {
					return err
				}
				return c.printCampaigns(all)
			})
		},
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	c.remoteFlags(cmd)
	c.readOnlyFlag(cmd)
	return cmd
}

func (c *cli) printCampaigns(all []campaign.Campaign) error {
	if c.json {
		if all == nil {
			all = []campaign.Campaign{}
		}
		return c.print(all, "")
	}
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "name\tstate\tround\tURLs\tleft\tfailed\tdocuments\tbegan")
	for _, one := range all {
		k := one.Counts
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%s\n", one.Document.Name, one.State, one.Round, k.URLs, k.Pending, k.Failed, k.Documents, one.Began.Format("2006-01-02 15:04"))
	}
	return w.Flush()
}

func (c *cli) campaignShow() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show NAME", Short: "Show a campaign: its document, its figures, its endpoints and portals", Args: exactly("NAME"),
		Example: "  odarchive campaign show city",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if r := c.remote(ctx); r != nil {
				one, err := r.Campaign(ctx, args[0])
				if err != nil {
					return err
				}
				return c.printCampaign(one)
			}
			return c.reading(ctx, func(n *app.Node) error {
				one, err := n.Campaigns.Show(ctx, args[0])
				if err != nil {
					return err
				}
				return c.printCampaign(one)
			})
		},
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	c.remoteFlags(cmd)
	c.readOnlyFlag(cmd)
	return cmd
}

func (c *cli) printCampaign(one campaign.Shown) error {
	if c.json {
		return c.print(one, "")
	}
	fmt.Fprintln(c.stdout, summaryOf(one.Campaign))
	if one.Why != "" {
		fmt.Fprintln(c.stdout, one.Why)
	}
	if err := toml.NewEncoder(c.stdout).Encode(one.Document); err != nil {
		return err
	}
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	for _, t := range one.Tasks {
		fmt.Fprintf(w, "%s\t%s\t%s\n", t.Kind, t.Address, printable(t.Result))
	}
	return w.Flush()
}

func (c *cli) campaignRun() *cobra.Command {
	cmd := &cobra.Command{
		Use: "run FILE.toml", Short: "Run the campaign of a file", Args: exactly("FILE.toml"),
		Long: `Run the campaign of a file until nothing within its scope is left, as 'odarchive follow' does. If a server holds the
directory, or with --endpoint, the server is told to run it, and the command does not wait. The file is TOML:

  name = "city"
  seeds = ["https://data.example.org/"]
  scope = ["domain", "pattern:^https://files\\.example/"]
  depth = 10
  max = 100000
  max-per-host = 20000
  accept = "rdf"
  graphs = true
  vocabularies = false
  follow = ["data-dump", "download", "see-also"]   # kinds of links; all by default
  every = "168h"
  rules = '''...'''     # as in the file of 'odarchive follow --rules'

Only name and seeds are required.`,
		Example: "  odarchive campaign run city.toml",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			var d campaign.Document
			meta, err := toml.DecodeFile(args[0], &d)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if unknown := meta.Undecoded(); len(unknown) > 0 {
				return usagef("%s: there is no setting %q", args[0], unknown[0].String())
			}
			if r := c.remote(ctx); r != nil {
				one, err := r.RunCampaign(ctx, d)
				if err != nil {
					return err
				}
				return c.print(one, "%s", summaryOf(one))
			}
			return c.runCampaign(ctx, d)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&c.json, "json", false, "machine-readable summary")
	f.StringVar(&c.server, "endpoint", "", "address of a running odarchive to ask; by default the server that holds --data, if there is one")
	f.StringVar(&c.cfg.Serve.Token, "token", c.cfg.Serve.Token, "the server's token")
	c.cfg.FetchFlags(f)
	return cmd
}

// campaignOrder returns the command of one order about a campaign.
func (c *cli) campaignOrder(name, short string, do func(*campaign.Store, context.Context, string) (campaign.Campaign, error)) *cobra.Command {
	cmd := &cobra.Command{
		Use: name + " NAME", Short: short, Args: exactly("NAME"),
		Example: "  odarchive campaign " + name + " city",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if r := c.remote(ctx); r != nil {
				one, err := r.OrderCampaign(ctx, args[0], name)
				if err != nil {
					return err
				}
				return c.print(one, "%s: %s", one.Document.Name, strings.TrimSpace(summaryOf(one)))
			}
			return c.with(ctx, store.Options{}, func(n *app.Node) error {
				one, err := do(n.Campaigns, ctx, args[0])
				if err != nil {
					return err
				}
				return c.print(one, "%s: %s", one.Document.Name, summaryOf(one))
			})
		},
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	c.remoteFlags(cmd)
	return cmd
}
