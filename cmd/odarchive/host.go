package main

import (
	"context"
	"fmt"
	"strings"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/web/hosts"
	"odarchive/sparqlapi/operate/access"

	"github.com/spf13/cobra"
)

func (c *cli) host() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "host",
		Short: "Change the settings of single hosts; pause or forget hosts",
		Long: `Set how single hosts are asked: how often, how many requests at a time, as whom, with which login, through which proxy, and where
they are.
MATCH is a host (data.example.org, or with a port), a domain with everything below it ('*.example.org'), a regular
expression for the whole name ('/data[0-9]+\.example\.org/'), or '*'. The most specific rule that sets a value decides;
what these commands set has precedence over [[host]] tables of the settings file for the same MATCH, and survives a
restart. Changes have effect from the next request on.

Passwords, cookies and certificates are in the file of --secrets-file, which only its owner may read; secret=NAME names a
section of it. If a server holds the archive, or with --endpoint, the commands ask that server.`,
		Example: `  odarchive admin host set data.example.org delay=10s max-body=2GiB user-agent=research/1.0
  odarchive admin host set '*.example.org' secret=portal proxy=socks5://127.0.0.1:1080 header.X-Project=archive
  odarchive admin host set intranet.example.org resolve=10.1.2.3:8080
  odarchive admin host set api.example.org robots=ignore robots-by='Jane Doe' robots-why='she runs it'
  odarchive admin host show data.example.org
  odarchive admin host pause '*.example.org' --why "they asked us to"`,
		Args: noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var why string
	list := c.hostCommand("list", "List the settings of hosts", "  odarchive admin host list", exactly(),
		func(_ context.Context, n *app.Node, _ []string) error {
			rules := n.HostRules()
			return c.printHostRules(map[string]any{"rules": rules}, rules)
		})
	show := c.hostCommand("show HOST", "Show what applies to a host, and why", "  odarchive admin host show data.example.org",
		exactly("host"),
		func(_ context.Context, n *app.Node, args []string) error { return c.printView(n.ViewHost(args[0])) })
	set := c.hostCommand("set MATCH NAME=VALUE...", "Set values for hosts",
		"  odarchive admin host set data.example.org delay=10s parallel=2 daily=20%\n  odarchive admin host set data.example.org delay=",
		checkValues,
		func(ctx context.Context, n *app.Node, args []string) error {
			values := map[string]string{}
			for _, arg := range args[1:] {
				name, value, _ := strings.Cut(arg, "=")
				values[name] = value
			}
			rule, err := n.SetHosts(ctx, args[0], values)
			if err != nil {
				return err
			}
			return c.print(rule, "%s: %s", rule.Match, strings.Join(rule.Lines(), " "))
		})
	unset := c.hostCommand("unset MATCH", "Remove what 'host set' and 'host pause' have set",
		"  odarchive admin host unset data.example.org",
		exactly("match"), func(ctx context.Context, n *app.Node, args []string) error {
			if err := n.UnsetHosts(ctx, args[0]); err != nil {
				return err
			}
			return c.print(map[string]string{"match": args[0]}, "nothing is set for %s", args[0])
		})
	pause := c.hostCommand("pause MATCH", "Stop asking hosts until 'host resume'",
		"  odarchive admin host pause data.example.org --why \"maintenance until Monday\"", exactly("match"),
		func(ctx context.Context, n *app.Node, args []string) error {
			if err := n.PauseHosts(ctx, args[0], why); err != nil {
				return err
			}
			return c.print(map[string]string{"match": args[0], "state": "paused"}, "%s is paused", args[0])
		})
	pause.Flags().StringVar(&why, "why", "", "reason, for people")
	resume := c.hostCommand("resume MATCH", "End 'host pause'", "  odarchive admin host resume data.example.org", exactly("match"),
		func(ctx context.Context, n *app.Node, args []string) error {
			if err := n.ResumeHosts(ctx, args[0]); err != nil {
				return err
			}
			return c.print(map[string]string{"match": args[0], "state": "asked"}, "%s is asked again", args[0])
		})
	forget := c.hostCommand("forget HOST", "Forget a host's back-off, robots.txt, answer times and today's requests; its files stay",
		"  odarchive admin host forget data.example.org", exactly("host"), func(ctx context.Context, n *app.Node, args []string) error {
			if err := n.ForgetHost(ctx, args[0]); err != nil {
				return err
			}
			return c.print(map[string]string{"host": args[0]}, "%s is as if it had never been asked", args[0])
		})
	cmd.AddCommand(list, show, set, unset, pause, resume, forget)
	return cmd
}

// checkValues checks the arguments of 'host set': a match, and values for its fields. What concerns several fields is
// checked with those that are set already.
func checkValues(_ *cobra.Command, args []string) error {
	if len(args) < 2 {
		return usagef("set takes MATCH and at least one NAME=VALUE")
	}
	if err := (hosts.Rule{Match: args[0]}).Check(); err != nil {
		return usageError{err}
	}
	given := map[string]string{}
	for _, arg := range args[1:] {
		name, value, ok := strings.Cut(arg, "=")
		if !ok {
			return usagef("%q is not of the form NAME=VALUE", arg)
		}
		if before, twice := given[name]; twice && before != value {
			return usagef("%s is given two values, %q and %q; keep one", name, before, value)
		}
		given[name] = value
		if err := new(hosts.Rule).Set(name, value); err != nil {
			return usageError{err}
		}
	}
	return nil
}

// hostCommand returns a command about hosts, which do carries out.
func (c *cli) hostCommand(use, short, example string, args cobra.PositionalArgs,
	do func(context.Context, *app.Node, []string) error) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Example: example, Args: args,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, f := cmd.Context(), func(n *app.Node) error { return do(cmd.Context(), n, args) }
			if use == "list" {
				return c.reading(ctx, f)
			}
			return c.with(ctx, store.Options{}, f)
		},
	}
	c.cfg.SecretsFlag(cmd.Flags())
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	return c.beside(cmd, besideOptions{right: access.Crawl, reads: use == "list" || strings.HasPrefix(use, "show")})
}

// printHostRules prints rules, a line each.
func (c *cli) printHostRules(value any, rules []hosts.Listed) error {
	if c.json {
		return c.print(value, "")
	}
	for _, r := range rules {
		if _, err := fmt.Fprintf(c.stdout, "%s (%s): %s\n", printable(r.Match), r.From,
			printable(strings.Join(r.Lines(), " "))); err != nil {
			return err
		}
		if r.Broken != "" {
			if _, err := fmt.Fprintf(c.stdout, "  its hosts are not asked: %s\n", printable(r.Broken)); err != nil {
				return err
			}
		}
	}
	if len(rules) == 0 {
		_, err := fmt.Fprintln(c.stdout, "nothing is set for single hosts")
		return err
	}
	return nil
}

// printView prints what applies to a host, and the rules.
func (c *cli) printView(v hosts.View) error {
	if c.json {
		return c.print(v, "")
	}
	s := v.Settings
	lines := []string{
		"delay " + s.Delay.String(), fmt.Sprintf("requests at a time %d", s.Parallel), "longest Crawl-delay " + s.MaxCrawlDelay.String(),
		"requests a day " + limited(s.Daily.String()),
		fmt.Sprintf("retries %d", s.Retries), "proxy " + s.Proxy, "robots.txt " + s.Robots,
	}
	if !s.Resolve.IsZero() {
		lines = append(lines, "at "+s.Resolve.String())
	}
	if s.Secret != "" {
		lines = append(lines, "login "+s.Secret)
	}
	if s.UserAgent != "" {
		lines = append(lines, "User-Agent "+s.UserAgent)
	}
	if s.Paused != "" {
		lines = append(lines, "paused: "+s.Paused)
	}
	if _, err := fmt.Fprintf(c.stdout, "%s: %s\n", printable(v.Host), printable(strings.Join(lines, "; "))); err != nil {
		return err
	}
	if len(v.Rules) == 0 {
		return nil
	}
	return c.printHostRules(nil, v.Rules)
}

func limited(text string) string {
	if text == "0" {
		return "no limit"
	}
	return text
}
