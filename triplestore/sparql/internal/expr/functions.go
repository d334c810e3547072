package expr

import (
	"odarchive/triplestore/term"
	"odarchive/triplestore/xsdval"
)

// function is an operator or built-in that evaluates all its arguments first. One of the functions is set: one and two
// for that number of arguments, many for other numbers.
type function struct {
	minArgs, maxArgs int
	one              func(Value) Value
	two              func(a, b Value) Value
	many             func([]Value) Value
}

func fn1(f func(Value) Value) function      { return function{minArgs: 1, maxArgs: 1, one: f} }
func fn2(f func(a, b Value) Value) function { return function{minArgs: 2, maxArgs: 2, two: f} }
func fnN(minArgs, maxArgs int, f func([]Value) Value) function {
	return function{minArgs: minArgs, maxArgs: maxArgs, many: f}
}

// lookup returns the operator with the given sign or the built-in with the given name, in upper case.
func lookup(name string) (f function, ok bool) {
	for _, table := range [...]map[string]function{coreFunctions, stringFunctions, timeFunctions, hashFunctions, tripleFunctions} {
		if f, ok = table[name]; ok {
			break
		}
	}
	return f, ok
}

// coreFunctions are operators (§17.3) and functions of terms and numbers (§17.4.2, §17.4.4).
var coreFunctions = map[string]function{
	"=": fn2(func(a, b Value) Value { return boolOK(equal(a, b)) }),
	"!=": fn2(func(a, b Value) Value {
		eq, ok := equal(a, b)
		return boolOK(!eq, ok)
	}),
	"<":         ordered("<"),
	">":         ordered(">"),
	"<=":        ordered("<="),
	">=":        ordered(">="),
	"+":         fn2(arith(xsdval.Add)),
	"-":         fn2(arith(xsdval.Sub)),
	"*":         fn2(arith(xsdval.Mul)),
	"/":         fn2(arith(xsdval.Div)),
	"u-":        fn1(numeric(xsdval.Neg)),
	"u+":        fn1(numeric(func(v xsdval.Value) (xsdval.Value, bool) { return v, true })),
	"ABS":       fn1(numeric(xsdval.Abs)),
	"CEIL":      fn1(numeric(xsdval.Ceil)),
	"FLOOR":     fn1(numeric(xsdval.Floor)),
	"ROUND":     fn1(numeric(xsdval.Round)),
	"ISIRI":     is(func(v Value) bool { return v.kind == IRI }),
	"ISURI":     is(func(v Value) bool { return v.kind == IRI }),
	"ISBLANK":   is(func(v Value) bool { return v.kind == Blank }),
	"ISLITERAL": is(Value.isLiteral),
	"ISNUMERIC": is(Value.isNumeric),
	"STR":       fn1(str),
	"LANG":      fn1(lang),
	"DATATYPE":  fn1(datatype),
	"STRDT":     fn2(strdt),
	"STRLANG":   fn2(strlang),
}

func boolOK(b, ok bool) Value {
	if !ok {
		return errValue
	}
	return NewBool(b)
}

func xsdOK(x xsdval.Value, ok bool) Value {
	if !ok {
		return errValue
	}
	return newXSD(x)
}

// ordered returns the function of an operator on the order of values.
func ordered(op string) function {
	test := comparison(op)
	return fn2(func(a, b Value) Value {
		c, ok := Compare(a, b)
		return boolOK(test(c), ok)
	})
}

func arith(op func(a, b xsdval.Value) (xsdval.Value, bool)) func(a, b Value) Value {
	return func(a, b Value) Value {
		if a.kind != XSD || b.kind != XSD {
			return errValue
		}
		return xsdOK(op(a.x, b.x))
	}
}

func numeric(op func(xsdval.Value) (xsdval.Value, bool)) func(Value) Value {
	return func(v Value) Value {
		if !v.isNumeric() {
			return errValue
		}
		return xsdOK(op(v.x))
	}
}

// is returns the function that tests a value. Its result is an error only for an error.
func is(test func(Value) bool) function {
	return fn1(func(v Value) Value { return boolOK(test(v), v.kind != Err) })
}

func str(v Value) Value {
	if v.isLiteral() || v.kind == IRI {
		return newString(v.lexical())
	}
	return errValue
}

func lang(v Value) Value {
	if !v.isLiteral() {
		return errValue
	}
	if v.kind == Lang {
		return newString(v.Key().Lang())
	}
	return newString("")
}

func datatype(v Value) Value {
	if !v.isLiteral() {
		return errValue
	}
	return newIRI(v.datatype())
}

func strdt(lex, dt Value) Value {
	if lex.kind != Str || dt.kind != IRI || dt.s == term.LangString || dt.s == term.DirLang {
		return errValue
	}
	return FromKey(term.Typed(lex.s, dt.s))
}

func strlang(lex, tag Value) Value {
	if lex.kind != Str || tag.kind != Str || tag.s == "" {
		return errValue
	}
	return FromKey(term.Lang(lex.s, tag.s))
}

// cast converts v to the datatype with the IRI to (§17.5), whose kind is None for xsd:string.
func cast(v Value, to string, kind xsdval.Kind) Value {
	if kind == xsdval.None {
		if v.kind == XSD {
			return newString(v.x.Text())
		}
		return str(v)
	}
	var x xsdval.Value
	ok := false
	switch v.kind {
	case Str:
		x, ok = xsdval.Parse(v.s, to)
	case XSD:
		x, ok = xsdval.Cast(v.x, kind)
	}
	if !ok {
		return errValue
	}
	return typed(x, to, kind)
}

// typed returns x in its canonical form, with the datatype, which may be derived from that of the kind.
func typed(x xsdval.Value, datatype string, kind xsdval.Kind) Value {
	if datatype == kind.IRI() {
		return newXSD(x)
	}
	lex := x.String()
	if _, ok := xsdval.Parse(lex, datatype); !ok {
		return errValue // outside the range of the derived type
	}
	return Value{kind: XSD, x: x, s: lex, t: datatype}
}
