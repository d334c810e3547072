package main

import (
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"path"
	"slices"
	"strings"

	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect/detect"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// takeAddresses makes the commands below root that fetch, register or change files take addresses without a scheme, in
// arguments and in flags for URLs. Commands that only read find what is known in either scheme.
func (c *cli) takeAddresses(root *cobra.Command) {
	for cmd := range everyCommand(root) {
		name := shortPath(cmd)
		switch name {
		case "add", "inject", "requeue", "drop", "score", "pause", "resume", "withdraw", "crawl", "follow", "harvest", "discover":
		default:
			continue
		}
		check := cmd.Args
		ofFile := name != "harvest" && name != "discover"
		taken := func(arg string) string {
			if ofFile && !strings.ContainsAny(arg, "/:") && detect.Declared(path.Ext(arg)) != "" {
				return arg // a file's name, not that of a host
			}
			return c.withScheme(arg)
		}
		orHost := strings.Contains(cmd.Use, "|HOST") // a bare name is one
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			for i, arg := range args {
				if !orHost || strings.Contains(arg, "/") {
					args[i] = taken(arg)
				}
			}
			for _, flag := range []string{"url", "seed"} {
				f := cmd.Flags().Lookup(flag)
				if f == nil || !f.Changed {
					continue
				}
				if list, ok := f.Value.(pflag.SliceValue); ok {
					links := list.GetSlice()
					for i, link := range links {
						links[i] = taken(link)
					}
					if err := list.Replace(links); err != nil {
						return err
					}
				}
			}
			if check == nil {
				return nil
			}
			return check(cmd, args)
		}
	}
}

// withScheme returns an address as it is fetched: one without a scheme, as people write it, is taken as https, or as
// http for an IP address, localhost, or a port. What looks like no host stays as it is.
func (c *cli) withScheme(link string) string {
	host, _, _ := strings.Cut(strings.TrimSpace(link), "/")
	name, port, _ := strings.Cut(host, ":")
	if strings.Contains(link, "://") || strings.ContainsAny(host, " @?#\\[]") || strings.Trim(port, "0123456789") != "" ||
		name != "localhost" && strings.Count(strings.Trim(name, "."), ".") == 0 {
		return link
	}
	scheme := "https://"
	if _, err := netip.ParseAddr(name); err == nil || name == "localhost" || port != "" && port != "443" {
		scheme = "http://"
	}
	link = scheme + strings.TrimSpace(link)
	c.taken = append(c.taken, link)
	return link
}

// advised adds to an error what permits what it refuses.
func advised(err error) error {
	if err != nil && strings.Contains(err.Error(), catalog.WhyPrivate) {
		return fmt.Errorf("%w; %s", err, privateAdvice)
	}
	return err
}

// usageError is an error in the command line: exit status 2.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// noCommand checks the arguments of a command that only has others below it: there must be none.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	_, below, _ := strings.Cut(cmd.CommandPath(), " ")
	return usagef("there is no command %q%s", strings.TrimSpace(below+" "+args[0]), commandHint(cmd, args[0]))
}

// knownAs says how this program does what people look for under the names that other programs have for it.
func knownAs(word string) string {
	switch word {
	case "history", "versions", "info", "inspect":
		return "'odarchive show URL' shows the versions and visits of a file, 'odarchive diff URL' what has changed"
	case "failures", "failed", "errors", "broken":
		return "'odarchive show --failed' lists the files that failed, by cause"
	case "ls", "list", "files", "find":
		return "'odarchive search WORDS' finds files, 'odarchive show HOST' or 'show PORTAL' tells of all of one source"
	case "init", "create", "new":
		return "there is nothing to create first: 'odarchive add URL' or 'odarchive harvest URL' makes the archive"
	case "status":
		return "'odarchive admin stats' has figures of the archive, 'odarchive show URL' what is known of one thing"
	}
	return ""
}

// commandHint asks whether a command below parent was meant, or one below another command that has exactly this name.
func commandHint(parent *cobra.Command, word string) string {
	if way := knownAs(word); way != "" && !parent.HasParent() {
		return ": " + way
	}
	var names []string
	for _, sub := range parent.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			names = append(names, sub.Name())
		}
	}
	if near := catalog.Nearest(word, names); near != "" {
		_, path, _ := strings.Cut(parent.CommandPath()+" "+near, " ")
		return fmt.Sprintf("; did you mean %q?", path)
	}
	for cmd := range descendants(parent.Root()) {
		if _, path, below := strings.Cut(cmd.CommandPath(), " "); below && cmd.Name() == word {
			return fmt.Sprintf("; did you mean %q?", path)
		}
	}
	return ""
}

// descendants yields the commands that help names, from root on, each before those below it.
func descendants(root *cobra.Command) iter.Seq[*cobra.Command] {
	return func(yield func(*cobra.Command) bool) { yieldBelow(root, (*cobra.Command).IsAvailableCommand, yield) }
}

// everyCommand yields all commands, also those that are kept under a former name.
func everyCommand(root *cobra.Command) iter.Seq[*cobra.Command] {
	return func(yield func(*cobra.Command) bool) {
		yieldBelow(root, func(*cobra.Command) bool { return true }, yield)
	}
}

func yieldBelow(cmd *cobra.Command, which, yield func(*cobra.Command) bool) bool {
	if !yield(cmd) {
		return false
	}
	for _, sub := range cmd.Commands() {
		if which(sub) && !yieldBelow(sub, which, yield) {
			return false
		}
	}
	return true
}

// isForShells reports whether a command of the library writes a script for a shell, or answers one.
func isForShells(cmd *cobra.Command) bool {
	return cmd.Name() == cobra.ShellCompRequestCmd || cmd.Name() == cobra.ShellCompNoDescRequestCmd || cmd.HasParent() &&
		cmd.Parent().Name() == "completion"
}

// settings returns the names of the flags of all commands, since one file may have settings for all commands.
func settings(root *cobra.Command) (names []string) {
	add := func(f *pflag.Flag) { names = append(names, f.Name) }
	root.PersistentFlags().VisitAll(add)
	for cmd := range everyCommand(root) {
		cmd.LocalFlags().VisitAll(add)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

const maxOthers = 3 // commands that an error names

// flagError explains a flag that a command does not have.
func flagError(cmd *cobra.Command, err error) error {
	missing, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return usageError{err}
	}
	var own []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { own = append(own, f.Name) })
	name := missing.GetSpecifiedName()
	if short := missing.GetSpecifiedShortnames(); short != "" { // -data is --data with a hyphen too few
		if word, _, _ := strings.Cut(short, "="); slices.Contains(own, word) {
			return usagef("%w; did you mean --%s?", err, word)
		}
		return usageError{err}
	}
	if near := catalog.Nearest(name, own); near != "" {
		return usagef("%w; did you mean --%s?", err, near)
	}
	var others []string
	for other := range descendants(cmd.Root()) {
		if other.LocalFlags().Lookup(name) != nil {
			_, path, _ := strings.Cut(other.CommandPath(), " ")
			others = append(others, fmt.Sprintf("%q", path))
		}
	}
	switch {
	case len(others) == 0:
		return usageError{err}
	case len(others) > maxOthers:
		others = append(others[:maxOthers], "others")
	}
	return usagef("%w; it is a flag of %s", err, english.WordSeries(others, "and"))
}

// onceValue refuses a second value of a flag that has only one.
type onceValue struct {
	pflag.Value
	given *string
}

func (v *onceValue) Set(s string) error {
	if v.given != nil && *v.given != s {
		return errors.New("the flag was given before with another value, and takes one")
	}
	v.given = &s
	return v.Value.Set(s)
}

// onlyOnce makes the command of a command line refuse a flag that is given twice with different values, unless it takes
// a list: otherwise the last one would win without a word. parsed ends that; before, the flags cannot print their help.
func onlyOnce(root *cobra.Command, args []string) (parsed func()) {
	cmd, _, err := root.Find(args)
	if err != nil {
		cmd = root
	}
	wrapped := map[*pflag.Flag]pflag.Value{}
	wrap := func(f *pflag.Flag) {
		if _, list := f.Value.(pflag.SliceValue); !list && wrapped[f] == nil && f.Value.Type() != "count" {
			wrapped[f] = f.Value
			f.Value = &onceValue{Value: f.Value}
		}
	}
	cmd.LocalFlags().VisitAll(wrap)
	cmd.InheritedFlags().VisitAll(wrap)
	parsed = func() {
		for f, value := range wrapped {
			f.Value = value
		}
	}
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		parsed()
		help(cmd, args)
	})
	return parsed
}
