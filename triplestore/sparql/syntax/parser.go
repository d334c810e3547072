package syntax

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
)

// parser is a recursive descent over the grammar of SPARQL (§19.8), one method per rule or small family of rules.
// The first error is kept and turns every further token into the end of the text, so that all loops run out.
type parser struct {
	lex      lexer
	tok      token // the current one
	prev     int   // where the token before it ended
	err      *Error
	opts     Options
	depth    int
	patterns int

	base     iri.Base
	prefixes map[string]string
	version  string

	fresh  string // labels made here begin with this; the text has none like it
	made   int
	labels map[string]int // blank node label -> number of the scope it was used in
	scope  int            // the current basic graph pattern or template
	scopes int
	inData bool // variables are not allowed: INSERT DATA, DELETE DATA
	noNew  bool // blank nodes are not allowed: DELETE
	agg    aggState
}

func newParser(src, base string, o Options) (*parser, error) {
	if len(src) > o.MaxBytes {
		return nil, &Error{Line: 1, Col: 1, Problem: fmt.Sprintf("the text is %d bytes long, the limit is %d", len(src), o.MaxBytes)}
	}
	b, err := iri.NewBase(base)
	if err != nil {
		return nil, &Error{Line: 1, Col: 1, Problem: fmt.Sprintf("the base IRI given is unusable: %v", err)}
	}
	p := &parser{lex: lexer{src: strings.TrimPrefix(src, "\ufeff")}, opts: o, base: b, prefixes: map[string]string{}, labels: map[string]int{}}
	p.fresh = "0."
	for strings.Contains(src, "_:"+p.fresh) {
		p.fresh += "0."
	}
	p.advance()
	return p, nil
}

func (p *parser) advance() {
	p.prev = p.tok.end
	if p.err != nil {
		p.tok = token{at: len(p.lex.src), end: len(p.lex.src)}
		return
	}
	p.tok = p.lex.next()
	if p.tok.kind == tBad {
		p.broken(p.tok.at, p.tok.val, "")
	}
}

// fail records that the current token is not what the grammar wants.
func (p *parser) fail(expected string) {
	if p.err == nil {
		p.report(&Error{Found: p.found(), Expected: expected}, p.tok.at)
	}
}

// broken records that a rule beyond the grammar was broken by what stands at a byte offset.
func (p *parser) broken(at int, problem, hint string) {
	if p.err == nil {
		p.report(&Error{Problem: problem, Hint: hint}, at)
	}
}

func (p *parser) report(e *Error, at int) {
	e.Line, e.Col = place(p.lex.src, at)
	if e.Found == "" {
		e.Found = p.found()
	}
	p.err = e
	p.tok = token{at: len(p.lex.src), end: len(p.lex.src)}
}

func (p *parser) found() string {
	if p.tok.kind == tEOF {
		return "the end of the text"
	}
	s := p.lex.src[p.tok.at:max(p.tok.at, p.tok.end)]
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "…"
	}
	return strconv.Quote(s)
}

// enter guards a recursion; call leave after it. Where it is false an error has been recorded.
func (p *parser) enter() bool {
	p.depth++
	if p.depth > p.opts.MaxDepth {
		p.broken(p.tok.at, fmt.Sprintf("nested deeper than the limit of %d levels", p.opts.MaxDepth), "")
	}
	return p.err == nil
}

func (p *parser) leave() { p.depth-- }

// count guards the number of patterns.
func (p *parser) count() {
	p.patterns++
	if p.patterns > p.opts.MaxPatterns {
		p.broken(p.tok.at, fmt.Sprintf("more than the limit of %d graph patterns", p.opts.MaxPatterns), "")
	}
}

func (p *parser) isPunct(s string) bool { return p.tok.kind == tPunct && p.tok.val == s }
func (p *parser) isWord(s string) bool  { return p.tok.kind == tWord && strings.EqualFold(p.tok.val, s) }

// isA is true at the keyword 'a', the only one whose case matters.
func (p *parser) isA() bool { return p.tok.kind == tWord && p.tok.val == "a" }

func (p *parser) takePunct(s string) bool {
	if p.isPunct(s) {
		p.advance()
		return true
	}
	return false
}

func (p *parser) takeWord(s string) bool {
	if p.isWord(s) {
		p.advance()
		return true
	}
	return false
}

func (p *parser) needPunct(s string) {
	if !p.takePunct(s) {
		p.fail("\"" + s + "\"")
	}
}

func (p *parser) needWord(s string) {
	if !p.takeWord(s) {
		p.fail(s)
	}
}

// needEnd asks for the end of the text.
func (p *parser) needEnd(expected string) {
	if p.tok.kind != tEOF {
		p.fail(expected)
	}
}

// prologue is BASE, PREFIX and VERSION, in any number and order.
func (p *parser) prologue() {
	for p.err == nil {
		switch {
		case p.takeWord("BASE"):
			if p.tok.kind != tIRI {
				p.fail("an IRI in angle brackets")
				return
			}
			b, err := iri.NewBase(p.resolve(p.tok.val))
			if err != nil {
				p.broken(p.tok.at, err.Error(), "")
				return
			}
			p.base = b
			p.advance()
		case p.takeWord("PREFIX"):
			if p.tok.kind != tName || p.tok.local != "" {
				p.fail("a prefix ending in a colon")
				return
			}
			name := p.tok.val
			p.advance()
			if p.tok.kind != tIRI {
				p.fail("an IRI in angle brackets")
				return
			}
			p.prefixes[name] = p.resolve(p.tok.val)
			p.advance()
		case p.takeWord("VERSION"):
			if p.tok.kind != tString || p.tok.local == "long" {
				p.fail("a version in quotes, such as \"1.2\"")
				return
			}
			p.version = p.tok.val
			p.advance()
		default:
			return
		}
	}
}

// resolve makes an IRI absolute; without a base a relative one stays as it is.
func (p *parser) resolve(ref string) string {
	abs, err := p.base.Resolve(ref)
	if err != nil {
		return ref
	}
	return abs
}

// isIRI is true at an IRI or a prefixed name.
func (p *parser) isIRI() bool { return p.tok.kind == tIRI || p.tok.kind == tName }

// iri takes an IRI or a prefixed name and gives it absolute.
func (p *parser) iri() string {
	var iri string
	switch p.tok.kind {
	case tIRI:
		iri = p.resolve(p.tok.val)
	case tName:
		ns, ok := p.prefixes[p.tok.val]
		if !ok {
			p.broken(p.tok.at, fmt.Sprintf("the prefix %q is not declared", p.tok.val+":"), prefixHint(p.tok.val))
			return ""
		}
		iri = ns + p.tok.local
	default:
		p.fail("an IRI or a prefixed name")
		return ""
	}
	p.advance()
	return iri
}

func (p *parser) isVar() bool { return p.tok.kind == tVar }

func (p *parser) variable() string {
	if p.tok.kind != tVar {
		p.fail("a variable")
		return ""
	}
	if p.inData {
		p.broken(p.tok.at, "a variable cannot stand in DATA", "use INSERT { } WHERE { } or DELETE { } WHERE { }")
	}
	v := p.tok.val
	p.advance()
	return v
}

// blankNode makes a new blank node.
func (p *parser) blankNode() term.Key {
	p.made++
	return term.Blank(p.fresh + strconv.Itoa(p.made))
}

// label takes a blank node's label and checks its scope: one basic graph pattern (SPARQL 1.1 §5.1.1), one operation.
func (p *parser) label() term.Key {
	name := p.tok.val
	if p.noNew {
		p.broken(p.tok.at, "a blank node cannot stand in what is deleted", "use a variable")
	}
	if used, ok := p.labels[name]; ok && used != p.scope {
		p.broken(p.tok.at, fmt.Sprintf("the blank node label _:%s is used in two graph patterns or operations", name), "use a variable")
	}
	p.labels[name] = p.scope
	p.advance()
	return term.Blank(name)
}

// newScope begins a basic graph pattern.
func (p *parser) newScope() {
	p.scopes++
	p.scope = p.scopes
}

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
			e.Hint = p.formHint(e.Found)
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

// formHint helps those who send an update as a query.
func (p *parser) formHint(found string) string {
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
	q.Template = p.template() // the short form: the pattern is the template
	q.Where = &Group{}
	if len(q.Template) > 0 {
		q.Where.Elements = []Element{&Triples{List: q.Template}}
	}
}

// template is "{" triples "}" without paths. A label may stand in the template and in the pattern.
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

// integer takes an unsigned integer; more than an int64 holds is as good as no limit.
func (p *parser) integer() int64 {
	if p.tok.kind != tInt {
		p.fail("a whole number")
		return 0
	}
	n, err := strconv.ParseInt(p.tok.val, 10, 64)
	if err != nil {
		n = 1<<63 - 1
	}
	p.advance()
	return n
}

// atCondition is true where a GROUP BY or ORDER BY condition other than ASC and DESC begins.
func (p *parser) atCondition() bool { return p.isVar() || p.atConstraint() }

// atConstraint is true at "(", a built-in or an IRI.
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

// constraint is a bracketed expression, a built-in call or a function call.
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
