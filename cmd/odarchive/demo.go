package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/crawl"
	"odarchive/cmd/internal/faces"
	"odarchive/cmd/internal/listen"
	"odarchive/cmd/internal/sampleweb"
	"odarchive/cmd/internal/store"
	"odarchive/crawler"
	"odarchive/crawler/catalog"
	"odarchive/crawler/harvest"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
)

// Timing of the sample web, fast enough that a new user soon sees second versions.
const (
	demoStep        = 12 * time.Second // time until a file's next state
	demoMinInterval = 4 * time.Second
	demoMaxInterval = 15 * time.Second
	demoHostDelay   = 300 * time.Millisecond
)

func (c *cli) demo() *cobra.Command {
	var limit time.Duration
	var address string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show everything at work on a sample web",
		Long: `Start a small sample web on loopback addresses, harvest its catalog from a SPARQL endpoint like that of Portal Watch,
crawl the files it lists, and serve the archive. Files change while you watch. Ctrl-C ends the demo. The archive is in a
temporary directory unless --data is given.`,
		Example: `  odarchive demo
  odarchive demo --listen 127.0.0.1:8080 --data my-first-archive`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			if limit > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, limit)
				defer cancel()
			}
			if !cmd.Flags().Changed("data") {
				dir, err := os.MkdirTemp("", "odarchive-demo-")
				if err != nil {
					return err
				}
				defer os.RemoveAll(dir)
				c.cfg.Data = dir
			}
			if !cmd.Flags().Changed("log-level") {
				c.logTo(slog.LevelWarn)
			}
			return c.runDemo(ctx, address)
		},
	}
	f := cmd.Flags()
	f.StringVar(&address, "listen", "127.0.0.1:0", "address to serve on; port 0 is any free port")
	f.DurationVar(&limit, "for", 0, "end after this time, 0 for no limit")
	return cmd
}

func (c *cli) runDemo(ctx context.Context, address string) error {
	l, err := listen.TCP(address)
	if err != nil {
		return err
	}
	defer l.Close()
	e := &edge{listeners: []net.Listener{l}}
	c.cfg.Base = e.base()
	c.cfg.Serve.Token = "demo"
	s := &c.cfg.Fetch
	s.AllowPrivateHosts, s.MinInterval, s.MaxInterval, s.HostDelay = true, demoMinInterval, demoMaxInterval, demoHostDelay

	web, stop, err := c.sampleWeb(ctx)
	if err != nil {
		return err
	}
	defer stop()
	_, ignore := listenForHangups()
	defer ignore()
	return c.with(ctx, store.Options{Create: true}, func(n *app.Node) error {
		group, ctx := errgroup.WithContext(ctx)
		group.Go(func() error { return c.serveNode(ctx, n, e, func() {}, nil, false) })
		group.Go(func() error { return c.tour(ctx, n, web) })
		err := group.Wait()
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return nil // Ctrl-C and --for end a demo
		}
		return err
	})
}

// sampleWeb starts the sample hosts, and a SPARQL endpoint that lists their files.
func (c *cli) sampleWeb(ctx context.Context) (*sampleweb.Web, func(), error) {
	endpoint, err := faces.NewEndpoint(c.log)
	if err != nil {
		return nil, nil, err
	}
	web, err := sampleweb.Start(sampleweb.Options{Step: demoStep, Handlers: endpoint.Handlers()})
	if err != nil {
		return nil, nil, err
	}
	stop := func() {
		web.Close()
		if err := endpoint.Close(); err != nil {
			c.log.Error("sample endpoint not closed", "err", err)
		}
	}
	catalog, err := web.Catalog()
	if err == nil {
		err = endpoint.Load(ctx, catalog)
	}
	if err != nil {
		stop()
		return nil, nil, err
	}
	return web, stop, nil
}

func (c *cli) say(format string, args ...any) { fmt.Fprintf(c.stdout, format+"\n", args...) }

// tour prints what happens: the harvest, the crawl, the addresses to open, then every new version.
func (c *cli) tour(ctx context.Context, n *app.Node, web *sampleweb.Web) error {
	c.say("ODArchive demo: a sample web of three open-data hosts, on this machine only\n")
	for _, host := range web.Hosts() {
		c.say("  %-8s %s", host, web.Base(host))
	}
	endpoint := web.Base("portalwatch") + "sparql"
	c.say("  %-8s %s\n\n1. Harvest: which files do the portals list?", "catalog", endpoint)
	report, err := n.Harvest(ctx, crawl.HarvestSource{Kind: "portalwatch", Address: endpoint}, harvest.Options{})
	if err != nil {
		return err
	}
	c.say("   %d listings, %d new URLs\n\n2. Crawl: fetch the files politely and keep them", report.Seeds, report.Added)
	_, err = n.Pipeline.Run(ctx, crawler.RunOptions{Once: true, MaxFetches: report.Added, Report: c.showFetch})
	if err != nil {
		return err
	}
	if err := c.showArchive(ctx, n, web.Base("city")); err != nil {
		return err
	}
	_, err = n.Pipeline.Run(ctx, crawler.RunOptions{Report: func(r crawler.Report) {
		if r.Outcome == catalog.Archived {
			c.showFetch(r)
		}
	}})
	return err
}

func (c *cli) showFetch(r crawler.Report) {
	number := r.Versions - 1 // of the latest version: they are numbered from 0, as in their addresses
	what := fmt.Sprintf("version %d", number)
	switch {
	case r.Outcome == catalog.Archived:
		what = fmt.Sprintf("version %d, %s, %d bytes", number, r.DetectedType, r.Size)
	case r.Why != "":
		what = r.Why
	}
	c.say("   %-13s %s: %s", r.Outcome, r.URL, what)
}

// portalQuery is the query for one portal in the ODArchive paper.
const portalQuery = `PREFIX arc: <https://archiver.ai.wu.ac.at/ns/csvw#>
PREFIX dcat: <http://www.w3.org/ns/dcat#>
PREFIX dc: <http://purl.org/dc/elements/1.1>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
SELECT ?versionURL WHERE {
  ?datasetURL arc:hasPortal ?Portal ; dc:hasVersion ?versionURL ; dcat:mediaType ?mediaType .
  ?versionURL dc:issued ?dateVersion .
  FILTER (?Portal = <PORTAL> && ?mediaType = "text/csv" &&
          strdt(?dateVersion, xsd:dateTimeStamp) >= "2020-05-10T00:00Z"^^xsd:dateTimeStamp) }`

// demoQueries returns queries for a new user to try.
func demoQueries(portal string) []string {
	return []string{
		strings.Replace(portalQuery, "PORTAL", portal, 1),
		`PREFIX dct: <http://purl.org/dc/terms/>
PREFIX dcat: <http://www.w3.org/ns/dcat#>
SELECT ?file ?type (COUNT(?version) AS ?versions) WHERE {
  ?file dct:hasVersion ?version . ?version dcat:mediaType ?type }
GROUP BY ?file ?type ORDER BY DESC(?versions) ?file`,
		`PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX arc: <https://archiver.ai.wu.ac.at/ns/csvw#>
SELECT DISTINCT ?file ?outcome ?why WHERE {
  ?fetch prov:used ?file ; arc:outcome ?outcome ; arc:why ?why }`,
	}
}

func (c *cli) showArchive(ctx context.Context, n *app.Node, portal string) error {
	s, err := n.Archive.Stats(ctx)
	if err != nil {
		return err
	}
	c.say("\n3. Describe: %d versions of %d files, %d triples of DCAT, CSVW and PROV\n\n4. Query: the CSV versions of one portal, with the query of the ODArchive paper", s.Versions, s.Crawled, s.Triples)
	queries := demoQueries(portal)
	if err := n.QueryTable(ctx, queries[0], c.stdout); err != nil {
		return err
	}
	bundle, err := n.Bundle(ctx, queries[0])
	if err != nil {
		return err
	}
	c.say("\n5. Download: the same query is a zip of %s, %d bytes", english.Plural(len(bundle.Entries()), "file", ""), bundle.Size())
	c.say("\nOpen in a browser:\n  %s            the archive\n  %sconsole     run queries, and download the files they find as one zip\n  %scrawls      watch the crawl", n.Mint.Base, n.Mint.Base, n.Mint.Base)
	c.say("\nTry in the console, or with curl:\n")
	for _, q := range queries {
		c.say("%s\n", q)
	}
	c.say("  curl -G %ssparql -H 'Accept: text/csv' --data-urlencode 'query=SELECT * { ?s ?p ?o } LIMIT 5'", n.Mint.Base)
	c.say("\n6. Watch: files change, and every new version is kept (Ctrl-C ends the demo)\n")
	return nil
}
