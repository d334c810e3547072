package main

import (
	"fmt"
	"text/tabwriter"

	"odarchive/cmd/internal/app"
	"odarchive/crawler/archive/quality"
	"odarchive/sparqlapi/operate/access"

	"github.com/spf13/cobra"
)

func (c *cli) quality() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "quality [PORTAL-IRI]...",
		Short: "Measure the quality of portals' metadata",
		Long: `Measure the metadata of every dataset of the portals, or of all portals by default: is information present, does it
conform, is it true of the archived files, is the data open and available? The values (0 to 1) are stored as dqv: triples in
the graph BASEgraph/PORTAL#quality. The same is done after each harvest for its changes, and once a day in a running server.
Run it after a crawl to include what the crawl found out about formats, sizes and missing files.

Exit status: 0 done, 1 failed, 2 wrong usage.`,
		Example: `  odarchive admin quality
  odarchive admin quality https://data.example.org/ --json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, portals []string) error {
			return c.reading(cmd.Context(), func(n *app.Node) error {
				tables, err := n.Quality(cmd.Context(), portals...)
				if err != nil {
					return err
				}
				if c.json {
					if tables == nil {
						tables = []quality.Table{}
					}
					return c.print(tables, "")
				}
				for _, t := range tables {
					if t.Datasets == 0 {
						fmt.Fprintf(c.stderr, "%s lists no datasets\n", t.Portal)
						continue
					}
					w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
					fmt.Fprintf(w, "%s, %s, %d with changed values\n", t.Portal, datasets(t.Datasets), t.Changed)
					dimension := ""
					for _, r := range t.Rows {
						shown := r.Dimension
						if shown == dimension {
							shown = ""
						}
						dimension = r.Dimension
						fmt.Fprintf(w, "%s\t%s\t%.2f\t%s\n", shown, r.Label, r.Mean, datasets(r.Datasets))
					}
					if err := w.Flush(); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	c.readOnlyFlag(cmd)
	return c.beside(cmd, besideOptions{right: access.Crawl})
}

func datasets(n int) string {
	if n == 1 {
		return "1 dataset"
	}
	return fmt.Sprintf("%d datasets", n)
}
