package syntax

import (
	"fmt"

	"odarchive/triplestore/term"
)

// group parses GroupGraphPattern: "{" subquery "}" or "{" elements "}".
func (p *parser) group() *Group {
	g := &Group{}
	if !p.enter() {
		return g
	}
	defer p.leave()
	p.count()
	p.needPunct("{")
	saved := p.agg
	p.agg = aggState{}
	defer func() { p.agg = saved }()
	if p.isWord("SELECT") {
		g.Sub = p.subquery()
		p.needPunct("}")
		p.newScope()
		return g
	}
	p.newScope()
	var sc scope
	for p.err == nil && !p.isPunct("}") {
		if !p.element(g, &sc) {
			break
		}
	}
	if !p.isPunct("}") {
		p.fail("a graph pattern or \"}\"")
	}
	p.advance()
	p.newScope()
	return g
}

func (p *parser) subquery() *Query {
	q := &Query{Limit: -1}
	p.newScope()
	p.selectClause(q)
	p.where(q)
	p.modifiers(q)
	if p.isWord("VALUES") {
		q.Values = p.values()
	}
	p.checkQuery(q)
	return q
}

// element parses one element of a group and the "." that may follow it. It returns false if none begins here.
func (p *parser) element(g *Group, sc *scope) bool {
	if p.atTriples() {
		p.triplesBlock(g)
		return true
	}
	var e Element
	switch {
	case p.isPunct("{"):
		u := &Union{Groups: []*Group{p.group()}}
		for p.takeWord("UNION") {
			u.Groups = append(u.Groups, p.group())
		}
		e = u
	case p.takeWord("OPTIONAL"):
		e = &Optional{p.group()}
	case p.takeWord("MINUS"):
		e = &Minus{p.group()}
	case p.takeWord("LATERAL"):
		e = &Lateral{p.group()}
	case p.takeWord("GRAPH"):
		name := p.varOrIRI()
		e = &GraphIs{Name: name, Group: p.group()}
	case p.takeWord("SERVICE"):
		s := &Service{Silent: p.takeWord("SILENT")}
		s.Name = p.varOrIRI()
		p.remote++
		s.Group = p.group()
		p.remote--
		e = s
	case p.takeWord("FILTER") || p.takeJoined("FILTER"): // a filter does not end the basic graph pattern around it
		scope := p.scope
		e = &Filter{p.constraint()}
		p.scope = scope
	case p.takeWord("BIND"):
		e = p.bind(g, sc)
	case p.isWord("VALUES"):
		e = p.values()
	default:
		return false
	}
	p.count()
	if _, filter := e.(*Filter); !filter {
		p.newScope()
	}
	g.Elements = append(g.Elements, e)
	p.takePunct(".")
	return true
}

// scope is the set of variables that the first elements of a group bring into scope.
type scope struct {
	vars map[string]bool
	done int // number of elements in vars
}

// has reports whether v is in scope after all elements of g.
func (sc *scope) has(g *Group, v string) bool {
	if sc.vars == nil {
		sc.vars = map[string]bool{}
	}
	rest := Group{Elements: g.Elements[sc.done:]}
	rest.visible(func(v string) { sc.vars[v] = true })
	sc.done = len(g.Elements)
	return sc.vars[v]
}

func (p *parser) bind(g *Group, sc *scope) Element {
	p.needPunct("(")
	b := &Bind{Expr: p.expr()}
	p.needWord("AS")
	at := p.tok.at
	b.Var = p.variable()
	p.needPunct(")")
	if p.err == nil && sc.has(g, b.Var) {
		p.broken(at, fmt.Sprintf("BIND cannot set ?%s, it is already in use in this group", b.Var), "choose another name")
	}
	return b
}

func (p *parser) varOrIRI() Term {
	if p.isVar() {
		return Term{Var: p.variable()}
	}
	if !p.isIRI() {
		p.fail("a variable or an IRI")
		return Term{}
	}
	return Term{Key: term.IRI(p.iri())}
}

// triplesBlock parses a run of triples into an element of the group. Runs that only filters separate are elements of
// their own, though they form one basic graph pattern.
func (p *parser) triplesBlock(g *Group) {
	var ts triples
	for p.err == nil && p.atTriples() {
		p.sameSubject(&ts, true)
		if !p.takePunct(".") {
			if p.atTriples() {
				p.fail("\".\" between two triples, or \";\" or \",\"")
			}
			break
		}
	}
	g.Elements = append(g.Elements, &Triples{List: ts.list})
}

// values parses VALUES with one variable or a list of them.
func (p *parser) values() *Values {
	p.advance()
	p.count()
	v := &Values{}
	if p.isVar() {
		v.Vars = []string{p.variable()}
		p.needPunct("{")
		for p.err == nil && !p.isPunct("}") {
			v.Rows = append(v.Rows, []term.Key{p.dataValue()})
		}
		p.needPunct("}")
		return v
	}
	if !p.takePunct("(") {
		p.fail("a variable or \"(\"")
	}
	seen := map[string]bool{}
	for p.err == nil && !p.isPunct(")") {
		at := p.tok.at
		name := p.variable()
		if seen[name] {
			p.broken(at, fmt.Sprintf("?%s is repeated in VALUES", name), "")
		}
		seen[name] = true
		v.Vars = append(v.Vars, name)
	}
	p.needPunct(")")
	p.needPunct("{")
	for p.err == nil && !p.isPunct("}") {
		at := p.tok.at
		p.needPunct("(")
		row := make([]term.Key, 0, len(v.Vars))
		for p.err == nil && !p.isPunct(")") {
			row = append(row, p.dataValue())
		}
		p.needPunct(")")
		if len(row) != len(v.Vars) {
			p.broken(at, fmt.Sprintf("a row of VALUES has %d values for %d variables", len(row), len(v.Vars)),
				"write UNDEF for a missing value")
		}
		v.Rows = append(v.Rows, row)
	}
	p.needPunct("}")
	return v
}

func (p *parser) dataValue() term.Key {
	switch {
	case p.takeWord("UNDEF"):
		return ""
	case p.isPunct("<<("):
		return p.tripleTerm(dataTerm).Key
	case p.isIRI():
		return term.IRI(p.iri())
	}
	if k, ok := p.literal(); ok {
		return k
	}
	p.fail("an IRI, a literal or UNDEF")
	return ""
}
