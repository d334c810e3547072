package syntax

import "fmt"

// aggState says whether an aggregate may stand where the parser is.
type aggState struct{ allowed, inside, seen bool }

func (a *aggState) allow()  { a.allowed = true }
func (a *aggState) forbid() { a.allowed = false }

// checkQuery checks what the notes of the grammar ask of SELECT (§19.8, notes 12 and 13; §11.4; §18.2.1).
func (p *parser) checkQuery(q *Query) {
	grouped := q.Grouped()
	switch {
	case p.err != nil || q.Form != Select:
		return
	case q.Star && len(q.GroupBy) > 0:
		p.broken(p.prev, "SELECT * cannot be used with GROUP BY", "name the variables")
		return
	case q.Star:
		return
	}
	inScope := map[string]bool{}
	if !grouped {
		inScope = groupVars(q.Where)
	}
	exposed := map[string]bool{}
	for _, g := range q.GroupBy {
		switch e := g.Expr.(type) {
		case VarExpr:
			if g.Var == "" {
				exposed[e.Var] = true
			}
		}
		if g.Var != "" {
			exposed[g.Var] = true
		}
	}
	if grouped {
		for v := range exposed {
			inScope[v] = true
		}
	}
	if q.Values != nil {
		for _, v := range q.Values.Vars {
			exposed[v], inScope[v] = true, true
		}
	}
	named := map[string]bool{}
	for _, it := range q.Items {
		if it.Expr != nil {
			if inScope[it.Var] || named[it.Var] {
				p.broken(it.At, fmt.Sprintf("AS cannot name a value ?%s, it is already in use", it.Var), "choose another name")
				return
			}
			if grouped {
				if v := stray(it.Expr, exposed); v != "" {
					p.broken(it.At, fmt.Sprintf("?%s is neither grouped by nor inside an aggregate", v), "add it to GROUP BY, or use SAMPLE(?"+v+")")
					return
				}
			}
			named[it.Var] = true
			exposed[it.Var] = true
			continue
		}
		if grouped && !exposed[it.Var] {
			p.broken(it.At, fmt.Sprintf("?%s is neither grouped by nor inside an aggregate", it.Var), "add it to GROUP BY, or use (SAMPLE(?"+it.Var+") AS ?any)")
			return
		}
	}
}

// Grouped tells whether the query makes groups: GROUP BY or an aggregate anywhere.
func (q *Query) Grouped() bool {
	if len(q.GroupBy) > 0 {
		return true
	}
	for _, it := range q.Items {
		if it.Expr != nil && hasAggregate(it.Expr) {
			return true
		}
	}
	for _, e := range q.Having {
		if hasAggregate(e) {
			return true
		}
	}
	for _, k := range q.OrderBy {
		if hasAggregate(k.Expr) {
			return true
		}
	}
	return false
}

// operands are the expressions directly below e; patterns of EXISTS are not looked into.
func operands(e Expr) []Expr {
	switch e := e.(type) {
	case *Call:
		return e.Args
	case *In:
		return append([]Expr{e.Expr}, e.List...)
	case *Aggregate:
		if e.Expr != nil {
			return []Expr{e.Expr}
		}
	}
	return nil
}

func hasAggregate(e Expr) bool {
	if _, ok := e.(*Aggregate); ok {
		return true
	}
	for _, o := range operands(e) {
		if hasAggregate(o) {
			return true
		}
	}
	return false
}

// stray gives a variable outside of aggregates that is not among those given, "" if there is none.
func stray(e Expr, known map[string]bool) string {
	switch e := e.(type) {
	case VarExpr:
		if !known[e.Var] {
			return e.Var
		}
		return ""
	case *Aggregate:
		return ""
	}
	for _, o := range operands(e) {
		if v := stray(o, known); v != "" {
			return v
		}
	}
	return ""
}

// groupVars are the variables in scope of a group (§18.2.1).
func groupVars(g *Group) map[string]bool {
	set := map[string]bool{}
	g.visible(func(v string) { set[v] = true })
	return set
}

// Visible calls f with each variable in scope, in the order of first mention, once or more.
func (g *Group) visible(f func(string)) {
	if g == nil {
		return
	}
	if g.Sub != nil {
		g.Sub.visible(f)
		return
	}
	for _, e := range g.Elements {
		switch e := e.(type) {
		case *Triples:
			for _, t := range e.List {
				t.visible(f)
			}
		case *Bind:
			f(e.Var)
		case *Optional:
			e.Group.visible(f)
		case *Union:
			for _, g := range e.Groups {
				g.visible(f)
			}
		case *GraphIs:
			e.Name.visible(f)
			e.Group.visible(f)
		case *Service:
			e.Name.visible(f)
			e.Group.visible(f)
		case *Values:
			for _, v := range e.Vars {
				f(v)
			}
		case *Filter, *Minus:
		default:
			panic(fmt.Sprintf("syntax: element %T", e))
		}
	}
}

func (t *Triple) visible(f func(string)) {
	t.S.visible(f)
	t.P.visible(f)
	t.O.visible(f)
}

func (t Term) visible(f func(string)) {
	if t.Var != "" {
		f(t.Var)
	}
	if t.Triple != nil {
		t.Triple.visible(f)
	}
}

// visible of a subquery is what it projects.
func (q *Query) visible(f func(string)) {
	for _, v := range q.Projection() {
		f(v)
	}
}

// Projection is the variables a SELECT gives, in order: those named, or for "*" all in scope in order of mention.
func (q *Query) Projection() []string {
	var out []string
	seen := map[string]bool{}
	add := func(v string) {
		if !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	if !q.Star {
		for _, it := range q.Items {
			add(it.Var)
		}
		return out
	}
	q.Where.visible(add)
	if q.Values != nil {
		for _, v := range q.Values.Vars {
			add(v)
		}
	}
	return out
}
