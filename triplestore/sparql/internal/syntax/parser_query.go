package syntax

import (
	"maps"
	"math"
	"strconv"
	"strings"

	"odarchive/triplestore/term"
)

func (p *parser) query() *Query {
	p.prologue()
	q := p.queryBody()
	q.Base, q.Prefixes, q.Version = p.base.String(), maps.Clone(p.prefixes), p.version
	p.needEnd("the end of the query")
	return q
}

func (p *parser) queryBody() *Query {
	p.newScope()
	q := &Query{Limit: -1}
	switch {
	case p.isWord("SELECT"):
		p.selectClause(q)
		p.dataset(q)
		p.where(q)
	case p.isWord("CONSTRUCT"):
		p.construct(q)
	case p.takeWord("ASK"):
		q.Form = Ask
		p.dataset(q)
		p.where(q)
	case p.isWord("DESCRIBE"):
		p.describe(q)
	default:
		p.fail("SELECT, CONSTRUCT, ASK or DESCRIBE")
		if e := p.err; e != nil && e.Hint == "" {
			e.Hint = formHint(e.Found)
		}
		return q
	}
	p.modifiers(q)
	if p.isWord("VALUES") {
		q.Values = p.values()
	}
	p.checkQuery(q)
	return q
}

// formHint returns a hint if an update was sent as a query.
func formHint(found string) string {
	word, err := strconv.Unquote(found)
	if err != nil {
		return ""
	}
	switch strings.ToUpper(word) {
	case "INSERT", "DELETE", "LOAD", "CLEAR", "CREATE", "DROP", "COPY", "MOVE", "ADD", "WITH":
		return "this is an update: send it as one"
	}
	return ""
}

func (p *parser) selectClause(q *Query) {
	p.advance()
	q.Form = Select
	if p.takeWord("DISTINCT") {
		q.Distinct = true
	} else if p.takeWord("REDUCED") {
		q.Reduced = true
	}
	if p.takePunct("*") {
		q.Star = true
		return
	}
	p.agg.allow()
	defer p.agg.forbid()
	for p.err == nil {
		it := Item{At: p.tok.at}
		switch {
		case p.isVar():
			it.Var = p.variable()
		case p.takePunct("("):
			it.Expr = p.expr()
			p.needWord("AS")
			it.At = p.tok.at
			it.Var = p.variable()
			p.needPunct(")")
		default:
			if len(q.Items) == 0 {
				p.fail("\"*\", a variable or \"(\"")
			}
			return
		}
		q.Items = append(q.Items, it)
	}
}

func (p *parser) construct(q *Query) {
	p.advance()
	q.Form = Construct
	if p.isPunct("{") {
		q.Template = p.template()
		p.newScope()
		p.dataset(q)
		p.where(q)
		return
	}
	p.dataset(q)
	p.needWord("WHERE")
	q.Template = p.template() // in the short form the pattern is the template
	q.Where = &Group{}
	if len(q.Template) > 0 {
		q.Where.Elements = []Element{&Triples{List: q.Template}}
	}
}

// template parses "{" triples "}" without paths. Its blank node labels may be repeated in the pattern.
func (p *parser) template() []Triple {
	p.needPunct("{")
	outer := p.labels
	p.labels = map[string]int{}
	var ts triples
	for p.err == nil && !p.isPunct("}") {
		p.sameSubject(&ts, false)
		if !p.takePunct(".") {
			break
		}
	}
	p.labels = outer
	p.needPunct("}")
	return ts.list
}

func (p *parser) describe(q *Query) {
	p.advance()
	q.Form = Describe
	if p.takePunct("*") {
		q.Star = true
	} else {
		for p.err == nil && (p.isVar() || p.isIRI()) {
			if p.isVar() {
				q.Describe = append(q.Describe, Term{Var: p.variable()})
			} else {
				q.Describe = append(q.Describe, Term{Key: term.IRI(p.iri())})
			}
		}
		if len(q.Describe) == 0 {
			p.fail("\"*\", a variable or an IRI")
		}
	}
	p.dataset(q)
	if p.isWord("WHERE") || p.isPunct("{") {
		p.where(q)
	}
}

func (p *parser) dataset(q *Query) {
	for p.takeWord("FROM") {
		if p.takeWord("NAMED") {
			q.FromNamed = append(q.FromNamed, p.iri())
		} else {
			q.From = append(q.From, p.iri())
		}
	}
}

func (p *parser) where(q *Query) {
	p.takeWord("WHERE")
	if !p.isPunct("{") {
		p.fail("WHERE or \"{\"")
		return
	}
	q.Where = p.group()
}

func (p *parser) modifiers(q *Query) {
	if p.takeWord("GROUP") {
		p.needWord("BY")
		for p.err == nil && p.atCondition() {
			q.GroupBy = append(q.GroupBy, p.groupCondition())
		}
		if len(q.GroupBy) == 0 {
			p.fail("a variable, a function or \"(\"")
		}
	}
	p.agg.allow()
	if p.takeWord("HAVING") {
		for p.err == nil && p.atConstraint() {
			q.Having = append(q.Having, p.constraint())
		}
		if len(q.Having) == 0 {
			p.fail("a condition in parentheses or a function")
		}
	}
	if p.takeWord("ORDER") {
		p.needWord("BY")
		for p.err == nil && (p.atCondition() || p.isWord("ASC") || p.isWord("DESC")) {
			q.OrderBy = append(q.OrderBy, p.orderCondition())
		}
		if len(q.OrderBy) == 0 {
			p.fail("a variable, ASC, DESC, a function or \"(\"")
		}
	}
	p.agg.forbid()
	limit, offset := false, false
	for p.err == nil {
		switch {
		case !limit && p.takeWord("LIMIT"):
			q.Limit, limit = p.integer(), true
		case !offset && p.takeWord("OFFSET"):
			q.Offset, offset = p.integer(), true
		default:
			return
		}
	}
}

// integer parses an unsigned integer. It returns the maximum int64 for larger ones.
func (p *parser) integer() int64 {
	if p.tok.kind != tNumber || p.tok.local != "integer" {
		p.fail("a whole number")
		return 0
	}
	n, err := strconv.ParseInt(p.tok.val, 10, 64)
	if err != nil {
		n = math.MaxInt64
	}
	p.advance()
	return n
}

// atCondition reports whether a condition of GROUP BY or ORDER BY other than ASC and DESC begins here.
func (p *parser) atCondition() bool { return p.isVar() || p.atConstraint() }

// atConstraint reports whether a constraint begins here.
func (p *parser) atConstraint() bool {
	return p.isPunct("(") || p.isIRI() || p.tok.kind == tWord && isBuiltin(p.tok.val)
}

func (p *parser) groupCondition() Item {
	it := Item{At: p.tok.at}
	switch {
	case p.isVar():
		it.Expr = VarExpr{p.variable()}
	case p.takePunct("("):
		it.Expr = p.expr()
		if p.takeWord("AS") {
			it.At = p.tok.at
			it.Var = p.variable()
		}
		p.needPunct(")")
	default:
		it.Expr = p.constraint()
	}
	return it
}

func (p *parser) orderCondition() OrderKey {
	switch {
	case p.takeWord("ASC"):
		return OrderKey{Expr: p.bracketed()}
	case p.takeWord("DESC"):
		return OrderKey{Expr: p.bracketed(), Desc: true}
	case p.isVar():
		return OrderKey{Expr: VarExpr{p.variable()}}
	}
	return OrderKey{Expr: p.constraint()}
}

func (p *parser) bracketed() Expr {
	p.needPunct("(")
	e := p.expr()
	p.needPunct(")")
	return e
}

// constraint parses a bracketed expression, a built-in call or a function call.
func (p *parser) constraint() Expr {
	switch {
	case p.isPunct("("):
		return p.bracketed()
	case p.isIRI():
		return p.iriCall(true)
	case p.tok.kind == tWord && isBuiltin(p.tok.val):
		return p.builtin()
	}
	p.fail("a condition in parentheses, a built-in or a function call")
	return nil
}
