package plan_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odarchive/triplestore/naive"
	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/sparql/internal/syntax"
	"odarchive/triplestore/term"
)

var update = flag.Bool("update", false, "rewrite the expected plans")

const prefixes = `PREFIX dcat: <http://www.w3.org/ns/dcat#>
PREFIX dct: <http://purl.org/dc/terms/>
PREFIX csvw: <http://www.w3.org/ns/csvw#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
PREFIX a: <http://archive/>
`

// archive is a small archive: 20 portals, 400 resources of 5 media types, 3 versions of each, a table for one version in
// four. Numbers in the expected plans are its statistics.
func archive() *naive.Dataset {
	const dcat, dct, csvw, xsd = "http://www.w3.org/ns/dcat#", "http://purl.org/dc/terms/", "http://www.w3.org/ns/csvw#", "http://www.w3.org/2001/XMLSchema#"
	var quads []term.Quad
	add := func(s term.Key, p string, o term.Key) { quads = append(quads, term.Quad{S: s, P: term.IRI(p), O: o}) }
	types := []string{"text/csv", "text/html", "application/json", "application/pdf", "application/zip"}
	for r := range 400 {
		res := term.IRI(fmt.Sprintf("http://archive/resource/%d", r))
		portal := term.IRI(fmt.Sprintf("http://archive/portal/%d", r%20))
		add(portal, dcat+"dataset", res)
		add(res, dcat+"mediaType", term.String(types[r%7%5]))
		add(res, dct+"title", term.String(fmt.Sprintf("the resource with number %d", r)))
		for v := range 3 {
			n := r*3 + v
			ver := term.IRI(fmt.Sprintf("http://archive/version/%d", n))
			add(res, dct+"hasVersion", ver)
			add(ver, dct+"issued", term.Typed(fmt.Sprintf("20%02d-%02d-%02dT00:00:00Z", 10+n%10, 1+n%12, 1+n%28), xsd+"dateTime"))
			add(ver, dcat+"byteSize", term.Typed(fmt.Sprint(n*37%5000), xsd+"integer"))
			if n%4 == 0 {
				add(term.Blank(fmt.Sprintf("t%d", n)), csvw+"url", ver)
				add(term.Blank(fmt.Sprintf("t%d", n)), "http://archive/rows", term.Typed(fmt.Sprint(n), xsd+"integer"))
			}
		}
	}
	quads = append(quads, term.Quad{S: term.IRI("http://archive/portal/1"), P: term.IRI(dct + "title"), O: term.String("a portal"), G: term.IRI("http://archive/graph")})
	return naive.New(quads...).Snapshot()
}

// TestPlans compares plans with those in testdata: a query, a line of dashes, its plan. Run with -update after a change
// of the planner and read the difference.
func TestPlans(t *testing.T) {
	t.Parallel()
	ds := archive()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no plans in testdata", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		query, want, _ := strings.Cut(string(data), "\n----\n")
		o := plan.Options{}
		if strings.HasPrefix(filepath.Base(file), "parallel") {
			o = plan.Options{Workers: 2, ParallelFrom: 10_000}
		}
		got := explain(t, query, ds, o)
		if *update {
			if err := os.WriteFile(file, []byte(query+"\n----\n"+got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got != want {
			t.Errorf("%s\n%s\ngot:\n%s\nwant:\n%s", file, query, got, want)
		}
	}
}

func explain(t *testing.T, query string, ds plan.Statistics, o plan.Options) string {
	t.Helper()
	tree, err := syntax.ParseQuery(prefixes+query, "", syntax.Options{})
	if err != nil {
		t.Fatal(err)
	}
	q, err := algebra.Translate(tree)
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.OptimiseQuery(q, ds, o)
	if err != nil {
		t.Fatal(err)
	}
	return p.Explain(nil)
}

// TestEveryRuleChangesSomePlan keeps the table of rules honest.
func TestEveryRuleChangesSomePlan(t *testing.T) {
	t.Parallel()
	ds := archive()
	for _, r := range plan.Rules() {
		changed := false
		files, _ := filepath.Glob("testdata/*.txt")
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			query, _, _ := strings.Cut(string(data), "\n----\n")
			tree, err := syntax.ParseQuery(prefixes+query, "", syntax.Options{})
			if err != nil {
				t.Fatal(err)
			}
			q, err := algebra.Translate(tree)
			if err != nil {
				t.Fatal(err)
			}
			with, err1 := plan.OptimiseQuery(q, ds, plan.Options{})
			without, err2 := plan.OptimiseQuery(q, ds, plan.Options{Without: []string{r.Name}})
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			changed = changed || with.Explain(nil) != without.Explain(nil)
		}
		if !changed || r.About == "" {
			t.Errorf("no plan in testdata shows what the rule %q does", r.Name)
		}
	}
}

func TestSetsHoldAnyNumberOfSlots(t *testing.T) {
	t.Parallel()
	s := plan.SetOf(1, 63, 64, 200)
	if got := fmt.Sprint(s.List()); got != "[1 63 64 200]" {
		t.Errorf("got %s", got)
	}
	if s.Has(65) || !s.Has(200) || !plan.SetOf(64).In(s) || s.In(plan.SetOf(1, 63, 64)) {
		t.Error("membership is wrong")
	}
	if got := fmt.Sprint(s.Minus(plan.SetOf(63, 200)).Or(plan.SetOf(2)).And(plan.SetOf(1, 2, 3, 64)).List()); got != "[1 2 64]" {
		t.Errorf("got %s", got)
	}
}
