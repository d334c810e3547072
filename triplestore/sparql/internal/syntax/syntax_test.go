package syntax_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"odarchive/triplestore/sparql/internal/syntax"
	"odarchive/triplestore/term"
)

func TestErrorsSayWhereWhatAndWhy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text             string
		line, col        int
		found, expected  string
		problem, hinting string
	}{
		{"SELECT ?x\nWHERE { ?x ?p }", 2, 15, `"}"`, "a variable or a term", "", ""},
		{"SELECT ?x WHERE { ?x a ?y", 1, 26, "the end of the text", `a graph pattern or "}"`, "", ""},
		{"SELECT ?x WHERE { ?x rdf:type ?y }", 1, 22, "", "", `the prefix "rdf:" is not declared`,
			"PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>"},
		{"SELECT ?x WHERE { ?x nope:x ?y }", 1, 22, "", "", `the prefix "nope:" is not declared`, "PREFIX nope: <...>"},
		{"PREFIX dcat <x:> SELECT * {}", 1, 8, `"dcat"`, "a prefix ending in a colon", "", ""},
		{"INSERT DATA { <a> <b> <c> }", 1, 1, `"INSERT"`, "SELECT, CONSTRUCT, ASK or DESCRIBE", "", "an update"},
		{"SELECT ?x { ?x ?p \"open }", 1, 19, "", "", "the string is never closed", ""},
		{"SELECT ?x { ?x ?p \"open\n\" }", 1, 19, "", "", "the string is not closed on its line", ""},
		{"SELECT ?s (COUNT(?o) AS ?n) { ?s ?p ?o }", 1, 8, "", "", "?s is neither grouped by nor inside an aggregate", "GROUP BY"},
		{"SELECT * { ?s ?p ?o } GROUP BY ?s", 1, 34, "", "", "SELECT * cannot be used with GROUP BY", "name the variables"},
		{"SELECT * { ?s ?p ?o BIND (1 AS ?o) }", 1, 32, "", "", "BIND cannot set ?o", "another name"},
		{"ASK { ?s ?p ?o FILTER (COUNT(?o) > 1) }", 1, 24, "", "", "COUNT is allowed in SELECT, HAVING and ORDER BY only", "HAVING"},
		{"ASK { VALUES (?x ?y) { (1) } }", 1, 24, "", "", "a row of VALUES has 1 values for 2 variables", "UNDEF"},
		{"ASK { ?ä ?p ?q . ?é ß ?y }", 1, 21, `"ß"`, "a predicate", "", ""},
		{"# c\r\nASK { ?s ?p ?o }\r\n}", 3, 1, `"}"`, "the end of the query", "", ""},
		{"SELECT ?x { FILTER (SUBSTR(?x)) }", 1, 21, "", "", "SUBSTR takes 2 to 3 arguments, not 1", ""},
		{`ASK { FILTER regex("a", "a**") }`, 1, 14, "", "",
			"REGEX: at character 3 of the regular expression: a quantifier follows a quantifier", ""},
		{`ASK { BIND (replace("a", "a", "b", "w") AS ?x) }`, 1, 13, "", "", `REPLACE: unknown flag 'w' of a regular expression`, ""},
		{"SELECT ?x { FILTER (frobnicate(?x)) }", 1, 21, `"frobnicate"`, "an expression", "", ""},
	} {
		_, err := syntax.ParseQuery(c.text, "", syntax.Options{})
		var e *syntax.Error
		if !errors.As(err, &e) {
			t.Errorf("%q: got %v, want a *syntax.Error", c.text, err)
			continue
		}
		if e.Line != c.line || e.Col != c.col {
			t.Errorf("%q: got line %d, column %d, want %d, %d (%v)", c.text, e.Line, e.Col, c.line, c.col, e)
		}
		if c.found != "" && e.Found != c.found || c.expected != e.Expected || !strings.HasPrefix(e.Problem, c.problem) || c.problem == "" &&
			e.Problem != "" {
			t.Errorf("%q: got %+v", c.text, e)
		}
		if !strings.Contains(e.Hint, c.hinting) {
			t.Errorf("%q: got hint %q, want one with %q", c.text, e.Hint, c.hinting)
		}
	}
}

func TestHostileTextsAreRefusedQuicklyAndSayWhichLimit(t *testing.T) {
	t.Parallel()
	many := strings.Repeat
	for _, c := range []struct{ about, text, want string }{
		{"ten megabytes", "SELECT * { ?s ?p \"" + many("x", 10<<20) + "\" }", "the limit is 4194304"},
		{"deep groups", "ASK " + many("{", 100_000) + many("}", 100_000), "limit of 256 levels"},
		{"deep parentheses", "ASK { FILTER (" + many("(", 100_000), "limit of 256 levels"},
		{"deep negation", "ASK { FILTER (" + many("!", 100_000) + "?x) }", "limit of 256 levels"},
		{"deep lists", "ASK { ?s ?p " + many("(", 100_000), "limit of 256 levels"},
		{"deep blank nodes", "ASK { ?s ?p " + many("[ ?p ", 100_000), "limit of 256 levels"},
		{"deep paths", "ASK { ?s " + many("(", 100_000), "limit of 256 levels"},
		{"deep inverse paths", "ASK { ?s " + many("^(", 100_000), "limit of 256 levels"},
		{"deep triple terms", "ASK { ?s ?p " + many("<<( ?s ?p ", 50_000), "limit of 256 levels"},
		{"deep reifiers", "ASK { " + many("<< ", 100_000), "limit of 256 levels"},
		{"deep annotations", "ASK { ?s ?p ?o " + many("{| ?p ?o ", 50_000), "limit of 256 levels"},
		{"deep subqueries", many("SELECT * {", 100_000), "limit of 256 levels"},
		{"deep EXISTS", "ASK {" + many("FILTER EXISTS {", 60_000), "limit of 256 levels"},
		{"many unions", "ASK { {}" + many(" UNION {}", 100_000) + " }", "limit of 10000 graph patterns"},
		{"many optionals", "ASK {" + many("OPTIONAL {}", 90_000) + "}", "limit of 10000 graph patterns"},
		{"a long sum", "ASK { FILTER (1" + many("+1", 100_000) + ") }", "more than 2000 operators in a row"},
		{"a long product", "ASK { FILTER (1" + many("*1", 100_000) + ") }", "more than 2000 operators in a row"},
		{"a long path", "ASK { ?s <p:p>" + many("/<p:p>", 100_000) + " ?o }", "more than 2000 operators in a row"},
		{"a long alternative", "ASK { ?s <p:p>" + many("|<p:p>", 100_000) + " ?o }", "more than 2000 operators in a row"},
	} {
		_, err := syntax.ParseQuery(c.text, "", syntax.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %.200v, want %q", c.about, err, c.want)
		}
	}
}

func TestLongListsThatProgramsWriteAreAccepted(t *testing.T) {
	t.Parallel()
	for about, text := range map[string]string{
		"a thousand unions":         "ASK { {}" + strings.Repeat(" UNION {}", 1000) + " }",
		"ten thousand alternatives": "ASK { ?x ?p ?y FILTER (?x = 1" + strings.Repeat(" || ?x = 2", 10_000) + ") }",
		"ten thousand values":       "ASK { VALUES ?x { " + strings.Repeat("<http://example.org/> ", 10_000) + "} }",
		"ten thousand in IN":        "ASK { FILTER (?x IN (1" + strings.Repeat(", 2", 10_000) + ")) }",
		"ten thousand triples":      "ASK { " + strings.Repeat("?x ?p ?y . ", 10_000) + "}",
	} {
		q, err := syntax.ParseQuery(text, "", syntax.Options{})
		if err != nil {
			t.Errorf("%s: %v", about, err)
			continue
		}
		printed := q.String()
		again, err := syntax.ParseQuery(printed, "", syntax.Options{})
		if err != nil || again.String() != printed {
			t.Errorf("%s: does not read back: %v", about, err)
		}
	}
}

func TestPrintingAndReadingGivesTheSame(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"SELECT * { ?s a [] }", "SELECT * WHERE { ?s <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> _:0.1 . }"},
		{"ASK { ?s <p:p> -5, +5.0 , 1e5, true, 'x'@EN, \"\"\"a\"b\nc\"\"\" }",
			`ASK WHERE { ?s <p:p> "-5"^^<http://www.w3.org/2001/XMLSchema#integer> . ?s <p:p> ` +
				`"+5.0"^^<http://www.w3.org/2001/XMLSchema#decimal> . ` +
				`?s <p:p> "1e5"^^<http://www.w3.org/2001/XMLSchema#double> . ?s <p:p> "true"^^<http://www.w3.org/2001/XMLSchema#boolean> ` +
				`. ?s <p:p> "x"@en . ?s <p:p> "a\"b\nc" . }`},
		{"ASK { FILTER (1 - 2 - 3 * 4 > -?x && !bound(?y) || ?z IN (1, 2)) }",
			"ASK WHERE { FILTER ((((" + lit(1) + " - " + lit(2) + " - (" + lit(3) + " * " + lit(4) + ")) > (- ?x)) && (! BOUND(?y))" +
				") || (?z IN (" + lit(1) + ", " + lit(2) + ")))) }"},
		{"ASK { ?s ^<a:a>/(<b:b>|!(<c:c>|^<d:d>))+ ?o }", "ASK WHERE { ?s (^(<a:a>)/((<b:b>|!(<c:c>|^<d:d>)))+) ?o . }"},
		{"ASK { ?s ?p ?o ~ ?r {| ?a ?b |} }",
			"ASK WHERE { ?s ?p ?o . ?r <http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> <<( ?s ?p ?o )>> . ?r ?a ?b . }"},
		{"ASK { ?a <?b && ?c> ?d }", ""},
	} {
		q, err := syntax.ParseQuery(c.text, "", syntax.Options{})
		if c.want == "" {
			if err == nil {
				t.Errorf("%s: read as %s", c.text, q)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got := q.String(); strings.ReplaceAll(strings.ReplaceAll(got, "(", ""), ")",
			"") != strings.ReplaceAll(strings.ReplaceAll(c.want, "(", ""), ")", "") {
			t.Errorf("%s:\n got %s\nwant %s", c.text, got, c.want)
		}
		again, err := syntax.ParseQuery(q.String(), "", syntax.Options{})
		if err != nil || again.String() != q.String() {
			t.Errorf("%s does not read back: %v\n%s\n%s", c.text, err, q, again)
		}
	}
}

func lit(n int) string { return fmt.Sprintf("\"%d\"^^<http://www.w3.org/2001/XMLSchema#integer>", n) }

func TestSignsBesideNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ASK { FILTER (?x-1 = 0) }":  "(?x - " + lit(1) + ")",
		"ASK { FILTER (?x -1 = 0) }": "(?x - " + lit(1) + ")",
		"ASK { FILTER (-1 = ?x) }":   "(" + lit(-1) + " = ?x)",
		"ASK { FILTER (1+2 = 3) }":   "(" + lit(1) + " + " + lit(2) + ")",
		"ASK { ?s <p:p>+5 }":         `?s <p:p> "+5"^^`,
		"ASK { ?s <p:p>+ 5 }":        "?s (<p:p>)+ " + lit(5),
	} {
		q, err := syntax.ParseQuery(text, "", syntax.Options{})
		if err != nil || !strings.Contains(q.String(), want) {
			t.Errorf("%s: got %v %v, want it to contain %s", text, q, err, want)
		}
	}
}

func TestIRIsAreResolved(t *testing.T) {
	t.Parallel()
	q, err := syntax.ParseQuery("BASE <sub/> PREFIX p: <#> ASK { <> p:x <../a> . <//h/p> <?q> <x:y> }", "http://example.org/dir/doc",
		syntax.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"<http://example.org/dir/sub/> <http://example.org/dir/sub/#x> <http://example.org/dir/a>",
		"<http://h/p> <http://example.org/dir/sub/?q> <x:y>",
	} {
		if !strings.Contains(q.String(), want) {
			t.Errorf("got %s, want it to contain %s", q, want)
		}
	}
	if q, err := syntax.ParseQuery("ASK { <a> <b> <c> }", "", syntax.Options{}); err != nil ||
		!strings.Contains(q.String(), "<a> <b> <c>") {
		t.Errorf("without a base: got %v, %v", q, err)
	}
}

func TestParseTerm(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]term.Key{
		"<a:b>": term.IRI("a:b"), "_:x": term.Blank("x"), `"x"@en--ltr`: term.Lang("x", "en--ltr"),
		"-2.5":                    term.Typed("-2.5", "http://www.w3.org/2001/XMLSchema#decimal"),
		"<<( <s:s> <p:p> _:o )>>": term.Triple(term.IRI("s:s"), term.IRI("p:p"), term.Blank("o")),
		"?x":                      "", "a:b": "", "<a:b> <c:d>": "", "": "", "<<( ?x <p:p> <o:o> )>>": "",
	} {
		got, err := syntax.ParseTerm(text, syntax.Options{})
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: got %q, %v, want %q", text, got, err, want)
		}
	}
}

var seeds = []string{
	"SELECT DISTINCT ?x (COUNT(*) AS ?n) FROM <g:g> WHERE { ?x a ?t OPTIONAL { ?x ?p \"l\"@en FILTER (?p IN (1, 2.0, 3e4)) } } GROUP BY " +
		"?x HAVING (COUNT(*) > 1) ORDER BY DESC(?n) LIMIT 1 OFFSET 2 VALUES ?x { UNDEF <a:b> }",
	"CONSTRUCT { ?s ?p [ ?q (1 2) ] } WHERE { GRAPH ?g { ?s ^<a:a>/<b:b>*|!(<c:c>|^a) ?p } MINUS { ?s ?p ?o } SERVICE SILENT ?e { } }",
	"DESCRIBE * { { SELECT * { ?s ?p ?o ~ _:r {| ?a ?b |} } } UNION { BIND (IF(EXISTS { ?s ?p ?o }, 1, <f:f>(?x)) AS ?y) } }",
	"PREFIX : <> ASK { << :s :p 'o' ~ :r >> :q <<( ?s a '''x''' )>> . :a\\~b%20c ?v .5 }",
	"INSERT DATA { GRAPH <g:g> { _:a <p:p> 1 } } ; WITH <g:g> DELETE { ?s ?p ?o } INSERT { ?s ?p \"\\u00e9\" } USING NAMED <h:h> WHERE { " +
		"?s ?p ?o } ; LOAD SILENT <a:a> INTO GRAPH <b:b> ; COPY DEFAULT TO <x:x>; DROP ALL",
	"DELETE WHERE { ?s ?p ?o . GRAPH ?g { ?s ?p ?o } } ; CREATE GRAPH <a:a> ; CLEAR NAMED",
}

// FuzzParse checks the promises of the parser: it does not panic, errors have a position, and trees print and parse
// into the same trees.
func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, update := range []bool{false, true} {
			printed, err := print(text, "http://example.org/base", update)
			if err != nil {
				var e *syntax.Error
				if !errors.As(err, &e) || e.Line < 1 || e.Col < 1 || e.Found == "" && e.Problem == "" {
					t.Fatalf("a poor error for %q: %#v", text, err)
				}
				continue
			}
			again, err := print(printed, "", update)
			if err != nil || again != printed {
				t.Fatalf("%q does not read back: %v\n%s\n%s", text, err, printed, again)
			}
		}
	})
}

func BenchmarkParseQuery(b *testing.B) {
	text := seeds[0]
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := syntax.ParseQuery(text, "", syntax.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestPrefixesOfTheOptionsNeedNoDeclarationAndGiveWayToOne(t *testing.T) {
	t.Parallel()
	usual := syntax.Options{Prefixes: map[string]string{"a": "x:usual/", "": "x:empty/"}}
	for text, want := range map[string]string{
		"ASK { ?s a:b :c }":                         "<x:usual/b> <x:empty/c>",
		"PREFIX a: <x:own/> ASK { ?s a:b 1 }":       "<x:own/b>",
		"PREFIX other: <x:own/> ASK { ?s a:b a:c }": "<x:usual/b> <x:usual/c>",
	} {
		q, err := syntax.ParseQuery(text, "", usual)
		if err != nil || !strings.Contains(q.String(), want) {
			t.Errorf("%s\n got %v, %v\nwant %s", text, q, err, want)
			continue
		}
		if again, err := syntax.ParseQuery(q.String(), "", syntax.Options{}); err != nil || again.String() != q.String() {
			t.Errorf("%s is printed as %s, which is not read without the option: %v", text, q, err)
		}
	}
	q, err := syntax.ParseQuery("ASK { ?s ?p ?o }", "", usual)
	if err != nil || len(q.Prefixes) > 0 {
		t.Errorf("a query that uses no prefix has %v, %v", q.Prefixes, err)
	}
	if _, err := syntax.ParseUpdate("INSERT DATA { a:b a:c 1 } ; PREFIX a: <x:own/> INSERT DATA { a:b a:c 1 }", "", usual); err != nil {
		t.Errorf("an update: %v", err)
	}
	for _, text := range []string{"ASK { ?s b:c ?o }", "PREFIX b: <x:> ASK { ?s c:d ?o }"} {
		if _, err := syntax.ParseQuery(text, "", usual); err == nil {
			t.Errorf("%s: a prefix that nobody declares was taken", text)
		}
	}
}
