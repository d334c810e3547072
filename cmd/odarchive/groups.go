package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// group is a part of the first screen: what somebody wants to do, and the commands for that.
type group struct {
	name  string
	shown []*cobra.Command
	rare  []*cobra.Command // shown by 'odarchive -h --all' only
}

// groups returns the program's commands, in the order of the first screen. Each command is in one group.
func (c *cli) groups() []group {
	type list = []*cobra.Command
	groups := []group{
		{name: "Begin", shown: list{c.demo(), c.serve()}},
		{name: "Fill", shown: list{c.add(), c.harvest(), c.discover(), c.crawl(), c.follow(), c.campaign()}, rare: list{c.schedule()}},
		{name: "Look", shown: list{c.search(), c.show(), c.diff(), c.query(), c.update()}},
		{name: "Take", shown: list{c.get(), c.zip(), c.export(), c.imports(), c.load(), c.dump(), c.warc()}, rare: list{c.cite()}},
		{name: "Files here", shown: list{c.profile()}, rare: list{c.detect()}},
		{name: "Trust", shown: list{c.check(), c.backup(), c.restore(), c.prove(), c.verify(), c.transparencyLog()},
			rare: list{c.promote()}},
		{name: "Run", shown: list{c.work(), c.admin(), c.docs(), c.version()}, rare: list{c.man()}},
	}
	for _, g := range groups {
		for _, cmd := range g.all() {
			cmd.GroupID = g.name
		}
	}
	return groups
}

func (g group) all() []*cobra.Command { return append(g.shown[:len(g.shown):len(g.shown)], g.rare...) }

// admin returns the command above those of whoever runs an archive.
func (c *cli) admin() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "admin",
		Short: "Run an archive: hosts, scope, orders to the crawl, tokens, retention, withdrawals, figures",
		Long: `What whoever runs an archive does beside filling it: how hosts are asked and what may be fetched, orders to the crawl, who may
change what, what need not be kept or must go, and figures.`,
		Example: `  odarchive admin stats
  odarchive admin pause data.example.org --why "asked to wait until Monday"
  odarchive admin requeue data.example.org
  odarchive admin host set data.example.org delay=10s`,
		Args: noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.adminCommands()...)
	return cmd
}

func (c *cli) adminCommands() []*cobra.Command {
	return []*cobra.Command{
		c.host(), c.scope(), c.pause(), c.resume(), c.requeue(), c.drop(), c.scores(), c.orders(), c.audit(), c.token(), c.retention(),
		c.withdraw(), c.withdrawals(), c.rebase(), c.compact(), c.quality(), c.stats(), c.sink(),
	}
}

// shortPath returns the names of a command and those above it, without the program's and admin: where it was before,
// and what servers and clients call it.
func shortPath(cmd *cobra.Command) string {
	_, path, _ := strings.Cut(cmd.CommandPath(), " ")
	return strings.TrimPrefix(path, "admin ")
}

// formerNames returns commands that work as they did, but are named by no help: those of admin where they were, and
// inject, which is add and a score.
func (c *cli) formerNames() []*cobra.Command {
	list := append(c.adminCommands(), c.inject())
	for _, cmd := range list {
		cmd.Hidden = true
	}
	return list
}
