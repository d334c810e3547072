package config

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"odarchive/sparqlapi/operate/access"

	"github.com/spf13/pflag"
)

// A pipe has every part of the settings, though it can be read only once.
func TestAPipeHasAllSettings(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("pipes have no names here")
	}
	text := "listen = \"127.0.0.1:1\"\n[[host]]\nmatch = \"a.example\"\n[[harvest]]\nkind = \"ckan\"\nurl = \"https://a.example\"\n" +
		"[[token]]\nname = \"a\"\nrights = [\"add\"]\nhash = \"" + access.FormatHash(access.Digest("x")) + "\"\n"
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if _, err := in.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := ReadFile(fmt.Sprintf("/dev/fd/%d", out.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	c, flags := Defaults(), pflag.NewFlagSet("", pflag.ContinueOnError)
	c.ServeFlags(flags)
	if err := Load(flags, file, namesOf(flags)); err != nil || c.Serve.Listen != "127.0.0.1:1" {
		t.Errorf("listen %q, %v", c.Serve.Listen, err)
	}
	hosts, err := HostRules(file)
	if err != nil || len(hosts) != 1 {
		t.Errorf("%d hosts, %v", len(hosts), err)
	}
	plans, err := HarvestPlans(file)
	if err != nil || len(plans) != 1 {
		t.Errorf("%d harvests, %v", len(plans), err)
	}
	tokens, err := Tokens(file)
	if err != nil || len(tokens) != 1 {
		t.Errorf("%d tokens, %v", len(tokens), err)
	}
}

func TestATokenAndTablesOfTokens(t *testing.T) {
	t.Parallel()
	const table = "[[token]]\nname = \"a\"\nrights = [\"add\"]\n"
	for text, want := range map[string]string{
		"token = \"x\"\n" + table:            "it has both token = and [[token]] tables",
		table + "listen = \"127.0.0.1:0\"\n": `a [[token]] table has no setting "listen"; what stands below a table belongs to it`,
	} {
		file := writeFile(t, text)
		_, err := Tokens(file)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Count(err.Error(), "config file") != 1 {
			t.Errorf("%q: %v", text, err)
		}
	}
}
