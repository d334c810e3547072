package expr

import (
	"odarchive/triplestore/term"
	"odarchive/triplestore/xsdval"
)

// function is one built-in that evaluates all its arguments first.
type function struct {
	min, max int
	one      func(Value) Value
	two      func(a, b Value) Value
	many     func([]Value) Value
}

func fn1(f func(Value) Value) function      { return function{min: 1, max: 1, one: f} }
func fn2(f func(a, b Value) Value) function { return function{min: 2, max: 2, two: f} }
func fnN(min, max int, f func([]Value) Value) function {
	return function{min: min, max: max, many: f}
}

// functions looks a name up; operators by sign, built-ins by name in upper case.
func functions(name string) (function, bool) {
	switch name {
	case "=":
		return fn2(func(a, b Value) Value { return boolOK(Equal(a, b)) }), true
	case "!=":
		return fn2(func(a, b Value) Value {
			eq, ok := Equal(a, b)
			return boolOK(!eq, ok)
		}), true
	case "<":
		return fn2(func(a, b Value) Value { c, ok := Compare(a, b); return boolOK(c < 0, ok) }), true
	case ">":
		return fn2(func(a, b Value) Value { c, ok := Compare(a, b); return boolOK(c > 0, ok) }), true
	case "<=":
		return fn2(func(a, b Value) Value { c, ok := Compare(a, b); return boolOK(c <= 0, ok) }), true
	case ">=":
		return fn2(func(a, b Value) Value { c, ok := Compare(a, b); return boolOK(c >= 0, ok) }), true
	case "+":
		return fn2(arith(xsdval.Add)), true
	case "-":
		return fn2(arith(xsdval.Sub)), true
	case "*":
		return fn2(arith(xsdval.Mul)), true
	case "/":
		return fn2(arith(xsdval.Div)), true
	case "u-":
		return fn1(numeric(xsdval.Neg)), true
	case "u+":
		return fn1(numeric(func(v xsdval.Value) (xsdval.Value, bool) { return v, true })), true
	case "ABS":
		return fn1(numeric(xsdval.Abs)), true
	case "CEIL":
		return fn1(numeric(xsdval.Ceil)), true
	case "FLOOR":
		return fn1(numeric(xsdval.Floor)), true
	case "ROUND":
		return fn1(numeric(xsdval.Round)), true
	case "ISIRI", "ISURI":
		return is(func(v Value) bool { return v.kind == IRI }), true
	case "ISBLANK":
		return is(func(v Value) bool { return v.kind == Blank }), true
	case "ISLITERAL":
		return is(Value.isLiteral), true
	case "ISNUMERIC":
		return is(Value.isNumeric), true
	case "STR":
		return fn1(str), true
	case "LANG":
		return fn1(lang), true
	case "DATATYPE":
		return fn1(datatype), true
	case "STRDT":
		return fn2(strdt), true
	case "STRLANG":
		return fn2(strlang), true
	}
	if f, ok := stringFunctions(name); ok {
		return f, true
	}
	if f, ok := timeFunctions(name); ok {
		return f, true
	}
	if f, ok := tripleFunctions(name); ok {
		return f, true
	}
	return hashFunctions(name)
}

func boolOK(b, ok bool) Value {
	if !ok {
		return errValue
	}
	return NewBool(b)
}

func arith(op func(a, b xsdval.Value) (xsdval.Value, bool)) func(a, b Value) Value {
	return func(a, b Value) Value {
		if a.kind != XSD || b.kind != XSD {
			return errValue
		}
		r, ok := op(a.x, b.x)
		if !ok {
			return errValue
		}
		return NewXSD(r)
	}
}

func numeric(op func(xsdval.Value) (xsdval.Value, bool)) func(Value) Value {
	return func(v Value) Value {
		if !v.isNumeric() {
			return errValue
		}
		r, ok := op(v.x)
		if !ok {
			return errValue
		}
		return NewXSD(r)
	}
}

func is(test func(Value) bool) function {
	return fn1(func(v Value) Value {
		if v.kind == Err {
			return errValue
		}
		return NewBool(test(v))
	})
}

func str(v Value) Value {
	if v.isLiteral() || v.kind == IRI {
		return NewString(v.lexical())
	}
	return errValue
}

func lang(v Value) Value {
	if !v.isLiteral() {
		return errValue
	}
	if v.kind == Lang {
		return NewString(v.Key().Lang())
	}
	return NewString("")
}

func datatype(v Value) Value {
	if !v.isLiteral() {
		return errValue
	}
	return NewIRI(v.datatype())
}

func strdt(lex, dt Value) Value {
	if lex.kind != Str || dt.kind != IRI {
		return errValue
	}
	if dt.s == term.LangString || dt.s == term.DirLang {
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

// castKind is the kind a cast IRI converts to; None for an IRI that is no cast of §17.5 (or its XSD 1.1 relatives).
func castKind(iri string) xsdval.Kind { return xsdval.KindOf(iri) }

func cast(v Value, to string, kind xsdval.Kind) Value {
	if kind == xsdval.None { // xsd:string
		if v.kind == XSD {
			return NewString(v.x.Text())
		}
		return str(v)
	}
	switch v.kind {
	case Str:
		if x, ok := xsdval.Parse(v.s, to); ok {
			return typed(x, to, kind)
		}
	case XSD:
		x, ok := xsdval.Cast(v.x, kind)
		if !ok {
			return errValue
		}
		return typed(x, to, kind)
	}
	return errValue
}

// typed is a value in its canonical form, of the datatype asked for where that is a derived one.
func typed(x xsdval.Value, datatype string, kind xsdval.Kind) Value {
	if datatype == kind.IRI() {
		return NewXSD(x)
	}
	lex := x.String()
	if _, ok := xsdval.Parse(lex, datatype); !ok {
		return errValue // outside the derived type's range
	}
	return Value{kind: XSD, x: x, s: lex, t: datatype}
}
