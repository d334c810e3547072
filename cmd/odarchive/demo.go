package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/crawl"
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

// demoBase is the base of an archive of the demo where nothing else is in the way.
const demoBase = "http://localhost:8080/"

// Timing of the sample web, fast enough that a new user soon sees second versions.
const (
	demoStep        = 12 * time.Second // time until a file's next state
	demoMinInterval = 4 * time.Second
	demoMaxInterval = 15 * time.Second
)

func (c *cli) demo() *cobra.Command {
	var limit time.Duration
	var address string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show everything at work on a sample web",
		Long: `Start a small sample web on loopback addresses, harvest its catalog from a SPARQL endpoint like that of Portal Watch,
crawl the files it lists, and serve the archive. Files change while you watch. Ctrl-C ends the demo. The archive is in a
temporary directory unless --data is given.

The hosts of the sample web are city.example, library.example, region.example, town.example (a site without a catalog) and
portalwatch.example. They listen on 127.0.0.2:8081, 127.0.0.3:8082 and so on, or where that is taken on other ports, and the
archive remembers where ('odarchive admin host list'). So a kept archive lives on: commands that fetch for it serve these hosts
themselves, with the last state of every file, and another 'odarchive demo' goes on with it.`,
		Example: `  odarchive demo
  odarchive demo --data my-first-archive
  odarchive crawl --once --data my-first-archive`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			if limit > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, limit)
				defer cancel()
			}
			// Whoever reads the output may have seen enough: then a write fails. The signal is no sign of that,
			// because a visitor of the server who hangs up brings it, too.
			signal.Ignore(syscall.SIGPIPE)
			defer signal.Reset(syscall.SIGPIPE)
			ctx, stop := context.WithCancel(ctx)
			defer stop()
			c.stdout = &untilUnread{c.stdout, stop}
			kept := cmd.Flags().Changed("data")
			if !kept {
				dir, err := os.MkdirTemp("", "odarchive-demo-")
				if err != nil {
					return err
				}
				defer os.RemoveAll(dir)
				c.cfg.Data = dir
			}
			l, err := demoListener(address, store.BaseOf(c.cfg.Data), cmd.Flags().Changed("listen"))
			if err != nil {
				return err
			}
			defer l.Close()
			return c.runDemo(ctx, &edge{listeners: []net.Listener{l}}, kept)
		},
	}
	f := cmd.Flags()
	f.StringVar(&address, "listen", "127.0.0.1:8080",
		"address to serve on; port 0 is any free port, which is also taken where 8080 is in use")
	span(f, &limit, "for", "end after this time, 0 for no limit")
	return cmd
}

// An untilUnread writer calls stop when nobody reads what is written any more.
type untilUnread struct {
	io.Writer
	stop func()
}

func (w *untilUnread) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		w.stop()
	}
	return n, err
}

// demoListener listens on an address, or unless it was given, where an archive with a base was served before,
// or on any port.
func demoListener(address, base string, given bool) (net.Listener, error) {
	if given {
		return listen.TCP(address)
	}
	places := []string{address, "127.0.0.1:0"}
	if u, err := url.Parse(base); err == nil && isLocal(base) && u.Port() != "" {
		places = slices.Insert(places, 0, "127.0.0.1:"+u.Port())
	}
	for {
		l, err := listen.TCP(places[0])
		if places = places[1:]; err == nil || len(places) == 0 {
			return l, err
		}
	}
}

// runDemo runs the demo. kept says that its archive stays.
func (c *cli) runDemo(ctx context.Context, e *edge, kept bool) error {
	known := store.BaseOf(c.cfg.Data)
	if !c.given["base"] {
		c.cfg.Base = cmp.Or(known, e.base())
	}
	c.cfg.Serve.Token = rand.Text() // any page in the browser that shows the demo could send a token that is known
	c.cfg.Fetch.MinInterval, c.cfg.Fetch.MaxInterval = demoMinInterval, demoMaxInterval
	_, ignore := listenForHangups()
	defer ignore()
	return c.with(ctx, store.Options{Create: true}, func(n *app.Node) (err error) {
		at, err := samplePlaces(n)
		if err != nil {
			return err
		}
		if err := onlySample(ctx, n); err != nil {
			return err
		}
		if e.base() != n.Mint.Base && isLocal(n.Mint.Base) {
			c.say("%s\n", servedElsewhere(n.Mint.Base, e.base()))
		} else if kept && known == "" && e.base() != demoBase {
			c.say(
				"Port 8080 is in use: the addresses in this archive begin with %s. Later, 'odarchive demo' listens there again, and "+
					"'odarchive serve' with --listen 127.0.0.1:%s\n", e.base(), portOf(e.base()))
		}
		web, err := c.startSample(ctx, sampleweb.Options{Step: demoStep, At: at}, at == nil)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, web.close()) }()
		if err := web.keep(ctx, n); err != nil {
			return err
		}
		group, ctx := errgroup.WithContext(ctx)
		group.Go(func() error { return c.serveNode(ctx, n, e, func() {}, nil, false) })
		group.Go(func() error { return c.tour(ctx, n, web, e.base()) })
		err = group.Wait()
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return nil // Ctrl-C and --for end a demo
		}
		return err
	})
}

// onlySample returns an error for an archive with files of other hosts than the sample web's. The demo visits files
// every few seconds, which is for no host of the world.
func onlySample(ctx context.Context, n *app.Node) error {
	known, err := n.Archive.Hosts(ctx, 0)
	if err != nil {
		return err
	}
	sample := map[string]bool{}
	for _, host := range sampleweb.All() {
		sample[sampleweb.Name(host)] = true
	}
	for _, h := range known {
		if !sample[h.Host] {
			return fmt.Errorf(
				"%s has files of %s, which a demo would visit every few seconds: 'odarchive serve --data %s' goes on with all of its "+
					"files at their own times, and serves the sample hosts if it was a demo's", n.Config.Data, h.Host, n.Config.Data)
		}
	}
	return nil
}

// say prints a line for people, unless they want none.
func (c *cli) say(format string, args ...any) {
	if !c.quiet {
		fmt.Fprintf(c.stdout, format+"\n", args...)
	}
}

// tour prints what happens: the harvest, the crawl, the addresses to open, then every new version.
// The archive is served at base.
func (c *cli) tour(ctx context.Context, n *app.Node, web *sampleHosts, base string) error {
	c.say("ODArchive demo: a sample web of open-data hosts, on this machine only\n")
	for _, host := range sampleweb.All() {
		c.say("  %-28s at %s", web.Base(host), web.At(host))
	}
	source := crawl.HarvestSource{Kind: "portalwatch", Address: web.Base("portalwatch") + "sparql"}
	c.say("\n1. Harvest: which files do the portals list?")
	report, err := n.Harvest(ctx, source, harvest.Options{})
	if err != nil {
		return err
	}
	c.say("   %d listings, %d new URLs\n\n2. Crawl: %s", report.Seeds.N(), report.Added,
		map[bool]string{true: "fetch the files politely and keep them",
			false: "no file is new; those that are due are fetched"}[report.Added > 0])
	seen := newEnding()
	most := max(report.Added, report.Seeds.N())
	_, err = n.Pipeline.Run(ctx, crawler.RunOptions{Once: true, MaxFetches: most, Report: func(r crawler.Report) {
		seen.add(r)
		c.showFetch(r)
	}})
	if err != nil {
		return err
	}
	if words := seen.words(); words != "" {
		c.say("   %s", words)
	}
	for _, f := range seen.causes() {
		c.say("   %7d  %s", f.Files, f.Cause)
	}
	if web.briefly != "" {
		if err := web.withdraw(ctx); err != nil {
			return err
		}
		if report, err = n.Harvest(ctx, source, harvest.Options{}); err != nil {
			return err
		}
		c.say("   harvested again: datasets withdrawn by its portal, and kept: %s", report.Withdrawn.Or("not looked for"))
	}
	if err := c.showArchive(ctx, n, web.Base("city"), base); err != nil {
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

func (c *cli) showArchive(ctx context.Context, n *app.Node, portal, base string) error {
	s, err := n.Archive.Stats(ctx)
	if err != nil {
		return err
	}
	c.say(
		"\n3. Describe: %d versions of %d files, %d triples of DCAT, CSVW and PROV\n\n4. Query: the CSV versions of one portal, with the "+
			"query of the ODArchive paper", s.Versions, s.Crawled, s.Triples)
	queries := demoQueries(portal)
	if err := n.QueryTable(ctx, queries[0], c.stdout); err != nil {
		return err
	}
	bundle, err := n.Bundle(ctx, queries[0])
	if err != nil {
		return err
	}
	c.say("\n5. Download: the same query is a zip of %s, %d bytes", english.Plural(len(bundle.Entries()), "file", ""), bundle.Size())
	c.say(
		"\nOpen in a browser:\n  %s            the archive\n  %sconsole     run queries, and download the files they find as one zip\n  "+
			"%scrawls      watch the crawl", base, base, base)
	c.say("  %ssign-in     change something, with this demo's token: %s", base, c.cfg.Serve.Token)
	c.say("\nTry in the console, or with curl:\n")
	for _, q := range queries {
		c.say("%s\n", q)
	}
	c.say("  curl -G %ssparql -H 'Accept: text/csv' --data-urlencode 'query=SELECT * { ?s ?p ?o } LIMIT 5'", base)
	c.say("\n6. Watch: files change, and every new version is kept (Ctrl-C ends the demo)\n")
	return nil
}
