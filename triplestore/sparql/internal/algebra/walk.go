package algebra

import (
	"fmt"
	"slices"
)

// Inputs returns the operators directly below op, in the order they are written. Patterns of EXISTS are not among them.
func Inputs(op Op) []Op {
	var out []Op
	MapInputs(op, func(in Op) Op {
		out = append(out, in)
		return in
	})
	return out
}

// MapInputs returns a copy of op whose inputs are replaced by what f returns for them.
func MapInputs(op Op, f func(Op) Op) Op {
	switch op := op.(type) {
	case nil, BGP, PathPattern, Values, Given:
		return op
	case Join:
		return Join{f(op.L), f(op.R)}
	case LeftJoin:
		op.L, op.R = f(op.L), f(op.R)
		return op
	case Minus:
		return Minus{f(op.L), f(op.R)}
	case Union:
		return Union{f(op.L), f(op.R)}
	case Lateral:
		return Lateral{f(op.L), f(op.R)}
	case Filter:
		op.In = f(op.In)
		return op
	case Graph:
		op.In = f(op.In)
		return op
	case Extend:
		op.In = f(op.In)
		return op
	case Group:
		op.In = f(op.In)
		return op
	case OrderBy:
		op.In = f(op.In)
		return op
	case Project:
		op.In = f(op.In)
		return op
	case Distinct:
		return Distinct{f(op.In)}
	case Reduced:
		return Reduced{f(op.In)}
	case Slice:
		op.In = f(op.In)
		return op
	case Service:
		op.In = f(op.In)
		return op
	}
	panic(fmt.Sprintf("algebra: unknown operator %T", op))
}

// Operands returns the expressions directly below e. Patterns of EXISTS are not among them.
func Operands(e Expr) []Expr {
	switch e := e.(type) {
	case Call:
		return e.Args
	case In:
		return append([]Expr{e.Expr}, e.List...)
	}
	return nil
}

// MapOperands returns a copy of e whose operands are replaced by what f returns for them, called from left to right.
func MapOperands(e Expr, f func(Expr) Expr) Expr {
	switch e := e.(type) {
	case Call:
		return Call{Func: e.Func, Args: mapAll(e.Args, f)}
	case In:
		return In{Not: e.Not, Expr: f(e.Expr), List: mapAll(e.List, f)}
	}
	return e
}

// mapAll returns what f returns for each member of a list.
func mapAll[S, T any](list []S, f func(S) T) []T {
	out := make([]T, len(list))
	for i, x := range list {
		out[i] = f(x)
	}
	return out
}

// Volatile reports whether two evaluations of an expression with the same values may differ.
func Volatile(e Expr) bool {
	if c, ok := e.(Call); ok {
		switch c.Func {
		case "RAND", "UUID", "STRUUID", "BNODE":
			return true
		}
	}
	return slices.ContainsFunc(Operands(e), Volatile)
}

// Each calls onOp with op and all operators below it, and onExpr with all their expressions and the operands of these.
// It visits the patterns of EXISTS, but nothing inside SERVICE.
func Each(op Op, onOp func(Op), onExpr func(Expr)) {
	if op == nil {
		return
	}
	onOp(op)
	if _, remote := op.(Service); remote {
		return
	}
	for _, e := range Exprs(op) {
		eachExpr(e, onOp, onExpr)
	}
	for _, in := range Inputs(op) {
		Each(in, onOp, onExpr)
	}
}

func eachExpr(e Expr, onOp func(Op), onExpr func(Expr)) {
	if e == nil {
		return
	}
	onExpr(e)
	if x, ok := e.(Exists); ok {
		Each(x.In, onOp, onExpr)
	}
	for _, o := range Operands(e) {
		eachExpr(o, onOp, onExpr)
	}
}

// Exprs returns the expressions of op itself.
func Exprs(op Op) (out []Expr) {
	switch op := op.(type) {
	case LeftJoin:
		if op.Cond != nil {
			out = append(out, op.Cond)
		}
	case Filter:
		out = append(out, op.Cond)
	case Extend:
		out = append(out, op.Expr)
	case Group:
		for _, a := range op.Aggs {
			if a.Expr != nil {
				out = append(out, a.Expr)
			}
		}
	case OrderBy:
		for _, k := range op.Keys {
			out = append(out, k.Expr)
		}
	}
	return out
}
