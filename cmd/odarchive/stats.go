package main

import (
	"fmt"
	"maps"
	"slices"
	"text/tabwriter"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/faces"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
)

func (c *cli) stats() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "stats",
		Short:   "Show figures of the archive",
		Example: "  odarchive admin stats\n  odarchive admin stats --json | jq .versions",
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.reading(cmd.Context(), func(n *app.Node) error {
				f, err := n.Figures(cmd.Context())
				switch {
				case err != nil:
					return err
				case c.json:
					return c.print(f, "")
				}
				return c.statsTable(f)
			})
		},
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	c.readOnlyFlag(cmd)
	return c.beside(cmd, besideOptions{})
}

func (c *cli) statsTable(s faces.Figures) error {
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name, value string) { fmt.Fprintf(w, "%s\t%s\t\n", name, value) }
	row("URLs", humanize.Comma(int64(s.Resources)))
	row("with a version", humanize.Comma(int64(s.Crawled)))
	row("hosts", humanize.Comma(int64(s.Hosts)))
	row("portals", humanize.Comma(int64(s.Portals)))
	row("datasets", humanize.Comma(int64(s.Datasets)))
	row("fetches", humanize.Comma(int64(s.Visits)))
	row("versions", humanize.Comma(int64(s.Versions)))
	row("bytes", humanize.IBytes(uint64(s.Bytes)))
	row("on disk", humanize.IBytes(uint64(s.StoredBytes)))
	row("triples", humanize.Comma(int64(s.Triples)))
	types := slices.Sorted(maps.Keys(s.Types))
	slices.SortStableFunc(types, func(a, b string) int { return s.Types[b] - s.Types[a] })
	for _, t := range types {
		row(t, humanize.Comma(int64(s.Types[t])))
	}
	return w.Flush()
}
