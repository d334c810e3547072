package main

import (
	"context"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/queue/frontier"

	"github.com/spf13/cobra"
)

func (c *cli) pause() *cobra.Command {
	o := &orderFlags{kind: frontier.OrderPause}
	cmd := &cobra.Command{
		Use:   "pause [URL|HOST...]",
		Short: "Stop the crawl, or that of some files, until 'odarchive admin resume'",
		Long: `Stop the crawl until 'odarchive admin resume', also across restarts. Visits under way are finished; queries, downloads and
harvests go on. With URLs, hosts or patterns, only these are left alone; new URLs of a paused host, too. If a server holds the
archive, or with --endpoint, the command asks that server.`,
		Example: `  odarchive admin pause --why "the network is being repaired"
  odarchive admin pause data.example.org --why "asked to wait until Monday"
  odarchive admin pause --pattern '/calendar/' --dry-run
  odarchive admin pause --endpoint http://localhost:8080/ --token "$SECRET"`,
	}
	cmd.Flags().StringVar(&o.why, "why", "", "reason, for people")
	return c.holdCommand(o, cmd, "paused")
}

func (c *cli) resume() *cobra.Command {
	o := &orderFlags{kind: frontier.OrderResume}
	cmd := &cobra.Command{
		Use:   "resume [URL|HOST...]",
		Short: "Continue the crawl after 'odarchive admin pause'",
		Long: `Continue the crawl after 'odarchive admin pause', or that of URLs, hosts and patterns: these are due as they were before the pause. If
a server holds the archive, or with --endpoint, the command asks that server. Outside of its hours
(--hours), or while disk space is short, the crawl still waits; then the command says so.`,
		Example: `  odarchive admin resume
  odarchive admin resume data.example.org
  odarchive admin resume --endpoint http://localhost:8080/ --token "$SECRET"`,
	}
	return c.holdCommand(o, cmd, "resumed")
}

// holdCommand returns a command that concerns the whole crawl if it has no targets.
func (c *cli) holdCommand(o *orderFlags, cmd *cobra.Command, done string) *cobra.Command {
	o.whole = func(ctx context.Context) error { return c.hold(ctx, o.kind == frontier.OrderPause, o.why) }
	return c.orderCommand(o, cmd, done)
}

// hold pauses or resumes the crawl, and prints why it stands still.
func (c *cli) hold(ctx context.Context, pause bool, why string) error {
	var held string
	err := c.with(ctx, store.Options{}, func(n *app.Node) (err error) {
		if pause {
			err = n.Intake.Pause(ctx, why)
		} else {
			err = n.Intake.Resume(ctx)
		}
		held = n.Intake.Held()
		return err
	})
	if err != nil {
		return err
	}
	answer := map[string]string{"held": held}
	if held == "" {
		return c.print(answer, "the crawl goes on")
	}
	return c.print(answer, "the crawl stands still: %s", held)
}
