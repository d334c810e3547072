package expr

import (
	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/xsdval"
)

// in is a = b || a = c …: true wins over errors, errors over false (§17.4.1.9). Constants are looked up.
func (c *compiler) in(e algebra.In) (Func, error) {
	x, err := c.expr(e.Expr)
	if err != nil {
		return nil, err
	}
	var consts []Value
	var rest []algebra.Expr
	for _, a := range e.List {
		if k, ok := a.(algebra.ConstExpr); ok && k.Term != "" && len(e.List) >= tableFrom {
			consts = append(consts, FromKey(k.Term))
		} else {
			rest = append(rest, a)
		}
	}
	list, err := c.all(rest)
	if err != nil {
		return nil, err
	}
	constants := newTable(consts)
	not := e.Not
	return func(env *Env) Value {
		v := x(env)
		if v.kind == Err { // even where the list is empty
			return errValue
		}
		found, sure := constants.has(v)
		for i := 0; i < len(list) && !found; i++ {
			eq, ok := Equal(v, list[i](env))
			found, sure = eq && ok, sure && ok
		}
		if !found && !sure {
			return errValue
		}
		return NewBool(found != not)
	}, nil
}

// tableFrom is the length from which a list's constants are looked up instead of being compared one by one.
const tableFrom = 4

// table finds values by the operator =, as Equal defines it. It is only read once it is made.
type table struct {
	same    map[identity]bool // what equals itself alone: all but values of XSD, and triple terms
	values  *xsdval.Set
	triples []Value
	typed   bool // literals without a language are in it
	unknown bool // and those whose value is not known
}

type identity struct {
	kind Kind
	s, t string
}

func newTable(list []Value) *table {
	t := &table{same: map[identity]bool{}}
	var values []xsdval.Value
	for _, v := range list {
		switch v.kind {
		case XSD:
			values = append(values, v.x)
		case Triple:
			t.triples = append(t.triples, v)
		default:
			t.same[identity{v.kind, v.s, v.t}] = true
		}
		t.typed = t.typed || v.isLiteral() && v.kind != Lang
		t.unknown = t.unknown || v.kind == Other
	}
	t.values = xsdval.NewSet(values)
	return t
}

// has is v = a || v = b …; sure is false where that is an error.
func (t *table) has(v Value) (found, sure bool) {
	sure = true
	switch v.kind {
	case XSD:
		found, sure = t.values.Has(v.x)
	case Triple:
		for _, x := range t.triples {
			eq, ok := Equal(v, x)
			found, sure = found || eq && ok, sure && ok
		}
	default:
		found = t.same[identity{v.kind, v.s, v.t}]
	}
	switch { // an unknown value may be that of any other literal
	case v.kind == Other:
		sure = sure && !t.typed
	case v.isLiteral() && v.kind != Lang:
		sure = sure && !t.unknown
	}
	return found, sure
}
