package syntax

import (
	"fmt"
	"strings"
)

func (w *printer) expr(e Expr) {
	switch e := e.(type) {
	case VarExpr:
		w.put("?", e.Var)
	case ConstExpr:
		w.key(e.Term)
	case *Call:
		w.call(e)
	case *In:
		w.put("(")
		w.expr(e.Expr)
		if e.Not {
			w.put(" NOT")
		}
		w.put(" IN (")
		w.exprs(e.List)
		w.put("))")
	case *Exists:
		if e.Not {
			w.put("NOT ")
		}
		w.put("EXISTS ")
		w.group(e.Group)
	case *Aggregate:
		w.aggregate(e)
	default:
		panic(fmt.Sprintf("syntax: expression %T without a printed form", e))
	}
}

func (w *printer) call(c *Call) {
	switch c.Func {
	case "||", "&&":
		for i, e := range leaves(c.Func, c, nil) {
			w.put(map[bool]string{true: "(", false: " " + c.Func + " "}[i == 0])
			w.expr(e)
		}
		w.put(")")
		return
	case "=", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/":
		w.put("(")
		w.chain(c)
		w.put(")")
		return
	case "!", "u-", "u+":
		w.put("(", strings.TrimPrefix(c.Func, "u"), " ")
		w.expr(c.Args[0])
		w.put(")")
		return
	}
	if _, ok := builtins[c.Func]; ok {
		w.put(c.Func, "(")
	} else {
		w.put("<", c.Func, ">(")
	}
	if c.Distinct {
		w.put("DISTINCT ")
	}
	w.exprs(c.Args)
	w.put(")")
}

// chain prints a binary operation. An operation of the same rank on its left needs no parentheses, so long chains have
// no deep nesting.
func (w *printer) chain(c *Call) {
	if l, ok := c.Args[0].(*Call); ok && rank(l.Func) > 0 && rank(l.Func) == rank(c.Func) {
		w.chain(l)
	} else {
		w.expr(c.Args[0])
	}
	w.put(" ", c.Func, " ")
	w.expr(c.Args[1])
}

// rank returns the precedence of a left-associative operator, or 0.
func rank(op string) int {
	switch op {
	case "+", "-":
		return 1
	case "*", "/":
		return 2
	}
	return 0
}

func (w *printer) exprs(list []Expr) {
	for i, e := range list {
		if i > 0 {
			w.put(", ")
		}
		w.expr(e)
	}
}

func (w *printer) aggregate(a *Aggregate) {
	w.put(a.Func, "(")
	if a.Distinct {
		w.put("DISTINCT ")
	}
	if a.Expr == nil {
		w.put("*")
	} else {
		w.expr(a.Expr)
	}
	if a.Func == "GROUP_CONCAT" {
		w.put(" ; SEPARATOR = ", quote(a.Separator))
	}
	w.put(")")
}

func (w *printer) path(p Path) {
	switch p := p.(type) {
	case PathIRI:
		w.put("<", p.IRI, ">")
	case *PathInverse:
		w.put("^(")
		w.path(p.Path)
		w.put(")")
	case *PathSeq:
		w.put("(")
		w.pathSeq(p)
		w.put(")")
	case *PathAlt:
		w.put("(")
		w.pathAlt(p)
		w.put(")")
	case *PathMod:
		w.put("(")
		w.path(p.Path)
		w.put(")", string(p.Mod))
	case *PathNot:
		w.put("!(")
		for i, iri := range p.Forward {
			if i > 0 {
				w.put("|")
			}
			w.put("<", iri, ">")
		}
		for i, iri := range p.Inverse {
			if i > 0 || len(p.Forward) > 0 {
				w.put("|")
			}
			w.put("^<", iri, ">")
		}
		w.put(")")
	default:
		panic(fmt.Sprintf("syntax: path %T without a printed form", p))
	}
}

// pathSeq prints a sequence. Long chains have no nesting, as in pathAlt.
func (w *printer) pathSeq(p *PathSeq) {
	if l, ok := p.L.(*PathSeq); ok {
		w.pathSeq(l)
	} else {
		w.path(p.L)
	}
	w.put("/")
	w.path(p.R)
}

func (w *printer) pathAlt(p *PathAlt) {
	if l, ok := p.L.(*PathAlt); ok {
		w.pathAlt(l)
	} else {
		w.path(p.L)
	}
	w.put("|")
	w.path(p.R)
}
