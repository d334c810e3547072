package algebra

import (
	"fmt"
	"strconv"

	"odarchive/triplestore/sparql/internal/syntax"
	"odarchive/triplestore/term"
)

// Translate turns a query into algebra as SPARQL 1.1 §18.2 says.
//
// Where the specification leaves a choice: the unit pattern is dropped from joins, basic graph patterns that meet are
// one, the sequence, inverse and plain IRI of property paths are triples (with variables ".p1", ".p2" ...), the
// parts of a GROUP BY without a name are ".g0", ".g1" ..., and aggregates are ".a0", ".a1" ..., equal ones once.
// It never fails on a tree that package syntax has read; the error is there for trees made otherwise.
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

// translator numbers the variables that translation makes up.
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
	out := make([]Var, len(names))
	for i, n := range names {
		out[i] = Var(n)
	}
	return out
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
	conv := func(e syntax.Expr) Expr { return t.expr(e) }
	if grouped {
		g.known = map[string]bool{}
		for _, v := range g.by {
			g.known[string(v)] = true
		}
		conv = g.expr
	}
	having := make([]Expr, 0, len(q.Having))
	for _, e := range q.Having {
		having = append(having, conv(e))
	}
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

// groupKeys names what is grouped by: expressions become variables below the Group.
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
	texts []string        // printed form of each, to find equal ones
	known map[string]bool // variables that have a value after grouping
}

// expr translates an expression above the Group: aggregates become their variables, and a variable that grouping
// took away becomes a SAMPLE of it (§18.2.4.1).
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
		return Call{Func: e.Func, Args: g.exprs(e.Args)}
	case *syntax.In:
		return In{Not: e.Not, Expr: g.expr(e.Expr), List: g.exprs(e.List)}
	}
	return g.t.expr(e)
}

func (g *grouping) exprs(list []syntax.Expr) []Expr {
	out := make([]Expr, len(list))
	for i, e := range list {
		out[i] = g.expr(e)
	}
	return out
}

func (g *grouping) aggregate(a Aggregate) Var {
	text := aggregateSSE(a)
	if volatile := containsVolatile(a.Expr); !volatile {
		for i, known := range g.texts {
			if known == text {
				return g.aggs[i].Var
			}
		}
	}
	a.Var = Var(".a" + strconv.Itoa(g.t.aggs))
	g.t.aggs++
	g.aggs = append(g.aggs, a)
	g.texts = append(g.texts, text)
	return a.Var
}

// containsVolatile tells whether two evaluations of the expression may differ.
func containsVolatile(e Expr) bool {
	switch e := e.(type) {
	case Call:
		switch e.Func {
		case "RAND", "UUID", "STRUUID", "BNODE":
			return true
		}
		for _, a := range e.Args {
			if containsVolatile(a) {
				return true
			}
		}
	case In:
		for _, a := range e.List {
			if containsVolatile(a) {
				return true
			}
		}
		return containsVolatile(e.Expr)
	}
	return false
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
		return Call{Func: e.Func, Args: t.exprs(e.Args)}
	case *syntax.In:
		return In{Not: e.Not, Expr: t.expr(e.Expr), List: t.exprs(e.List)}
	case *syntax.Exists:
		return Exists{Not: e.Not, In: t.group(e.Group)}
	}
	t.fail("an expression %T cannot stand here", e)
	return ConstExpr{}
}

func (t *translator) exprs(list []syntax.Expr) []Expr {
	out := make([]Expr, len(list))
	for i, e := range list {
		out[i] = t.expr(e)
	}
	return out
}

// conjunction joins conditions with "&&"; thousands of them make a shallow tree.
func conjunction(list []Expr) Expr {
	if len(list) <= 8 {
		e := list[0]
		for _, r := range list[1:] {
			e = Call{Func: "&&", Args: []Expr{e, r}}
		}
		return e
	}
	mid := len(list) / 2
	return Call{Func: "&&", Args: []Expr{conjunction(list[:mid]), conjunction(list[mid:])}}
}

// node translates a position of a pattern: blank nodes are variables.
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

// templateNode translates a position of a template: blank nodes are blank nodes, new ones for each solution.
func (t *translator) templateNode(x syntax.Term) Node {
	switch {
	case x.Var != "":
		return Node{Var: Var(x.Var)}
	case x.Triple != nil:
		return Node{Triple: &TriplePattern{t.templateNode(x.Triple.S), t.templateNode(x.Triple.P), t.templateNode(x.Triple.O)}}
	}
	return Node{Term: x.Key}
}
