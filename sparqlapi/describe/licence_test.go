package describe

import (
	"context"
	"strings"
	"testing"

	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore/term"
)

// In DCAT the licence is that of a distribution, which need not have the IRI of its file.
func TestTheLicenceOfADistributionIsThatOfItsFile(t *testing.T) {
	t.Parallel()
	by, zero := term.IRI("https://creativecommons.org/licenses/by/4.0/"), term.IRI("https://creativecommons.org/publicdomain/zero/1.0/")
	for _, c := range []struct {
		what string
		rows [][]term.Key
		want string
	}{
		{"its own", [][]term.Key{{by, term.IRI("http://x.example/other")}, {zero, term.IRI(link)}}, zero.Value()},
		{"that of all", [][]term.Key{{by, term.IRI("http://x.example/other")}, {by, ""}}, by.Value()},
		{
			"several", [][]term.Key{{by, term.IRI("http://x.example/1")}, {zero, term.IRI("http://x.example/2")},
				{zero, term.IRI("http://x.example/3")}}, ""},
		{"none", nil, ""},
	} {
		collect := &Collector{Archive: small{"Trees"}, Mint: ns.Mint{Base: "http://archive.example/"},
			Proved: func(catalog.Version) (bool, error) { return true, nil },
			Select: func(_ context.Context, query string, _ int) ([][]term.Key, error) {
				if strings.Contains(query, "?licence") {
					return c.rows, nil
				}
				return nil, nil
			}}
		w, err := collect.Version(t.Context(), id+"_2")
		if err != nil {
			t.Fatal(err)
		}
		if w.Licence != c.want {
			t.Errorf("%s: the licence is %q, want %q", c.what, w.Licence, c.want)
		}
		for _, format := range []string{"bibtex", "ris", "csl"} {
			body, _, _, _, err := w.Format(format)
			if err != nil {
				t.Fatal(err)
			}
			if text := string(body); !strings.Contains(text, "proof: http://archive.example/") ||
				strings.Contains(text, "licence: ") != (c.want != "") {
				t.Errorf("%s, %s: %s", c.what, format, text)
			}
		}
	}
}

func TestDatasetsHaveKeysOfTheirOwn(t *testing.T) {
	t.Parallel()
	one, two := Work{Host: "d.example", URL: "http://d.example/1", Version: -1},
		Work{Host: "d.example", URL: "http://d.example/2", Version: -1}
	if one.key() == two.key() {
		t.Errorf("both are %s", one.key())
	}
}
