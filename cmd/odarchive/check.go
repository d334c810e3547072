package main

import (
	"errors"
	"fmt"

	"odarchive/cmd/internal/app"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
)

func (c *cli) check() *cobra.Command {
	var repair bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Read every stored byte and index, and compare checksums",
		Long: `Read every pack and every block of the database, compare checksums, compare the sort orders of the triples with one
another, and look for versions whose bytes are missing. With --repair, damaged files are dropped from the store; those
that are the latest version of their URL are fetched again by the next crawl.`,
		Example: "  odarchive check\n  odarchive check --repair && odarchive crawl --once",
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.with(cmd.Context(), app.Options{}, func(n *app.Node) error {
				var b *bar
				report, err := n.Check(cmd.Context(), repair, func(done, total int64) {
					if b == nil {
						b = c.progress(total, "bytes")
					}
					b.set(done, "checking")
				})
				if b != nil {
					b.done()
				}
				if err != nil {
					return err
				}
				for _, d := range report.Damaged {
					fmt.Fprintln(c.stderr, "damaged:", d)
				}
				for _, r := range report.Repaired {
					fmt.Fprintln(c.stderr, "repair:", r)
				}
				for _, l := range report.Lost {
					fmt.Fprintln(c.stderr, "lost:", l)
				}
				err = c.print(report, "%s, %s, %d bytes; %s; %d triples, %d terms: %s", english.Plural(int(report.Packs), "pack", ""), english.Plural(int(report.Segments), "segment", ""), report.Bytes,
					english.Plural(int(report.Files), "file", ""), report.Triples, report.Terms, english.Plural(len(report.Damaged), "damage", ""))
				if err == nil && len(report.Damaged) > 0 && !repair {
					err = errors.New("the archive is damaged; 'odarchive check --repair' drops what cannot be read and has it fetched again")
				}
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&repair, "repair", false, "drop what is damaged, and have it fetched again where it still can be")
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable report")
	return cmd
}
