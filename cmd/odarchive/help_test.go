package main

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// helpOf returns what a command line prints.
func helpOf(t *testing.T, args ...string) string {
	t.Helper()
	status, out, errs := ran(t, args...)
	if status != 0 || errs != "" {
		t.Fatalf("%q: status %d, %s", args, status, errs)
	}
	return out
}

func TestTheFirstScreenIsOneScreen(t *testing.T) {
	t.Parallel()
	text := helpOf(t)
	for _, way := range [][]string{{"help"}, {"--help"}, {"-h"}} {
		if got := helpOf(t, way...); got != text {
			t.Errorf("%q prints another text:\n%s", way, got)
		}
	}
	if n := strings.Count(text, "\n"); n > 40 {
		t.Errorf("%d lines, want at most 40", n)
	}
	for line := range strings.Lines(text) {
		if len(line) > 120 {
			t.Errorf("too long: %s", line)
		}
	}
	n := 0
	for _, g := range testCLI().groups() {
		n += len(g.shown)
		for _, cmd := range g.shown {
			if !strings.Contains(text, " "+cmd.Name()+" ") || !strings.Contains(text, cmd.Short) {
				t.Errorf("it does not say what %s does", cmd.Name())
			}
		}
	}
	if n > 34 {
		t.Errorf("%d commands, want at most 34", n)
	}
}

func TestEachVisibleCommandIsInOneGroup(t *testing.T) {
	t.Parallel()
	c := testCLI()
	root := c.root()
	in := map[string]string{}
	for _, g := range c.groups() {
		for _, cmd := range g.all() {
			if in[cmd.Name()] != "" {
				t.Errorf("%s is in the groups %s and %s", cmd.Name(), in[cmd.Name()], g.name)
			}
			in[cmd.Name()] = g.name
		}
	}
	all := helpOf(t, "-h", "--all")
	for _, cmd := range root.Commands() {
		if !cmd.IsAvailableCommand() {
			continue
		}
		if in[cmd.Name()] == "" || cmd.GroupID != in[cmd.Name()] {
			t.Errorf("%s is in the group %q, want %q", cmd.Name(), cmd.GroupID, in[cmd.Name()])
		}
		if !strings.Contains(all, cmd.Short) {
			t.Errorf("'odarchive -h --all' does not name %s", cmd.Name())
		}
	}
}

func TestHelpShowsFewFlagsAndAllOfThemOnRequest(t *testing.T) {
	t.Parallel()
	fetching := fetchFlags()
	for cmd := range descendants(testCLI().root()) {
		if cmd.Parent() == nil {
			continue
		}
		path := strings.Fields(cmd.CommandPath())[1:]
		few, all := helpOf(t, append(path, "-h")...), helpOf(t, append(path, "-h", "--all")...)
		if n := strings.Count(few, "\n      --") + strings.Count(few, "\n  -"); n > 17 {
			t.Errorf("%q -h shows %d flags, want at most 17: name the main ones", path, n)
		}
		for _, name := range strings.Fields(cmd.Annotations["flags"]) {
			if cmd.Flags().Lookup(name) == nil || !strings.Contains(few, "--"+name+" ") {
				t.Errorf("%q -h does not show its main flag --%s", path, name)
			}
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && fetching.Lookup(f.Name) == nil && !strings.Contains(all, "--"+f.Name+" ") {
				t.Errorf("%q -h --all does not show --%s", path, f.Name)
			}
		})
		if fetches(cmd) && !strings.Contains(few, "odarchive help fetching") {
			t.Errorf("%q -h does not say where the flags of fetching are", path)
		}
	}
	topic := helpOf(t, "help", "fetching")
	fetching.VisitAll(func(f *pflag.Flag) {
		if !strings.Contains(topic, "--"+f.Name+" ") {
			t.Errorf("'help fetching' does not show --%s", f.Name)
		}
	})
	if status, _, errs := ran(t, "crawl", "--all"); status != 2 || !strings.Contains(errs, "unknown flag: --all") {
		t.Errorf("--all without -h: status %d, %s", status, errs)
	}
}

// What moved below admin works where it was, with the same flags, and no help names it there.
func TestFormerNamesWork(t *testing.T) {
	t.Parallel()
	root := testCLI().root()
	names := []string{"inject", "boost"}
	admin, _, err := root.Find([]string{"admin"})
	if err != nil {
		t.Fatal(err)
	}
	for now := range descendants(admin) {
		if now == admin {
			continue
		}
		path := strings.Fields(now.CommandPath())[2:]
		old, rest, err := root.Find(path)
		if err != nil || len(rest) > 0 || old == now || old.Short != now.Short {
			t.Errorf("%q is not what 'admin %s' is: %v, %v", path, strings.Join(path, " "), old.CommandPath(), err)
			continue
		}
		now.Flags().VisitAll(func(f *pflag.Flag) {
			if old.Flags().Lookup(f.Name) == nil {
				t.Errorf("%q has no --%s", path, f.Name)
			}
		})
		names = append(names, path[0])
	}
	text := helpOf(t) + helpOf(t, "-h", "--all")
	for _, name := range names {
		if cmd, _, err := root.Find([]string{name}); err != nil || !cmd.Hidden {
			t.Errorf("%s is gone, or not hidden: %v", name, err)
		}
		if strings.Contains(text, "\n            "+name+" ") {
			t.Errorf("help names %s at the top", name)
		}
	}
	if len(names) < 30 {
		t.Errorf("only %d names", len(names))
	}
}
