package catalog

import (
	"reflect"
	"strings"
	"testing"
)

func TestAMisspeltNameIsFound(t *testing.T) {
	t.Parallel()
	known := []string{"serve", "scope", "stats", "host", "harvest", "host-delay", "host-daily", "max-body", "query", "add", "list",
		"listen", "compact", "campaign"}
	for word, want := range map[string]string{
		"serv": "serve", "sevre": "serve", "SERVE": "serve", "harvets": "harvest", "harv": "harvest", "host_delay": "host-delay",
		"max-bodie": "max-body", "hsot": "host", "ad": "add", "comp": "compact", "qeury": "query",
		"": "", "listn": "listen", "s": "", "nonsense": "", "co": "", "ca": "", "x": "", strings.Repeat("serve", 100): "",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
	if got := Nearest("ha", []string{"harvest", "hash"}); got != "" {
		t.Errorf("two letters stand for %q", got)
	}
	if got := Nearest("har", []string{"harvest-a", "harvest-b"}); got != "" {
		t.Errorf("the beginning of two names stands for %q", got)
	}
	if got, want := Hint("sevre", known), `; did you mean "serve"?`; got != want {
		t.Errorf("Hint = %q, want %q", got, want)
	}
	if got := Hint("nonsense", known); got != "" {
		t.Errorf("Hint = %q, want none", got)
	}
}

func TestTheDistanceCountsEdits(t *testing.T) {
	t.Parallel()
	for pair, want := range map[[2]string]int{
		{"", ""}: 0, {"abc", "abc"}: 0, {"abc", ""}: 3, {"", "abc"}: 3, {"abc", "abd"}: 1, {"abc", "acb"}: 1, {"abc", "ab"}: 1,
		{"kitten", "sitting"}: 3, {"ca", "abc"}: 3,
	} {
		if got := distance(pair[0], pair[1]); got != want {
			t.Errorf("distance(%q, %q) = %d, want %d", pair[0], pair[1], got, want)
		}
	}
}

func TestAMisspeltKeyIsFoundInItsTable(t *testing.T) {
	t.Parallel()
	type inner struct {
		Delay string `toml:"delay"`
		Plain string
	}
	type embedded struct {
		Robots string `toml:"robots,omitempty"`
	}
	type outer struct {
		embedded
		Hosts  []inner          `toml:"host"`
		Named  map[string]inner `toml:"named"`
		Single *inner           `toml:"single"`
		Hidden string           `toml:"-"`
	}
	for key, want := range map[string]string{
		"hots": "host", "robtos": "robots", "host.dealy": "delay", "host.pla1n": "plain", "named.anything.dealy": "delay",
		"single.delai": "delay",
		"hots.delay":   "host", "hidden": "", "robots.x": "", "nothing.like.it": "", "": "",
	} {
		got := ""
		if hint := KeyHint(reflect.TypeFor[outer](), strings.Split(key, ".")); hint != "" {
			got = strings.Split(hint, `"`)[1]
		}
		if got != want {
			t.Errorf("KeyHint(%q) means %q, want %q", key, got, want)
		}
	}
}
