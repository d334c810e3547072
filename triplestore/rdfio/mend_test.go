package rdfio

import (
	"strings"
	"testing"
)

func TestIRIsWithCharactersThatMustNotStandInThemAreMendedWhereThatIsAskedFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		syntax     Syntax
		text, want string
	}{
		{Turtle(), `<http://a.example/s> <http://a.example/p> <http://a.example/a b{1}|"c".csv >, <x y> .`,
			"http://a.example/a%20b%7B1%7D%7C%22c%22.csv http://b.example/x%20y"},
		{TriG(), `<http://a.example/g> { <http://a.example/s> <http://a.example/p> <http://a.example/a\u0062 c> . }`,
			"http://a.example/ab%20c"},
		{
			RDFXML(),
			`<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:p="http://a.example/"><r:Description r:about="s"><p:p ` +
				`r:resource=" http://a.example/a b\c.csv"/></r:Description></r:RDF>`, "http://a.example/a%20b%5Cc.csv"},
	} {
		var got []string
		for q, err := range NewReader(strings.NewReader(c.text), c.syntax, Options{Base: "http://b.example/", MendIRIs: true}).All() {
			if err != nil {
				t.Fatalf("%s: %v", c.syntax.Name, err)
			}
			got = append(got, q.O.Value())
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", c.syntax.Name, got, c.want)
		}
		failed := false
		for _, err := range NewReader(strings.NewReader(c.text), c.syntax, Options{Base: "http://b.example/"}).All() {
			failed = failed || err != nil
		}
		if !failed {
			t.Errorf("%s: is read where it was not asked for", c.syntax.Name)
		}
	}
	for _, text := range []string{"<http://a.example/s> <http://a.example/p> <http://a.example/x\n> .",
		`<http://a.example/s> <http://a.example/p> < <http://a.example/o> .`} {
		for _, err := range NewReader(strings.NewReader(text), Turtle(), Options{MendIRIs: true}).All() {
			if err == nil {
				t.Errorf("%q was read", text)
			}
		}
	}
}
