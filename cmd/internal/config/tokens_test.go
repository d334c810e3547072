package config

import (
	"strings"
	"testing"
	"time"

	"odarchive/sparqlapi/operate/access"

	"github.com/spf13/pflag"
)

func TestTokensAreTablesOfTheFile(t *testing.T) {
	t.Parallel()
	read := func(text string) ([]access.Token, error) {
		file := writeFile(t, text)
		c, flags := Defaults(), pflag.NewFlagSet("", pflag.ContinueOnError)
		c.ServeFlags(flags)
		if err := Load(flags, file, []string{"token", "listen"}); err != nil {
			return nil, err
		}
		return Tokens(file)
	}
	hash := "hash = \"" + access.FormatHash(access.Digest("x")) + "\"\n"
	list, err := read("listen = \"127.0.0.1:0\"\n[[token]]\nname = \"a\"\nrights = [\"add\", \"crawl\"]\n" + hash +
		"expires = 2027-01-02T00:00:00Z\nrate = 0.5\n")
	if err != nil || len(list) != 1 || list[0].Name != "a" || list[0].Rights != access.Add|access.Crawl ||
		!list[0].Expires.Equal(time.Date(2027, 1, 2, 0, 0, 0, 0, time.UTC)) || list[0].Rate != 0.5 || list[0].Digest != access.Digest("x") {
		t.Errorf("%+v, %v", list, err)
	}
	if list, err := read("token = \"plain\"\n"); err != nil || len(list) != 0 {
		t.Errorf("the setting of that name: %v, %v", list, err)
	}
	for text, want := range map[string]string{
		"name = \"a\"\nrights = [\"add\"]\n":                                                         "odarchive admin token new",
		"name = \"a\"\nrights = [\"add\"]\nhash = \"plain\"\n":                                       "odarchive admin token new",
		"name = \"a\"\nrights = []\n" + hash:                                                         "one right",
		"name = \"a\"\nrights = [\"root\"]\n" + hash:                                                 "not a right",
		"name = \"a b\"\nrights = [\"add\"]\n" + hash:                                                "not a name",
		"name = \"local\"\nrights = [\"add\"]\n" + hash:                                              "not a name",
		"name = \"a\"\nright = [\"add\"]\n" + hash:                                                   "right",
		"name = \"a\"\nrights = [\"add\"]\nrate = -1.0\n" + hash:                                     "rate",
		"name = \"a\"\nrights = [\"add\"]\nrate = nan\n" + hash:                                      "rate",
		"name = \"a\"\nrights = \"add\"\n" + hash:                                                    "rights",
		"name = \"a\"\nrights = [\"add\"]\nexpires = \"soon\"\n" + hash:                              "expires",
		"name=\"a\"\nrights=[\"add\"]\n" + hash + "[[token]]\nname=\"b\"\nrights=[\"add\"]\n" + hash: "same hash",
	} {
		if list, err := read("[[token]]\n" + text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want %q", text, list, err, want)
		}
	}
	if _, err := read(strings.Repeat("[[token]]\nname=\"a\"\n", access.MaxTokens+1)); err == nil {
		t.Error("too many tables are accepted")
	}
}
