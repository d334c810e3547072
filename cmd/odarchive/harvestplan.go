package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/crawl"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/timetable"
	"odarchive/sparqlapi/operate/access"

	"github.com/spf13/cobra"
)

// planFlags are the flags that make 'harvest' plan a harvest instead of running it.
type planFlags struct {
	every string
	at    []string
}

func (p *planFlags) define(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&p.every, "every", "", "do not harvest now, but have the server harvest at this interval, such as 24h or 7d")
	f.StringSliceVar(&p.at, "at", nil,
		"do not harvest now, but have the server harvest at this time of day, or of a week, in local time, as 03:30 or 'mon 03:30' "+
			"(repeatable)")
}

// given reports whether a harvest is to be planned.
func (p planFlags) given() bool { return p.every != "" || len(p.at) > 0 }

// plan returns the plan of a command line.
func (p planFlags) plan(source crawl.HarvestSource, opts harvest.Options) (timetable.Plan, error) {
	plan := timetable.Plan{Kind: source.Kind, URL: source.Address, Portal: source.Portal, At: p.at, Since: opts.Part.Since,
		Until: opts.Part.Until, Sets: opts.Part.Sets, Limit: opts.Limit, Graphs: opts.Graphs, Withdraw: opts.Sure}
	if opts.Fresh || opts.Part.Prefix != "" || opts.Part.ByOne || opts.Part.Query != "" {
		return plan, usagef("--fresh, --metadata-prefix, --by-identifier and --query cannot be planned")
	}
	if p.every != "" {
		every, err := timetable.ParseInterval(p.every)
		if err != nil {
			return plan, usagef("--every: %w", err)
		}
		plan.Every = every
	}
	plan, err := plan.Check()
	if err != nil {
		return plan, usageError{err}
	}
	return plan, nil
}

// planHarvest plans a harvest.
func (c *cli) planHarvest(ctx context.Context, p timetable.Plan) error {
	return c.with(ctx, store.Options{Create: true}, func(n *app.Node) error {
		planned, err := n.Timetable.Add(ctx, p)
		if err != nil {
			return err
		}
		return c.print(planned, "%s: %s %s is harvested %s, next %s, by 'odarchive serve'", planned.ID, planned.Kind,
			printable(planned.URL), planned.When, localTime(planned.Next))
	})
}

// harvestPlans returns the commands about planned harvests.
func (c *cli) harvestPlans() []*cobra.Command {
	list := &cobra.Command{
		Use:   "list",
		Short: "List the planned harvests: when they ran, what has changed, when they run next",
		Long: `List the harvests that 'odarchive serve' runs at their times: those of the [[harvest]] tables of the settings file, and those
planned by 'harvest KIND URL --every 24h'. A table has the settings kind, url, every ("24h", "7d") or at ("03:30",
"mon 03:30"; several in a list), portal, since, until, set, limit, graphs, withdraw and paused.`,
		Example: "  odarchive harvest list\n  odarchive harvest list --json",
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.reading(cmd.Context(), func(n *app.Node) error { return c.printPlans(n.Timetable.List()) })
		},
	}
	c.readOnlyFlag(list)
	list.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	var why string
	pause := c.harvestOrder("pause", "Stop running a planned harvest, until 'harvest resume'", "is paused",
		func(ctx context.Context, t *timetable.Timetable, name string) (timetable.Planned, error) {
			return t.Pause(ctx, name, why)
		})
	pause.Flags().StringVar(&why, "why", "", "reason, for people")
	return []*cobra.Command{
		c.beside(list, besideOptions{}),
		c.harvestOrder("run", "Make a planned harvest due now; the server runs it", "is due",
			func(ctx context.Context, t *timetable.Timetable, name string) (timetable.Planned, error) {
				return t.RunNow(ctx, name)
			}),
		pause,
		c.harvestOrder("resume", "End 'harvest pause', also for a harvest that the settings file pauses", "is planned again",
			func(ctx context.Context, t *timetable.Timetable, name string) (timetable.Planned, error) {
				return t.Resume(ctx, name)
			}),
		c.harvestOrder("remove", "Remove a harvest that 'harvest KIND URL --every' has planned; what it harvested stays",
			"is no longer planned", func(ctx context.Context, t *timetable.Timetable, name string) (timetable.Planned, error) {
				return t.Remove(ctx, name)
			}),
	}
}

// harvestOrder returns a command about one planned harvest.
func (c *cli) harvestOrder(name, short, done string,
	do func(context.Context, *timetable.Timetable, string) (timetable.Planned, error)) *cobra.Command {
	cmd := &cobra.Command{
		Use: name + " ID|URL", Short: short,
		Example: "  odarchive harvest " + name + " https://data.example.org",
		Args:    exactly("ID or URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.with(cmd.Context(), store.Options{}, func(n *app.Node) error {
				p, err := do(cmd.Context(), n.Timetable, args[0])
				if err != nil {
					return err
				}
				return c.print(p, "%s: the harvest of %s %s %s", p.ID, p.Kind, printable(p.URL), done)
			})
		},
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	return c.beside(cmd, besideOptions{right: access.Crawl})
}

func (c *cli) printPlans(all []timetable.Planned) error {
	if c.json {
		return c.print(map[string]any{"harvests": all}, "")
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(c.stdout, "no harvest is planned")
		return err
	}
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "id\tkind\turl\twhen\tby\tstate\tnext\tlast\tdatasets\tnew\tchanged\twithdrawn\twaiting")
	for _, p := range all {
		last := "-\t-\t-\t-\t-\t-"
		if r := p.Last; r != nil {
			last = fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s", localTime(r.Started), r.Datasets.Or("-"), r.Inserted.Plus(r.Returned).Or("-"),
				r.Updated.Or("-"), r.Withdrawn.Or("-"), r.Waiting.Or("-"))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", p.ID, p.Kind, printable(strings.TrimSpace(p.URL+" "+p.Portal)), p.When, p.From,
			p.State, localTime(p.Next), last)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, p := range all {
		for _, note := range []string{p.Error, p.Why} {
			if note == "" {
				continue
			}
			if _, err := fmt.Fprintf(c.stdout, "%s: %s\n", p.ID, printable(note)); err != nil {
				return err
			}
		}
	}
	return nil
}

// localTime returns a time for people, "-" for none.
func localTime(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format(time.DateTime)
}
