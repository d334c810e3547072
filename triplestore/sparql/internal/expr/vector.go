package expr

import (
	"cmp"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
)

// Vector computes an expression for many rows at once, from the ids alone. It covers numbers, dates and truth values
// whose ids are inline. It belongs to one goroutine.
type Vector struct{ eval kernel }

// Unsure is the result of a Vector for a row that needs a Program.
const Unsure = ^term.ID(0)

// tagComputed is the tag of computed decimals, value × 10^6 + 2^59 as in term.TagDecimal. They never leave this package
// and its callers: the literal of a computed 5 is "5", that of the inline id is "5.0".
const tagComputed term.Tag = 0xE

// kernel computes n rows. The result is valid until its next call and may be longer than n; 0 is an error.
type kernel func(cols [][]term.ID, n int) []term.ID

// maxKernels bounds the buffers of one Vector.
const maxKernels = 64

// Vectorise returns the Vector of an expression, or nil if it has none. slot is as in Compile. intern returns the id of
// a constant that is not inline.
func Vectorise(e algebra.Expr, slot func(algebra.Var) int, intern func(term.Key) (term.ID, error)) *Vector {
	if _, ok := e.(algebra.Call); !ok {
		return nil
	}
	c := &vectorCompiler{slot: slot, intern: intern}
	if k := c.expr(e); k != nil {
		return &Vector{k}
	}
	return nil
}

// Eval returns the ids of the values of n rows: 0 for an error, Unsure where ids are not enough, and ids that Computed
// turns into values. The result is valid until the next call.
func (v *Vector) Eval(cols [][]term.ID, n int) []term.ID { return v.eval(cols, n)[:n] }

// Computed returns the value of a result of a Vector that is not the id of a term.
func Computed(id term.ID) (v Value, ok bool) {
	if id.Tag() != tagComputed {
		return errValue, false
	}
	v, _ = FromID(term.Make(term.TagDecimal, id.Payload()))
	v.id = 0
	return v, true
}

// Truth reports whether a FILTER keeps a row for which a Vector returns id. sure is false if a Program must decide.
func Truth(id term.ID) (keep, sure bool) {
	b, ok, sure := truth(id)
	return b && ok, sure
}

type vectorCompiler struct {
	slot    func(algebra.Var) int
	intern  func(term.Key) (term.ID, error)
	kernels int
}

// expr returns the kernel of an expression, or nil.
func (c *vectorCompiler) expr(e algebra.Expr) kernel {
	if c.kernels++; c.kernels > maxKernels {
		return nil
	}
	switch e := e.(type) {
	case algebra.VarExpr:
		s := c.slot(e.Var)
		if s < 0 {
			return fill(0)
		}
		unbound := fill(0)
		return func(cols [][]term.ID, n int) []term.ID {
			if cols[s] == nil {
				return unbound(cols, n)
			}
			return cols[s]
		}
	case algebra.ConstExpr:
		id, ok := term.Inline(e.Term)
		if !ok {
			var err error
			if id, err = c.intern(e.Term); err != nil || id == 0 {
				return nil
			}
		}
		return fill(id)
	case algebra.Call:
		return c.call(e)
	}
	return nil
}

func (c *vectorCompiler) call(e algebra.Call) kernel {
	if e.Func == "BOUND" {
		if v, ok := e.Args[0].(algebra.VarExpr); ok {
			return rowwise1(c.expr(v), func(a term.ID) term.ID { return boolID(a != 0) })
		}
		return nil
	}
	one, two := unaryKernels[e.Func], binaryKernels[e.Func]
	if one == nil && two == nil && e.Func != "IF" && e.Func != "COALESCE" {
		return nil
	}
	args := make([]kernel, len(e.Args))
	for i, a := range e.Args {
		if args[i] = c.expr(a); args[i] == nil {
			return nil
		}
	}
	switch {
	case e.Func == "IF" && len(args) == 3:
		return choose(args[0], args[1], args[2])
	case e.Func == "COALESCE" && len(args) > 0:
		return firstValue(args)
	case one != nil && len(args) == 1:
		return rowwise1(args[0], one)
	case two != nil && len(args) == 2:
		return rowwise2(args[0], args[1], two)
	}
	return nil
}

// unaryKernels and binaryKernels compute one row. They return what a Program would: 0 for an error, or Unsure.
var unaryKernels = map[string]func(a term.ID) term.ID{
	"!": func(a term.ID) term.ID {
		b, ok, sure := truth(a)
		switch {
		case !sure:
			return Unsure
		case !ok:
			return 0
		}
		return boolID(!b)
	},
	"YEAR":    func(a term.ID) term.ID { return datePart(a, partYear) },
	"MONTH":   func(a term.ID) term.ID { return datePart(a, partMonth) },
	"DAY":     func(a term.ID) term.ID { return datePart(a, partDay) },
	"HOURS":   func(a term.ID) term.ID { return clockPart(a, 3600_000, 24) },
	"MINUTES": func(a term.ID) term.ID { return clockPart(a, 60_000, 60) },
	"SECONDS": seconds,
	"ABS":     func(a term.ID) term.ID { return wholeNumber(a, func(v int64) int64 { return max(v, -v) }, false) },
	"CEIL":    func(a term.ID) term.ID { return wholeNumber(a, func(v int64) int64 { return -floorTo(-v) }, true) },
	"FLOOR":   func(a term.ID) term.ID { return wholeNumber(a, floorTo, true) },
	"ROUND": func(a term.ID) term.ID {
		return wholeNumber(a, func(v int64) int64 { return floorTo(v + micro/2) }, true)
	},
}

var binaryKernels = map[string]func(a, b term.ID) term.ID{
	"+":  add,
	"-":  func(a, b term.ID) term.ID { return subtract(a, b) },
	"*":  multiply,
	"/":  divide,
	"&&": func(a, b term.ID) term.ID { return both(a, b, false) },
	"||": func(a, b term.ID) term.ID { return both(a, b, true) },
	"=":  func(a, b term.ID) term.ID { return compareIDs(a, b, true, func(c int) bool { return c == 0 }) },
	"!=": func(a, b term.ID) term.ID { return compareIDs(a, b, true, func(c int) bool { return c != 0 }) },
	"<":  func(a, b term.ID) term.ID { return compareIDs(a, b, false, func(c int) bool { return c < 0 }) },
	">":  func(a, b term.ID) term.ID { return compareIDs(a, b, false, func(c int) bool { return c > 0 }) },
	"<=": func(a, b term.ID) term.ID { return compareIDs(a, b, false, func(c int) bool { return c <= 0 }) },
	">=": func(a, b term.ID) term.ID { return compareIDs(a, b, false, func(c int) bool { return c >= 0 }) },
}

// fill returns the kernel of a constant.
func fill(id term.ID) kernel {
	var buf []term.ID
	return func(_ [][]term.ID, n int) []term.ID {
		for len(buf) < n {
			buf = append(buf, id)
		}
		return buf
	}
}

func rowwise1(arg kernel, f func(term.ID) term.ID) kernel {
	if arg == nil {
		return nil
	}
	var buf []term.ID
	return func(cols [][]term.ID, n int) []term.ID {
		a := arg(cols, n)[:n]
		buf = room(buf, n)
		for i, id := range a {
			buf[i] = f(id)
		}
		return buf
	}
}

func rowwise2(left, right kernel, f func(a, b term.ID) term.ID) kernel {
	var buf []term.ID
	return func(cols [][]term.ID, n int) []term.ID {
		a, b := left(cols, n)[:n], right(cols, n)[:n]
		buf = room(buf, n)
		for i, id := range a {
			buf[i] = f(id, b[i])
		}
		return buf
	}
}

// choose is IF. Both values are computed for all rows: they have no effects.
func choose(cond, yes, no kernel) kernel {
	var buf []term.ID
	return func(cols [][]term.ID, n int) []term.ID {
		c, y, z := cond(cols, n)[:n], yes(cols, n)[:n], no(cols, n)[:n]
		buf = room(buf, n)
		for i, id := range c {
			b, ok, sure := truth(id)
			switch {
			case !sure:
				buf[i] = Unsure
			case !ok:
				buf[i] = 0
			case b:
				buf[i] = y[i]
			default:
				buf[i] = z[i]
			}
		}
		return buf
	}
}

// firstValue is COALESCE.
func firstValue(args []kernel) kernel {
	var buf []term.ID
	return func(cols [][]term.ID, n int) []term.ID {
		buf = room(buf, n)
		copy(buf, args[0](cols, n)[:n])
		for _, arg := range args[1:] {
			for i, id := range arg(cols, n)[:n] {
				if buf[i] == 0 {
					buf[i] = id
				}
			}
		}
		return buf
	}
}

func room(buf []term.ID, n int) []term.ID {
	if cap(buf) < n {
		return make([]term.ID, n)
	}
	return buf[:n]
}

func boolID(b bool) term.ID {
	if b {
		return term.Make(term.TagBoolean, 1)
	}
	return term.Make(term.TagBoolean, 0)
}

// truth returns the effective boolean value of an id, and whether it has one. sure is false if the id does not tell.
func truth(id term.ID) (b, ok, sure bool) {
	switch id.Tag() {
	case term.TagNone, term.TagIRI, term.TagBlank:
		return false, false, true
	case term.TagBoolean:
		b, ok := id.Bool()
		return b, ok, true
	case term.TagInteger:
		v, _ := id.Int()
		return v != 0, true, true
	case term.TagDecimal, tagComputed:
		return unscaled(id) != 0, true, true
	case term.TagString:
		return id&15 != 0, true, true
	}
	return false, false, false
}

// both is && or ||, with errors as the third truth value (§17.2).
func both(a, b term.ID, or bool) term.ID {
	x, xok, xsure := truth(a)
	y, yok, ysure := truth(b)
	switch {
	case xsure && xok && x == or, ysure && yok && y == or:
		return boolID(or)
	case !xsure || !ysure:
		return Unsure
	case !xok || !yok:
		return 0
	}
	return boolID(!or)
}

// compareIDs applies test to the comparison of two values. equality is true for = and !=, which also compare nodes.
func compareIDs(a, b term.ID, equality bool, test func(int) bool) term.ID {
	if a == 0 || b == 0 {
		return 0
	}
	x, y := a.Tag(), b.Tag()
	if x == y {
		switch x {
		case term.TagInteger, term.TagDecimal, term.TagString, tagComputed:
			return boolID(test(cmp.Compare(a, b)))
		case term.TagDateTime, term.TagDate:
			shift := dateTimeShift
			if x == term.TagDate {
				shift = dateShift
			}
			if (a&zoneMask != 0) == (b&zoneMask != 0) {
				return boolID(test(cmp.Compare(a>>shift, b>>shift)))
			}
		case term.TagIRI, term.TagBlank:
			if equality {
				return boolID(test(cmp.Compare(a, b)))
			}
			return 0
		}
		return Unsure
	}
	v, ok1 := micros(a)
	w, ok2 := micros(b)
	if ok1 && ok2 {
		return boolID(test(cmp.Compare(v, w)))
	}
	return Unsure
}
