package main

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/manual"
)

// A flag writes its default into its variable when its command is made, so two commands must not share a variable and
// differ in its default: 'serve' once listened where 'demo' does.
func TestMakingTheCommandsChangesNoSetting(t *testing.T) {
	t.Parallel()
	c := &cli{cfg: config.Defaults()}
	c.root()
	if got, want := withoutEmptyLists(c.cfg), withoutEmptyLists(ofCommands()); !reflect.DeepEqual(got, want) {
		t.Errorf("the settings are\n%+v\nnot the defaults\n%+v", got, want)
	}
}

// ofCommands returns the defaults of commands. They read files in processes of their own; a program that is no
// odarchive, such as a test, has none to start.
func ofCommands() config.Config {
	c := config.Defaults()
	c.Examine = config.ExamineChildren
	return c
}

// withoutEmptyLists returns settings in which no list is empty: that and no list are the same.
func withoutEmptyLists(c config.Config) config.Config {
	for _, list := range []*[]string{&c.TextPredicates, &c.Hooks, &c.Fetch.AllowNets, &c.Fetch.Resolve, &c.Fetch.UnverifiedHosts,
		&c.Fetch.ScopeAllow, &c.Fetch.ScopeDeny, &c.Fetch.NeverKeep, &c.Fetch.Honour, &c.Serve.Service, &c.Serve.Proxies} {
		if len(*list) == 0 {
			*list = nil
		}
	}
	return c
}

// Whoever removes the comment signs of the settings file gets what the program does anyway.
func TestTheSettingsFileShowsTheDefaults(t *testing.T) {
	t.Parallel()
	c := &cli{cfg: config.Defaults()}
	root := c.root()
	text := manual.Manual{Root: root}.Settings("")
	empty := regexp.MustCompile(`(?m)^#[a-z-]+ = ""\n`)
	open := empty.ReplaceAllString(text, "")     // nothing is not the name of a file
	open, _, _ = strings.Cut(open, "#[[token]]") // whose hash is left out
	open = regexp.MustCompile(`(?m)^#([a-z-]+ = |\[\[)`).ReplaceAllString(open, "$1")
	name := filepath.Join(t.TempDir(), "odarchive.toml")
	if err := os.WriteFile(name, []byte(open), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := config.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	serve, _, err := root.Find([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	serve.InheritedFlags() // adds those of all commands
	if err := config.Load(serve.Flags(), file, settings(root)); err != nil {
		t.Fatalf("%v\n%s", err, open)
	}
	if got, want := withoutEmptyLists(c.cfg), withoutEmptyLists(ofCommands()); !reflect.DeepEqual(got, want) {
		t.Errorf("the file sets\n%+v\nnot the defaults\n%+v", got, want)
	}
	if rules, err := config.HostRules(file); err != nil || len(rules) != 1 {
		t.Errorf("%d rules of hosts, %v", len(rules), err)
	}
	if plans, err := config.HarvestPlans(file); err != nil || len(plans) != 1 {
		t.Errorf("%d harvests, %v", len(plans), err)
	}
	if err := c.cfg.Check(); err != nil {
		t.Error(err)
	}
}
