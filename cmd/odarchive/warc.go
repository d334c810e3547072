package main

import "github.com/spf13/cobra"

// warc returns the commands for web archive files.
func (c *cli) warc() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "warc",
		Short: "Read, write and exchange WARC, ARC and WACZ files",
		Example: `  odarchive warc export -o archive.warc.gz
  odarchive warc import crawl-2019.warc.gz
  odarchive warc check crawl.warc.gz
  odarchive warc index crawl.warc.gz > crawl.warc.gz.cdxj
  odarchive warc filter crawl.warc.gz --mime text/csv -o tables.warc.gz`,
		Args: noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.warcExport(), c.warcImport(), c.warcIndex(), c.warcFilter(), c.warcCat(), c.warcCheck(), c.warcGraph(), c.warcWAT(),
		c.warcWET())
	return cmd
}
