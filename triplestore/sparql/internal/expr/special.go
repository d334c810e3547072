package expr

import (
	"fmt"
	"math/rand/v2"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/xsdval"
)

func (c *compiler) special(e algebra.Call) (f Func, done bool, err error) {
	need := func(min, max int) bool {
		if len(e.Args) < min || len(e.Args) > max {
			err = fmt.Errorf("expr: %s takes %s, not %d", e.Func, arity(min, max), len(e.Args))
		}
		return err == nil
	}
	var a []Func
	args := func(min, max int) bool {
		if need(min, max) {
			a, err = c.all(e.Args)
		}
		return err == nil
	}
	switch e.Func {
	case "BOUND":
		if !need(1, 1) {
			return nil, true, err
		}
		v, ok := e.Args[0].(algebra.VarExpr)
		if !ok {
			return nil, true, fmt.Errorf("expr: BOUND takes a variable")
		}
		s := c.use(v.Var, false)
		if s < 0 {
			return constant(NewBool(false)), true, nil
		}
		return func(env *Env) Value { return NewBool(env.id(s) != 0) }, true, nil
	case "&&", "||":
		if !args(2, 2) {
			return nil, true, err
		}
		return logical(a[0], a[1], e.Func == "||"), true, nil
	case "!":
		if !args(1, 1) {
			return nil, true, err
		}
		return func(env *Env) Value {
			b, ok := a[0](env).EBV()
			if !ok {
				return errValue
			}
			return NewBool(!b)
		}, true, nil
	case "IF":
		if !args(3, 3) {
			return nil, true, err
		}
		return func(env *Env) Value {
			b, ok := a[0](env).EBV()
			switch {
			case !ok:
				return errValue
			case b:
				return a[1](env)
			}
			return a[2](env)
		}, true, nil
	case "COALESCE":
		if !args(0, 1<<20) {
			return nil, true, err
		}
		return func(env *Env) Value {
			for _, f := range a {
				if v := f(env); v.kind != Err {
					return v
				}
			}
			return errValue
		}, true, nil
	case "SAMETERM":
		if !args(2, 2) {
			return nil, true, err
		}
		return func(env *Env) Value {
			x, y := a[0](env), a[1](env)
			if x.kind == Err || y.kind == Err {
				return errValue
			}
			return NewBool(x.Key() == y.Key())
		}, true, nil
	case "REGEX":
		if !args(2, 3) {
			return nil, true, err
		}
		return regex(e, a), true, nil
	case "REPLACE":
		if !args(3, 4) {
			return nil, true, err
		}
		return replace(e, a), true, nil
	case "IRI", "URI":
		if !args(1, 1) {
			return nil, true, err
		}
		return func(env *Env) Value { return toIRI(a[0](env), c.ctx.Base) }, true, nil
	case "NOW":
		now := NewXSD(xsdval.NewDateTime(c.ctx.Now.Unix(), int32(c.ctx.Now.Nanosecond()/1e6*1e6)))
		return constant(now), true, nil
	case "RAND":
		c.pure = false
		return func(*Env) Value { return NewXSD(xsdval.NewDouble(rand.Float64())) }, true, nil
	case "UUID":
		c.pure = false
		return func(*Env) Value { return NewIRI("urn:uuid:" + uuid()) }, true, nil
	case "STRUUID":
		c.pure = false
		return func(*Env) Value { return NewString(uuid()) }, true, nil
	case "BNODE":
		c.pure = false
		if !args(0, 1) {
			return nil, true, err
		}
		return blankNode(c.ctx, a), true, nil
	}
	return nil, false, nil
}

// logical is && and || with errors as the third truth value (§17.2).
func logical(l, r Func, or bool) Func {
	return func(env *Env) Value {
		a, aok := l(env).EBV()
		if aok && a == or {
			return NewBool(or)
		}
		b, bok := r(env).EBV()
		if bok && b == or {
			return NewBool(or)
		}
		if !aok || !bok {
			return errValue
		}
		return NewBool(!or)
	}
}

func blankNode(ctx *Context, a []Func) Func {
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

func uuid() string {
	a, b := rand.Uint64(), rand.Uint64()
	a = a&^0xf000 | 0x4000           // version 4
	b = b&^(0b11<<62) | (0b10 << 62) // variant 1
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", a>>32, a>>16&0xffff, a&0xffff, b>>48, b&(1<<48-1))
}
