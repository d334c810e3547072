package plan

import (
	"fmt"
	"math"
	"strings"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
)

// Measured is what a run adds to an operator of the printed plan.
type Measured struct {
	Rows  int64
	Nanos int64 // inputs included; below a Parallel, the sum over all processors
}

// Explain prints the plan as an indented tree, one operator a line: what it does, the order of its output, the
// estimated rows and, for the numbers in measured, the true rows and the time.
func (p *Plan) Explain(measured map[int]Measured) string {
	var b strings.Builder
	var walk func(n Node, depth int)
	walk = func(n Node, depth int) {
		pr := n.Info()
		line := strings.Repeat("  ", depth) + n.label(p)
		if len(pr.Sorted) > 0 {
			line += " sorted=" + p.slots(pr.Sorted)
		}
		line += " rows≈" + formatRows(pr.Rows)
		if m, ok := measured[pr.Nr]; ok {
			line += fmt.Sprintf(" rows=%d time=%.2fms", m.Rows, float64(m.Nanos)/1e6)
		}
		b.WriteString(line + "\n")
		for _, in := range Inputs(n) {
			walk(in, depth+1)
		}
	}
	walk(p.Root, 0)
	return b.String()
}

func formatRows(f float64) string {
	switch {
	case math.IsInf(f, 0) || math.IsNaN(f) || f >= 1e15:
		return "many"
	case f >= 1e6:
		return fmt.Sprintf("%.1fM", f/1e6)
	case f >= 1e4:
		return fmt.Sprintf("%.0fk", f/1e3)
	case f >= 10:
		return fmt.Sprintf("%.0f", f)
	}
	return fmt.Sprintf("%.3g", f)
}

func (p *Plan) triple(pos [4]Pos) string {
	s := p.pos(pos[0]) + " " + p.pos(pos[1]) + " " + p.pos(pos[2])
	if g := pos[3]; g.Slot >= 0 || g.ID != term.DefaultGraph {
		s += " graph " + p.pos(g)
	}
	return s
}

func (p *Plan) pos(x Pos) string {
	switch {
	case x.Slot >= 0:
		return "?" + string(p.Vars[x.Slot])
	case x.ID == term.AnyNamed:
		return "any"
	case x.ID == 0:
		return "_"
	}
	return p.term(x.ID)
}

func (p *Plan) term(id term.ID) string {
	k, ok := p.terms[id]
	if !ok {
		k, ok = id.Key()
	}
	if !ok {
		return fmt.Sprintf("#%x", uint64(id))
	}
	return p.key(k)
}

func (p *Plan) key(k term.Key) string {
	switch k.Kind() {
	case term.KindIRI:
		return p.iri(k.Value())
	case term.KindBlank:
		return "_:" + k.Value()
	case term.KindLiteral:
		s := fmt.Sprintf("%q", k.Value())
		switch {
		case k.Lang() != "":
			return s + "@" + k.Lang()
		case k.Datatype() != term.XSDString:
			return s + "^^" + p.iri(k.Datatype())
		}
		return s
	}
	return "<<triple>>"
}

func (p *Plan) iri(iri string) string {
	best, name := "", ""
	for pre, ns := range p.prefixes {
		if strings.HasPrefix(iri, ns) && (len(ns) > len(best) || len(ns) == len(best) && pre < name) && len(ns) > 0 {
			best, name = ns, pre
		}
	}
	if best != "" && !strings.ContainsAny(iri[len(best):], "/#?") {
		return name + ":" + iri[len(best):]
	}
	return "<" + iri + ">"
}

func (p *Plan) slots(list []int) string {
	var out []string
	for _, s := range list {
		out = append(out, "?"+string(p.Vars[s]))
	}
	return strings.Join(out, " ")
}

func (p *Plan) expr(e algebra.Expr) string {
	list := func(es []algebra.Expr) string {
		var out []string
		for _, x := range es {
			out = append(out, p.expr(x))
		}
		return strings.Join(out, ", ")
	}
	switch e := e.(type) {
	case algebra.VarExpr:
		return "?" + string(e.Var)
	case algebra.ConstExpr:
		return p.key(e.Term)
	case algebra.Call:
		switch e.Func {
		case "=", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "&&", "||":
			if len(e.Args) == 2 {
				return "(" + p.expr(e.Args[0]) + " " + e.Func + " " + p.expr(e.Args[1]) + ")"
			}
		}
		return strings.TrimPrefix(e.Func, "u") + "(" + list(e.Args) + ")"
	case algebra.In:
		op := " in ("
		if e.Not {
			op = " not in ("
		}
		return p.expr(e.Expr) + op + list(e.List) + ")"
	}
	return fmt.Sprintf("%T", e)
}

func (p *Plan) path(x Path) string {
	switch x := x.(type) {
	case Step:
		if x.ID == 0 {
			return "nothing"
		}
		return p.term(x.ID)
	case Inverse:
		return "^" + p.path(x.Path)
	case Seq:
		return "(" + p.path(x.L) + "/" + p.path(x.R) + ")"
	case Alt:
		return "(" + p.path(x.L) + "|" + p.path(x.R) + ")"
	case Many:
		sign := "*"
		if x.Once {
			sign = "?"
		} else if x.Min == 1 {
			sign = "+"
		}
		return p.path(x.Path) + sign
	case Not:
		return fmt.Sprintf("!(%d)", len(x.Forward)+len(x.Backward))
	}
	return fmt.Sprintf("%T", x)
}
