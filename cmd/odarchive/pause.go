package main

import (
	"context"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/store"

	"github.com/spf13/cobra"
)

func (c *cli) pause() *cobra.Command {
	var why string
	cmd := &cobra.Command{
		Use:   "pause",
		Short: "Stop the crawl until 'odarchive resume'",
		Long: `Stop the crawl until 'odarchive resume', also across restarts. Visits under way are finished; queries, downloads and
harvests go on. If a server holds the archive, or with --endpoint, the command asks that server.`,
		Example: `  odarchive pause --why "the network is being repaired"
  odarchive pause --endpoint http://localhost:8080/ --token "$SECRET"`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.hold(cmd.Context(), true, why)
		},
	}
	cmd.Flags().StringVar(&why, "why", "", "reason, for people")
	c.remoteFlags(cmd)
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	return cmd
}

func (c *cli) resume() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "resume",
		Short: "Continue the crawl after 'odarchive pause'",
		Long: `Continue the crawl after 'odarchive pause'. If a server holds the archive, or with --endpoint, the command asks that
server. The crawl stands still nevertheless while it is out of its hours or short of room; then the command says so.`,
		Example: `  odarchive resume
  odarchive resume --endpoint http://localhost:8080/ --token "$SECRET"`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.hold(cmd.Context(), false, "")
		},
	}
	c.remoteFlags(cmd)
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	return cmd
}

// hold pauses or resumes the crawl of a running server, or of the archive in --data, and prints why it stands still.
func (c *cli) hold(ctx context.Context, pause bool, why string) error {
	var held string
	var err error
	if r := c.remote(ctx); r != nil {
		held, err = r.Hold(ctx, pause, why)
	} else {
		err = c.with(ctx, store.Options{}, func(n *app.Node) error {
			if pause {
				err = n.Intake.Pause(ctx, why)
			} else {
				err = n.Intake.Resume(ctx)
			}
			held = n.Intake.Held()
			return err
		})
	}
	if err != nil {
		return err
	}
	answer := map[string]string{"held": held}
	if held == "" {
		return c.print(answer, "the crawl goes on")
	}
	return c.print(answer, "the crawl stands still: %s", held)
}
