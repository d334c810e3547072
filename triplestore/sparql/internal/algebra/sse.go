package algebra

import (
	"fmt"
	"strconv"
	"strings"

	"odarchive/triplestore/sparql/internal/syntax"
	"odarchive/triplestore/term"
)

// SSE prints an operator as an S-expression as Jena does, indented by two spaces.
func SSE(op Op) string {
	var w sse
	w.op(op, 0)
	return strings.TrimPrefix(w.String(), "\n") + "\n"
}

// String returns the node as SPARQL writes it.
func (n Node) String() string {
	switch {
	case n.Var != "":
		return "?" + string(n.Var)
	case n.Triple != nil:
		return "<<( " + n.Triple.S.String() + " " + n.Triple.P.String() + " " + n.Triple.O.String() + " )>>"
	}
	return termSSE(n.Term)
}

func (p TriplePattern) String() string {
	return "(triple " + p.S.String() + " " + p.P.String() + " " + p.O.String() + ")"
}

func termSSE(k term.Key) string {
	switch k.Datatype() {
	case "http://www.w3.org/2001/XMLSchema#integer", "http://www.w3.org/2001/XMLSchema#boolean":
		return k.Value()
	}
	return syntax.TermString(k)
}

type sse struct{ strings.Builder }

func (w *sse) put(parts ...string) {
	for _, s := range parts {
		w.WriteString(s)
	}
}

// open begins "(head" on a new line.
func (w *sse) open(depth int, head ...string) {
	w.put("\n", strings.Repeat("  ", depth), "(")
	w.put(head...)
}

func (w *sse) op(op Op, d int) {
	switch op := op.(type) {
	case BGP:
		if len(op.Patterns) == 0 {
			w.put("\n", strings.Repeat("  ", d), "(table unit)")
			return
		}
		w.open(d, "bgp")
		for _, p := range op.Patterns {
			w.put("\n", strings.Repeat("  ", d+1), p.String())
		}
	case PathPattern:
		w.open(d, "path ", op.S.String(), " ")
		w.path(op.Path)
		w.put(" ", op.O.String())
	case Join:
		w.both(d, "join", op.L, op.R)
	case LeftJoin:
		w.open(d, "leftjoin")
		w.op(op.L, d+1)
		w.op(op.R, d+1)
		if op.Cond != nil {
			w.put("\n", strings.Repeat("  ", d+1))
			w.expr(op.Cond, d+1)
		}
	case Minus:
		w.both(d, "minus", op.L, op.R)
	case Union:
		w.both(d, "union", op.L, op.R)
	case Lateral:
		w.both(d, "lateral", op.L, op.R)
	case Given:
		w.open(d, "given (", varList(op.Vars), ")")
	case Filter:
		w.open(d, "filter ")
		w.expr(op.Cond, d)
		w.op(op.In, d+1)
	case Graph:
		w.open(d, "graph ", op.Name.String())
		w.op(op.In, d+1)
	case Extend:
		w.open(d, "extend ((?", string(op.Var), " ")
		w.expr(op.Expr, d)
		w.put("))")
		w.op(op.In, d+1)
	case Group:
		w.open(d, "group (", varList(op.By), ") (")
		for i, a := range op.Aggs {
			if i > 0 {
				w.put(" ")
			}
			w.put("(?", string(a.Var), " ", aggregateSSE(a), ")")
		}
		w.put(")")
		w.op(op.In, d+1)
	case OrderBy:
		w.open(d, "order (")
		for i, k := range op.Keys {
			if i > 0 {
				w.put(" ")
			}
			w.put(map[bool]string{false: "(asc ", true: "(desc "}[k.Desc])
			w.expr(k.Expr, d)
			w.put(")")
		}
		w.put(")")
		w.op(op.In, d+1)
	case Project:
		w.open(d, "project (", varList(op.Vars), ")")
		w.op(op.In, d+1)
	case Distinct:
		w.open(d, "distinct")
		w.op(op.In, d+1)
	case Reduced:
		w.open(d, "reduced")
		w.op(op.In, d+1)
	case Slice:
		limit := "_"
		if op.Limit >= 0 {
			limit = strconv.FormatInt(op.Limit, 10)
		}
		w.open(d, "slice ", strconv.FormatInt(op.Offset, 10), " ", limit)
		w.op(op.In, d+1)
	case Values:
		w.values(op, d)
	case Service:
		w.open(d, "service ", map[bool]string{true: "silent "}[op.Silent], op.Name.String())
		w.op(op.In, d+1)
	default:
		panic(fmt.Sprintf("algebra: operator %T without a printed form", op))
	}
	w.put(")")
}

func (w *sse) both(d int, head string, l, r Op) {
	w.open(d, head)
	w.op(l, d+1)
	w.op(r, d+1)
}

func (w *sse) values(v Values, d int) {
	w.open(d, "table (vars", strings.Repeat(" ", min(1, len(v.Vars))), varList(v.Vars), ")")
	for _, row := range v.Rows {
		w.open(d+1, "row")
		for i, k := range row {
			if k != "" {
				w.put(" (?", string(v.Vars[i]), " ", termSSE(k), ")")
			}
		}
		w.put(")")
	}
}

func varList(vars []Var) string {
	parts := make([]string, len(vars))
	for i, v := range vars {
		parts[i] = "?" + string(v)
	}
	return strings.Join(parts, " ")
}

func (w *sse) expr(e Expr, d int) {
	switch e := e.(type) {
	case nil:
		w.put("true")
	case VarExpr:
		w.put("?", string(e.Var))
	case ConstExpr:
		w.put(termSSE(e.Term))
	case Call:
		name := strings.ToLower(e.Func)
		if strings.ContainsRune(e.Func, ':') {
			name = "<" + e.Func + ">"
		}
		w.put("(", name)
		for _, a := range e.Args {
			w.put(" ")
			w.expr(a, d)
		}
		w.put(")")
	case In:
		w.put("(", map[bool]string{false: "in ", true: "notin "}[e.Not])
		w.expr(e.Expr, d)
		for _, a := range e.List {
			w.put(" ")
			w.expr(a, d)
		}
		w.put(")")
	case Exists:
		w.put("(", map[bool]string{false: "exists", true: "notexists"}[e.Not])
		w.op(e.In, d+2)
		w.put(")")
	default:
		panic(fmt.Sprintf("algebra: expression %T without a printed form", e))
	}
}

// aggregateSSE prints the aggregate without its variable.
func aggregateSSE(a Aggregate) string {
	var w sse
	w.put("(", strings.ToLower(a.Func))
	if a.Distinct {
		w.put(" distinct")
	}
	if a.Func == "GROUP_CONCAT" {
		w.put(" (separator ", strconv.Quote(a.Separator), ")")
	}
	if a.Expr != nil {
		w.put(" ")
		w.expr(a.Expr, 0)
	}
	w.put(")")
	return w.String()
}

func (w *sse) path(p Path) {
	switch p := p.(type) {
	case PathIRI:
		w.put("<", p.IRI, ">")
	case PathInverse:
		w.put("(reverse ")
		w.path(p.Path)
		w.put(")")
	case PathSeq:
		w.twoPaths("seq", p.L, p.R)
	case PathAlt:
		w.twoPaths("alt", p.L, p.R)
	case PathMany:
		w.put(map[bool]string{true: "(path? ", false: map[int]string{0: "(path* ", 1: "(path+ "}[p.Min]}[p.Once])
		w.path(p.Path)
		w.put(")")
	case PathNot:
		w.put("(notoneof")
		for _, iri := range p.Forward {
			w.put(" <", iri, ">")
		}
		for _, iri := range p.Inverse {
			w.put(" (rev <", iri, ">)")
		}
		w.put(")")
	default:
		panic(fmt.Sprintf("algebra: path %T without a printed form", p))
	}
}

func (w *sse) twoPaths(head string, l, r Path) {
	w.put("(", head, " ")
	w.path(l)
	w.put(" ")
	w.path(r)
	w.put(")")
}
