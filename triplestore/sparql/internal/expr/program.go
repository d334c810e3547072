package expr

import (
	"fmt"
	"slices"
	"time"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
	"odarchive/triplestore/xsdval"
)

// Context is the state that the functions of a query share. It is not safe for concurrent use.
type Context struct {
	Now    time.Time // result of NOW()
	Base   string    // base of IRI()
	BlankP string    // prefix of the labels that BNODE makes; unique to the query
	blanks uint64
}

// Env is the row that a Program is evaluated on.
type Env struct {
	Cols [][]term.ID // columns by slot; a nil column is unbound in all rows
	Row  int
	// Solution is the number of the solution in the query. BNODE("x") is one node per solution.
	Solution uint64
	// Keys holds the terms of the columns in Program.Terms, by slot. Inline ids need no term.
	Keys [][]term.Key
	// Failed is set by Eval if the query must end because an expression needs too much time.
	Failed error
}

func (e *Env) fail(err error) {
	if e.Failed == nil {
		e.Failed = err
	}
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

// Program is a compiled expression.
type Program struct {
	Eval Func
	// Slots are the columns that it reads, without repetition, and Terms those whose terms it needs, besides their ids.
	Slots, Terms []int
	// Pure is false if the value may differ between equal rows (RAND, UUID, STRUUID, BNODE).
	Pure bool
}

// Compile compiles e. slot returns the column of a variable, or -1 if it is never bound.
func Compile(e algebra.Expr, slot func(algebra.Var) int, ctx *Context) (*Program, error) {
	c := &compiler{slot: slot, ctx: ctx, pure: true}
	f, err := c.expr(e)
	if err != nil {
		return nil, err
	}
	return &Program{Eval: f, Slots: c.slots, Terms: c.terms, Pure: c.pure}, nil
}

// compiler compiles one expression into a Program.
type compiler struct {
	slot         func(algebra.Var) int
	ctx          *Context
	slots, terms []int
	pure         bool
	depth        int
}

// maxDepth bounds the nesting of an expression, and so the recursion of its closures.
const maxDepth = 5000

func constant(v Value) Func { return func(*Env) Value { return v } }

func (c *compiler) expr(e algebra.Expr) (Func, error) {
	if c.depth++; c.depth > maxDepth {
		return nil, fmt.Errorf("expr: expression nested deeper than %d", maxDepth)
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

// use returns the slot of a variable and records that the program reads its id, and its term if asTerm is set.
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
	if slices.Contains(list, s) {
		return list
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

// call compiles a special form, a cast, or a call of a function that evaluates all its arguments.
func (c *compiler) call(e algebra.Call) (Func, error) {
	if f, done, err := c.special(e); done || err != nil {
		return f, err
	}
	if f, done, err := c.geo(e); done || err != nil {
		return f, err
	}
	if kind := xsdval.KindOf(e.Func); kind != xsdval.None || e.Func == term.XSDString {
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
	fn, ok := lookup(e.Func)
	if !ok {
		return constant(errValue), nil // calls of unknown functions are errors of evaluation
	}
	if len(args) < fn.minArgs || len(args) > fn.maxArgs {
		return nil, fmt.Errorf("expr: %s takes %s, not %d", e.Func, arity(fn.minArgs, fn.maxArgs), len(args))
	}
	if f := fn.one; f != nil {
		a := args[0]
		return func(env *Env) Value { return f(a(env)) }, nil
	}
	if f := fn.two; f != nil {
		a, b := args[0], args[1]
		return func(env *Env) Value { return f(a(env), b(env)) }, nil
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

// Known reports whether a function, as algebra.Call names it, is an operator, a built-in, a cast or an extension
// function of this package. Calls of others are errors of evaluation.
func Known(name string) bool {
	_, special := specialForms[name]
	_, ordinary := lookup(name)
	return special || ordinary || IsExtension(name) || name == term.XSDString || xsdval.KindOf(name) != xsdval.None
}

func arity(minArgs, maxArgs int) string {
	if minArgs == maxArgs {
		return fmt.Sprintf("%d argument(s)", minArgs)
	}
	return fmt.Sprintf("%d to %d arguments", minArgs, maxArgs)
}
