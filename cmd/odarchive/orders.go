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
		Short: "Make files due now, whatever came of their last visits",
		Long: `Make URLs due now, or all URLs of hosts. Failures in a row and back-offs are forgotten, and what was dropped is crawled
again. The next crawl fetches them; a running one does at once. The order goes to the server that holds the archive,
if there is one, or with --endpoint to another.`,
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
		Short: "Take files out of the crawl; what was archived stays",
		Long: `Take URLs, or all URLs of hosts, out of the crawl. What was archived stays. They are kept out when a source lists them
again, and so are new URLs of a host that was dropped, until 'odarchive requeue' takes them back.
The order goes to the server that holds the archive,
if there is one, or with --endpoint to another.`,
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
	cmd.Flags().StringVar(&why, "why", "", "what people are told")
	c.remoteFlags(cmd)
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	return cmd
}

// targets checks that there are URLs, or names of hosts.
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

// order gives an order to a running server, or to the archive in --data. What nothing is known of is an error, after the
// rest has been done.
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
