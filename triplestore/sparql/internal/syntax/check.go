package syntax

import (
	"fmt"
	"maps"
	"slices"
)

// aggState tells whether an aggregate is allowed here.
type aggState struct{ allowed, inside, seen bool }

func (a *aggState) allow()  { a.allowed = true }
func (a *aggState) forbid() { a.allowed = false }

// checkQuery checks the rules for SELECT beyond the grammar (§19.8, notes 12 and 13; §11.4; §18.2.1).
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
	inScope, exposed := map[string]bool{}, map[string]bool{} // exposed variables have a value in each group
	if !grouped {
		q.Where.visible(func(v string) { inScope[v] = true })
	}
	for _, g := range q.GroupBy {
		if e, ok := g.Expr.(VarExpr); ok && g.Var == "" {
			exposed[e.Var] = true
		} else if g.Var != "" {
			exposed[g.Var] = true
		}
	}
	if grouped {
		maps.Copy(inScope, exposed)
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
					p.broken(it.At, fmt.Sprintf("?%s is neither grouped by nor inside an aggregate", v),
						"add it to GROUP BY, or use SAMPLE(?"+v+")")
					return
				}
			}
			named[it.Var] = true
			exposed[it.Var] = true
			continue
		}
		if grouped && !exposed[it.Var] {
			p.broken(it.At, fmt.Sprintf("?%s is neither grouped by nor inside an aggregate", it.Var),
				"add it to GROUP BY, or use (SAMPLE(?"+it.Var+") AS ?any)")
			return
		}
	}
}

// Grouped reports whether the query forms groups: it has GROUP BY or an aggregate.
func (q *Query) Grouped() bool {
	return len(q.GroupBy) > 0 || slices.ContainsFunc(q.Having, hasAggregate) ||
		slices.ContainsFunc(q.Items, func(it Item) bool { return it.Expr != nil && hasAggregate(it.Expr) }) ||
		slices.ContainsFunc(q.OrderBy, func(k OrderKey) bool { return hasAggregate(k.Expr) })
}

// operands returns the expressions directly below e. It ignores the patterns of EXISTS.
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
	_, ok := e.(*Aggregate)
	return ok || slices.ContainsFunc(operands(e), hasAggregate)
}

// stray returns a variable of e outside aggregates that is not known, or "".
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

// visible calls f for each variable in scope of the group (§18.2.1), in the order of first mention, once or more.
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
		case *Lateral:
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

// visible calls f for each variable that a subquery projects.
func (q *Query) visible(f func(string)) {
	for _, v := range q.Projection() {
		f(v)
	}
}

// Projection returns the variables of the result of a SELECT: those it names, or for "*" those in scope in the order of
// first mention.
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
