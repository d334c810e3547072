package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"odarchive/cmd/internal/app"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/queue/schedule"
	"odarchive/crawler/queue/scope"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
)

// scheduleFlags are settings for which schedule may be asked beside a server that has others.
var scheduleFlags = []string{"schedule", "min-interval", "max-interval", "round"}

func (c *cli) schedule() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schedule URL",
		Short: "Explain when a file is visited again",
		Example: `  odarchive schedule https://example.org/data.csv
  odarchive schedule https://example.org/data.csv --schedule paper`,
		Args: exactly("URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.reading(cmd.Context(), func(n *app.Node) error {
				name := args[0]
				if r, err := n.Archive.Resource(cmd.Context(), name); err == nil {
					name = r.URL
				}
				u, err := n.Frontier.Get(name)
				if err != nil {
					return err
				}
				out := n.Scope.Test(scope.Question{Area: scope.Crawl, URL: u.URL, Size: -1})
				rule := n.Pipeline.Schedule
				if c.call != nil && slices.ContainsFunc(scheduleFlags, cmd.Flags().Changed) {
					if rule, err = n.Rule(c.cfg.Fetch); err != nil {
						return err
					}
				}
				next, why := rule.Next(u.Key, u.Period, u.History, n.Clock())
				estimate := schedule.Believe(u.History, schedule.Hints{Declared: u.Period}).Explain()
				wait, waits, err := n.Pipeline.WaitOf(u.URL)
				if err != nil {
					return err
				}
				if c.json {
					var host any // null if it may be asked
					if waits {
						host = wait
					}
					return c.print(map[string]any{"waits": host, "url": u.URL, "visits": u.Fetches, "changes": u.Changes,
						"history": u.History, "estimate": estimate, "due": u.Due, "because": u.Why, "blacklisted": u.Blacklisted,
						"next": next, "why": why, "scope": out}, "")
				}
				listed := ""
				if n := len(u.History); n < u.Fetches {
					listed = fmt.Sprintf("; the schedule remembers %d", n)
				}
				fmt.Fprintf(c.stdout, "%s\n%s, %d of them found a change%s\n", u.URL, english.Plural(u.Fetches, "visit", ""), u.Changes,
					listed)
				for _, v := range u.History {
					change := ""
					if v.Changed {
						change = ", changed"
					}
					fmt.Fprintf(c.stdout, "  %s  %s%s\n", v.At.UTC().Format(time.RFC3339), v.Outcome, change)
				}
				for _, line := range estimate {
					if u.Fetches < 2 { // one visit says nothing of changes
						break
					}
					fmt.Fprintln(c.stdout, "estimate: "+line)
				}
				if never := notVisited(n, u); never != "" {
					return c.print(nil, "%s", never)
				}
				because := cmp.Or(u.Why, "as requested")
				due := "due at "
				if !u.Due.After(n.Clock()) {
					due = "due since "
				}
				due += u.Due.UTC().Format(time.RFC3339) + ": " + because
				if waits {
					due += "\n" + wait.String()
				}
				if len(u.History) == 0 && u.Fetches > 0 { // the rule does not apply to temporary failures
					return c.print(nil, "%s", due)
				}
				return c.print(nil, "%s\nby the present rule: %s: %s", due, next.UTC().Format(time.RFC3339), why)
			})
		},
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	c.cfg.FetchFlags(cmd.Flags())
	c.readOnlyFlag(cmd)
	return c.beside(cmd, besideOptions{settings: scheduleFlags})
}

// notVisited says why a URL is not visited again, "" if it is.
func notVisited(n *app.Node, u *frontier.URL) string {
	switch {
	case u.Blacklisted && strings.HasPrefix(u.Why, "paused"):
		return "not fetched until 'odarchive admin resume' (" + u.Why + ")"
	case u.Blacklisted && strings.HasPrefix(u.Why, "dropped"):
		return "blacklisted: not fetched until 'odarchive admin requeue' (" + u.Why + ")"
	case u.Blacklisted:
		return "blacklisted: not fetched until 'odarchive admin requeue'"
	}
	if out := n.Scope.Test(scope.Question{Area: scope.Crawl, URL: u.URL, Size: -1}); out != "" {
		return "not visited: " + out
	}
	if u.Due.IsZero() {
		return "not due again" + strings.TrimSuffix(": "+u.Why, ": ")
	}
	return ""
}
