package main

import (
	"fmt"
	"strings"
	"time"

	"odarchive/cmd/internal/app"
	"odarchive/crawler/harvest"

	"github.com/spf13/cobra"
)

func (c *cli) harvest() *cobra.Command {
	opts := harvest.Options{}
	var portal string
	cmd := &cobra.Command{
		Use:   "harvest KIND URL",
		Short: "Take the list of files of a portal or of a list of portals",
		Long:  "Kinds: " + strings.Join(app.HarvestKinds(), ", ") + ". A harvest that was cut off goes on where it was.",
		Example: `  odarchive harvest portalwatch https://data.wu.ac.at/portalwatch/sparql
  odarchive harvest portalwatch https://data.wu.ac.at/portalwatch/sparql --portal http://data.gv.at --limit 100`,
		Args: exactly("KIND", "URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			kind, address := args[0], args[1]
			if !app.KnowsHarvest(kind) {
				return usagef("there is no harvester for %q; there are %s", kind, strings.Join(app.HarvestKinds(), ", "))
			}
			return c.with(cmd.Context(), app.Options{Create: true}, func(n *app.Node) error {
				bar := c.progress(-1, "listings")
				opts.Progress = func(r harvest.Report) { bar.set(int64(r.Seeds), fmt.Sprintf("%d new", r.Added)) }
				report, err := n.Harvest(cmd.Context(), kind, address, portal, opts)
				bar.done()
				if err != nil && report.Seeds == 0 {
					return err
				}
				for _, why := range report.Skipped {
					fmt.Fprintln(c.stderr, "skipped:", why)
				}
				if printErr := c.print(report, "%d listings, %d new, %d statements, %d that cannot be crawled, in %s", report.Seeds, report.Added,
					report.Quads, report.Invalid, report.Took.Round(time.Millisecond)); err == nil {
					err = printErr
				}
				return err
			})
		},
	}
	f := cmd.Flags()
	f.IntVar(&opts.Limit, "limit", 0, "stop after so many listings, 0 for all")
	f.BoolVar(&opts.Fresh, "fresh", false, "begin anew instead of going on where the last harvest was cut off")
	f.StringVar(&portal, "portal", "", "harvest only this portal of the list")
	f.BoolVar(&c.json, "json", false, "machine-readable report")
	c.cfg.FetchFlags(f)
	return cmd
}
