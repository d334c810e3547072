package expr

import (
	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/xsdval"
)

// in compiles a = b || a = c and so on: true outweighs errors, errors outweigh false (§17.4.1.9). Constants are looked
// up in a table.
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
		if v.kind == Err { // even if the list is empty
			return errValue
		}
		found, sure := constants.has(v)
		for i := 0; i < len(list) && !found; i++ {
			eq, ok := equal(v, list[i](env))
			found, sure = eq && ok, sure && ok
		}
		return boolOK(found != not, found || sure)
	}, nil
}

// tableFrom is the length of lists from which on constants are looked up in a table.
const tableFrom = 4

// table is a set of values that finds values by the operator =. It is immutable.
type table struct {
	same    map[identity]bool // values that equal only themselves: all but XSD values and triple terms
	values  *xsdval.Set
	triples []Value
	typed   bool // contains literals without a language
	unknown bool // contains literals with an unknown value
}

// identity identifies a value.
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

// has returns the outcome of v = a || v = b and so on. If found and sure are false, that is an error.
func (t *table) has(v Value) (found, sure bool) {
	sure = true
	switch v.kind {
	case XSD:
		found, sure = t.values.Has(v.x)
	case Triple:
		for _, x := range t.triples {
			eq, ok := equal(v, x)
			found, sure = found || eq && ok, sure && ok
		}
	default:
		found = t.same[identity{v.kind, v.s, v.t}]
	}
	switch { // an unknown value may equal that of any other literal
	case v.kind == Other:
		sure = sure && !t.typed
	case v.isLiteral() && v.kind != Lang:
		sure = sure && !t.unknown
	}
	return found, sure
}
