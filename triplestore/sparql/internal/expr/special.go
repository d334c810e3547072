package expr

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/xsdval"
)

// special compiles the calls that do not evaluate all their arguments or that need the context. done is false for other
// functions.
func (c *compiler) special(e algebra.Call) (f Func, done bool, err error) {
	form, done := specialForms[e.Func]
	if !done {
		return nil, false, nil
	}
	if len(e.Args) < form.minArgs || len(e.Args) > form.maxArgs {
		return nil, true, fmt.Errorf("expr: %s takes %s, not %d", e.Func, arity(form.minArgs, form.maxArgs), len(e.Args))
	}
	if e.Func == "BOUND" {
		f, err = c.bound(e.Args[0])
		return f, true, err
	}
	args, err := c.all(e.Args)
	if err != nil {
		return nil, true, err
	}
	c.pure = c.pure && !form.impure
	return form.compile(c.ctx, e, args), true, nil
}

// specialForms are the functions that special compiles.
var specialForms = map[string]struct {
	minArgs, maxArgs int
	impure           bool // see Program.Pure
	compile          func(ctx *Context, e algebra.Call, args []Func) Func
}{
	"BOUND": {minArgs: 1, maxArgs: 1},
	"&&":    {2, 2, false, func(_ *Context, _ algebra.Call, args []Func) Func { return logical(args[0], args[1], false) }},
	"||":    {2, 2, false, func(_ *Context, _ algebra.Call, args []Func) Func { return logical(args[0], args[1], true) }},
	"!": {1, 1, false, func(_ *Context, _ algebra.Call, args []Func) Func {
		return func(env *Env) Value {
			b, ok := args[0](env).ebv()
			return boolOK(!b, ok)
		}
	}},
	"IF": {3, 3, false, func(_ *Context, _ algebra.Call, args []Func) Func {
		return func(env *Env) Value {
			b, ok := args[0](env).ebv()
			switch {
			case !ok:
				return errValue
			case b:
				return args[1](env)
			}
			return args[2](env)
		}
	}},
	"COALESCE": {0, math.MaxInt32, false, func(_ *Context, _ algebra.Call, args []Func) Func {
		return func(env *Env) Value {
			for _, f := range args {
				if v := f(env); v.kind != Err {
					return v
				}
			}
			return errValue
		}
	}},
	"SAMETERM": {2, 2, false, func(_ *Context, _ algebra.Call, args []Func) Func {
		return func(env *Env) Value {
			x, y := args[0](env), args[1](env)
			return boolOK(x.Key() == y.Key(), x.kind != Err && y.kind != Err)
		}
	}},
	"REGEX":   {2, 3, false, regex},
	"REPLACE": {3, 4, false, replace},
	"IRI":     {1, 1, false, iriOf},
	"URI":     {1, 1, false, iriOf},
	"NOW": {0, 0, false, func(ctx *Context, _ algebra.Call, _ []Func) Func {
		return constant(newXSD(xsdval.NewDateTime(ctx.Now.Unix(), int32(ctx.Now.Nanosecond()/1e6*1e6))))
	}},
	"RAND": {0, 0, true, func(*Context, algebra.Call, []Func) Func {
		return func(*Env) Value { return newXSD(xsdval.NewDouble(rand.Float64())) }
	}},
	"UUID": {0, 0, true, func(*Context, algebra.Call, []Func) Func {
		return func(*Env) Value { return newIRI("urn:uuid:" + uuid()) }
	}},
	"STRUUID": {0, 0, true, func(*Context, algebra.Call, []Func) Func {
		return func(*Env) Value { return newString(uuid()) }
	}},
	"BNODE": {0, 1, true, blankNode},
}

// bound compiles BOUND, which reads the id of a variable and not its term.
func (c *compiler) bound(arg algebra.Expr) (Func, error) {
	if _, ok := arg.(algebra.ConstExpr); ok { // the planner has put the only value of a variable in its place
		return constant(NewBool(true)), nil
	}
	v, ok := arg.(algebra.VarExpr)
	if !ok {
		return nil, errors.New("expr: BOUND takes a variable")
	}
	s := c.use(v.Var, false)
	if s < 0 {
		return constant(NewBool(false)), nil
	}
	return func(env *Env) Value { return NewBool(env.id(s) != 0) }, nil
}

func iriOf(ctx *Context, _ algebra.Call, args []Func) Func {
	return func(env *Env) Value { return toIRI(args[0](env), ctx.Base) }
}

// logical compiles && or ||, with errors as the third truth value (§17.2).
func logical(l, r Func, or bool) Func {
	return func(env *Env) Value {
		a, aok := l(env).ebv()
		if aok && a == or {
			return NewBool(or)
		}
		b, bok := r(env).ebv()
		if bok && b == or {
			return NewBool(or)
		}
		return boolOK(!or, aok && bok)
	}
}

// blankNode compiles BNODE.
func blankNode(ctx *Context, _ algebra.Call, a []Func) Func {
	return func(env *Env) Value {
		if len(a) == 0 {
			ctx.blanks++
			return Value{kind: Blank, s: fmt.Sprintf("%sn%d", ctx.BlankP, ctx.blanks)}
		}
		v := a[0](env)
		if v.kind != Str {
			return errValue
		}
		return Value{kind: Blank, s: fmt.Sprintf("%ss%dx%x", ctx.BlankP, env.Solution, v.s)}
	}
}

// uuid returns a random UUID.
func uuid() string {
	a, b := rand.Uint64(), rand.Uint64()
	a = a&^0xf000 | 0x4000           // version 4
	b = b&^(0b11<<62) | (0b10 << 62) // variant 1
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", a>>32, a>>16&0xffff, a&0xffff, b>>48, b&(1<<48-1))
}
