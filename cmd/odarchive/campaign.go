package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/catalog"
	"odarchive/crawler/follow/campaign"
	"odarchive/sparqlapi/operate"
	"odarchive/sparqlapi/operate/access"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"
)

func (c *cli) campaign() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "campaign",
		Short: "List, run, pause and stop campaigns",
		Long: `A campaign is one document of what to do, and a state that outlives the program: it follows links ('odarchive follow' runs
one, too), discovers the data files of a site, or harvests a web interface that the document describes. Here campaigns are
listed, run from a file, paused, resumed and stopped.

A paused campaign puts its URLs off until it is resumed. A stopped one gives up what it has not visited. Its files and
graphs stay, and are visited like others. URLs that add or harvest listed, too, are visited in any case.`,
		Example: `  odarchive campaign list
  odarchive campaign run city.toml
  odarchive campaign show city --json
  odarchive campaign pause city`,
		Args: noCommand,
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
			return c.reading(cmd.Context(), func(n *app.Node) error {
				all, err := n.Campaigns.List(cmd.Context())
				if err != nil {
					return err
				}
				return c.printCampaigns(all)
			})
		},
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	c.readOnlyFlag(cmd)
	return c.beside(cmd, besideOptions{})
}

func (c *cli) printCampaigns(all []campaign.Campaign) error {
	if c.json {
		if all == nil {
			all = []campaign.Campaign{}
		}
		return c.print(all, "")
	}
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "name\tstate\tround\tkind\tURLs\tleft\tfailed\tdocuments\trequests\tbegan")
	for _, one := range all {
		var urls, left, failed, documents catalog.Figure // what a campaign of another kind counts is not known
		requests := "-"
		if k := one.Counts; !one.Document.Harvests() {
			urls, left, failed = catalog.Counted(k.URLs), catalog.Counted(k.Pending), catalog.Counted(k.Failed)
			if one.Document.Graphs {
				documents = catalog.Counted(k.Documents)
			}
		}
		if p := one.Progress; p != nil {
			urls, left, requests = catalog.Counted(p.Files), catalog.Counted(p.Queued), fmt.Sprintf("%d of %d", p.Requests, p.Budget)
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", one.Document.Name, one.State, one.Round,
			cmp.Or(one.Document.Kind, campaign.KindFollow),
			urls.Or("-"), left.Or("-"), failed.Or("-"), documents.Or("-"), requests, one.Began.Format("2006-01-02 15:04"))
	}
	return w.Flush()
}

func (c *cli) campaignShow() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show NAME", Short: "Show a campaign: its document, its figures, its endpoints and portals", Args: exactly("NAME"),
		Example: "  odarchive campaign show city",
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.reading(cmd.Context(), func(n *app.Node) error {
				one, err := n.Campaigns.Show(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				return c.printCampaign(one)
			})
		},
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	c.readOnlyFlag(cmd)
	return c.beside(cmd, besideOptions{})
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
	if p := one.Progress; p != nil {
		for _, f := range p.Finds {
			fmt.Fprintf(w, "found\t%s\t%s\n", f.URL, printable(f.Why))
		}
	}
	for _, t := range one.Tasks {
		fmt.Fprintf(w, "%s\t%s\t%s\n", t.Kind, t.Address, printable(t.Result))
	}
	return w.Flush()
}

func (c *cli) campaignRun() *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use: "run FILE.toml", Short: "Run the campaign of a file", Args: exactly("FILE.toml"),
		Long: `Run the campaign of a file to its end. If a server holds the archive, or with --endpoint, that server runs it; Ctrl-C ends
only the waiting. The file is TOML. A campaign that follows links, as 'odarchive follow' does:

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

Only name and seeds are required. A campaign that finds the data files of a site:

  name = "city"
  kind = "discover"
  keywords = ["budget", "trees"]
  discover = { url = "https://city.example/", budget = 2000 }   # requests

A campaign over a web interface that no harvester knows:

  name = "trees"
  kind = "api"
  keywords = ["tree", "park"]       # or keywords-file = "words.txt"
  every = "24h"                     # a server begins a round as often
  [api]
  base = "https://data.example/api"
  rate = "600/h"
  auth = { kind = "bearer", env = "API_TREES" }   # the variable with the secret
  [[api.request]]
  path = "/search"
  query = { q = "{keyword}" }
  items = "hits"
  paging = { kind = "page", parameter = "page", first = 1, more = "more" }
  [api.dataset]
  id = "id"
  title = "title"
  [[api.dataset.distribution]]
  each = "files"
  url = "href"

A server sends its API_ variables only for a token with the right admin, since the document says where they go.
With --dry-run, the first requests of such a campaign are sent, and what one item becomes is printed; nothing is kept. All
settings, and Socrata, udata and Kaggle as documents, are in crawler/harvest/webapi of the source.`,
		Example: `  odarchive campaign run city.toml
  odarchive campaign run trees.toml --dry-run
  odarchive campaign run trees.toml --json --endpoint http://localhost:8080/ --token "$SECRET"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			d, err := c.readCampaign(args[0])
			if err != nil {
				return err
			}
			if c.call != nil { // of somebody else
				if err := operate.MayRun(ctx, d); err != nil {
					return err
				}
			}
			if dry {
				return c.previewCampaign(ctx, d)
			}
			return c.runCampaign(ctx, d)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&dry, "dry-run", false, "only show the first requests, and what one item becomes")
	f.BoolVar(&c.json, "json", false, "machine-readable summary")
	c.cfg.FetchFlags(f)
	c.cfg.AnswersFlag(f)
	return c.beside(cmd, besideOptions{right: access.Crawl, inputs: campaignFiles})
}

// campaignFiles returns the files that readCampaign opens. Faults of the first are for the server to tell.
func campaignFiles(args []string) []string {
	files := args[:1:1]
	in, err := os.Open(args[0])
	if err != nil {
		return files
	}
	defer in.Close()
	text, err := readBounded(in)
	if err != nil {
		return files
	}
	_, _ = campaign.Parse(text, func(name string) ([]byte, error) {
		files = append(files, besideCampaign(args[0], name))
		return nil, nil
	})
	return files
}

// besideCampaign returns the name of a file that a campaign's file names.
func besideCampaign(file, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(file), name)
}

// readCampaign reads the document of a campaign, and the file of keywords beside it if it names one.
func (c *cli) readCampaign(file string) (campaign.Document, error) {
	read := func(name string) ([]byte, error) {
		in, err := c.openInput(name)
		if err != nil {
			return nil, err
		}
		defer in.Close()
		text, err := readBounded(in)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return text, nil
	}
	text, err := read(file)
	if err != nil {
		return campaign.Document{}, err
	}
	d, err := campaign.Parse(text, func(name string) ([]byte, error) { return read(besideCampaign(file, name)) })
	if err != nil {
		return d, usagef("%s: %s", file, sentence(err))
	}
	return d, nil
}

// readBounded reads at most campaign.MaxFile bytes.
func readBounded(in io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, campaign.MaxFile+1))
	if err == nil && len(text) > campaign.MaxFile {
		err = fmt.Errorf("more than %d bytes", campaign.MaxFile)
	}
	return text, err
}

// previewCampaign prints the first requests of a campaign and what one item becomes.
func (c *cli) previewCampaign(ctx context.Context, d campaign.Document) error {
	if d.Kind != campaign.KindAPI {
		return usagef("--dry-run is for campaigns of the kind api; %s is of the kind %s", d.Name, cmp.Or(d.Kind, campaign.KindFollow))
	}
	return c.with(ctx, store.Options{Create: true}, func(n *app.Node) error {
		p, failed := n.Preview(ctx, d)
		if c.json {
			return errors.Join(failed, c.print(p, ""))
		}
		for _, address := range p.Requests {
			fmt.Fprintf(c.stdout, "# GET %s\n", printable(address))
		}
		for _, note := range p.Notes {
			fmt.Fprintf(c.stdout, "# %s\n", printable(note))
		}
		for _, file := range p.Files {
			fmt.Fprintf(c.stdout, "# file: %s\n", printable(file))
		}
		_, err := fmt.Fprint(c.stdout, p.Statements)
		return errors.Join(failed, err)
	})
}

// campaignOrder returns the command of one order about a campaign.
func (c *cli) campaignOrder(name, short string,
	do func(*campaign.Store, context.Context, string) (campaign.Campaign, error)) *cobra.Command {
	cmd := &cobra.Command{
		Use: name + " NAME", Short: short, Args: exactly("NAME"),
		Example: "  odarchive campaign " + name + " city",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
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
	return c.beside(cmd, besideOptions{right: access.Crawl})
}
