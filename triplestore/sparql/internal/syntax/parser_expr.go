package syntax

import (
	"fmt"
	"strings"

	"odarchive/triplestore/sparql/internal/pattern"
	"odarchive/triplestore/term"
)

// maxChain bounds chains of operators like "a + b + c ...", whose trees lean to one side.
const maxChain = 2000

// chain returns false if the n-th operator of a chain is beyond the limit, or after another error.
func (p *parser) chain(n int) bool {
	if n > maxChain {
		p.broken(p.tok.at, fmt.Sprintf("more than %d operators in a row", maxChain), "")
		return false
	}
	return p.err == nil
}

// expr parses Expression (rules [110] to [118]).
func (p *parser) expr() Expr {
	if !p.enter() {
		return ConstExpr{}
	}
	defer p.leave()
	return p.logical("||", func() Expr { return p.logical("&&", p.relational) })
}

// logical parses operands joined by "||" or "&&" and builds a balanced tree, so that even thousands of alternatives, as
// programs write them, make a shallow one. Three-valued "||" and "&&" are associative.
func (p *parser) logical(sign string, operand func() Expr) Expr {
	list := leaves(sign, operand(), nil)
	for p.takePunct(sign) {
		list = leaves(sign, operand(), list)
	}
	return balance(sign, list)
}

// leaves appends the operands of e to list if it is a call of sign, and otherwise e itself.
func leaves(sign string, e Expr, list []Expr) []Expr {
	if c, ok := e.(*Call); ok && c.Func == sign {
		return leaves(sign, c.Args[1], leaves(sign, c.Args[0], list))
	}
	return append(list, e)
}

// balance builds the tree of a chain. Short chains lean left, as in the grammar.
func balance(sign string, list []Expr) Expr {
	if len(list) <= 8 {
		e := list[0]
		for _, r := range list[1:] {
			e = &Call{Func: sign, Args: []Expr{e, r}}
		}
		return e
	}
	mid := len(list) / 2
	return &Call{Func: sign, Args: []Expr{balance(sign, list[:mid]), balance(sign, list[mid:])}}
}

func (p *parser) relational() Expr {
	l := p.additive()
	switch {
	case p.tok.kind == tPunct:
		switch op := p.tok.val; op {
		case "=", "!=", "<", ">", "<=", ">=":
			p.advance()
			return &Call{Func: op, Args: []Expr{l, p.additive()}}
		}
	case p.takeWord("IN"):
		return &In{Expr: l, List: p.exprList()}
	case p.takeWord("NOT"):
		p.needWord("IN")
		return &In{Not: true, Expr: l, List: p.exprList()}
	}
	return l
}

func (p *parser) exprList() []Expr {
	p.needPunct("(")
	return p.restOfList()
}

// restOfList parses expressions separated by "," up to ")".
func (p *parser) restOfList() []Expr {
	if p.takePunct(")") {
		return nil
	}
	var list []Expr
	for p.err == nil {
		list = append(list, p.expr())
		if !p.takePunct(",") {
			break
		}
	}
	p.needPunct(")")
	return list
}

func (p *parser) additive() Expr {
	return p.leftAssociative("+-", func() Expr { return p.leftAssociative("*/", p.unary) })
}

// leftAssociative parses operands joined by the operators in ops, which are one byte each.
func (p *parser) leftAssociative(ops string, operand func() Expr) Expr {
	l := operand()
	for n := 1; p.tok.kind == tPunct && strings.Contains(ops, p.tok.val) && p.chain(n); n++ {
		op := p.tok.val
		p.advance()
		l = &Call{Func: op, Args: []Expr{l, operand()}}
	}
	return l
}

// unary parses UnaryExpression. SPARQL 1.2 allows several signs.
func (p *parser) unary() Expr {
	if p.tok.kind != tPunct {
		return p.primary()
	}
	op := p.tok.val
	switch op {
	case "+", "-":
		if p.signedNumberAhead() {
			return p.primary()
		}
		op = "u" + op
	case "!":
	default:
		return p.primary()
	}
	if !p.enter() {
		return ConstExpr{}
	}
	defer p.leave()
	p.advance()
	return &Call{Func: op, Args: []Expr{p.unary()}}
}

func (p *parser) primary() Expr {
	switch {
	case p.isPunct("("):
		return p.bracketed()
	case p.isVar():
		return VarExpr{p.variable()}
	case p.isIRI():
		return p.iriCall(false)
	case p.isPunct("<<("):
		return termExpr(p.tripleTerm(exprTerm))
	}
	if k, ok := p.literal(); ok {
		return ConstExpr{k}
	}
	if p.tok.kind == tWord {
		return p.builtin()
	}
	p.fail("an expression")
	return ConstExpr{}
}

// termExpr returns t as an expression: a triple term with variables becomes a call of TRIPLE.
func termExpr(t Term) Expr {
	switch {
	case t.Var != "":
		return VarExpr{t.Var}
	case t.Triple != nil:
		return &Call{Func: "TRIPLE", Args: []Expr{termExpr(t.Triple.S), termExpr(t.Triple.P), termExpr(t.Triple.O)}}
	}
	return ConstExpr{t.Key}
}

// iriCall parses iriOrFunction, or FunctionCall if must is set, which requires arguments.
func (p *parser) iriCall(must bool) Expr {
	iri := p.iri()
	if !p.isPunct("(") {
		if must {
			p.fail("\"(\" and the arguments of the function")
		}
		return ConstExpr{term.IRI(iri)}
	}
	p.advance()
	c := &Call{Func: iri}
	if c.Distinct = p.takeWord("DISTINCT"); c.Distinct && p.isPunct(")") {
		p.fail("an expression")
	}
	c.Args = p.restOfList()
	return c
}

// arity is the number of arguments of a built-in. If max is -1, there is no maximum.
type arity struct{ min, max int }

// builtins are the functions of SPARQL 1.1 §17.4 and of SPARQL 1.2.
var builtins = map[string]arity{
	"STR": {1, 1}, "LANG": {1, 1}, "LANGMATCHES": {2, 2}, "DATATYPE": {1, 1}, "BOUND": {1, 1}, "IRI": {1, 1}, "URI": {1, 1},
	"BNODE": {0, 1}, "RAND": {0, 0}, "ABS": {1, 1}, "CEIL": {1, 1}, "FLOOR": {1, 1}, "ROUND": {1, 1}, "CONCAT": {0, -1},
	"STRLEN": {1, 1}, "SUBSTR": {2, 3}, "REPLACE": {3, 4}, "UCASE": {1, 1}, "LCASE": {1, 1}, "ENCODE_FOR_URI": {1, 1},
	"CONTAINS": {2, 2}, "STRSTARTS": {2, 2}, "STRENDS": {2, 2}, "STRBEFORE": {2, 2}, "STRAFTER": {2, 2},
	"YEAR": {1, 1}, "MONTH": {1, 1}, "DAY": {1, 1}, "HOURS": {1, 1}, "MINUTES": {1, 1}, "SECONDS": {1, 1}, "TIMEZONE": {1, 1}, "TZ": {1, 1},
	"NOW": {0, 0}, "UUID": {0, 0}, "STRUUID": {0, 0}, "MD5": {1, 1}, "SHA1": {1, 1}, "SHA256": {1, 1}, "SHA384": {1, 1}, "SHA512": {1, 1},
	"COALESCE": {0, -1}, "IF": {3, 3}, "STRLANG": {2, 2}, "STRDT": {2, 2}, "SAMETERM": {2, 2},
	"ISIRI": {1, 1}, "ISURI": {1, 1}, "ISBLANK": {1, 1}, "ISLITERAL": {1, 1}, "ISNUMERIC": {1, 1}, "REGEX": {2, 3},
	"LANGDIR": {1, 1}, "STRLANGDIR": {3, 3}, "HASLANG": {1, 1}, "HASLANGDIR": {1, 1},
	"ISTRIPLE": {1, 1}, "TRIPLE": {3, 3}, "SUBJECT": {1, 1}, "PREDICATE": {1, 1}, "OBJECT": {1, 1},
}

var aggregates = map[string]bool{"COUNT": true, "SUM": true, "MIN": true, "MAX": true, "AVG": true, "SAMPLE": true, "GROUP_CONCAT": true}

func isBuiltin(word string) bool {
	name := strings.ToUpper(word)
	_, ok := builtins[name]
	return ok || aggregates[name] || name == "EXISTS" || name == "NOT"
}

// builtin parses BuiltInCall.
func (p *parser) builtin() Expr {
	name := strings.ToUpper(p.tok.val)
	at := p.tok.at
	switch {
	case name == "NOT":
		p.advance()
		p.needWord("EXISTS")
		return &Exists{Not: true, Group: p.existsGroup()}
	case name == "EXISTS":
		p.advance()
		return &Exists{Group: p.existsGroup()}
	case aggregates[name]:
		return p.aggregate(name)
	}
	n, ok := builtins[name]
	if !ok {
		p.fail("an expression")
		return ConstExpr{}
	}
	p.advance()
	if name == "BOUND" {
		p.needPunct("(")
		v := p.variable()
		p.needPunct(")")
		return &Call{Func: name, Args: []Expr{VarExpr{v}}}
	}
	args := p.exprList()
	if p.err == nil && (len(args) < n.min || n.max >= 0 && len(args) > n.max) {
		p.broken(at, fmt.Sprintf("%s takes %s, not %d", name, n, len(args)), "")
	}
	p.checkPattern(name, args, at)
	switch name {
	case "URI":
		name = "IRI"
	case "ISURI":
		name = "ISIRI"
	}
	return &Call{Func: name, Args: args}
}

// maxChecked is the number of constant regular expressions that are compiled while parsing. A request that has more is
// not written by a person; the rest are compiled when they are evaluated.
const maxChecked = 100

// checkPattern records an error if the pattern of REGEX or REPLACE is constant and invalid.
func (p *parser) checkPattern(name string, args []Expr, at int) {
	flags := map[string]int{"REGEX": 2, "REPLACE": 3}[name]
	if flags == 0 || p.err != nil || p.remote > 0 || p.regex == maxChecked {
		return
	}
	text, ok := plainString(args[1])
	with := ""
	if ok && len(args) > flags {
		with, ok = plainString(args[flags])
	}
	if !ok {
		return
	}
	p.regex++
	if _, err := pattern.Compile(text, with); err != nil {
		p.broken(at, fmt.Sprintf("%s: %v", name, err), "")
	}
}

// plainString returns the text of a string constant without a language.
func plainString(e Expr) (string, bool) {
	c, ok := e.(ConstExpr)
	if !ok || c.Term.Kind() != term.KindLiteral || c.Term[0] != '"' {
		return "", false
	}
	return c.Term.Value(), true
}

func (n arity) String() string {
	switch {
	case n.min == n.max && n.min == 1:
		return "1 argument"
	case n.min == n.max:
		return fmt.Sprintf("%d arguments", n.min)
	}
	return fmt.Sprintf("%d to %d arguments", n.min, n.max)
}

// existsGroup parses the pattern of EXISTS, which is not part of the basic graph pattern around it.
func (p *parser) existsGroup() *Group {
	if !p.isPunct("{") {
		p.fail("\"{\"")
		return &Group{}
	}
	scope := p.scope
	g := p.group()
	p.scope = scope
	return g
}

func (p *parser) aggregate(name string) Expr {
	at := p.tok.at
	p.advance()
	switch {
	case p.agg.inside:
		p.broken(at, "an aggregate cannot contain another", "use a subquery")
	case !p.agg.allowed:
		p.broken(at, name+" is allowed in SELECT, HAVING and ORDER BY only", "use a subquery or HAVING")
	}
	p.agg.inside, p.agg.seen = true, true
	defer func() { p.agg.inside = false }()
	a := &Aggregate{Func: name, Separator: " "}
	if name != "GROUP_CONCAT" {
		a.Separator = ""
	}
	p.needPunct("(")
	a.Distinct = p.takeWord("DISTINCT")
	if name == "COUNT" && p.takePunct("*") {
		p.needPunct(")")
		return a
	}
	a.Expr = p.expr()
	if name == "GROUP_CONCAT" && p.takePunct(";") {
		p.needWord("SEPARATOR")
		p.needPunct("=")
		if p.tok.kind != tString {
			p.fail("a string")
		}
		a.Separator = p.tok.val
		p.advance()
	}
	p.needPunct(")")
	return a
}
