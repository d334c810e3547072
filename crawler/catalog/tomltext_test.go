package catalog

import (
	"strings"
	"testing"
)

type document struct {
	Name string `toml:"name"`
	Page []struct {
		URL   string         `toml:"url"`
		Auth  map[string]int `toml:"auth"`
		Value []struct {
			Select string `toml:"select"`
		} `toml:"value"`
	} `toml:"page"`
}

func TestFaultsAreSaidWithTheirLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"name = 'a'\n[[page]]\nurl = 'u'", ""},
		{"name = 'a'\n\nurl 'u'", "line 3: "},
		{"name = 'a'\n[[page]]\nulr = 'u'", `line 3: there is no setting "page.ulr"`},
		{"name = 'a'\n# ulr\n[[page]]\n\"ulr\" = 'u'", `line 4: there is no setting "page.ulr"`},
		{"name = 'a'\npage = [{url = 'u', value = [{selct = 'p'}]}]", `line 2: there is no setting "page.value.selct"`},
		{"name = 3", "toml: "},
	} {
		var d document
		err := TOMLText(c.text).Decode(&d)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
}

func TestTablesAreFoundByTheirIndexes(t *testing.T) {
	t.Parallel()
	const text = "# [[page]]\n[[page]]\nurl = 'a'\n[[ page.value ]]\nselect = 'p'\n[[page . value]]\n\n[[page]]\n[[page.value]]\n"
	for _, c := range []struct {
		page, value int
		want        string
	}{{0, -1, "line 2: "}, {0, 0, "line 4: "}, {0, 1, "line 6: "}, {1, -1, "line 8: "}, {1, 0, "line 9: "}, {1, 1, ""}, {2, -1, ""}} {
		if got := TOMLText(text).Table("page", c.page, "value", c.value); got != c.want {
			t.Errorf("page %d, value %d: %q, want %q", c.page, c.value, got, c.want)
		}
	}
	if got := TOMLText("").Table("page", 0, "value", -1); got != "" {
		t.Errorf("of no text: %q", got)
	}
}
