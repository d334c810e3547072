package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/harvest/timetable"

	"github.com/spf13/pflag"
)

func flagsOf(c *Config) *pflag.FlagSet {
	f := pflag.NewFlagSet("test", pflag.ContinueOnError)
	c.GlobalFlags(f)
	c.FetchFlags(f)
	c.ServeFlags(f)
	return f
}

func namesOf(f *pflag.FlagSet) (names []string) {
	f.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// writeFile returns a settings file with this text, as the program reads it.
func writeFile(t *testing.T, text string) *File {
	t.Helper()
	name := filepath.Join(t.TempDir(), "odarchive.toml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestAFlagWinsOverTheEnvironmentAndThatOverTheFile(t *testing.T) {
	t.Setenv("ODARCHIVE_MAX_BODY", "2MiB")
	t.Setenv("ODARCHIVE_CONTACT", "from the environment")
	file := writeFile(t,
		"contact = \"from the file\"\nhost-delay = \"7s\"\nworkers = 3\nallow-net = [\"10.0.0.0/8\", \"192.168.0.0/16\"]\n")
	c := Defaults()
	f := flagsOf(&c)
	if err := f.Parse([]string{"--max-body", "1MiB"}); err != nil {
		t.Fatal(err)
	}
	if err := Load(f, file, namesOf(f)); err != nil {
		t.Fatal(err)
	}
	if c.Fetch.MaxBody != 1<<20 || c.Fetch.Contact != "from the environment" || c.Fetch.HostDelay != 7*time.Second ||
		c.Fetch.Workers != 3 || len(c.Fetch.AllowNets) != 2 {
		t.Errorf("loaded %+v", c.Fetch)
	}
	if err := c.Check(); err != nil {
		t.Error(err)
	}
}

func TestASettingThatIsNoneIsRefusedByName(t *testing.T) {
	t.Parallel()
	for text, name := range map[string]string{
		"max-bodie = 1\n":           "max-bodie",
		"max-body = \"many\"\n":     "max-body",
		"host-delay = \"a week\"\n": "host-delay",
		"this is no TOML":           "odarchive.toml",
	} {
		c := Defaults()
		f := flagsOf(&c)
		if err := Load(f, writeFile(t, text), namesOf(f)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("file %q: error %v, want one that names %s", text, err, name)
		}
	}
	for _, change := range []func(*Config){
		func(c *Config) { c.Fetch.MaxInterval = time.Minute },
		func(c *Config) { c.Fetch.MaxBody = 0 },
		func(c *Config) { c.Fetch.Schedule = "often" },
		func(c *Config) { c.Fetch.Workers = 0 },
		func(c *Config) { c.LogFormat = "yaml" },
		func(c *Config) { c.Fetch.Hours = "by night" },
		func(c *Config) { c.Fetch.AllowNets = []string{"10.0.0.0"} },
		func(c *Config) { c.Fetch.HostDelay = -time.Second },
		func(c *Config) { c.Fetch.LDESInterval = -time.Hour },
		func(c *Config) { c.Fetch.Contact = "ops@example.org\nwww.example.org" },
		func(c *Config) { c.Fetch.UserAgent = "odarchive\r" },
		func(c *Config) { c.Fetch.UserAgent = "\xe9" },
		func(c *Config) { c.Serve.Queries.TotalMemory = c.Serve.Queries.Memory - 1 },
	} {
		c := Defaults()
		change(&c)
		if err := c.Check(); err == nil {
			t.Errorf("%+v passed the check", c)
		}
	}
}

func TestTheNameServerHasAPortAndNonsenseIsRefused(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"": "", "127.0.0.1": "127.0.0.1:53", "127.0.0.1:5353": "127.0.0.1:5353", "ns.example:53": "ns.example:53", "::1": "[::1]:53",
		"[::1]:54": "[::1]:54",
	} {
		if got, err := (Fetch{Resolver: given}).NameServer(); err != nil || got != want {
			t.Errorf("%q: %q, %v", given, got, err)
		}
	}
	for _, bad := range []string{"nonsense:xx", "a:0", ":53", "a b", "http://x", "1:2:3x"} {
		if got, err := (Fetch{Resolver: bad}).NameServer(); err == nil {
			t.Errorf("%q is taken as %q", bad, got)
		}
	}
}

// Otherwise the last of two values would win without a word.
func TestOfTwoValuesNoneIsTakenSilently(t *testing.T) {
	t.Parallel()
	for text, name := range map[string]string{
		"data = [\"a\", \"b\"]\n":    "data: the setting takes one value",
		"contact = [\"a\", \"b\"]\n": "contact: the setting takes one value",
		"resolve = [\"a.example=127.0.0.1:1\", \"a.example=127.0.0.1:2\"]\n":                                 "a.example",
		"resolve = [\"a.example=127.0.0.1:1\", \"A.example=127.0.0.2\"]\n":                                   "a.example",
		"[[host]]\nmatch = \"a.example\"\ndelay = \"1s\"\n[[host]]\nmatch = \"A.example\"\ndelay = \"2s\"\n": "a.example",
	} {
		file, c := writeFile(t, text), Defaults()
		f := flagsOf(&c)
		err := Load(f, file, namesOf(f))
		if err == nil {
			err = c.Check()
		}
		if err == nil {
			_, err = HostRules(file)
		}
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v, want an error that names %s", text, err, name)
		}
	}
	c := Defaults()
	c.Fetch.Resolve = []string{"a.example=127.0.0.1", "b.example=127.0.0.1", "a.example=127.0.0.1"}
	if _, err := c.Fetch.Resolved(); err != nil {
		t.Error(err)
	}
}

func TestTheTablesOfHostsAreReadAndMisspellingsNamed(t *testing.T) {
	t.Parallel()
	file := writeFile(t,
		"retries = 1\n[[host]]\nmatch = \"*.example.org\"\ndelay = \"7s\"\nmax-body = \"2MiB\"\n[[host]]\nmatch = "+
			"\"a.example\"\nparallel = 2\n")
	c := Defaults()
	f := flagsOf(&c)
	if err := Load(f, file, namesOf(f)); err != nil {
		t.Fatal(err)
	}
	rules, err := HostRules(file)
	if err != nil || len(rules) != 2 || time.Duration(*rules[0].Delay) != 7*time.Second || rules[0].MaxBody != 2<<20 ||
		rules[1].Parallel != 2 || c.Fetch.Retries != 1 {
		t.Errorf("%+v, %v", rules, err)
	}
	for text, name := range map[string]string{
		"[[host]]\nmatch = \"a.example\"\ndealy = \"1s\"\n": "dealy",
		"[[host]]\ndelay = \"1s\"\n":                        "neither a host",
		"[[host]]\nmatch = \"*\"\ndelay = \"soon\"\n":       "soon",
		"host = 3\n": "host",
	} {
		if _, err := HostRules(writeFile(t, text)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v, want an error that names %s", text, err, name)
		}
	}
	for _, change := range []func(*Config){
		func(c *Config) { c.Fetch.Retries = 6 },
		func(c *Config) { c.Fetch.Proxy = "socks4://a" },
		func(c *Config) { c.Fetch.Proxy = "http://me:secret@a" },
		func(c *Config) { c.Fetch.ProxySecret = "a" },
		func(c *Config) { c.Fetch.MaxCrawlDelay = -1 },
	} {
		c := Defaults()
		if change(&c); c.Check() == nil {
			t.Errorf("%+v passed the check", c.Fetch)
		}
	}
}

func TestTablesOfTheFilePlanHarvests(t *testing.T) {
	t.Parallel()
	read := func(text string) ([]timetable.Plan, error) {
		t.Helper()
		file := writeFile(t, text)
		if err := Load(pflag.NewFlagSet("", pflag.ContinueOnError), file, nil); err != nil {
			t.Errorf("%s: other settings: %v", text, err)
		}
		return HarvestPlans(file)
	}
	plans,
		err := read(
		"[[harvest]]\nkind = \"ckan\"\nurl = \"https://a.example\"\nat = [\"03:30\"]\n[[harvest]]\nkind = \"oai\"\nurl = " +
			"\"https://a.example\"")
	if err != nil || len(plans) != 2 || plans[0].When() != "at 03:30" || plans[1].When() != "every 24h" {
		t.Errorf("%+v, %v", plans, err)
	}
	if plans, err := HarvestPlans(nil); plans != nil || err != nil {
		t.Errorf("without a file: %+v, %v", plans, err)
	}
	const table = "[[harvest]]\nkind = \"ckan\"\nurl = \"https://a.example\"\n"
	for text, want := range map[string]string{
		table + "evry = \"24h\"":   `has no setting "evry"`,
		table + "every = \"soon\"": "is not a time such as",
		table + table:              "two [[harvest]] tables for ckan https://a.example",
		table + "at = 3":           "neither a text nor a list",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
