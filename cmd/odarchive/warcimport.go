package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/crawl"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/warc"
	"odarchive/crawler/warc/rows"
	"odarchive/crawler/warc/wacz"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
)

func (c *cli) warcImport() *cobra.Command {
	var dry, asRows bool
	cmd := &cobra.Command{
		Use:   "import FILE|URL...",
		Short: "Archive what other archives fetched, from WARC, ARC and WACZ files",
		Long: `Archive the responses and resources of WARC, ARC and WACZ files as versions, dated when they were fetched. Importing a file
again adds nothing. A version that is older than ones the archive has gets the next number, since numbers never change,
but its place is by date: in TimeMaps, for --at, in differences and in prov:wasRevisionOf. What a redirect led to becomes a
version of the URL that was asked for, too. Revisit records get the bytes that they refer to.

Addresses of files are fetched as the crawler fetches: robots.txt, delays and --max-body apply. Imported URLs are not
crawled until they are added. Faults are lines on standard error; with any, sound records are imported and the exit status
is 1.

--records also describes every record, requests and errors too, in the named graph {base}warc/NAME, where NAME is that of
the file without folders. Importing a file of that name again replaces the graph.`,
		Example: `  odarchive warc import crawl-2019.warc.gz collection.wacz
  odarchive warc import --dry-run *.arc.gz
  odarchive warc import --records crawl-2019.warc.gz
  odarchive warc import https://example.org/crawls/2024.warc.gz --max-body 2GiB`,
		Args: atLeast(1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			found := &faults{out: c.stderr}
			var total crawl.Imported
			one := func(n *crawl.Crawl) func(*wacz.Opened, wacz.File) error {
				return func(_ *wacz.Opened, file wacz.File) error {
					bar := c.progress(-1, "captures")
					defer bar.done()
					done, err := n.ImportWARC(ctx, file, dry, found.of(file.Name), func(i, all int) { bar.set(int64(i), fmt.Sprintf("of %d", all)) })
					total.Versions += done.Versions
					total.Unchanged += done.Unchanged
					total.Others += done.Others
					total.Faults += done.Faults
					if err != nil {
						return fmt.Errorf("%s: %w", file.Name, err)
					}
					return nil
				}
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
				return errors.Join(c.print(total, "%s could be imported, %s not", english.Plural(total.Versions, "capture", ""), english.Plural(total.Others, "record", "")), found.err())
			}
			err := c.with(ctx, store.Options{Create: true}, func(n *app.Node) error {
				each := one(n.Crawl)
				if asRows {
					imports := each
					each = func(o *wacz.Opened, file wacz.File) error {
						if err := imports(o, file); err != nil {
							return err
						}
						return c.describeRecords(ctx, n, file)
					}
				}
				for _, name := range args {
					var err error
					if isWebAddress(name) {
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
			printErr := c.print(total, "%s imported; %s unchanged, %s without a version", english.Plural(total.Versions, "version", ""), english.Plural(total.Unchanged, "capture", ""), english.Plural(total.Others, "record", ""))
			return errors.Join(err, printErr, found.err())
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&dry, "dry-run", false, "only count what could be imported")
	fl.BoolVar(&asRows, "records", false, "also describe every record, in a named graph of the file")
	fl.BoolVar(&c.json, "json", false, "machine-readable output")
	c.cfg.FetchFlags(fl)
	return cmd
}

// describeRecords replaces the graph that describes the records of a file. Its faults are known from the import.
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
	if _, err := n.Triples.Load(ctx, rows.New(in, graph, func(warc.Fault) {})); err != nil {
		return fmt.Errorf("%s: %w", file.Name, err)
	}
	return n.Triples.IndexLiterals(ctx)
}

func isWebAddress(name string) bool {
	return strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://")
}

// importURL fetches a file and imports it.
func (c *cli) importURL(ctx context.Context, n *app.Node, url string, one func(*wacz.Opened, wacz.File) error) error {
	body, err := n.Pipeline.FetchFile(ctx, url)
	if err != nil {
		return err
	}
	o, err := wacz.OpenReader(url, body, body.Size(), "")
	if err != nil {
		return errors.Join(err, body.Remove())
	}
	for _, file := range o.Files {
		if err = one(o, file); err != nil {
			break
		}
	}
	return errors.Join(err, o.Close(), body.Remove())
}
