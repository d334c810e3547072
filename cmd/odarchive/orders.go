package main

import (
	"context"
	"fmt"
	"strings"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/faces"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/address"
	"odarchive/crawler/frontier"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
)

func (c *cli) requeue() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "requeue URL|HOST...",
		Short: "Make files due now",
		Long: `Make URLs, or all URLs of hosts, due now, even after failures. Dropped URLs are crawled again. A running crawl fetches
them at once, otherwise the next one does. If a server holds the archive, or with --endpoint, the command asks that server.`,
		Example: `  odarchive requeue https://example.org/data.csv
  odarchive requeue data.example.org
  odarchive requeue data.example.org --endpoint http://localhost:8080/ --token "$SECRET"`,
		Args: targets,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.order(cmd.Context(), "/crawl/requeue", faces.Order{Targets: args}, "due now", func(n *app.Node) (frontier.Ordered, error) {
				return n.Intake.Requeue(cmd.Context(), args...)
			})
		},
	}
	c.remoteFlags(cmd)
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	return cmd
}

func (c *cli) drop() *cobra.Command {
	var why string
	cmd := &cobra.Command{
		Use:   "drop URL|HOST...",
		Short: "Remove files from the crawl; archived versions stay",
		Long: `Remove URLs, or all URLs of hosts, from the crawl. Archived versions stay. The URLs, and new URLs of dropped hosts, stay
removed even if a source lists them again, until 'odarchive requeue' restores them. If a server holds the archive, or with
--endpoint, the command asks that server.`,
		Example: `  odarchive drop https://example.org/data.csv --why "a calendar without an end"
  odarchive drop data.example.org
  odarchive drop data.example.org --endpoint http://localhost:8080/ --token "$SECRET"`,
		Args: targets,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.order(cmd.Context(), "/crawl/drop", faces.Order{Targets: args, Why: why}, "dropped", func(n *app.Node) (frontier.Ordered, error) {
				return n.Intake.Drop(cmd.Context(), why, args...)
			})
		},
	}
	cmd.Flags().StringVar(&why, "why", "", "reason, for people")
	c.remoteFlags(cmd)
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	return cmd
}

// targets checks that the arguments are URLs or host names, at least one.
func targets(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usagef("%s needs at least one URL or host", cmd.Name())
	}
	for _, a := range args {
		link := a
		if !strings.Contains(a, "://") {
			link = "http://" + a + "/"
		}
		if _, err := address.Parse(link); err != nil || link != a && strings.ContainsAny(a, "/?#@ ") {
			return usagef("%q is neither a URL such as https://example.org/data.csv nor a host such as data.example.org", a)
		}
	}
	return nil
}

// order sends an order to a running server, or carries it out in the archive in --data. Unknown targets are an error,
// after the others have been handled.
func (c *cli) order(ctx context.Context, path string, o faces.Order, what string, local func(*app.Node) (frontier.Ordered, error)) error {
	var done frontier.Ordered
	var err error
	if r := c.remote(ctx); r != nil {
		done, err = r.Order(ctx, path, o)
	} else {
		err = c.with(ctx, store.Options{}, func(n *app.Node) (err error) {
			done, err = local(n)
			return err
		})
	}
	if err != nil {
		return err
	}
	if err := c.print(done, "%s %s", english.Plural(done.URLs, "URL", ""), what); err != nil {
		return err
	}
	if len(done.Unknown) > 0 {
		return fmt.Errorf("nothing is known of %s", strings.Join(done.Unknown, ", "))
	}
	return nil
}
