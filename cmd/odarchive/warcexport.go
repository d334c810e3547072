package main

import (
	"fmt"
	"io"
	"strings"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/store"
	"odarchive/sparqlapi/files"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
)

// everyVersion is the query that selects all versions.
const everyVersion = "SELECT ?v { ?f <http://purl.org/dc/terms/hasVersion> ?v }"

// exported is a file of many versions, ready to be written.
type exported interface {
	WriteTo(w io.Writer, c files.BundleContents) (int64, error)
	Size() int64
	Count() int
	LeftOut() []files.Entry
}

func (c *cli) warcExport() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "export [QUERY] -o FILE",
		Short: "Write the versions that a query selects as WARC or WACZ",
		Long: `Write the versions that a SELECT query returns in any column as one WARC file (.warc.gz) or WACZ file (.wacz); without a
query, all versions. A version becomes a response record under the URL that was requested, with the date, the head and the
IP address of its fetch. Nothing is compressed again, and the same versions always give the same file. The first export of
versions that older programs stored reads their bytes to compute digests.`,
		Example: `  odarchive warc export -o archive.warc.gz
  odarchive warc export -o archive.wacz
  odarchive warc export 'SELECT ?v { <https://example.org/data.csv> <http://purl.org/dc/terms/hasVersion> ?v }' -o data.warc.gz
  odarchive warc export - -o some.warc.gz < query.rq`,
		RunE: func(cmd *cobra.Command, args []string) error {
			text := everyVersion
			if len(args) > 0 {
				var err error
				if text, err = c.text("warc export", args, ""); err != nil {
					return err
				}
			}
			packed := strings.HasSuffix(strings.ToLower(out), ".wacz")
			switch {
			case out == "":
				return usagef("warc export needs -o FILE.warc.gz, -o FILE.wacz, or -o - for WARC on standard output")
			case !packed && out != "-" && !strings.HasSuffix(strings.ToLower(out), ".warc.gz"):
				return usagef("-o %s: expected a name that ends in .warc.gz or .wacz", out)
			}
			return c.copying(cmd.Context(), func(n *app.Node) error {
				release := n.Content.Hold() // keeps the sizes of the plan valid
				defer release()
				var file exported
				var err error
				if packed {
					file, err = n.WACZ(cmd.Context(), text)
				} else {
					file, err = n.WARC(cmd.Context(), text)
				}
				if err != nil {
					return err
				}
				bar := c.progress(file.Size(), "bytes")
				defer bar.done()
				err = exporting{out: out, copy: store.ExportCopy}.noted(cmd.Context(), n, c.call != nil, func() error {
					return c.writeTo(out, func(w io.Writer) error {
						_, err := file.WriteTo(&counted{w: w, bar: bar}, n.Content)
						return err
					})
				})
				if left := len(file.LeftOut()); err == nil && (out != "-" || left > 0) {
					line := fmt.Sprintf("%s: %s, %d bytes", out, english.Plural(file.Count(), "version", ""), file.Size())
					if left > 0 {
						line += fmt.Sprintf("; %d left out: %s", left, file.LeftOut()[0].LeftOut)
					}
					fmt.Fprintln(c.stderr, line)
				}
				return err
			})
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "file to write, .warc.gz or .wacz; - for WARC on standard output")
	c.readOnlyFlag(cmd)
	return c.beside(cmd, besideOptions{inputs: dashes})
}
