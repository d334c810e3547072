package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/exchange/cdxj"
	"odarchive/crawler/exchange/wacz"
	"odarchive/crawler/exchange/warc"
	"odarchive/crawler/jobs"
	"odarchive/sparqlapi/operate/access"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
)

func (c *cli) warcImport() *cobra.Command {
	var dry, asRows bool
	var index string
	var span cdxj.Span
	cmd := &cobra.Command{
		Use:   "import FILE|URL...",
		Short: "Archive what other archives fetched, from WARC, ARC and WACZ files",
		Long: `Archive the responses and resources of WARC, ARC and WACZ files as versions, dated when they were fetched. Importing a file
again adds nothing. A version that is older than others in the archive gets the next number, since numbers never change;
TimeMaps, --at, differences and prov:wasRevisionOf go by its date. The target of a redirect also becomes a version of the
URL that was requested. A revisit record gets the bytes of the record to which it refers.

A URL is fetched like any other by the crawler: robots.txt, delays and --max-body apply. If the host supports ranges, the
file is read in parts, and only the necessary parts of a WACZ file; otherwise it is fetched whole. --offset and --length
select a part of a file, as capture indexes state it. --cdx reads such an index (CDXJ, like Common Crawl's) and imports the
captures in it from files below the given folder or address. Imported URLs are not crawled until they are added. Each fault
of a file is a line on standard error; sound records are imported nevertheless, and the exit status is 1.

--records also describes every record, including requests and errors, in the named graph {base}warc/NAME, where NAME is the
name of the file without folders. Importing a file with the same name again replaces the graph.

If a server holds the archive, or with --endpoint, the files are sent to that server (but not for --cdx).`,
		Example: `  odarchive warc import crawl-2019.warc.gz collection.wacz
  odarchive warc import --dry-run *.arc.gz
  odarchive warc import --records crawl-2019.warc.gz
  odarchive warc import https://example.org/crawls/2024.warc.gz --max-body 2GiB
  odarchive warc import https://example.org/crawls/2024.warc.gz --offset 104857 --length 5120
  odarchive warc import --cdx captures.cdxj https://data.commoncrawl.org/`,
		Args: atLeast(1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			found := &faults{out: c.stderr}
			var total jobs.Imported
			one := func(to *jobs.Importer) func(*wacz.Opened, wacz.File) error {
				return func(_ *wacz.Opened, file wacz.File) error {
					bar := c.progress(-1, "captures")
					defer bar.done()
					done, err := to.ImportWARC(ctx, file, dry, found.of(file.Name),
						func(i, all int) { bar.set(int64(i), fmt.Sprintf("of %d", all)) })
					total.Versions += done.Versions
					total.Unchanged += done.Unchanged
					total.Others += done.Others
					total.Withdrawn += done.Withdrawn
					total.Faults += done.Faults
					if err != nil {
						return fmt.Errorf("%s: %w", file.Name, err)
					}
					return nil
				}
			}
			part := cmd.Flags().Changed("offset") || cmd.Flags().Changed("length")
			switch {
			case part && span.Length == 0:
				return usagef("--offset and --length name a part of a file: give both")
			case part && index != "":
				return usagef("--cdx has the places of records; leave --offset and --length out")
			case (part || index != "") && (len(args) > 1 || asRows || dry):
				return usagef("a part of a file is imported by itself: give one argument, without --records and --dry-run")
			}
			if index != "" && c.call != nil {
				return usagef(
					"--cdx reads files that the index names, so it needs the archive's directory for itself: stop the server first")
			}
			if dry && asRows {
				return usagef("--dry-run writes nothing, and --records does")
			}
			if dry {
				for _, name := range args {
					if isWebAddress(name) {
						return usagef("--dry-run reads files only; %s would be fetched", name)
					}
				}
				if err := c.eachWARC(ctx, args, one(nil)); err != nil {
					return err
				}
				return errors.Join(c.print(total, "%s could be imported, %s not", english.Plural(total.Versions, "capture", ""),
					english.Plural(total.Others, "record", "")), found.err())
			}
			err := c.with(ctx, store.Options{Create: true}, func(n *app.Node) error {
				each := one(n.Crawl.Importer)
				if asRows {
					imports := each
					each = func(o *wacz.Opened, file wacz.File) error {
						if err := imports(o, file); err != nil {
							return err
						}
						return c.describeRecords(ctx, n, file)
					}
				}
				if index != "" {
					return c.importListed(ctx, n, index, args[0], found, each)
				}
				for _, name := range args {
					var err error
					if part {
						err = c.importSpan(ctx, n, name, span, each)
					} else if isWebAddress(name) {
						err = c.importURL(ctx, n, name, each)
					} else {
						err = c.eachWARC(ctx, []string{name}, each)
					}
					if err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil && total == (jobs.Imported{}) {
				return errors.Join(err, found.err()) // nothing was read
			}
			withdrawn := ""
			if total.Withdrawn > 0 {
				withdrawn = ", " + english.Plural(total.Withdrawn, "capture", "") +
					" refused because the bytes were withdrawn or the URL is never kept"
			}
			printErr := c.summary(total, "%s imported; %s unchanged, %s without a version%s", english.Plural(total.Versions, "version", ""),
				english.Plural(total.Unchanged, "capture", ""), english.Plural(total.Others, "record", ""), withdrawn)
			return errors.Join(err, printErr, found.err())
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&dry, "dry-run", false, "only count what could be imported")
	number(fl, &span.Offset, "offset", 0, unbounded, "import a part of the file that begins here; with --length")
	number(fl, &span.Length, "length", 1, unbounded, "bytes of the part")
	fl.StringVar(&index, "cdx", "", "import the captures that this index lists")
	fl.BoolVar(&asRows, "records", false, "also describe every record, in a named graph of the file")
	fl.BoolVar(&c.json, "json", false, "machine-readable output")
	c.cfg.FetchFlags(fl)
	return c.beside(cmd, besideOptions{right: access.Admin, expand: listed, alone: func() bool { return dry },
		inputs: func(args []string) []string { return slices.DeleteFunc(slices.Clone(args), isWebAddress) }})
}

// describeRecords replaces the graph that describes the records of a file. It does not report faults of the file, which
// the import has reported.
func (c *cli) describeRecords(ctx context.Context, n *app.Node, file wacz.File) error {
	name := filepath.ToSlash(file.Name)
	outer, inner, inside := strings.Cut(name, "!")
	if name = path.Base(outer); inside {
		name += "!" + inner
	}
	graph := n.Mint.WARC(name)
	if _, err := n.Update(ctx, "DROP SILENT GRAPH <"+graph+">"); err != nil {
		return err
	}
	in, done := c.readWARC(ctx, file)
	defer done()
	if _, err := n.Triples.Load(ctx, cdxj.NewRowReader(in, graph, func(warc.Fault) {})); err != nil {
		return fmt.Errorf("%s: %w", file.Name, err)
	}
	return n.Triples.IndexLiterals(ctx)
}
