package manual

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// settingsName is the name of the settings file, and of its page.
const settingsName = "odarchive.toml"

// begin begins a page.
func (m Manual) begin(name, section, title string) *page {
	p := new(page)
	p.macro("TH", strings.ToUpper(name), section, m.Date, m.Root.Name()+" "+m.Version, "ODArchive")
	p.section("NAME")
	p.line(name + " - " + title)
	return p
}

// command returns the page of a command.
func (m Manual) command(cmd *cobra.Command) Page {
	name, root := pageName(cmd), cmd == m.Root
	p := m.begin(name, "1", cmd.Short)
	p.section("SYNOPSIS")
	for _, usage := range m.usage(cmd) {
		p.macro("B", usage)
		p.macro("br")
	}
	p.section("DESCRIPTION")
	long := cmd.Long
	if long == "" {
		long = cmd.Short + "."
	}
	p.prose(long)
	if below := m.below(cmd); len(below) > 0 {
		p.section("COMMANDS")
		for _, sub := range below {
			p.term(pageName(sub)+"(1)", "", sub.Short)
		}
	}
	if list := flagsOf(cmd.LocalNonPersistentFlags()); !root && len(list) > 0 {
		p.section("OPTIONS")
		p.options(list)
	}
	p.section("OPTIONS OF ALL COMMANDS")
	p.term("-h, --help", "", "show help")
	p.options(flagsOf(m.Root.PersistentFlags()))
	if root {
		p.everywhere()
	}
	p.section("EXIT STATUS")
	p.term("0", "", "success")
	p.term("1", "", "failure; standard error says why")
	p.term("2", "", "wrong usage: a command, flag or setting that does not exist, or a value that is not allowed; nothing was done")
	if cmd.Example != "" {
		p.section("EXAMPLES")
		p.literal(strings.Split(strings.TrimRight(cmd.Example, "\n"), "\n"))
	}
	p.section("SEE ALSO")
	see := []string{settingsName + "(5)"}
	if cmd.HasParent() {
		see = append(see, pageName(cmd.Parent())+"(1)")
		for _, sibling := range m.below(cmd.Parent()) {
			if sibling != cmd && cmd.Parent() != m.Root {
				see = append(see, pageName(sibling)+"(1)")
			}
		}
	}
	p.line(strings.Join(see, ", "))
	return Page{Name: name + ".1", Text: p.String()}
}

// usage returns how a command is called; a command that has others below it and does nothing itself, with them.
func (m Manual) usage(cmd *cobra.Command) []string {
	if len(m.below(cmd)) > 0 {
		return []string{cmd.CommandPath() + " COMMAND [OPTION]..."}
	}
	path := ""
	if cmd.HasParent() {
		path = cmd.Parent().CommandPath() + " "
	}
	var list []string
	for use := range strings.SplitSeq(cmd.Use, " | ") {
		list = append(list, path+use+" [OPTION]...")
	}
	return list
}

// options writes flags with their values and defaults.
func (p *page) options(list []*pflag.Flag) {
	for _, f := range list {
		value, text := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if value = word(value); value != "" {
			name += "="
		}
		if d := standard(f); d != "" {
			text += " (default " + d + ")"
		}
		p.term(name, value, text)
	}
}

// word returns what stands for the value of a flag.
func word(kind string) string {
	switch kind {
	case "stringArray", "stringSlice", "strings", "string":
		return "TEXT"
	case "int", "int64", "uint", "uint64", "float", "float64":
		return "NUMBER"
	}
	return strings.ToUpper(kind)
}

// everywhere writes what concerns all commands, on the page of the program.
func (p *page) everywhere() {
	p.section("ENVIRONMENT")
	p.term("ODARCHIVE_*", "",
		"Every option can be set by a variable: ODARCHIVE_MAX_BODY=50MiB is --max-body 50MiB. An option on the command line has "+
			"precedence over the variable, and that over the settings file.")
	p.section("FILES")
	p.term(settingsName, "", "settings, if --config or ODARCHIVE_CONFIG names such a file; see "+settingsName+"(5)")
	p.term("odarchive-data", "", "the archive, where --data names no other directory")
	p.section("SIGNALS")
	p.term("SIGTERM, SIGINT", "",
		"end the program after the work at hand; a second one ends it at once. What was acknowledged is kept in any case.")
	p.term("SIGHUP", "", "has a server read again those of its settings that may change while it runs; odarchive-serve(1) says which")
	p.section("COMPLETION")
	p.line(
		"The command 'odarchive completion bash' (or zsh, fish, powershell) prints a script that completes commands and options in that " +
			"shell.")
}
