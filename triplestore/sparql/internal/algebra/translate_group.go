package algebra

import (
	"strconv"

	"odarchive/triplestore/sparql/internal/syntax"
)

// group translates a group graph pattern (§18.2.2.6).
func (t *translator) group(g *syntax.Group) Op {
	op, conds := t.parts(g)
	if len(conds) > 0 {
		return Filter{In: op, Cond: conjunction(conds)}
	}
	return op
}

// parts returns the pattern of a group and its filters. Filters apply to the whole group wherever they are in it
// (§18.2.2.2), and OPTIONAL uses those of its group as its condition.
func (t *translator) parts(g *syntax.Group) (Op, []Expr) {
	if g.Sub != nil {
		return t.query(g.Sub), nil
	}
	var op Op = BGP{}
	var conds []Expr
	for _, e := range g.Elements {
		switch e := e.(type) {
		case *syntax.Triples:
			op = t.triples(op, e.List)
		case *syntax.Filter:
			conds = append(conds, t.expr(e.Cond))
		case *syntax.Bind:
			op = Extend{In: op, Var: Var(e.Var), Expr: t.expr(e.Expr)}
		case *syntax.Optional:
			inner, cond := t.parts(e.Group)
			left := LeftJoin{L: op, R: inner}
			if len(cond) > 0 {
				left.Cond = conjunction(cond)
			}
			op = left
		case *syntax.Minus:
			op = Minus{L: op, R: t.group(e.Group)}
		case *syntax.Lateral:
			op = Lateral{L: op, R: t.group(e.Group)}
		case *syntax.Union:
			op = join(op, t.union(e.Groups))
		case *syntax.GraphIs:
			op = join(op, Graph{Name: t.node(e.Name), In: t.group(e.Group)})
		case *syntax.Service:
			op = join(op, Service{Name: t.node(e.Name), Silent: e.Silent, In: t.group(e.Group), Text: e.Group.String()})
		case *syntax.Values:
			op = join(op, t.values(e))
		default:
			t.fail("unexpected pattern %T", e)
		}
	}
	return op, conds
}

// union translates alternatives, in order.
func (t *translator) union(groups []*syntax.Group) Op {
	return balanced(mapAll(groups, t.group), func(l, r Op) Op { return Union{L: l, R: r} })
}

// join joins two patterns. It drops the unit and merges basic graph patterns.
func join(l, r Op) Op {
	lb, lok := l.(BGP)
	rb, rok := r.(BGP)
	switch {
	case lok && len(lb.Patterns) == 0:
		return r
	case rok && len(rb.Patterns) == 0:
		return l
	case lok && rok:
		return BGP{append(lb.Patterns[:len(lb.Patterns):len(lb.Patterns)], rb.Patterns...)}
	}
	if lj, ok := l.(Join); ok && rok {
		if b, ok := lj.R.(BGP); ok {
			return Join{L: lj.L, R: join(b, r)}
		}
	}
	return Join{L: l, R: r}
}

// triples joins op with a triples block: basic graph patterns, and paths between them (§18.2.2.3 to §18.2.2.5).
func (t *translator) triples(op Op, list []syntax.Triple) Op {
	var run []TriplePattern
	flush := func() {
		if len(run) > 0 {
			op = join(op, BGP{run})
			run = nil
		}
	}
	for _, x := range list {
		if x.Path == nil {
			run = append(run, TriplePattern{t.node(x.S), t.node(x.P), t.node(x.O)})
			continue
		}
		t.path(t.node(x.S), x.Path, t.node(x.O), func(p TriplePattern) { run = append(run, p) }, func(p PathPattern) {
			flush()
			op = join(op, p)
		})
	}
	flush()
	return op
}

// path translates s path o (§18.2.2.4). It calls plain for each triple and rest for each path that is not a triple.
func (t *translator) path(s Node, path syntax.Path, o Node, plain func(TriplePattern), rest func(PathPattern)) {
	switch p := path.(type) {
	case syntax.PathIRI:
		plain(TriplePattern{s, iriNode(p.IRI), o})
	case *syntax.PathInverse:
		t.path(o, p.Path, s, plain, rest)
	case *syntax.PathSeq:
		t.paths++
		mid := Node{Var: Var(".p" + strconv.Itoa(t.paths))}
		t.path(s, p.L, mid, plain, rest)
		t.path(mid, p.R, o, plain, rest)
	default:
		rest(PathPattern{S: s, Path: t.pathExpr(p), O: o})
	}
}

// pathExpr translates a path without turning parts of it into triples.
func (t *translator) pathExpr(p syntax.Path) Path {
	switch p := p.(type) {
	case syntax.PathIRI:
		return PathIRI{p.IRI}
	case *syntax.PathInverse:
		return PathInverse{t.pathExpr(p.Path)}
	case *syntax.PathSeq:
		return PathSeq{t.pathExpr(p.L), t.pathExpr(p.R)}
	case *syntax.PathAlt:
		return PathAlt{t.pathExpr(p.L), t.pathExpr(p.R)}
	case *syntax.PathMod:
		switch p.Mod {
		case '*':
			return PathMany{Path: t.pathExpr(p.Path)}
		case '+':
			return PathMany{Path: t.pathExpr(p.Path), Min: 1}
		case '?':
			return PathMany{Path: t.pathExpr(p.Path), Once: true}
		}
	case *syntax.PathNot:
		return PathNot{Forward: p.Forward, Inverse: p.Inverse}
	}
	t.fail("unexpected path %T", p)
	return PathIRI{}
}
