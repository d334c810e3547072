// Package manual writes the manual pages of the program from its commands, and a settings file that explains itself.
//
// Nothing is written down twice: descriptions, flags, defaults and examples are those of the help texts. The same
// program writes the same bytes.
package manual

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Manual describes the program whose pages are written.
type Manual struct {
	Root    *cobra.Command
	Version string
	Date    string // of the version, as 2026-11-23; "" if unknown
}

// Page is a page of the manual in the language of man(7).
type Page struct {
	Name string // of the file, as odarchive-warc-export.1
	Text string
}

// Pages returns the pages of all commands, and odarchive.toml(5), the page of the settings file.
func (m Manual) Pages() []Page {
	var list []Page
	m.walk(m.Root, func(cmd *cobra.Command) { list = append(list, m.command(cmd)) })
	return append(list, m.settingsPage())
}

// Write writes all pages to a directory, which it makes if there is none, below man1 and man5 as man(1) looks for them.
// Files that are there are replaced.
func (m Manual) Write(dir string) error {
	for _, page := range m.Pages() {
		name := filepath.Join(dir, "man"+page.Name[len(page.Name)-1:], page.Name)
		err := os.MkdirAll(filepath.Dir(name), 0o755)
		if err == nil {
			err = os.WriteFile(name, []byte(page.Text), 0o644)
		}
		if err != nil {
			return fmt.Errorf("manual: %w", err)
		}
	}
	return nil
}

// walk calls f for each command that people use, in the order of their names, each before those below it.
func (m Manual) walk(cmd *cobra.Command, f func(*cobra.Command)) {
	f(cmd)
	for _, sub := range m.below(cmd) {
		m.walk(sub, f)
	}
}

// below returns the commands below one, in the order of their names. Help texts are no page of their own.
func (m Manual) below(cmd *cobra.Command) (list []*cobra.Command) {
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" && sub.Name() != "completion" {
			list = append(list, sub)
		}
	}
	slices.SortFunc(list, func(a, b *cobra.Command) int { return strings.Compare(a.Name(), b.Name()) })
	return list
}

// pageName returns the name of a command's page: odarchive-warc-export.
func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// flagsOf returns flags in the order of their names. The help flag is left out: its text says less than its name.
func flagsOf(set *pflag.FlagSet) (list []*pflag.Flag) {
	set.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Deprecated == "" && f.Name != "help" {
			list = append(list, f)
		}
	})
	slices.SortFunc(list, func(a, b *pflag.Flag) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// standard returns the default of a flag for people, "" if that is the zero value.
func standard(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "0", "0s", "0 B", "false", "[]", "<nil>":
		return ""
	}
	return shortTime(f)
}

// shortTime returns the default of a flag, and of a time without the minutes and seconds that are zero.
func shortTime(f *pflag.Flag) string {
	if f.Value.Type() != "duration" {
		return f.DefValue
	}
	text := f.DefValue
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
