package main

import (
	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/store"
	"odarchive/sparqlapi/operate/access"

	"github.com/spf13/cobra"
)

func (c *cli) compact() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "compact",
		Short: "Free unused disk space",
		Long: `Delete terms that no triple uses, merge the database's tables, delete the bytes of dropped segments, and rewrite packs
that are mostly waste. The archive does most of this by itself while it runs; this command does all of it now. The log of
changes becomes one change, without what was added and removed again: programs that follow the log and have not read all of
it must start over. --keep-changes makes it shorter. If a server holds the archive, or with --endpoint, that server does it:
it answers meanwhile, and what it has to write waits at times. Without a server, the tables are also compressed more, which
takes about a minute a gigabyte.`,
		Example: "  odarchive admin compact\n  odarchive admin compact --keep-changes 1B --json",
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.with(cmd.Context(), store.Options{Dense: true}, func(n *app.Node) error {
				done, err := n.Compact(cmd.Context())
				if err != nil {
					return err
				}
				return c.summary(done, "%d bytes before, %d after; %d terms deleted, %d packs rewritten", done.Before, done.After,
					done.Terms, done.Packs)
			})
		},
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable result")
	return c.beside(cmd, besideOptions{right: access.Admin})
}
