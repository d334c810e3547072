package plan_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"odarchive/triplestore/naive"
	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/sparql/internal/syntax"
	"odarchive/triplestore/spatial"
	"odarchive/triplestore/term"
)

var update = flag.Bool("update", false, "rewrite the expected plans")

const prefixes = `PREFIX dcat: <http://www.w3.org/ns/dcat#>
PREFIX dct: <http://purl.org/dc/terms/>
PREFIX csvw: <http://www.w3.org/ns/csvw#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
PREFIX a: <http://archive/>
`

// archive is a small archive: 20 portals, 400 resources of 5 media types, 3 versions of each, a table for one version
// in four. Numbers in the expected plans are its statistics.
func archive() *naive.Dataset {
	const dcat, dct, csvw, xsd = "http://www.w3.org/ns/dcat#", "http://purl.org/dc/terms/", "http://www.w3.org/ns/csvw#",
		"http://www.w3.org/2001/XMLSchema#"
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
	quads = append(quads, term.Quad{S: term.IRI("http://archive/portal/1"), P: term.IRI(dct + "title"), O: term.String("a portal"),
		G: term.IRI("http://archive/graph")})
	return naive.New(quads...).Snapshot()
}

// placed is a dataset whose index of geometries says that twelve are in any region.
type placed struct{ *naive.Dataset }

func (placed) CountPlaces(spatial.Region) float64 { return 12 }

func (placed) Places(context.Context) (spatial.Finder, error) { return nil, errors.New("only planned") }

// planCase is one case of a file in testdata: a query and its plan.
type planCase struct {
	title   string
	options []string // of the line "with"
	query   string
	plan    string
}

// readCases reads a file of cases. Empty lines separate them. A case is a line "# title", perhaps a line "with" and
// options, the query, a line of dashes, and the plan. The first paragraph is the file's title.
func readCases(t *testing.T, file string) (about string, cases []planCase) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	about, rest, _ := strings.Cut(string(data), "\n\n")
	for _, text := range strings.Split(strings.TrimRight(rest, "\n"), "\n\n") {
		var c planCase
		var ok bool
		c.title, text, _ = strings.Cut(strings.TrimPrefix(text, "# "), "\n")
		if strings.HasPrefix(text, "with ") {
			with, query, _ := strings.Cut(text, "\n")
			c.options, text = strings.Fields(with)[1:], query
		}
		if c.query, c.plan, ok = strings.Cut(text, "\n----"); !ok {
			t.Fatalf("%s: %s: no line of dashes after the query", file, c.title)
		}
		c.plan = strings.TrimPrefix(c.plan, "\n")
		cases = append(cases, c)
	}
	return about, cases
}

func (c planCase) String() string {
	s := "# " + c.title + "\n"
	if len(c.options) > 0 {
		s += "with " + strings.Join(c.options, " ") + "\n"
	}
	return s + c.query + "\n----\n" + c.plan + "\n"
}

// explain plans the query of a case and prints the plan. With bindings among the options it prints the plan that
// the pattern of the first EXISTS has for them.
func (c planCase) explain(t *testing.T, ds plan.Statistics, without ...string) string {
	t.Helper()
	o := plan.Options{Without: without}
	bound := map[algebra.Var]term.Key{}
	for _, option := range c.options {
		name, value, _ := strings.Cut(option, "=")
		switch name {
		case "workers":
			o.Workers, _ = strconv.Atoi(value)
		case "parallel":
			o.ParallelFrom, _ = strconv.ParseFloat(value, 64)
		case "join":
			o.Join = value
		case "noreorder":
			o.NoReorder = true
		default:
			k, err := syntax.ParseTerm(value, syntax.Options{})
			if err != nil || !strings.HasPrefix(name, "?") {
				t.Fatalf("%s: unknown option %s: %v", c.title, option, err)
			}
			bound[algebra.Var(name[1:])] = k
		}
	}
	p, err := plan.OptimiseQuery(translate(t, prefixes+c.query), ds, o)
	if err != nil {
		t.Fatalf("%s: %v", c.title, err)
	}
	if len(bound) == 0 {
		return strings.TrimSuffix(p.Explain(nil), "\n")
	}
	s := firstSubstitute(p.Root)
	if s == nil {
		t.Fatalf("%s: the plan substitutes nothing:\n%s", c.title, p.Explain(nil))
	}
	values := map[int]term.Key{}
	for v, slot := range s.Scope {
		if k, ok := bound[v]; ok && s.Reads(slot) {
			values[slot] = k
		}
	}
	if g := s.Graph.Slot; g >= 0 {
		values[g] = bound["g"]
	}
	sub, err := p.Substituted(s, values, ds, o)
	if err != nil {
		t.Fatalf("%s: %v", c.title, err)
	}
	return strings.TrimSuffix(sub.Explain(nil), "\n")
}

func firstSubstitute(n plan.Node) *plan.Substitute {
	if s, ok := n.(*plan.Substitute); ok {
		return s
	}
	for _, in := range plan.Inputs(n) {
		if s := firstSubstitute(in); s != nil {
			return s
		}
	}
	return nil
}

func translate(t *testing.T, query string) *algebra.Query {
	t.Helper()
	tree, err := syntax.ParseQuery(query, "", syntax.Options{})
	if err != nil {
		t.Fatal(err)
	}
	q, err := algebra.Translate(tree)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// TestPlans compares plans with those in testdata. Run with -update after a change of the planner and read the
// difference.
func TestPlans(t *testing.T) {
	t.Parallel()
	ds := placed{archive()}
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no plans in testdata", err)
	}
	for _, file := range files {
		about, cases := readCases(t, file)
		out := about + "\n"
		for _, c := range cases {
			got := c.explain(t, ds)
			if got != c.plan && !*update {
				t.Errorf("%s: %s\n%s\ngot:\n%s\nwant:\n%s", file, c.title, c.query, got, c.plan)
			}
			c.plan = got
			out += "\n" + c.String()
		}
		if *update {
			if err := os.WriteFile(file, []byte(out), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestEveryRuleHasItsCases plans the cases of each rule with the rule and without it.
func TestEveryRuleHasItsCases(t *testing.T) {
	t.Parallel()
	ds := placed{archive()}
	for _, r := range plan.Rules() {
		if r.About == "" {
			t.Errorf("the rule %s does not say what it does", r.Name)
		}
		_, cases := readCases(t, filepath.Join("testdata", "rule-"+r.Name+".txt"))
		for _, c := range cases {
			same := c.explain(t, ds) == c.explain(t, ds, r.Name)
			if same != strings.HasPrefix(c.title, "same plan: ") {
				t.Errorf("rule %s: %s: without the rule, the plan is the same: %t", r.Name, c.title, same)
			}
		}
	}
}

func TestAQueryThatIsTooLargeIsRefused(t *testing.T) {
	t.Parallel()
	var deep algebra.Op = algebra.BGP{}
	for range 2000 {
		deep = algebra.Distinct{In: deep}
	}
	var deepPath algebra.Path = algebra.PathIRI{IRI: "x:p"}
	for range 2000 {
		deepPath = algebra.PathMany{Path: deepPath}
	}
	x := algebra.Node{Var: "x"}
	var wide algebra.Values
	for i := range 30_000 {
		wide.Vars = append(wide.Vars, algebra.Var(fmt.Sprint("v", i)))
	}
	end := translate(t, "SELECT * { <<( ?s <x:p> ?o )>> <x:q>+ ?y }").Pattern
	for about, op := range map[string]algebra.Op{
		"deep": deep, "a deep path": algebra.PathPattern{S: x, Path: deepPath, O: x},
		"a triple term with variables as the end of a path": end,
		"a path in a deep pattern":                          algebra.Join{L: deep, R: algebra.PathPattern{S: x, Path: deepPath, O: x}},
		"many variables":                                    algebra.Union{L: wide, R: algebra.Distinct{In: algebra.Distinct{In: wide}}},
	} {
		_, err := plan.Optimise(op, nil, nil, nil, archive(), plan.Options{})
		if !errors.Is(err, plan.ErrTooLarge) {
			t.Errorf("%s: got error %v, want ErrTooLarge", about, err)
		}
	}
}

func TestPlanningEndsWithTheErrorOfCheck(t *testing.T) {
	t.Parallel()
	over := errors.New("over")
	_, err := plan.OptimiseQuery(translate(t, "SELECT * { ?s ?p ?o }"), archive(), plan.Options{Check: func() error { return over }})
	if !errors.Is(err, over) {
		t.Errorf("got error %v, want that of Check", err)
	}
}

// broken is a dataset that cannot look terms up.
type broken struct{ *naive.Dataset }

var errBroken = errors.New("broken")

func (broken) Lookup(term.Key) (term.ID, bool, error) { return 0, false, errBroken }

func TestAnErrorOfTheStoreEndsThePlanning(t *testing.T) {
	t.Parallel()
	for _, query := range []string{
		"SELECT * { ?s <x:p> ?o }", "SELECT * { ?s <x:p>* ?o }", "SELECT * { ?s !<x:p> ?o }", "SELECT * { ?s !^<x:p> ?o }",
		"SELECT * { ?s (<x:p>|<x:q>) <x:o> }",
		"SELECT * { <x:s> <x:p>* ?o }", "SELECT * { VALUES ?x { <x:v> } }", "SELECT * { GRAPH <x:g> { ?s ?p ?o } }",
		"SELECT * FROM <x:g> { ?s ?p ?o }",
		"SELECT * FROM NAMED <x:g> { ?s ?p ?o }", "SELECT * { ?s ?p ?o OPTIONAL { ?s <x:p> ?x } }",
		"SELECT * { ?s ?p ?o MINUS { ?s <x:p> ?x } }",
		"SELECT * { ?s ?p ?o FILTER EXISTS { ?s <x:p> ?x } }", "SELECT * { { ?s <x:p> ?o } UNION { ?s ?p ?o } }",
		"SELECT * { ?s ?p ?o FILTER(?o = <x:o>) }",
		"SELECT * { ?s ?p ?o FILTER(?o IN (<x:o>, <x:q>)) }", "SELECT * { ?s ?p ?o { SELECT (COUNT(*) AS ?n) { ?s <x:p> ?o } } }",
		"SELECT * { ?s ?p ?o { SELECT DISTINCT ?s { ?s <x:p> ?o } ORDER BY ?s LIMIT 3 } }", "SELECT * { GRAPH ?g { ?s <x:p> ?o } }",
		"SELECT * { ?s ?p ?o BIND(EXISTS { ?s <x:p> ?o } AS ?x) }", "SELECT (SUM(EXISTS { ?s <x:p> ?o }) AS ?n) { ?s ?p ?o }",
		"SELECT * { ?s ?p ?o } ORDER BY EXISTS { ?s <x:p> ?o }",
		"SELECT * { ?s ?p ?o FILTER(?o || EXISTS { ?s <x:p> ?o }) }", "SELECT * { ?s ?p ?o MINUS { ?s ?p ?o OPTIONAL { ?s <x:p> ?o } } }",
	} {
		_, err := plan.OptimiseQuery(translate(t, query), broken{archive()}, plan.Options{})
		if !errors.Is(err, errBroken) {
			t.Errorf("%s: got error %v, want that of the store", query, err)
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
