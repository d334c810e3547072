package main

import (
	"fmt"
	"text/tabwriter"

	"odarchive/cmd/internal/app"
	"odarchive/crawler/catalog"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
)

func (c *cli) stats() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "stats",
		Short:   "Show the archive's figures",
		Example: "  odarchive stats\n  odarchive stats --json | jq .versions",
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.with(cmd.Context(), app.Options{}, func(n *app.Node) error {
				s, err := n.Archive.Stats(cmd.Context())
				if err != nil {
					return err
				}
				if c.json {
					return c.print(statsOf(s), "")
				}
				return c.statsTable(s)
			})
		},
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	return cmd
}

// figures is what `stats --json` prints. Names are stable.
type figures struct {
	Resources   int            `json:"resources"`
	Crawled     int            `json:"crawled"`
	Hosts       int            `json:"hosts"`
	Portals     int            `json:"portals"`
	Datasets    int            `json:"datasets"`
	Versions    int            `json:"versions"`
	Visits      int            `json:"visits"`
	Bytes       int64          `json:"bytes"`
	StoredBytes int64          `json:"storedBytes"`
	Triples     int            `json:"triples"`
	Types       map[string]int `json:"types"`
}

func statsOf(s catalog.Stats) figures {
	f := figures{s.Resources, s.Crawled, s.Hosts, s.Portals, s.Datasets, s.Versions, s.Visits, s.Bytes, s.StoredBytes, s.Triples, map[string]int{}}
	for _, t := range s.Types {
		f.Types[t.Key] = t.Count
	}
	return f
}

func (c *cli) statsTable(s catalog.Stats) error {
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
	for _, t := range s.Types {
		row(t.Key, humanize.Comma(int64(t.Count)))
	}
	return w.Flush()
}
