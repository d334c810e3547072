package webapi

import (
	"net/http"
	"strings"
	"testing"

	"odarchive/crawler/harvest/loose"
	"odarchive/crawler/harvest/portaltest"
)

const sample = `{"a":{"b":"x","n":7,"no":false,"nothing":null,"empty":""},"list":[{"k":"one","v":1},{"k":"two","v":[2,3]},{"k":"three"}],
	"nested":[[1,2],[3]],"dc:title":"T","with space":{"k":"s"},"key":"k","url":"https://a.example/x","when":1700000000,"ms":1700000000000,
	"html":"<b>bold</b><br/>text","meta":[{"name":"x_License","value":"CC"},{"name":"other","value":"o"}],"keyword":"own"}`

func TestExpressions(t *testing.T) {
	t.Parallel()
	v, err := loose.Parse([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"a.b":                        `"x"`,
		"a.missing":                  `null`,
		"a.b.c":                      `null`,
		"@.a.n":                      `7`,
		"a.missing || a.b":           `"x"`,
		"a.no || a.b":                `"x"`,
		"a.empty || a.nothing":       `null`,
		"a.b && a.n":                 `7`,
		"a.b && a.no":                `null`,
		"list.k":                     `["one","two","three"]`,
		"list[1].k":                  `"two"`,
		"list[-1].k":                 `"three"`,
		"list[9].k":                  `null`,
		"list.v":                     `[1,[2,3]]`,
		"nested[]":                   `[1,2,3]`,
		"nested[0][1]":               `2`,
		"list[?k == 'two'].v[]":      `[2,3]`,
		"list[?k != 'two'].k":        `["one","three"]`,
		"list[?v].k":                 `["one","two"]`,
		"list[?!v].k":                `"three"`,
		"list[?k ~ '^t'].k":          `["two","three"]`,
		"list[?k !~ '^t'].k":         `["one"]`,
		"list.k == 'two'":            `"true"`,
		"a.n == '7'":                 `"true"`,
		"a.n == 'x'":                 `null`,
		"a.missing == ''":            `"true"`,
		"dc:title":                   `"T"`,
		`"with space".k`:             `"s"`,
		"'{a.b}-{a.n}'":              `"x-7"`,
		"'{a.b}-{a.missing}'":        `null`,
		"'{{{a.b}}}'":                `"{x}"`,
		"'it''s'":                    `"it's"`,
		"(a.missing || a.b) | upper": `"X"`,
		"url | link":                 `"https://a.example/x"`,
		"a.b | link":                 `null`,
		"when | unix":                `"2023-11-14T22:13:20Z"`,
		"ms | unix":                  `"2023-11-14T22:13:20Z"`,
		"html | plain":               `"bold\ntext"`,
		"a | keys":                   `["b","n","no","nothing","empty"]`,
		"a | json":                   `"{\"b\":\"x\",\"n\":7,\"no\":false,\"nothing\":null,\"empty\":\"\"}"`,
		"list.k | join":              `"one two three"`,
		"list | last":                `{"k":"three"}`,
		"url | escape":               `"https:%2F%2Fa.example%2Fx"`,
		"$keyword":                   `"trees"`,
		"keyword":                    `"own"`,
		"a.keyword":                  `null`,
		"$item":                      `null`,
		"meta[?name ~ '(?i)licen[cs]e$'].value | first": `"CC"`,
	} {
		e, err := parseExpression(in)
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		s := &scope{current: v, vars: map[string]loose.Value{"keyword": loose.String("trees")}}
		if got := strings.ReplaceAll(e.eval(s).JSON(), `\u000a`, `\n`); got != want &&
			!(strings.HasPrefix(got, "[") && got == "["+want+"]") || s.failed != nil {
			t.Errorf("%s: %s, want %s (%v)", in, got, want, s.failed)
		}
	}
}

func TestWrongExpressionsAreRefusedWithAReason(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a.":                                  "expected a name",
		"a b":                                 "expected the end or an operator",
		"a[":                                  "expected the number",
		"a[x]":                                "expected the number",
		"a[?b":                                `expected "]"`,
		"(a":                                  `expected ")"`,
		"'a":                                  "expected a quote",
		"'{a'":                                `expected "}"`,
		"'{'b'}'":                             "a text inside of a text",
		"a | nothing":                         "there is no function",
		"$secret":                             "there is no variable",
		"a ~ b":                               "needs a regular expression",
		"a ~ '('":                             "missing closing",
		"a ||":                                "expected a name",
		strings.Repeat("(", 30) + "a":         "nested more than",
		strings.Repeat("!", 30) + "a":         "nested more than",
		"a" + strings.Repeat(".b", 30):        "a path of more than",
		"'" + strings.Repeat("a", 3000) + "'": "at most 2000",
	} {
		if _, err := parseExpression(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, want %q", in, err, want)
		}
	}
}

func TestAnExpressionThatLooksAtTooMuchEnds(t *testing.T) {
	t.Parallel()
	var list []loose.Value
	for range 5000 {
		list = append(list, loose.Object([]string{"k"}, []loose.Value{loose.String("v")}))
	}
	all := loose.Array(list)
	e, err := parseExpression("@[?$answer.k == 'x']")
	if err != nil {
		t.Fatal(err)
	}
	s := &scope{current: all, vars: map[string]loose.Value{"answer": all}}
	if v := e.eval(s); !v.IsNull() || s.failed == nil || !strings.Contains(s.failed.Error(), "too many steps") {
		t.Errorf("%v, %v", v.IsNull(), s.failed)
	}
}

func FuzzExpression(f *testing.F) {
	for _, seed := range []string{"a.b || 'x{a}y' | lower", "list[?k ~ '^t'].v[] | last", "!(a && b) == 'c'", `"x"[-1]`} {
		f.Add(seed, sample)
	}
	f.Fuzz(func(t *testing.T, in, document string) {
		e, err := parseExpression(in)
		if err != nil || e == nil {
			return
		}
		v, _ := loose.Parse([]byte(document)) // as much of it as can be read
		s := &scope{current: v, vars: map[string]loose.Value{"answer": v}}
		e.eval(s)
		if s.steps > maxSteps+maxExpression*10 {
			t.Errorf("%d steps", s.steps)
		}
	})
}

// FuzzAnswers gives the documents of the examples answers of a stranger: whatever comes, a harvest ends.
func FuzzAnswers(f *testing.F) {
	for _, name := range []string{"socrata.toml", "udata.toml", "kaggle.toml"} {
		f.Add(name,
			`{"results":[{"resource":{"id":"a","type":"map","name":["x"]}}],"data":[{"slug":"a","resources":[{"url":"/x"}]}],"next_page":`+
				`1,"total":"3"}`, "Link")
	}
	f.Add("udata.toml", sample, "x")
	f.Add("kaggle.toml", "[[[[{}]]]]", "x")
	f.Fuzz(func(t *testing.T, name, answer, header string) {
		if name != "socrata.toml" && name != "udata.toml" && name != "kaggle.toml" {
			return
		}
		source := compile(t, example(t, name), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Link", header)
			w.Write([]byte(answer))
		}))
		source.Getenv = func(string) string { return "secret-of-the-test" }
		source.Pacer = &Pacer{Max: 30}
		notes := &portaltest.Notes{}
		if err := source.Harvest(t.Context(), "", notes); err != nil && strings.Contains(err.Error(), "secret-of-the-test") {
			t.Error(err)
		}
		for _, d := range notes.Datasets {
			d.Quads(notes.Portals[0].IRI)
		}
	})
}
