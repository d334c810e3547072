package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/faces"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/address"
	"odarchive/crawler/frontier"
	"odarchive/sparqlapi/answer"

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
			return c.order(cmd.Context(), "/crawl/requeue", faces.Order{Targets: args}, "due now", func(n *app.Node, targets []string) (frontier.Ordered, error) {
				return n.Intake.Requeue(cmd.Context(), targets...)
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
			return c.order(cmd.Context(), "/crawl/drop", faces.Order{Targets: args, Why: why}, "dropped", func(n *app.Node, targets []string) (frontier.Ordered, error) {
				return n.Intake.Drop(cmd.Context(), why, targets...)
			})
		},
	}
	cmd.Flags().StringVar(&why, "why", "", "reason, for people")
	c.remoteFlags(cmd)
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	return cmd
}

// targets checks that there are arguments, and that one of them at least is a URL or host name.
func targets(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usagef("%s needs at least one URL or host", cmd.Name())
	}
	if good, bad := soundTargets(args); len(good) == 0 {
		return usagef("%s", bad[0].Error)
	}
	return nil
}

// ordered is what an order did, and which arguments were left out.
type ordered struct {
	frontier.Ordered
	Bad []answer.Bad `json:"bad,omitempty"`
}

// soundTargets returns the arguments that are URLs or host names, and what is wrong with the others.
func soundTargets(args []string) (good []string, bad []answer.Bad) {
	for i, a := range args {
		if err := address.CheckTarget(a); err != nil {
			bad = append(bad, answer.Bad{Index: i, Error: sentence(err)})
			continue
		}
		good = append(good, a)
	}
	return good, bad
}

// order sends an order to a running server, or carries it out in the archive in --data. Unknown and malformed targets
// are an error, after the others have been handled.
func (c *cli) order(ctx context.Context, path string, o faces.Order, what string, local func(*app.Node, []string) (frontier.Ordered, error)) error {
	var done ordered
	var err error
	o.Targets, done.Bad = soundTargets(o.Targets)
	if r := c.remote(ctx); r != nil {
		done.Ordered, err = r.Order(ctx, path, o)
	} else {
		err = c.with(ctx, store.Options{}, func(n *app.Node) (err error) {
			done.Ordered, err = local(n, o.Targets)
			return err
		})
	}
	if err != nil {
		return err
	}
	if err := c.print(done, "%s %s", english.Plural(done.URLs, "URL", ""), what); err != nil {
		return err
	}
	var left []error
	for _, one := range done.Bad {
		left = append(left, errors.New(one.Error))
	}
	if len(done.Unknown) > 0 {
		left = append(left, fmt.Errorf("nothing is known of %s", strings.Join(done.Unknown, ", ")))
	}
	return errors.Join(left...)
}
