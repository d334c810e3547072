package algebra

import (
	"fmt"
	"slices"
	"strconv"

	"odarchive/triplestore/sparql/internal/syntax"
	"odarchive/triplestore/term"
)

// Translate turns a query into algebra according to SPARQL 1.1 §18.2.
//
// Where the specification leaves a choice: the unit pattern is dropped from joins; adjacent basic graph patterns
// become one; sequences, inverses and plain IRIs of property paths become triples, with variables ".p1", ".p2" and so
// on; the expressions of a GROUP BY without a name are ".g0", ".g1" and so on; aggregates are ".a0", ".a1" and so on,
// equal ones once.
//
// Translate does not fail on a tree that package syntax has parsed. The error is for other trees.
func Translate(q *syntax.Query) (*Query, error) {
	t := &translator{}
	out := &Query{Base: q.Base, Prefixes: q.Prefixes, From: q.From, FromNamed: q.FromNamed}
	switch q.Form {
	case syntax.Select:
		out.Form = Select
		out.Vars = vars(q.Projection())
	case syntax.Construct:
		out.Form = Construct
		for _, x := range q.Template {
			out.Template = append(out.Template, TriplePattern{t.templateNode(x.S), t.templateNode(x.P), t.templateNode(x.O)})
		}
	case syntax.Ask:
		out.Form = Ask
	case syntax.Describe:
		out.Form = Describe
		for _, x := range q.Describe {
			out.Describe = append(out.Describe, t.node(x))
		}
		if q.Star {
			for _, v := range q.Projection() {
				out.Describe = append(out.Describe, Node{Var: Var(v)})
			}
		}
	}
	out.Pattern = t.query(q)
	return out, t.err
}

// translator numbers the variables that the translation generates.
type translator struct {
	paths, keys, aggs int
	err               error
}

func (t *translator) fail(format string, args ...any) {
	if t.err == nil {
		t.err = fmt.Errorf("algebra: "+format, args...)
	}
}

func vars(names []string) []Var {
	return mapAll(names, func(n string) Var { return Var(n) })
}

// query translates a query or subquery: pattern, grouping, HAVING, VALUES, then the modifiers (§18.2.4, §18.2.5).
func (t *translator) query(q *syntax.Query) Op {
	var op Op = BGP{}
	if q.Where != nil {
		op = t.group(q.Where)
	}
	g := grouping{t: t}
	grouped := q.Grouped()
	if grouped {
		op = t.groupKeys(q, op, &g)
	}
	conv := t.expr
	if grouped {
		g.known = map[string]bool{}
		for _, v := range g.by {
			g.known[string(v)] = true
		}
		conv = g.expr
	}
	having := mapAll(q.Having, conv)
	if q.Values != nil && grouped {
		for _, v := range q.Values.Vars {
			g.known[v] = true
		}
	}
	var extends []Extend
	for _, it := range q.Items {
		if it.Expr != nil {
			extends = append(extends, Extend{Var: Var(it.Var), Expr: conv(it.Expr)})
			if grouped {
				g.known[it.Var] = true
			}
		}
	}
	var keys []OrderKey
	for _, k := range q.OrderBy {
		keys = append(keys, OrderKey{Expr: conv(k.Expr), Desc: k.Desc})
	}
	if grouped {
		op = Group{In: op, By: g.by, Aggs: g.aggs}
	}
	if len(having) > 0 {
		op = Filter{In: op, Cond: conjunction(having)}
	}
	if q.Values != nil {
		op = join(op, t.values(q.Values))
	}
	for _, e := range extends {
		e.In = op
		op = e
	}
	if len(keys) > 0 {
		op = OrderBy{In: op, Keys: keys}
	}
	if q.Form == syntax.Select {
		op = Project{In: op, Vars: vars(q.Projection())}
	}
	if q.Distinct {
		op = Distinct{op}
	}
	if q.Reduced {
		op = Reduced{op}
	}
	if q.Offset > 0 || q.Limit >= 0 {
		op = Slice{In: op, Offset: q.Offset, Limit: q.Limit}
	}
	return op
}

// groupKeys names the keys of GROUP BY. Expressions become variables below the Group.
func (t *translator) groupKeys(q *syntax.Query, op Op, g *grouping) Op {
	for _, it := range q.GroupBy {
		if v, ok := it.Expr.(syntax.VarExpr); ok && it.Var == "" {
			g.by = append(g.by, Var(v.Var))
			continue
		}
		v := Var(it.Var)
		if v == "" {
			v = Var(".g" + strconv.Itoa(t.keys))
			t.keys++
		}
		op = Extend{In: op, Var: v, Expr: t.expr(it.Expr)}
		g.by = append(g.by, v)
	}
	return op
}

// grouping collects the aggregates of one query.
type grouping struct {
	t     *translator
	by    []Var
	aggs  []Aggregate
	texts []string        // printed form of each aggregate, to find equal ones
	known map[string]bool // variables that have a value after grouping
}

// expr translates an expression above the Group. Aggregates become their variables. A variable that is not a key
// becomes a SAMPLE of it (§18.2.4.1).
func (g *grouping) expr(e syntax.Expr) Expr {
	switch e := e.(type) {
	case *syntax.Aggregate:
		a := Aggregate{Func: e.Func, Distinct: e.Distinct, Separator: e.Separator}
		if e.Expr != nil {
			a.Expr = g.t.expr(e.Expr)
		}
		return VarExpr{g.aggregate(a)}
	case syntax.VarExpr:
		if !g.known[e.Var] {
			return VarExpr{g.aggregate(Aggregate{Func: "SAMPLE", Expr: VarExpr{Var(e.Var)}})}
		}
		return VarExpr{Var(e.Var)}
	case *syntax.Call:
		return Call{Func: e.Func, Args: mapAll(e.Args, g.expr)}
	case *syntax.In:
		return In{Not: e.Not, Expr: g.expr(e.Expr), List: mapAll(e.List, g.expr)}
	}
	return g.t.expr(e)
}

func (g *grouping) aggregate(a Aggregate) Var {
	text := aggregateSSE(a)
	if i := slices.Index(g.texts, text); i >= 0 && !Volatile(a.Expr) {
		return g.aggs[i].Var
	}
	a.Var = Var(".a" + strconv.Itoa(g.t.aggs))
	g.t.aggs++
	g.aggs = append(g.aggs, a)
	g.texts = append(g.texts, text)
	return a.Var
}

func (t *translator) values(v *syntax.Values) Op {
	return Values{Vars: vars(v.Vars), Rows: v.Rows}
}

func (t *translator) expr(e syntax.Expr) Expr {
	switch e := e.(type) {
	case syntax.VarExpr:
		return VarExpr{Var(e.Var)}
	case syntax.ConstExpr:
		return ConstExpr{e.Term}
	case *syntax.Call:
		return Call{Func: e.Func, Args: mapAll(e.Args, t.expr)}
	case *syntax.In:
		return In{Not: e.Not, Expr: t.expr(e.Expr), List: mapAll(e.List, t.expr)}
	case *syntax.Exists:
		return Exists{Not: e.Not, In: t.group(e.Group)}
	}
	t.fail("unexpected expression %T", e)
	return ConstExpr{}
}

// conjunction joins conditions with "&&".
func conjunction(list []Expr) Expr {
	return balanced(list, func(l, r Expr) Expr { return Call{Func: "&&", Args: []Expr{l, r}} })
}

// balanced combines the members of a list from left to right; thousands of them make a shallow tree.
func balanced[T any](list []T, combine func(l, r T) T) T {
	if len(list) <= 8 {
		out := list[0]
		for _, r := range list[1:] {
			out = combine(out, r)
		}
		return out
	}
	mid := len(list) / 2
	return combine(balanced(list[:mid], combine), balanced(list[mid:], combine))
}

// node translates a position of a pattern. Blank nodes become variables.
func (t *translator) node(x syntax.Term) Node {
	switch {
	case x.Var != "":
		return Node{Var: Var(x.Var)}
	case x.Triple != nil:
		return Node{Triple: &TriplePattern{t.node(x.Triple.S), t.node(x.Triple.P), t.node(x.Triple.O)}}
	case x.Key.Kind() == term.KindBlank:
		return Node{Var: Var(".b" + x.Key.Value())}
	}
	return Node{Term: x.Key}
}

// templateNode translates a position of a template. Blank nodes stay; each solution makes new ones.
func (t *translator) templateNode(x syntax.Term) Node {
	switch {
	case x.Var != "":
		return Node{Var: Var(x.Var)}
	case x.Triple != nil:
		return Node{Triple: &TriplePattern{t.templateNode(x.Triple.S), t.templateNode(x.Triple.P), t.templateNode(x.Triple.O)}}
	}
	return Node{Term: x.Key}
}
