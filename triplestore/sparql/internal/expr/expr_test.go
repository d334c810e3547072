package expr_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"odarchive/triplestore/naive"
	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/sparql/internal/exec"
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/sparql/internal/syntax"
	"odarchive/triplestore/term"
)

// eval returns the value of an expression as text, or "error".
func eval(t *testing.T, text string) string {
	t.Helper()
	query := "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> BASE <http://base/a/b> SELECT (" + text + " AS ?x) { }"
	tree, err := syntax.ParseQuery(query, "", syntax.Options{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	q, err := algebra.Translate(tree)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	ds := naive.New().Snapshot()
	p, err := plan.OptimiseQuery(q, ds, plan.Options{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	now := time.Date(2020, 5, 10, 11, 22, 33, 0, time.UTC)
	rows, err := exec.Run(context.Background(), p, ds, exec.Options{Now: now})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer rows.Close()
	b, err := rows.Next()
	if err != nil || b == nil || b.Len != 1 {
		t.Fatalf("%s: %v, %v", text, b, err)
	}
	if b.Cols[0] == nil {
		return "error"
	}
	key := make([]term.Key, 1)
	if err := rows.Keys(b.Cols[0][:1], key); err != nil {
		t.Fatal(err)
	}
	return show(key[0])
}

func show(k term.Key) string {
	switch k.Kind() {
	case term.KindNone:
		return "error"
	case term.KindIRI:
		return "<" + k.Value() + ">"
	case term.KindBlank:
		return "blank"
	case term.KindTriple:
		s, p, o, _ := k.Parts()
		return "<<" + show(s) + show(p) + show(o) + ">>"
	}
	switch {
	case k.Lang() != "":
		return k.Value() + "@" + k.Lang()
	case k.Datatype() == term.XSDString:
		return `"` + k.Value() + `"`
	}
	return k.Value() + " " + strings.TrimPrefix(k.Datatype(), "http://www.w3.org/2001/XMLSchema#")
}

func TestExpressions(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		// Effective boolean values (§17.2.2).
		{`!("abc"^^xsd:integer)`, "error"}, {`IF("maybe"^^xsd:boolean, 1, 2)`, "error"}, {`IF("a"@en, 1, 2)`, "error"},
		{`!"x"^^<http://unknown/>`, "error"}, {`!"2020-01-01"^^xsd:date`, "error"}, {`!<http://a>`, "error"},
		{`!("NaN"^^xsd:double)`, "true boolean"},
		{`"a"@en < "b"@en`, "true boolean"}, {`"a"@en < "b"@de`, "error"}, {`"a" < "b"@de`, "error"},
		{`?u IN ()`, "error"}, {`1 IN ()`, "false boolean"}, {`1 NOT IN ()`, "true boolean"}, {`?u NOT IN ()`, "error"},
		{`UCASE("straße"@de)`, "STRASSE@de"}, {`LCASE("ΧΑΟΣ")`, `"χαος"`}, {`UCASE("ǆ")`, `"Ǆ"`},
		// Errors as the third truth value (§17.2).
		{`true || (1/0 = 1)`, "true boolean"}, {`(1/0 = 1) || true`, "true boolean"}, {`false || (1/0 = 1)`, "error"},
		{`false && (1/0 = 1)`, "false boolean"}, {`(1/0 = 1) && true`, "error"}, {`!(1/0)`, "error"},
		{`COALESCE(1/0, ?u, "x")`, `"x"`}, {`IF(1/0, 1, 2)`, "error"}, {`IF("", 1, 2)`, "2 integer"}, {`BOUND(?u)`, "false boolean"},
		{`1 IN (1/0, 1)`, "true boolean"}, {`1 IN (1/0, 2)`, "error"}, {`1 NOT IN (2, 3)`, "true boolean"}, {`1 IN ()`, "false boolean"},
		// Equality and order.
		{`1 = 1.0`, "true boolean"}, {`"a" = "a"@en`, "false boolean"}, {`"1"^^<x:t> = "2"^^<x:t>`, "error"},
		{`"1"^^<x:t> = "1"^^<x:t>`, "true boolean"},
		{`"z"^^xsd:integer = 1`, "error"}, {`<x:a> = "a"`, "false boolean"}, {`"a" < "b"`, "true boolean"}, {`"a" < 1`, "error"},
		{`<x:a> < <x:b>`, "error"},
		{`"2020-05-10T00:00Z"^^xsd:dateTimeStamp = "2020-05-10T02:00:00+02:00"^^xsd:dateTime`, "true boolean"},
		{`"2020-05-10"^^xsd:date < "2020-05-11"^^xsd:date`, "true boolean"}, {`SAMETERM(1, 1.0)`, "false boolean"},
		// Numbers.
		{`1 + 2 * 3`, "7 integer"}, {`1/2`, "0.5 decimal"}, {`-(1.5)`, "-1.5 decimal"}, {`1e0 + 1`, "2.0E0 double"},
		{`ABS(-3)`, "3 integer"},
		{`CEIL(1.2)`, "2 decimal"}, {`FLOOR(-1.2)`, "-2 decimal"}, {`ROUND(2.5)`, "3 decimal"}, {`"1" + 1`, "error"},
		{`isNumeric("1"^^xsd:byte)`, "true boolean"},
		// Terms.
		{`STR(<x:a>)`, `"x:a"`}, {`STR("a"@en)`, `"a"`}, {`LANG("a"@EN)`, `"en"`}, {`LANG(1)`, `""`},
		{`DATATYPE("a"@en)`, "<" + term.LangString + ">"},
		{`DATATYPE(1.0)`, "<http://www.w3.org/2001/XMLSchema#decimal>"}, {`IRI("c")`, "<http://base/a/c>"},
		{`IRI("../c?q#f")`, "<http://base/c?q#f>"}, {`IRI("a b")`, "error"}, {`IRI("http://a:b/")`, "error"}, {`IRI("//a:8x/")`, "error"},
		{`IRI("http://u:p@[::1]:80/x:y")`, "<http://u:p@[::1]:80/x:y>"},
		{`STRDT("1", xsd:integer)`, "1 integer"}, {`STRDT("1"@en, xsd:integer)`, "error"}, {`STRLANG("a", "en-GB")`, "a@en-gb"},
		{`BNODE()`, "blank"}, {`isBlank(BNODE("a"))`, "true boolean"},
		{`isIRI(<x:a>)`, "true boolean"}, {`isLiteral(<x:a>)`, "false boolean"}, {`STRLEN(STRUUID())`, "36 integer"},
		{`isIRI(UUID())`, "true boolean"},
		// Strings.
		{`STRLEN("häß")`, "3 integer"}, {`SUBSTR("motor car", 6)`, `" car"`}, {`SUBSTR("12345", 1.5, 2.6)`, `"234"`},
		{`SUBSTR("12345", 0, 3)`, `"12"`}, {`SUBSTR("bar"@en, 2, 1)`, "a@en"},
		{`UCASE("aß"@de)`, "ASS@de"}, {`CONCAT("a"@en, "b"@en)`, "ab@en"}, {`CONCAT("a"@en, "b")`, `"ab"`}, {`CONCAT("a", 1)`, "error"},
		{`CONTAINS("abc"@en, "b")`, "true boolean"},
		{`CONTAINS("abc", "b"@en)`, "error"}, {`STRBEFORE("abc"@en, "b")`, "a@en"}, {`STRBEFORE("abc"@en, "z")`, `""`},
		{`STRAFTER("abc", "")`, `"abc"`}, {`STRENDS("abc", "bc")`, "true boolean"},
		{`ENCODE_FOR_URI("ä b~")`, `"%C3%A4%20b~"`}, {`LANGMATCHES("de-AT", "de")`, "true boolean"},
		{`LANGMATCHES("den", "de")`, "false boolean"}, {`LANGMATCHES("", "*")`, "false boolean"},
		// Regular expressions.
		{`REGEX("Wasser 2019", "^wasser.*2019|budget", "i")`, "true boolean"}, {`REGEX("a.c", "a.c", "q")`, "true boolean"},
		{`REGEX("abc", "a b c", "x")`, "true boolean"}, {`REGEX("a", STR("("))`, "error"},
		{`REGEX("aa", "(a)\\1")`, "true boolean"}, {`REGEX("a", "[a-z-[a]]")`, "false boolean"},
		{`REGEX("aß", "^\\p{IsBasicLatin}+$")`, "false boolean"}, {`REPLACE("otto", "(.)\\1", "<$1>")`, `"o<t>o"`},
		{`REGEX("\u212A", "k", "i")`, "true boolean"}, {`REGEX("x\ny", "^y$", "m")`, "true boolean"}, {`REGEX(<x:a>, "a")`, "error"},
		{`REPLACE("abcd", "b(.)", "[$1$0]")`, `"a[cbc]d"`}, {`REPLACE("a.b", ".", "$", "q")`, `"a$b"`},
		{`REPLACE("abc", "x*", "-")`, "error"}, {`REPLACE("abc"@en, "B", "", "i")`, "ac@en"}, {`REPLACE("a", "a", "\\$")`, `"$"`},
		// Times.
		{`NOW()`, "2020-05-10T11:22:33Z dateTime"}, {`YEAR("2020-05-10T11:22:33.5+02:00"^^xsd:dateTime)`, "2020 integer"},
		{`HOURS("2020-05-10T11:22:33.5+02:00"^^xsd:dateTime)`, "11 integer"},
		{`SECONDS("2020-05-10T11:22:33.50Z"^^xsd:dateTime)`, "33.5 decimal"}, {`TZ("2020-05-10T11:22:33-05:30"^^xsd:dateTime)`, `"-05:30"`},
		{`TIMEZONE("2020-05-10T11:22:33-05:30"^^xsd:dateTime)`, "-PT5H30M dayTimeDuration"},
		{`TIMEZONE("2020-05-10T11:22:33"^^xsd:dateTime)`, "error"},
		{`STR("2020-05-10T11:22:33.000Z"^^xsd:dateTime)`, `"2020-05-10T11:22:33.000Z"`}, {`MONTH("2020-05-10"^^xsd:date)`, "5 integer"},
		{`"2020-01-01T00:00:00Z"^^xsd:dateTime + "P1D"^^xsd:dayTimeDuration`, "2020-01-02T00:00:00Z dateTime"},
		// Hashes.
		{`MD5("abc")`, `"900150983cd24fb0d6963f7d28e17f72"`}, {`SHA1("abc")`, `"a9993e364706816aba3e25717850c26c9cd0d89d"`},
		{`SHA256("")`, `"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"`}, {`STRLEN(SHA384("a"))`, "96 integer"},
		{`STRLEN(SHA512("a"))`, "128 integer"}, {`MD5("a"@en)`, "error"},
		// Casts.
		{`xsd:integer("12")`, "12 integer"}, {`xsd:integer(" 1.5")`, "error"}, {`xsd:integer(1.9)`, "1 integer"},
		{`xsd:boolean("1")`, "true boolean"}, {`xsd:string(1e6)`, `"1.0E6"`}, {`xsd:string("0.000001"^^xsd:float)`, `"0.000001"`},
		{`xsd:string("0.0000001"^^xsd:float)`, `"1.0E-7"`}, {`xsd:string(1.50)`, `"1.5"`},
		{`xsd:string(<x:a>)`, `"x:a"`}, {`xsd:dateTime("2020-05-10T00:00:00")`, "2020-05-10T00:00:00 dateTime"},
		{`xsd:date("2020-05-10T11:22:33Z"^^xsd:dateTime)`, "2020-05-10Z date"}, {`xsd:double("a")`, "error"}, {`xsd:byte(200)`, "error"},
		{`xsd:float(1.1)`, "1.1E0 float"},
		{`<x:unknown>(1)`, "error"},
		// RDF 1.2.
		{`TRIPLE(<x:a>, <x:b>, 1)`, "<<<x:a><x:b>1 integer>>"}, {`OBJECT(TRIPLE(<x:a>, <x:b>, 1))`, "1 integer"},
		{`isTRIPLE(1)`, "false boolean"}, {`TRIPLE(1, <x:b>, 1)`, "error"},
	} {
		if got := eval(t, c[0]); got != c[1] {
			t.Errorf("%s: got %s, want %s", c[0], got, c[1])
		}
	}
}
