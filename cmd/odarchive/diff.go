package main

import (
	"errors"
	"fmt"
	"strconv"

	"odarchive/cmd/internal/app"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect/diff"
	"odarchive/ns"

	"github.com/spf13/cobra"
)

func (c *cli) diff() *cobra.Command {
	var from, to string
	var opts diff.Options
	cmd := &cobra.Command{
		Use:   "diff URL",
		Short: "Say what changed between two versions of a file",
		Long: `Say what changed: columns and rows of tables, statements of RDF, paths of JSON and XML, else bytes. Without --from and
--to, the latest version is compared with the one before.`,
		Example: `  odarchive diff https://example.org/data.csv
  odarchive diff https://example.org/data.csv --from 0 --to 3 --key id --json`,
		Args: exactly("URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.reading(cmd.Context(), func(n *app.Node) error {
				all, err := n.Archive.Versions(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				if len(all) < 2 {
					return fmt.Errorf("there is nothing to compare: the archive has %s of %s", versionsOf(len(all)), args[0])
				}
				newer, err := pick(all, "--to", to, len(all)-1)
				if err != nil {
					return err
				}
				older, err := pick(all, "--from", from, newer.N-1)
				if err != nil {
					return err
				}
				report, err := n.Archive.Compare(cmd.Context(), older, newer, opts)
				var key *diff.KeyError
				if errors.As(err, &key) {
					return usagef("--key: %w", key)
				}
				if err != nil {
					return err
				}
				if c.json {
					return report.WriteJSON(c.stdout)
				}
				return report.WriteText(c.stdout)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&from, "from", "", "older version, by number or id")
	f.StringVar(&to, "to", "", "newer version, by number or id")
	f.StringSliceVar(&opts.Key, "key", nil, "columns that name a row; without it they are found")
	f.IntVar(&opts.List, "list", 0, "how many changes to list, 0 for 100; counts are always of everything")
	f.BoolVar(&c.json, "json", false, "machine-readable report")
	c.readOnlyFlag(cmd)
	return cmd
}

// pick finds a version by its number or id; n is the one meant where none is named.
func pick(all []catalog.Version, flag, name string, n int) (catalog.Version, error) {
	if name != "" {
		var err error
		if n, err = strconv.Atoi(name); err != nil {
			_, number, ok := ns.SplitVersionID(name)
			if !ok {
				return catalog.Version{}, usagef("%s %q is neither the number of a version nor a version id", flag, name)
			}
			n = number
		}
	}
	if n < 0 && name == "" {
		return catalog.Version{}, usagef("version 0 is the first: there is none before it to compare it with; name another with --from")
	}
	if n < 0 || n >= len(all) {
		return catalog.Version{}, usagef("%s: there are %d versions to compare, numbered from 0, and number %d was asked for", flag, len(all), n)
	}
	return all[n], nil
}

func versionsOf(n int) string {
	if n == 0 {
		return "no version"
	}
	return "one version"
}
