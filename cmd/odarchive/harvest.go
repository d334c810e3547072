package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/crawl"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/catalog"
	"odarchive/crawler/follow/discover"
	"odarchive/crawler/harvest"
	"odarchive/sparqlapi/operate/access"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
)

func (c *cli) harvest() *cobra.Command {
	opts := harvest.Options{}
	var source crawl.HarvestSource
	var list, queryFile string
	var dry bool
	var when planFlags
	parallel := 4
	cmd := &cobra.Command{
		Use:   "harvest [KIND] URL | harvest KIND --list FILE",
		Short: "Register the files that portals list, and keep their catalogs as linked data",
		Long: "Kinds: " + strings.Join(crawl.HarvestKinds(), ", ") + `, and auto, which recognises the
software of a portal from its home page and harvests it with the right kind (with --dry-run, it only prints the kind). Without
a kind, auto is meant.

The files become due for the crawl. The portal's descriptions of its datasets become DCAT in the named graph
BASEgraph/PORTAL, which is replaced as a whole when the portal has been read completely. Datasets that it no longer lists
are marked as withdrawn; nothing is deleted. If these are more than a third of its datasets, and more than one, the
harvest asks first: what it found is kept, and 'harvest withdraw PORTAL' or 'harvest keep PORTAL' says what becomes of the
others, unless a later harvest finds them again. An interrupted harvest continues where it stopped. Later harvests ask
only for changes, if the source supports that, and for the number of datasets that it lists, and CKAN for their names: if
the number is not the one that is known, or a dataset that is known is no longer named, the whole portal is read in the
same harvest. Where the number agrees and no names came, removals are "not looked for" (absent in --json): as many may
have been added. Once a week, all of it is read. If a server holds the archive, or with --endpoint, that server harvests,
with its own settings of what fetches; the command ends with the harvest, and Ctrl-C stops both.

With --every or --at, the harvest is planned: the server runs it at its times ('harvest list').

Exit status: 0 done, 1 a source could not be read completely (what was read is kept), lists nothing at all, or asks something,
2 wrong usage.`,
		Example: `  odarchive harvest data.example.org
  odarchive harvest auto https://data.example.org --dry-run
  odarchive harvest ckan https://data.example.org
  odarchive harvest datajson https://www.example.gov/data.json
  odarchive harvest socrata https://data.city.example
  odarchive harvest opendatasoft https://data.ville.example
  odarchive harvest dcat https://data.example.org/catalog.ttl --graphs      # what its RDF files say, as named graphs
  odarchive harvest udata https://www.data.example --since 2026-01-01
  odarchive harvest zenodo 'https://zenodo.example/communities/trees/records?q=bark'
  odarchive harvest dataverse https://dataverse.example/dataverse/herbarium
  odarchive harvest csw https://maps.example/geonetwork/srv/eng/csw
  odarchive harvest datacite 'https://api.datacite.org/dois?client-id=herbarium'
  odarchive harvest ldes https://archive.example/ldes
  odarchive harvest portalwatch https://data.wu.ac.at/portalwatch/sparql --portal http://data.gv.at --limit 100
  odarchive harvest oai https://repository.example/oai --set data --since 2026-01-01
  odarchive harvest oai --list repositories.txt --parallel 8 --json
  odarchive harvest ckan https://data.example.org --every 24h      # by the server
  odarchive harvest ckan https://data.example.org --keep-answers answers   # the original metadata, as WARC`,
		Args: func(cmd *cobra.Command, args []string) error {
			if list != "" {
				return exactly("KIND")(cmd, args)
			}
			if len(args) == 1 && !crawl.KnowsHarvest(args[0]) { // of a portal that is to be recognised
				return nil
			}
			return exactly("KIND", "URL")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if list == "" && len(args) == 1 {
				args = []string{crawl.Recognised, args[0]}
			}
			source.Kind = args[0]
			if !crawl.KnowsHarvest(source.Kind) {
				return usageError{unknownKind(source.Kind)}
			}
			if dry && (source.Kind != crawl.Recognised || list != "" || when.given()) {
				return usagef("--dry-run only finds out the kind of one portal: 'odarchive harvest URL --dry-run', without KIND, --list, " +
					"--every and --at")
			}
			if when.given() {
				if list != "" || queryFile != "" {
					return usagef("--list and --query cannot be planned")
				}
				source.Address = args[1]
				p, err := when.plan(source, opts)
				if err != nil {
					return err
				}
				return c.planHarvest(cmd.Context(), p)
			}
			if queryFile != "" {
				in, err := c.openInput(queryFile)
				if err != nil {
					return err
				}
				query, err := io.ReadAll(io.LimitReader(in, maxHarvestQuery))
				if err = errors.Join(err, in.Close()); err != nil {
					return err
				}
				opts.Part.Query = string(query)
			}
			return c.with(cmd.Context(), store.Options{Create: true}, func(n *app.Node) error {
				err := c.harvestThese(cmd.Context(), n, source, args[1:], list, parallel, dry, opts)
				return errors.Join(err,
					missing(n.Answers, "answer", "answers", "the archive has what the harvest read of it, but not its bytes"))
			})
		},
	}
	mainFlags(cmd, "dry-run", "portal", "since", "limit", "graphs", "fresh", "withdraw", "list", "parallel", "every", "at", "keep-answers",
		"json", "endpoint")
	f := cmd.Flags()
	f.BoolVar(&opts.Graphs, "graphs", false,
		"keep the statements of the portal's files in named graphs from now on: a setting of the portal, which later harvests leave as "+
			"it is")
	number(f, &opts.Limit, "limit", 0, unbounded, "stop after this many listings, 0 for all")
	f.BoolVar(&opts.Fresh, "fresh", false,
		"read the whole portal, instead of what changed or what an interrupted harvest has left, and look for removals; replace the "+
			"harvest of a portal by another kind of source")
	f.BoolVar(&opts.Sure, "withdraw", false, "withdraw what a portal lists no longer without asking, however much that is")
	f.StringVar(&source.Portal, "portal", "", "harvest only this portal of a list of portals; for a single portal, its IRI")
	f.StringVar(&opts.Part.Since, "since", "", "only what changed since this date or time, if the source supports that")
	f.StringVar(&opts.Part.Until, "until", "", "only what changed until this date or time")
	f.StringSliceVar(&opts.Part.Sets, "set", nil, "only this set of an oai repository (repeatable)")
	f.StringVar(&opts.Part.Prefix, "metadata-prefix", "", "metadata format to request from an oai repository (default oai_dc)")
	f.BoolVar(&opts.Part.ByOne, "by-identifier", false, "request each record of an oai repository separately")
	f.BoolVar(&dry, "dry-run", false, "with kind auto: print what the portal is, and harvest nothing")
	f.StringVar(&list, "list", "",
		"harvest the sources listed in this file, one address on each line; those that nothing answers for are tried once more at the end")
	number(f, &parallel, "parallel", 1, 1000, "number of sources of a list to harvest at the same time, never two of one host")
	f.StringVar(&queryFile, "query", "", "file with the SPARQL query whose ?url is harvested (kind sparql)")
	f.BoolVar(&c.json, "json", false, "machine-readable report")
	c.cfg.FetchFlags(f)
	c.cfg.AnswersFlag(f)
	when.define(cmd)
	cmd.AddCommand(c.harvestPlans()...)
	cmd.AddCommand(c.harvestQuestions()...)
	return c.beside(cmd, besideOptions{right: access.Crawl, inputs: func([]string) []string {
		return slices.DeleteFunc([]string{queryFile, list}, func(name string) bool { return name == "" })
	}})
}

// maxHarvestQuery bounds the file of --query, in bytes.
const maxHarvestQuery = 16 << 20

// harvestThese harvests the sources of a list, or the one of an address.
func (c *cli) harvestThese(ctx context.Context, n *app.Node, source crawl.HarvestSource, address []string, list string, parallel int,
	dry bool, opts harvest.Options) error {
	if list != "" {
		return c.harvestList(ctx, n, source.Kind, list, parallel, opts)
	}
	source.Address = address[0]
	if source.Kind == crawl.Recognised {
		if err := c.recognise(ctx, n, &source, dry); err != nil || dry {
			return err
		}
	}
	return c.harvestOne(ctx, n, source, opts)
}

func (c *cli) harvestOne(ctx context.Context, n *app.Node, source crawl.HarvestSource, opts harvest.Options) error {
	bar := c.progress(-1, "datasets")
	opts.Progress = func(r harvest.Report) {
		note := fmt.Sprintf("%d files, %d of them new, %d requests", r.Seeds.N(), r.Added, r.Requests)
		if r.Unknown > 0 {
			note += fmt.Sprintf(", %s not returned", english.Plural(r.Unknown, "dataset", ""))
		}
		bar.set(int64(r.Datasets.N()), note)
	}
	if bar.watched() && c.call == nil {
		opts.Total = func(datasets int) { bar.of(int64(datasets), nil) }
	}
	report, err := n.Harvest(ctx, source, opts)
	bar.done()
	if err != nil && report.Seeds.N()+report.Datasets.N() == 0 && (report.Traffic == nil || report.Traffic.Records == 0) && !c.json {
		return err
	}
	for _, why := range report.Skipped {
		fmt.Fprintln(c.stderr, "skipped:", why)
	}
	printErr := c.printHarvest(report)
	if report.Traffic != nil && !c.json && printErr == nil {
		printErr = c.traffic([]harvest.Report{report})
	}
	if printErr == nil {
		printErr = c.printRegistered(report)
	}
	return errors.Join(errorOfHarvest(ctx, report, err), printErr)
}

// recognise sets the kind of a source. It prints what it tries, and how the source was recognised: on standard output
// only if nothing follows.
func (c *cli) recognise(ctx context.Context, n *app.Node, source *crawl.HarvestSource, dry bool) error {
	found, err := n.Recognise(ctx, source.Address, func(asked, came string) {
		fmt.Fprintf(c.stderr, "tried %s: %s\n", printable(asked), printable(came))
	})
	if errors.Is(err, discover.ErrUnknown) {
		return fmt.Errorf(
			"%w; 'odarchive discover %s' finds the data files of a web site, 'odarchive harvest KIND URL' harvests a source that you know",
			err, shellWord(source.Address))
	}
	if err != nil {
		return err
	}
	source.Kind, source.Address = found.Kind, found.URL
	if dry && c.json {
		return c.print(found, "")
	}
	out := c.stderr
	if dry {
		out = c.stdout
	}
	_, err = fmt.Fprintf(out, "%s: %s\nodarchive harvest %s %s\n", found.Software, strings.Join(found.Because, "; "), found.Kind, found.URL)
	return err
}

// printHarvest prints the report of a harvest, as a table or as JSON.
func (c *cli) printHarvest(r harvest.Report) error {
	if c.json {
		return c.print(r, "")
	}
	if c.quiet {
		return nil
	}
	kept, datasets := "", fmt.Sprintf("%s (%s)", humanize.Comma(int64(r.Datasets.N())), r.Change())
	switch {
	case r.NotModified:
		datasets = "not read: the source reports no change since the last harvest"
	case !r.Datasets.Known():
		datasets = "not read"
	}
	if r.Unknown > 0 {
		kept = " (the portal failed to return them; they were left as they were)"
	}
	read := func(f catalog.Figure) string {
		if !f.Known() {
			return "not read"
		}
		return humanize.Comma(int64(f.N()))
	}
	unknown := catalog.Figure{}
	if r.Datasets.Known() {
		unknown = catalog.Counted(r.Unknown)
	}
	waiting := r.Waiting.Or("not looked for")
	if r.Waiting.N() > 0 {
		waiting = humanize.Comma(int64(r.Waiting.N())) + " (no longer listed; their withdrawal waits for an answer)"
	}
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	for _, line := range []struct {
		name string
		text string
	}{
		{"portals", read(r.Portals)},
		{"datasets", datasets},
		{"waiting", waiting},
		{"files", fmt.Sprintf("%s (%d new)", read(r.Seeds), r.Added)},
		{"statements", read(r.Triples)},
		{"invalid", read(r.Invalid)},
		{"not returned", read(unknown) + kept},
		{"requests", fmt.Sprintf("%s, %s", humanize.Comma(int64(r.Requests)), humanize.IBytes(uint64(r.Bytes)))},
		{"took", r.Took().Round(time.Millisecond).String()},
	} {
		fmt.Fprintf(w, "%s\t%s\n", line.name, line.text)
	}
	return w.Flush()
}

// harvestList harvests the sources listed in a file. It prints failures and continues with the other sources.
func (c *cli) harvestList(ctx context.Context, n *app.Node, kind, file string, parallel int, opts harvest.Options) error {
	f, err := c.openInput(file)
	if err != nil {
		return err
	}
	defer f.Close()
	addresses, err := harvest.ReadList(f)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	bar := c.progress(int64(len(addresses)), "sources")
	failed, finished := 0, 0
	reports := n.HarvestList(ctx, kind, addresses, parallel, opts, func(r harvest.Report, err error) {
		if finished++; err == nil {
			err = unsettled(r)
		}
		if err != nil {
			failed++
			fmt.Fprintln(c.stderr, err)
		}
		bar.set(int64(finished), fmt.Sprintf("%d failed", failed))
	})
	bar.done()
	if c.json {
		err = c.print(reports, "")
	} else {
		err = errors.Join(c.traffic(reports), c.printRegistered(reports...))
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case failed > 0:
		return errors.Join(err, fmt.Errorf("%d of %d sources failed or ask something", failed, len(addresses)))
	}
	return err
}

// traffic prints a line for each source, and one for the sum.
func (c *cli) traffic(reports []harvest.Report) error {
	if c.quiet {
		return nil
	}
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "source\trecords\tinserted\tupdated\tduplicate\tdeleted\tinvalid\tfiles\tnew\trequests\tbytes\tmean/s\tpeak/s\terrors")
	line := func(name string, r harvest.Report) {
		t, records := r.Traffic, r.Datasets
		mean, peak, errors := "-", "-", "not counted"
		if t == nil { // the harvester counts no traffic
			t = &harvest.Traffic{Requests: r.Requests, Bytes: r.Bytes}
		} else {
			if records.Known() {
				records = catalog.Counted(t.Records)
			}
			mean, peak, errors = fmt.Sprintf("%.1f", t.Mean), fmt.Sprintf("%.0f", t.Peak), t.ErrorsByKind()
		}
		deleted := r.Withdrawn
		if t.Deleted > deleted.N() {
			deleted = catalog.Counted(t.Deleted)
		}
		if !records.Known() {
			mean, peak = "-", "-"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%d\t%s\t%s\t%s\t%s\n", name, records.Or("-"),
			r.Inserted.Plus(r.Returned).Or("-"), r.Updated.Or("-"), r.Unchanged.Or("-"), deleted.Or("-"),
			r.Invalid.Or("-"), r.Seeds.Or("-"), r.Added, t.Requests, humanize.IBytes(uint64(t.Bytes)), mean, peak, errors)
	}
	all, sum := harvest.Report{Traffic: &harvest.Traffic{}}, "all"
	for _, r := range reports {
		line(r.Source, r)
		if !r.Datasets.Known() || !r.Inserted.Known() || !r.Withdrawn.Known() {
			sum = "all that is known"
		}
		all.Datasets, all.Seeds, all.Invalid = all.Datasets.Plus(r.Datasets), all.Seeds.Plus(r.Seeds), all.Invalid.Plus(r.Invalid)
		all.Added += r.Added
		all.Inserted, all.Updated = all.Inserted.Plus(r.Inserted).Plus(r.Returned), all.Updated.Plus(r.Updated)
		all.Unchanged, all.Withdrawn = all.Unchanged.Plus(r.Unchanged), all.Withdrawn.Plus(r.Withdrawn)
		t := r.Traffic
		if t == nil {
			t = &harvest.Traffic{Records: r.Datasets.N(), Requests: r.Requests, Bytes: r.Bytes}
		}
		all.Traffic.Add(t)
	}
	if len(reports) > 1 {
		line(sum, all)
	}
	return w.Flush()
}

// unknownKind returns the error for a kind of source that does not exist.
func unknownKind(kind string) error {
	return fmt.Errorf("there is no harvester for %q; expected %s or %s%s", kind, strings.Join(crawl.HarvestKinds(), ", "), crawl.Recognised,
		catalog.Hint(kind, crawl.HarvestKinds()))
}
