package main

import (
	"strings"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/store"

	"github.com/spf13/cobra"
)

func (c *cli) rebase() *cobra.Command {
	dryRun := false
	cmd := &cobra.Command{
		Use:   "rebase --base IRI",
		Short: "Move the archive's own IRIs to another base",
		Long: `Write the IRIs that the archive made for versions, fetches and graphs anew below --base, when the archive has moved to
another address. IRIs below its former bases stay known for ever: queries that select them still download their files, and
get, zip and FROM take them. Nothing else changes; what documents say stays as it is. Later commands without --base know the
new base. If it is interrupted, the next command that writes to the archive completes it. Programs that follow the log of
changes see the removals and additions; a sink sends a whole copy to its target.`,
		Example: "  odarchive admin rebase --base https://data.example.org/ --dry-run\n  odarchive admin rebase --base " +
			"https://data.example.org/",
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("base") {
				return usagef("rebase needs --base, the address below which the archive's IRIs shall be")
			}
			opts := store.Options{}
			if dryRun {
				opts.Reads = store.IfHeld
			}
			return c.with(cmd.Context(), opts, func(n *app.Node) error {
				done, err := store.Rebased{}, error(nil)
				says := "%d triples and %d content graphs are below %s now; former bases: %s"
				if dryRun {
					says = "%d triples and %d content graphs would move to %s; former bases: %s"
					done, err = n.RebaseDryRun(cmd.Context())
				} else {
					done, err = n.Rebase(cmd.Context())
				}
				if err != nil {
					return err
				}
				return c.print(done, says, done.Triples, done.Graphs, done.Base, orNone(done.Former))
			})
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only say what would change")
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable result")
	return cmd
}

// orNone joins words with blanks.
func orNone(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, " ")
}
