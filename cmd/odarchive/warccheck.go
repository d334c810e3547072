package main

import (
	"errors"
	"fmt"

	"odarchive/crawler/exchange/wacz"
	"odarchive/crawler/exchange/warc"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
)

func (c *cli) warcCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE...",
		Short: "Check WARC, ARC and WACZ files: a line for each fault",
		Long: `Check WARC, ARC and WACZ files: their structure, the fields that every record must have, and digests. Each fault is a line
on standard output with the offset of the record or gzip member; with any, the exit status is 1.`,
		Example: `  odarchive warc check crawl.warc.gz
  odarchive warc check *.warc.gz collection.wacz`,
		Args: atLeast(1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			found := &faults{out: c.stdout}
			for _, name := range args {
				err := c.inWARC(cmd.Context(), name, func(o *wacz.Opened) error {
					wrong, err := o.Check(cmd.Context())
					if err != nil {
						return err
					}
					for _, why := range wrong {
						found.n++
						fmt.Fprintf(c.stdout, "%s: %s\n", name, printable(why))
					}
					for _, file := range o.Files {
						in, done := c.readWARC(cmd.Context(), file)
						r, err := warc.Check(in, found.of(file.Name))
						if _, ofPackage := errors.AsType[*wacz.DamagedError](err); ofPackage {
							done()
							found.of(file.Name)(warc.Fault{Why: err.Error()})
							continue
						}
						done()
						if err != nil {
							return fmt.Errorf("%s: %w", file.Name, err)
						}
						switch {
						case r.Faults == 0 && r.Records == 0:
							fmt.Fprintf(c.stdout, "%s: empty; there are no records\n", file.Name)
						case r.Faults == 0:
							fmt.Fprintf(c.stdout, "%s: sound; %s, %s compared\n", file.Name, english.Plural(r.Records, "record", ""),
								english.Plural(r.Digests, "digest", ""))
						}
					}
					return nil
				})
				if err != nil {
					return err
				}
			}
			return found.err()
		},
	}
}
