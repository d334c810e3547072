package manual

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"
)

// tables is the end of a settings file: what is a table of its own and not a setting of a command.
//
//go:embed tables.toml
var tables string

// serverFlags returns the settings of a server that are not those of all commands.
func (m Manual) serverFlags() []*pflag.Flag {
	for _, cmd := range m.Root.Commands() {
		if cmd.Name() == "serve" {
			return flagsOf(cmd.LocalNonPersistentFlags())
		}
	}
	return nil
}

// commonFlags returns the settings of all commands.
func (m Manual) commonFlags() []*pflag.Flag {
	return slices.DeleteFunc(flagsOf(m.Root.PersistentFlags()), func(f *pflag.Flag) bool { return f.Name == "config" })
}

// Settings returns a settings file with every setting of a server, each explained and commented out with its default,
// and data with the given directory, commented out if that is "".
func (m Manual) Settings(data string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Settings of %s. Each is also an option (--max-body) and an environment variable (ODARCHIVE_MAX_BODY) of\n",
		m.Root.Name())
	b.WriteString("# the same name, which have precedence. What is commented out has the value shown, or none if it shows none.\n")
	b.WriteString("# A name that is misspelt is an error. Sizes are written as \"100MiB\", times as \"1h30m\".\n")
	title := func(text string) { fmt.Fprintf(&b, "\n\n# ---- %s\n", text) }
	title("All commands")
	for _, f := range m.commonFlags() {
		if f.Name == "data" && data != "" {
			fmt.Fprintf(&b, "\n%sdata = %s\n", comment(f.Usage), quoted(data))
			continue
		}
		b.WriteString(entry(f))
	}
	title("The server, and commands that fetch")
	for _, f := range m.serverFlags() {
		b.WriteString(entry(f))
	}
	b.WriteString("\n\n" + strings.TrimSpace(tables) + "\n")
	return b.String()
}

// settingsPage returns the page of the settings file.
func (m Manual) settingsPage() Page {
	p := m.begin(settingsName, "5", "settings of "+m.Root.Name())
	p.section("DESCRIPTION")
	p.prose(
		"A TOML file that --config or ODARCHIVE_CONFIG names. A setting is named like the option of a command: max-body = \"50MiB\" is " +
			"--max-body 50MiB. Options and environment variables have precedence. A list sets an option that may be given several times. " +
			"One file may have settings for all commands; each takes its own, and a name that is an option of none is an " +
			"error.\n\nEntries of a table are settings with the name of the table in front: deny in [scope] is scope-deny. 'odarchive " +
			"man --settings' prints a file with all settings of a server, commented out.")
	p.section("SETTINGS OF ALL COMMANDS")
	p.settings(m.commonFlags())
	p.section("SETTINGS OF SERVERS AND OF COMMANDS THAT FETCH")
	p.settings(m.serverFlags())
	p.section("TABLES")
	p.literal(strings.Split(strings.TrimSpace(tables), "\n"))
	p.section("SEE ALSO")
	p.line(m.Root.Name() + "(1), " + m.Root.Name() + "-serve(1)")
	return Page{Name: settingsName + ".5", Text: p.String()}
}

func (p *page) settings(list []*pflag.Flag) {
	for _, f := range list {
		_, text := pflag.UnquoteUsage(f)
		p.term(f.Name+" = ", value(f), text)
	}
}

// entry returns the lines of a setting that is commented out.
func entry(f *pflag.Flag) string {
	_, text := pflag.UnquoteUsage(f)
	return fmt.Sprintf("\n%s#%s = %s\n", comment(text), f.Name, value(f))
}

// comment returns text as comment lines of at most about 100 characters.
func comment(text string) string {
	const width = 100
	var b strings.Builder
	column := 0
	for _, word := range strings.Fields(text) {
		if column > 0 && column+1+len(word) > width {
			b.WriteString("\n")
			column = 0
		}
		if column == 0 {
			b.WriteString("#")
		}
		b.WriteString(" " + word)
		column += 1 + len(word)
	}
	return b.String() + "\n"
}

// value returns the default of a flag as TOML.
func value(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "bool", "int", "int64", "uint", "uint64", "float64":
		return f.DefValue
	case "stringArray", "stringSlice":
		return "[]"
	case "size": // 8.0 MiB as 8MiB
		if n, err := humanize.ParseBytes(f.DefValue); err == nil && n%(1<<20) == 0 && n > 0 {
			unit, n := "MiB", n>>20
			if n%1024 == 0 {
				unit, n = "GiB", n>>10
			}
			return quoted(fmt.Sprint(n, unit))
		}
		return quoted(strings.ReplaceAll(f.DefValue, " ", ""))
	}
	return quoted(shortTime(f))
}

// quoted returns a string of TOML.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) + `"`
}
