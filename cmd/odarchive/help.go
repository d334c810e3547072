package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"odarchive/cmd/internal/config"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpColumns is the width of help texts.
const helpColumns = 110

// mainFlags makes -h of a command with many flags show these, and -h --all the others, too.
func mainFlags(cmd *cobra.Command, names ...string) {
	cmd.Annotations = map[string]string{"flags": strings.Join(names, " ")}
}

// withoutAll returns a command line without --all if it asks for help, and whether it was there: 'get -h --all'.
func withoutAll(args []string) (_ []string, all bool) {
	asks := len(args) > 0 && args[0] == "help" || slices.Contains(args, "-h") || slices.Contains(args, "--help")
	if !asks || !slices.Contains(args, "--all") {
		return args, false
	}
	return slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return arg == "--all" }), true
}

// printHelp prints the help of a command to standard output.
func (c *cli) printHelp(cmd *cobra.Command, groups []group) {
	var b strings.Builder
	switch {
	case cmd == cmd.Root():
		firstScreen(&b, cmd, groups, c.allHelp)
	case cmd.Name() == fetchingTopic:
		fmt.Fprintf(&b, "%s\n\nFlags:\n%s", cmd.Long, fetchFlags().FlagUsagesWrapped(helpColumns))
	default:
		commandHelp(&b, cmd, fetchFlags(), c.allHelp)
	}
	io.WriteString(cmd.OutOrStdout(), b.String()) // whoever has closed it needs no help
}

// firstScreen writes what the program says where no command is given.
func firstScreen(b *strings.Builder, root *cobra.Command, groups []group, all bool) {
	b.WriteString(root.Short + "\n\n")
	for _, g := range groups {
		title, list := g.name, g.shown
		if all {
			list = g.all()
		}
		for _, cmd := range list {
			fmt.Fprintf(b, "%-11s %-9s %s\n", title, cmd.Name(), cmd.Short)
			title = ""
			if below := subcommands(cmd); all && len(below) > 0 {
				fmt.Fprintf(b, "%-21s %s\n", "", strings.Join(below, ", "))
			}
		}
	}
	b.WriteString("\n")
	if all {
		fmt.Fprintf(b, "Flags of all commands:\n%s\n", root.PersistentFlags().FlagUsagesWrapped(helpColumns))
	}
	b.WriteString("'odarchive COMMAND -h' has examples and flags, with --all all of them; 'odarchive -h --all' has all commands.\n" +
		"'odarchive help fetching' has the flags of everything that fetches. 'odarchive docs tutorial' is where to begin.\n")
}

func subcommands(cmd *cobra.Command) (names []string) {
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return names
}

// commandHelp writes the help of a command: with its main flags, or with all.
func commandHelp(b *strings.Builder, cmd *cobra.Command, fetching *pflag.FlagSet, all bool) {
	about := cmd.Long
	if about == "" {
		about = cmd.Short + "."
	}
	fmt.Fprintf(b, "%s\n\nUsage:\n  %s\n", strings.TrimSpace(about), cmd.UseLine())
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(b, "  %s COMMAND\n", cmd.CommandPath())
	}
	if cmd.Example != "" {
		fmt.Fprintf(b, "\nExamples:\n%s\n", strings.Trim(cmd.Example, "\n"))
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\nCommands:\n")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(b, "  %-11s %s\n", sub.Name(), sub.Short)
			}
		}
	}
	own, more := ownFlags(cmd, fetching, all)
	if own.HasAvailableFlags() {
		fmt.Fprintf(b, "\nFlags:\n%s", own.FlagUsagesWrapped(helpColumns))
	}
	everywhere := pflag.NewFlagSet("", pflag.ContinueOnError)
	cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) {
		if all || f.Name == "data" || f.Name == "quiet" || f.Name == "config" {
			everywhere.AddFlag(f)
		}
	})
	fmt.Fprintf(b, "\nFlags of all commands:\n%s\n", everywhere.FlagUsagesWrapped(helpColumns))
	if fetches(cmd) {
		b.WriteString("Flags of everything that fetches, as --contact, --host-delay and --allow-net: 'odarchive help fetching'\n")
	}
	if !all {
		what := "those of all commands"
		if more > 0 {
			what = fmt.Sprintf("%d more, and %s", more, what)
		}
		fmt.Fprintf(b, "All flags, %s: '%s -h --all'\n", what, cmd.CommandPath())
	}
}

// ownFlags returns the flags of a command that its help shows: the main ones, or all, but not those of everything that
// fetches, unless they are main ones. more is how many are not shown.
func ownFlags(cmd *cobra.Command, fetching *pflag.FlagSet, all bool) (own *pflag.FlagSet, more int) {
	own = pflag.NewFlagSet("", pflag.ContinueOnError)
	names := strings.Fields(cmd.Annotations["flags"])
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		main := slices.Contains(names, f.Name)
		switch {
		case f.Hidden || f.Name == "help" || !main && fetches(cmd) && fetching.Lookup(f.Name) != nil:
		case main || all || len(names) == 0:
			own.AddFlag(f)
		default:
			more++
		}
	})
	return own, more
}

// fetchingTopic is a page of help that is about no command.
const fetchingTopic = "fetching"

func topics() *cobra.Command {
	return &cobra.Command{
		Use:   fetchingTopic,
		Short: "Flags of everything that fetches",
		Long: `Flags of everything that fetches: serve, crawl, harvest, discover, follow, work and others. What is right for one host only is
set with 'odarchive admin host'. Each may stand in the file of --config, or in a variable, as ODARCHIVE_CONTACT.`,
	}
}

// fetches reports whether a command has the flags of everything that fetches.
func fetches(cmd *cobra.Command) bool { return cmd.Flags().Lookup("user-agent") != nil }

func fetchFlags() *pflag.FlagSet {
	cfg := config.Defaults()
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	cfg.FetchFlags(f)
	return f
}

// help returns the command that shows the help of others. Unlike that of the library it fails if there is no such
// command.
func (c *cli) help() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]...",
		Short:   "Show what a command does, its settings and examples",
		Example: "  odarchive help serve\n  odarchive help warc export",
		Args: func(cmd *cobra.Command, args []string) error {
			_, err := find(cmd.Root(), args)
			return err
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
			if parent, err := find(cmd.Root(), args); err == nil {
				for _, sub := range parent.Commands() {
					if sub.IsAvailableCommand() {
						names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil }, // also where the settings are faulty
		RunE: func(cmd *cobra.Command, args []string) error {
			found, err := find(cmd.Root(), args)
			if err != nil {
				return err
			}
			found.InitDefaultHelpFlag()
			found.InitDefaultVersionFlag()
			return found.Help()
		},
	}
}

// find returns the command at a path of names below root.
func find(root *cobra.Command, path []string) (*cobra.Command, error) {
	at := root
	for i, name := range path {
		next := slices.IndexFunc(at.Commands(), func(sub *cobra.Command) bool { return sub.Name() == name || sub.HasAlias(name) })
		if next < 0 {
			return nil, usagef("there is no command %q%s", strings.Join(path[:i+1], " "), commandHint(at, name))
		}
		at = at.Commands()[next]
	}
	return at, nil
}
