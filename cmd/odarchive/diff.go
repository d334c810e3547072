package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"odarchive/cmd/internal/app"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect/diff"

	"github.com/spf13/cobra"
)

func (c *cli) diff() *cobra.Command {
	var from, to string
	var opts diff.Options
	cmd := &cobra.Command{
		Use:   "diff URL|VERSION-IRI",
		Short: "Show what changed between two versions of a file",
		Long: `Show what changed: columns and rows of tables, statements of RDF, paths of JSON and XML, or else bytes. By default the
latest version is compared with the one before; with VERSION-IRI, that version is.`,
		Example: `  odarchive diff https://example.org/data.csv
  odarchive diff https://example.org/data.csv --from 0 --to 3 --key id --json`,
		Args: exactly("URL or VERSION-IRI"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.reading(cmd.Context(), func(n *app.Node) error {
				all, err := n.Archive.Versions(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				if len(all) < 2 {
					return fmt.Errorf("there is nothing to compare: the archive has %s of %s", versionsOf(len(all)), args[0])
				}
				id := func(name string) string { id, _ := n.Archive.VersionID(name); return id }
				last := len(all) - 1
				if named := slices.IndexFunc(all, func(v catalog.Version) bool { return v.ID == id(args[0]) }); named >= 0 {
					last = named
				}
				newer, err := pick(all, "--to", id(to), last)
				if err != nil {
					return err
				}
				older, err := pick(all, "--from", id(from),
					slices.IndexFunc(all, func(v catalog.Version) bool { return v.ID == newer.ID })-1)
				if err != nil {
					return err
				}
				report, err := n.Archive.Compare(cmd.Context(), older, newer, opts)
				if key, ok := errors.AsType[*diff.KeyError](err); ok {
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
	f.StringVar(&from, "from", "", "older version, by number, id or IRI")
	f.StringVar(&to, "to", "", "newer version, by number, id or IRI")
	f.StringSliceVar(&opts.Key, "key", nil, "columns that identify a row; found automatically by default")
	number(f, &opts.List, "list", 0, unbounded, "number of changes to list, 0 for 100; counts are always complete")
	f.BoolVar(&c.json, "json", false, "machine-readable report")
	c.readOnlyFlag(cmd)
	return c.beside(cmd, besideOptions{})
}

// pick returns the version with a number or an id, or version n if name is empty.
func pick(all []catalog.Version, flag, name string, n int) (catalog.Version, error) {
	if name != "" {
		if i := slices.IndexFunc(all, func(v catalog.Version) bool { return v.ID == name }); i >= 0 {
			return all[i], nil
		}
		var err error
		if n, err = strconv.Atoi(name); err != nil {
			return catalog.Version{}, usagef("%s %q is not the number, id or IRI of a version of this file", flag, name)
		}
		if i := slices.IndexFunc(all, func(v catalog.Version) bool { return v.N == n }); i >= 0 { // numbers need not follow dates
			n = i
		}
	}
	if n < 0 && name == "" {
		return catalog.Version{}, usagef("there is no version before version 0; choose another one with --from")
	}
	if n < 0 || n >= len(all) {
		return catalog.Version{}, usagef("%s: there are %d versions, numbered from 0; there is no version %d", flag, len(all), n)
	}
	return all[n], nil
}

func versionsOf(n int) string {
	if n == 0 {
		return "no version"
	}
	return "one version"
}
