package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/operate/access"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
)

// retentionRules explains the rules, for both commands.
const retentionRules = `Rules are [[retention]] tables of the settings file; without them everything is kept. The first rule whose conditions hold for a
version decides:

  name    for people, and in the reason
  portal  only files that this portal lists
  match   conditions of the scope ('odarchive admin scope -h') on URL, type and size, as "type:image/* size:>10MiB"
  older   only versions that were fetched longer ago, as "90d" or "2y"
  keep    "all"; "last 3"; "one a day", "one a week", "one a month", "one a year" (the last of each); "none", which needs older
  except  IRIs of versions, and URLs, that the rule is not for, such as those that somebody cites

The latest version of a file stays, unless the rule says keep = "none". So does a version whose bytes another one has that stays.`

func (c *cli) retention() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "retention",
		Short: "List versions that retention rules do not keep, and remove their bytes",
		Long:  "List the versions that the retention rules do not keep, and remove their bytes.\n\n" + retentionRules,
		Args:  exactly(),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.retentionPlan(), c.retentionApply())
	return cmd
}

func (c *cli) retentionPlan() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "List the versions that the rules of retention do not keep",
		Long: `List the versions that the rules of retention do not keep, how many bytes they have, by rule, and how many bytes the disk would
gain, which is less if they share parts with versions that stay. Nothing is changed.

` + retentionRules,
		Example: `  odarchive admin retention plan --config odarchive.toml
  odarchive admin retention plan --config odarchive.toml --json`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.reading(cmd.Context(), func(n *app.Node) error {
				plan, err := n.PlanRetention(cmd.Context())
				if err != nil {
					return err
				}
				return c.printRetention(plan, "")
			})
		},
	}
	c.readOnlyFlag(cmd)
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable result")
	return c.beside(cmd, besideOptions{right: access.Admin, alone: func() bool { return c.reads }})
}

func (c *cli) retentionApply() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "apply",
		Short: "Take away the versions that the rules of retention do not keep",
		Long: `Take away what 'odarchive admin retention plan' lists, as 'odarchive admin withdraw' does: the records, checksums and triples stay and say
which rule it was, requests for the bytes are answered 410, and the bytes leave the disk. Unlike those of other withdrawals, the
same bytes become a version again if they are fetched again. A server whose settings have retention-at = "03:30" does this once a
day. If a server holds the archive, its rules count.

` + retentionRules,
		Example: `  odarchive admin retention apply --config odarchive.toml
  odarchive admin retention apply --endpoint http://localhost:8080/ --token "$TOKEN" --json`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.applyRetention(cmd.Context()) },
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable result")
	return c.beside(cmd, besideOptions{right: access.Admin})
}

func (c *cli) applyRetention(ctx context.Context) error {
	return c.with(ctx, store.Options{}, func(n *app.Node) error {
		plan, err := n.ApplyRetention(ctx)
		if err != nil {
			return err
		}
		bar := c.progress(-1, "removing the bytes")
		files, err := n.PurgeWithdrawn(ctx, func(step string) { bar.set(0, step) })
		bar.done()
		if err != nil {
			return err
		}
		return c.printRetention(plan, english.Plural(files, "file", "")+" removed from disk")
	})
}

func (c *cli) printRetention(plan catalog.RetentionPlan, then string) error {
	if c.json {
		return c.print(plan, "")
	}
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "rule\tkeeps\tfiles\tversions that go\tbytes\tshared, so stay")
	versions, bytes := 0, int64(0)
	for _, r := range plan.Rules {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%s\t%d\n", printable(r.Name), r.Keep, r.Files, r.Versions, humanize.Bytes(uint64(max(r.Bytes, 0))),
			r.Shared)
		versions += r.Versions
		bytes += r.Bytes
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if !plan.Applied {
		for _, v := range plan.Versions {
			if _, err := fmt.Fprintf(c.stdout, "%s\t%s\t%s\t%s\t%s\n", v.IRI, v.URL, v.At.UTC().Format("2006-01-02"),
				humanize.Bytes(uint64(max(v.Size, 0))), printable(v.Rule)); err != nil {
				return err
			}
		}
	}
	what := "would be taken away"
	if plan.Applied {
		what = "taken away"
	}
	if !plan.Applied {
		then = humanize.Bytes(uint64(max(plan.Freed, 0))) + " of the disk would be freed" + then
	}
	if plan.More {
		then += "; there are more: run it again"
	}
	if then != "" {
		then = "; " + then
	}
	atLeast := ""
	if plan.More && !plan.Applied {
		atLeast = "at least "
	}
	_, err := fmt.Fprintf(c.stdout, "%s%s of %s %s%s\n", atLeast, english.Plural(versions, "version", ""),
		humanize.Bytes(uint64(max(bytes, 0))), what, then)
	return err
}
