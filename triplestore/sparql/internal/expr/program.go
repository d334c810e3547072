package expr

import (
	"fmt"
	"time"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
	"odarchive/triplestore/xsdval"
)

// Context is what the functions of one query share. A Context belongs to one goroutine at a time.
type Context struct {
	Now    time.Time // NOW(): one instant for the whole query
	Base   string    // IRI() resolves against it
	BlankP string    // prefix of the labels BNODE makes; unique to the query
	blanks uint64
}

// Env gives a Program the row it is evaluated on.
type Env struct {
	Cols [][]term.ID // by slot; a nil column is unbound in every row
	Row  int
	// Solution numbers the solution within the query (BNODE("x") is the same node within one solution).
	Solution uint64
	// Keys are the terms of the columns of Program.Terms, by slot; inline ids need none.
	Keys [][]term.Key
}

func (e *Env) value(slot int) Value {
	col := e.Cols[slot]
	if col == nil || col[e.Row] == 0 {
		return errValue
	}
	id := col[e.Row]
	if v, ok := FromID(id); ok {
		return v
	}
	v := FromKey(e.Keys[slot][e.Row])
	v.id = id
	return v
}

func (e *Env) id(slot int) term.ID {
	if col := e.Cols[slot]; col != nil {
		return col[e.Row]
	}
	return 0
}

// Func is a compiled expression.
type Func func(*Env) Value

// Program is a compiled expression with what its user must know.
type Program struct {
	Eval Func
	// Slots are the variables it reads, each once; Terms those whose terms it needs (not only their ids).
	Slots, Terms []int
	// Pure is false for expressions whose value differs between equal rows: RAND, UUID, STRUUID, BNODE.
	Pure bool
}

// Compile prepares e. slot gives the column of a variable, or -1 for one that is never bound here.
func Compile(e algebra.Expr, slot func(algebra.Var) int, ctx *Context) (*Program, error) {
	c := &compiler{slot: slot, ctx: ctx, pure: true}
	f, err := c.expr(e)
	if err != nil {
		return nil, err
	}
	return &Program{Eval: f, Slots: c.slots, Terms: c.terms, Pure: c.pure}, nil
}

type compiler struct {
	slot         func(algebra.Var) int
	ctx          *Context
	slots, terms []int
	pure         bool
	depth        int
}

// maxDepth bounds the nesting of an expression: closures recurse as deep.
const maxDepth = 5000

func constant(v Value) Func { return func(*Env) Value { return v } }

func (c *compiler) expr(e algebra.Expr) (Func, error) {
	if c.depth++; c.depth > maxDepth {
		return nil, fmt.Errorf("expr: an expression is nested deeper than %d", maxDepth)
	}
	defer func() { c.depth-- }()
	switch e := e.(type) {
	case algebra.VarExpr:
		s := c.use(e.Var, true)
		if s < 0 {
			return constant(errValue), nil
		}
		return func(env *Env) Value { return env.value(s) }, nil
	case algebra.ConstExpr:
		return constant(FromKey(e.Term)), nil
	case algebra.In:
		return c.in(e)
	case algebra.Call:
		return c.call(e)
	}
	return nil, fmt.Errorf("expr: cannot compile %T", e)
}

// use notes that the program reads a variable.
func (c *compiler) use(v algebra.Var, asTerm bool) int {
	s := c.slot(v)
	if s < 0 {
		return -1
	}
	c.slots = appendNew(c.slots, s)
	if asTerm {
		c.terms = appendNew(c.terms, s)
	}
	return s
}

func appendNew(list []int, s int) []int {
	for _, x := range list {
		if x == s {
			return list
		}
	}
	return append(list, s)
}

func (c *compiler) all(list []algebra.Expr) ([]Func, error) {
	fs := make([]Func, len(list))
	for i, e := range list {
		f, err := c.expr(e)
		if err != nil {
			return nil, err
		}
		fs[i] = f
	}
	return fs, nil
}

// call compiles the forms that do not evaluate all their arguments, then looks in the table of functions.
func (c *compiler) call(e algebra.Call) (Func, error) {
	if f, done, err := c.special(e); done || err != nil {
		return f, err
	}
	if kind := castKind(e.Func); kind != xsdval.None || e.Func == term.XSDString {
		if len(e.Args) != 1 {
			return nil, fmt.Errorf("expr: the cast <%s> takes one argument", e.Func)
		}
		arg, err := c.expr(e.Args[0])
		if err != nil {
			return nil, err
		}
		to := e.Func
		return func(env *Env) Value { return cast(arg(env), to, kind) }, nil
	}
	args, err := c.all(e.Args)
	if err != nil {
		return nil, err
	}
	fn, ok := functions(e.Func)
	if !ok {
		return constant(errValue), nil // an unknown extension function is an error of each evaluation
	}
	if len(args) < fn.min || len(args) > fn.max {
		return nil, fmt.Errorf("expr: %s takes %s, not %d", e.Func, arity(fn.min, fn.max), len(args))
	}
	switch len(args) {
	case 1:
		if fn.one != nil {
			a, f := args[0], fn.one
			return func(env *Env) Value { return f(a(env)) }, nil
		}
	case 2:
		if fn.two != nil {
			a, b, f := args[0], args[1], fn.two
			return func(env *Env) Value { return f(a(env), b(env)) }, nil
		}
	}
	f := fn.many
	return func(env *Env) Value {
		var buf [4]Value
		vals := buf[:0]
		for _, a := range args {
			vals = append(vals, a(env))
		}
		return f(vals)
	}, nil
}

func arity(min, max int) string {
	if min == max {
		return fmt.Sprintf("%d argument(s)", min)
	}
	return fmt.Sprintf("%d to %d arguments", min, max)
}
