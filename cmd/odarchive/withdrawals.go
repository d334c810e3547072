package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/operate/access"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
)

func (c *cli) withdrawals() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "withdrawals",
		Short: "List what was withdrawn, and why",
		Long: `List what was withdrawn, when and why, a line each. With --json, each line is an object with the SHA-256 of the bytes. Keep that
list beside your backups: 'odarchive restore --withdrawals' takes away again what was withdrawn after a backup was made.`,
		Example: `  odarchive admin withdrawals
  odarchive admin withdrawals --json > withdrawals.jsonl`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.reading(cmd.Context(), func(n *app.Node) error {
				return n.Archive.Withdrawn(cmd.Context(), func(b catalog.WithdrawnBytes) error {
					if c.json {
						return json.NewEncoder(c.stdout).Encode(b)
					}
					_, err := fmt.Fprintf(c.stdout, "%s\t%s\t%s\t%d\t%s\t%s\n", n.Mint.Version(b.Version), b.URL,
						b.At.UTC().Format("2006-01-02"), b.Status, printable(b.Reason), printable(b.Basis))
					return err
				})
			})
		},
	}
	c.readOnlyFlag(cmd)
	cmd.Flags().BoolVar(&c.json, "json", false, "a JSON object a line")
	return c.beside(cmd, besideOptions{right: access.Admin, alone: func() bool { return c.reads }})
}

// withdrawAgain withdraws from a restored archive what a list says.
func (c *cli) withdrawAgain(ctx context.Context, name string) error {
	in, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("--withdrawals: %w", err)
	}
	defer in.Close()
	return c.with(ctx, store.Options{}, func(n *app.Node) error {
		bar := c.progress(-1, "withdrawing again")
		versions, left, err := n.WithdrawAgain(ctx, in, func(step string) { bar.set(0, step) })
		bar.done()
		if err != nil {
			return fmt.Errorf("%s is restored, but not all that was withdrawn since was taken away again: %w", c.cfg.Data, err)
		}
		fmt.Fprintf(c.stderr, "odarchive: %s withdrawn again\n", english.Plural(versions, "version", ""))
		if left > 0 {
			fmt.Fprintf(c.stderr, "odarchive: %s left to the rules of retention, which remove old versions again\n",
				english.Plural(left, "version is", "versions are"))
		}
		return nil
	})
}
