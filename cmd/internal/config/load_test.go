package config

import (
	"slices"
	"strings"
	"testing"
)

func TestAnErrorSaysWhichSettingWasMeant(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"max-bodie = 1\n":                        `no setting "max-bodie" exists; did you mean "max-body"?`,
		"max_body = 1\n":                         `no setting "max_body" exists; did you mean "max-body"?`,
		"[scope]\ndney = [\"host:a.example\"]\n": `no setting "scope-dney" exists ("dney" in the table [scope]); did you mean "deny"?`,
		"[scpoe]\ndeny = [\"host:a.example\"]\n": `no setting "scpoe-deny" exists ("deny" in the table ` +
			`[scpoe]); did you mean "scope-deny"?`,
		"[scope.host]\nname = 1\n": `no setting "scope-host" exists ("host" in the table [scope])`,
		"nonsense = 1\n":           `no setting "nonsense" exists`,
	} {
		c := Defaults()
		f := flagsOf(&c)
		err := Load(f, writeFile(t, text), namesOf(f))
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("file %q: error %v, want %s", text, err, want)
		}
	}
	_, err := HostRules(writeFile(t, "[[host]]\nmatch = \"a.example\"\ndealy = \"1s\"\n"))
	if want := `a [[host]] table has no setting "dealy"; did you mean "delay"?`; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestVariablesThatAreNearlySettingsAreNoticed(t *testing.T) {
	t.Parallel()
	c := Defaults()
	known := namesOf(flagsOf(&c))
	got := Misspelt([]string{"ODARCHIVE_LISTN=:1", "ODARCHIVE_LISTEN=:1", "ODARCHIVE_SHARED=x", "LISTN=:1", "ODARCHIVE_=",
		"odarchive_max_bod=1"}, known)
	if want := []string{"the environment variable ODARCHIVE_LISTN is not a setting; did you mean ODARCHIVE_LISTEN?"}; !slices.Equal(got,
		want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
