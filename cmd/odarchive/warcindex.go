package main

import (
	"fmt"
	"path/filepath"

	"odarchive/crawler/exchange/cdxj"
	"odarchive/crawler/exchange/wacz"

	"github.com/spf13/cobra"
)

func (c *cli) warcIndex() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "index FILE...",
		Short: "Write a capture index of WARC, ARC and WACZ files (CDXJ, CDX-11)",
		Long: `Write a capture index in the format CDXJ to standard output: a sorted line for each response, revisit and resource record.
--format cdx11 writes the format with eleven fields that older tools read. After damage, reading continues at the next
record; each fault is a line on standard error, and the exit status is 1.

If the index of FILE is stored next to it as FILE.cdxj, 'warc filter' reads only the records that it selects.`,
		Example: `  odarchive warc index crawl.warc.gz > crawl.warc.gz.cdxj
  odarchive warc index *.warc.gz > all.cdxj
  odarchive warc index crawl.warc.gz --format cdx11 > crawl.cdx`,
		Args: atLeast(1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			eleven := format == "cdx11"
			if !eleven && format != "cdxj" {
				return usagef("--format %q: expected cdxj or cdx11", format)
			}
			found := &faults{out: c.stderr}
			sorter := &cdxj.Sorter{}
			defer sorter.Close()
			err := c.eachWARC(cmd.Context(), args, func(_ *wacz.Opened, file wacz.File) error {
				in, done := c.readWARC(cmd.Context(), file)
				defer done()
				unlisted, err := cdxj.Make(filepath.Base(file.Name), in, func(one cdxj.Capture) error {
					if eleven {
						return sorter.Add(one.CDX11())
					}
					return sorter.Add(one.Line())
				}, found.of(file.Name))
				if err != nil {
					return fmt.Errorf("%s: %w", file.Name, err)
				}
				if eleven {
					return nil
				}
				return sorter.Add(cdxj.Meta{File: filepath.Base(file.Name), Size: file.Size, Unlisted: unlisted}.Line())
			})
			if err != nil {
				return err
			}
			if eleven {
				if _, err := fmt.Fprintln(c.stdout, cdxj.CDX11Header); err != nil {
					return err
				}
			}
			if _, err := sorter.WriteTo(c.stdout); err != nil {
				return err
			}
			return found.err()
		},
	}
	cmd.Flags().StringVar(&format, "format", "cdxj", "cdxj or cdx11")
	return cmd
}
