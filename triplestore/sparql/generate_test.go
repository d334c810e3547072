package sparql_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"odarchive/triplestore/term"
)

// generator makes small data and queries over the same few terms, so that most patterns match something.
type generator struct {
	*rand.Rand
	fresh int // variables made by BIND and AS so far
}

const xsd = "http://www.w3.org/2001/XMLSchema#"

var (
	subjects   = []string{"<x:a>", "<x:b>", "<x:c>", "<x:d>"}
	predicates = []string{"<x:p>", "<x:q>", "<x:r>"}
	graphNames = []string{"<g:1>", "<g:2>", "<x:a>"}
	literals   = []string{"0", "1", "2", "3", "10", "0.5", "1.5", "2.5e0", "1.0", "1e0", "true", "false", `"a"`, `"b"`, `"abc"`, `"b"@en`,
		`"b"@de`, `""`,
		`"01"^^<` + xsd + `byte>`, `"NaN"^^<` + xsd + `double>`,
		`"2020-01-01T00:00:00Z"^^<` + xsd + `dateTime>`, `"2020-01-01T00:00:00"^^<` + xsd + `dateTime>`, `"2020-05-10"^^<` + xsd + `date>`,
		`"x"^^<d:t>`, `"long enough to live in the dictionary"`}
	variables = []string{"?a", "?b", "?c", "?d"}
)

func (g *generator) one(list []string) string { return list[g.IntN(len(list))] }
func (g *generator) chance(percent int) bool  { return g.IntN(100) < percent }

func keyOf(text string) term.Key {
	switch {
	case text[0] == '<':
		return term.IRI(text[1 : len(text)-1])
	case text[0] == '_':
		return term.Blank(text[2:])
	case text == "true" || text == "false":
		return term.Typed(text, xsd+"boolean")
	case text[0] == '"':
		end := strings.LastIndexByte(text, '"')
		switch rest := text[end+1:]; {
		case rest == "":
			return term.String(text[1:end])
		case rest[0] == '@':
			return term.Lang(text[1:end], rest[1:])
		default:
			return term.Typed(text[1:end], rest[3:len(rest)-1])
		}
	case strings.ContainsRune(text, 'e'):
		return term.Typed(text, xsd+"double")
	case strings.ContainsRune(text, '.'):
		return term.Typed(text, xsd+"decimal")
	}
	return term.Typed(text, xsd+"integer")
}

func (g *generator) data() []term.Quad {
	var out []term.Quad
	for range 8 + g.IntN(40) {
		q := term.Quad{S: keyOf(g.one(subjects)), P: keyOf(g.one(predicates))}
		if g.chance(15) {
			q.S = keyOf("_:n" + fmt.Sprint(g.IntN(2)))
		}
		switch g.IntN(3) {
		case 0:
			q.O = keyOf(g.one(literals))
		case 1:
			q.O = keyOf(g.one(subjects))
		default:
			q.O = keyOf(g.one(append(subjects, "_:n0", "_:n1", "0", "1", "2")))
		}
		if g.chance(30) {
			q.G = keyOf(g.one(graphNames))
		}
		out = append(out, q)
	}
	return out
}

// query returns a SELECT whose answer does not depend on chance, and the query without its LIMIT and OFFSET.
func (g *generator) query() (text, whole string, sliced bool) {
	body := g.group(3)
	from := ""
	if g.chance(10) {
		from = " FROM " + g.one(graphNames)
		if g.chance(50) {
			from += " FROM NAMED " + g.one(graphNames)
		}
	}
	distinct := ""
	if g.chance(25) {
		distinct = "DISTINCT "
	}
	switch {
	case g.chance(25):
		whole = g.grouped(distinct, from, body)
	case g.chance(30):
		whole = "SELECT " + distinct + strings.Join(g.some(variables), " ") + from + " WHERE " + body
	default:
		whole = "SELECT " + distinct + "*" + from + " WHERE " + body
	}
	text = whole
	if g.chance(30) {
		text += " ORDER BY " + g.orderBy(whole)
	}
	if g.chance(20) {
		text += fmt.Sprintf(" LIMIT %d OFFSET %d", g.IntN(6), g.IntN(3))
		sliced = true
	}
	if g.chance(8) {
		values := " " + g.values()
		text, whole = text+values, whole+values
	}
	return text, whole, sliced
}

func (g *generator) orderBy(whole string) string {
	if strings.Contains(whole, "GROUP BY") {
		return "?n"
	}
	key := g.one([]string{g.one(variables), "DESC(" + g.one(variables) + ")", "(" + g.expr(1) + ")"})
	if g.chance(30) {
		key += " " + g.one(variables)
	}
	return key
}

func (g *generator) some(list []string) []string {
	var out []string
	for _, v := range list {
		if g.chance(50) {
			out = append(out, v)
		}
	}
	if len(out) == 0 {
		out = list[:1]
	}
	return out
}

// grouped returns a SELECT with GROUP BY and aggregates.
func (g *generator) grouped(distinct, from, body string) string {
	keys := ""
	if g.chance(70) {
		keys = strings.Join(g.some(variables[:2]), " ")
	}
	text := "SELECT " + distinct + keys + " " + g.aggregation() + from + " WHERE " + body
	if keys != "" {
		text += " GROUP BY " + keys
	}
	if g.chance(25) {
		text += " HAVING (COUNT(*) > " + fmt.Sprint(g.IntN(3)) + ")"
	}
	return text
}

func (g *generator) aggregation() string {
	fn := g.one([]string{"COUNT(*)", "COUNT(DISTINCT *)", "COUNT(%s)", "COUNT(DISTINCT %s)", "SUM(%s)", "AVG(%s)", "MIN(%s)", "MAX(%s)",
		"SUM(DISTINCT %s)"})
	if strings.Contains(fn, "%s") {
		fn = fmt.Sprintf(fn, g.one(variables))
	}
	return "(" + fn + " AS ?n)"
}

func (g *generator) group(depth int) string {
	var parts []string
	parts = append(parts, g.triples())
	for range g.IntN(3) {
		parts = append(parts, g.element(depth))
	}
	if g.chance(10) { // a group need not begin with triples
		parts[0], parts[len(parts)-1] = parts[len(parts)-1], parts[0]
	}
	return "{ " + strings.Join(parts, " ") + " }"
}

func (g *generator) element(depth int) string {
	if depth == 0 {
		return g.triples()
	}
	switch g.IntN(14) {
	case 0, 1:
		return "OPTIONAL " + g.group(depth-1)
	case 2:
		return g.group(depth-1) + " UNION " + g.group(depth-1)
	case 3:
		return "MINUS " + g.group(depth-1)
	case 4, 5:
		return "FILTER (" + g.expr(2) + ")"
	case 6:
		return "FILTER " + g.one([]string{"", "NOT "}) + "EXISTS " + g.existsGroup()
	case 7:
		g.fresh++
		return fmt.Sprintf("BIND (%s AS ?n%d)", g.expr(2), g.fresh)
	case 8:
		return g.values()
	case 9:
		return "GRAPH " + g.one(append(graphNames, "?g", "?a")) + " " + g.group(depth-1)
	case 10:
		return g.subquery(depth - 1)
	case 11:
		return g.group(depth - 1)
	case 12:
		if g.chance(30) {
			return "LATERAL { " + g.subquery(depth-1) + " }"
		}
		return "LATERAL " + g.group(depth-1)
	}
	return g.triples()
}

func (g *generator) subquery(depth int) string {
	switch {
	case g.chance(30):
		g.fresh++
		return fmt.Sprintf("{ SELECT ?a (COUNT(*) AS ?n%d) WHERE %s GROUP BY ?a }", g.fresh, g.group(depth))
	case g.chance(40):
		return "{ SELECT DISTINCT " + strings.Join(g.some(variables), " ") + " WHERE " + g.group(depth) + " }"
	}
	return "{ SELECT " + strings.Join(g.some(variables), " ") + " WHERE " + g.group(depth) + " }"
}

func (g *generator) existsGroup() string {
	parts := []string{g.triples()}
	if g.chance(40) {
		parts = append(parts, "FILTER ("+g.expr(1)+")")
	}
	if g.chance(15) {
		parts = append(parts, "OPTIONAL { "+g.triples()+" }")
	}
	if g.chance(10) {
		return "{ { " + strings.Join(parts, " ") + " } UNION { " + g.triples() + " } }"
	}
	if g.chance(10) {
		return "{ GRAPH " + g.one(append(graphNames, "?g")) + " { " + strings.Join(parts, " ") + " } }"
	}
	return "{ " + strings.Join(parts, " ") + " }"
}

func (g *generator) values() string {
	pick := func() string {
		if g.chance(15) {
			return "UNDEF"
		}
		return g.one(append(append([]string{}, subjects...), literals...))
	}
	if g.chance(60) {
		return "VALUES " + g.one(variables) + " { " + pick() + " " + pick() + " }"
	}
	return fmt.Sprintf("VALUES (?a ?b) { (%s %s) (%s %s) }", pick(), pick(), pick(), pick())
}

func (g *generator) triples() string {
	var parts []string
	for range 1 + g.IntN(5)/2 {
		s := g.one(variables)
		if g.chance(20) {
			s = g.one(append(subjects, "_:x"+fmt.Sprint(g.fresh)))
			if s[0] == '_' {
				s = "[]"
			}
		}
		p := g.one(predicates)
		switch {
		case g.chance(15):
			p = g.one(variables)
		case g.chance(20):
			p = g.path(2)
		}
		o := g.one(variables)
		if g.chance(15) {
			o = g.one(append(append([]string{}, subjects...), literals...))
		}
		parts = append(parts, s+" "+p+" "+o+" .")
	}
	return strings.Join(parts, " ")
}

func (g *generator) path(depth int) string {
	if depth == 0 {
		return g.one(predicates)
	}
	switch g.IntN(9) {
	case 0:
		return "^" + g.one(predicates)
	case 1:
		return "(" + g.path(depth-1) + "/" + g.path(depth-1) + ")"
	case 2:
		return "(" + g.path(depth-1) + "|" + g.path(depth-1) + ")"
	case 3:
		return "(" + g.path(depth-1) + ")*"
	case 4:
		return "(" + g.path(depth-1) + ")+"
	case 5:
		return "(" + g.path(depth-1) + ")?"
	case 6:
		return "!(" + g.one(predicates) + "|^" + g.one(predicates) + ")"
	case 7:
		return "!" + g.one(predicates)
	}
	return g.one(predicates)
}

func (g *generator) expr(depth int) string {
	v := func() string { return g.one(variables) }
	operand := func() string {
		if g.chance(60) {
			return v()
		}
		return g.one(append(append([]string{}, subjects...), literals...))
	}
	if depth == 0 {
		return operand() + " " + g.one([]string{"=", "!=", "<", ">", "<=", ">="}) + " " + operand()
	}
	switch g.IntN(18) {
	case 0:
		return "(" + g.expr(depth-1) + " && " + g.expr(depth-1) + ")"
	case 1:
		return "(" + g.expr(depth-1) + " || " + g.expr(depth-1) + ")"
	case 2:
		return "!(" + g.expr(depth-1) + ")"
	case 3:
		return "BOUND(" + v() + ")"
	case 4:
		return v() + g.one([]string{" IN (", " NOT IN ("}) + operand() + ", " + operand() + ")"
	case 5:
		return g.one([]string{"isIRI", "isBlank", "isLiteral", "isNumeric"}) + "(" + v() + ")"
	case 6:
		return "STR(" + v() + ") = STR(" + operand() + ")"
	case 7:
		return "COALESCE(" + v() + ", " + operand() + ") = " + operand()
	case 8:
		return "IF(" + g.expr(depth-1) + ", " + g.expr(depth-1) + ", " + g.expr(depth-1) + ")"
	case 9:
		return "(" + v() + " " + g.one([]string{"+", "-", "*"}) + " " + g.one([]string{"1", "2", "0.5", v()}) + ") " +
			g.one([]string{"=", "<", ">="}) + " " + operand()
	case 10:
		return "REGEX(STR(" + v() + "), \"" + g.one([]string{"b", "^a", "x:", "c$"}) + "\")"
	case 11:
		return "sameTerm(" + v() + ", " + operand() + ")"
	case 12:
		return "LANG(" + v() + ") = \"" + g.one([]string{"en", ""}) + "\""
	case 13:
		return "DATATYPE(" + v() + ") = <" + xsd + g.one([]string{"integer", "string", "decimal"}) + ">"
	case 14:
		return g.one([]string{"", "NOT "}) + "EXISTS { " + g.triples() + " }"
	case 16:
		list := []string{operand()}
		for range 3 + g.IntN(6) {
			list = append(list, g.one(append(literals, subjects...)))
		}
		return v() + g.one([]string{" IN (", " NOT IN ("}) + strings.Join(list, ", ") + ")"
	case 15:
		x := v()
		return "(" + x + " = " + operand() + " || " + operand() + " = " + x + " || " + g.one([]string{x, v()}) + " IN (" + operand() + "))"
	}
	return operand() + " " + g.one([]string{"=", "!=", "<", ">"}) + " " + operand()
}
