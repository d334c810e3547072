package expr

import (
	"cmp"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
	"odarchive/triplestore/xsdval"
)

// FromID returns the value of an inline id. ok is false for ids of the dictionary.
func FromID(id term.ID) (v Value, ok bool) {
	switch id.Tag() {
	case term.TagInteger:
		i, _ := id.Int()
		return Value{kind: XSD, x: xsdval.Int(i), id: id}, true
	case term.TagBoolean:
		b, ok := id.Bool()
		return Value{kind: XSD, x: xsdval.Bool(b), id: id}, ok
	case term.TagString:
		s, ok := id.Str()
		return Value{kind: Str, s: s, id: id}, ok
	case term.TagDouble:
		f, _ := id.Double()
		return Value{kind: XSD, x: xsdval.NewDouble(f), id: id}, true
	case term.TagDecimal:
		u, scale, _ := id.Decimal()
		return Value{kind: XSD, x: xsdval.NewDecimal(u, scale), id: id}, true
	case term.TagDateTime, term.TagDate, term.TagGYear:
		return Value{kind: XSD, x: temporal(id), id: id}, true
	}
	k, ok := id.Key()
	if !ok {
		return errValue, false
	}
	v = FromKey(k)
	v.id = id
	return v, true
}

// temporal decodes the payload of an inline date (see term.Inline): the instant, and the zone, which is 0 for none, 1
// for Z, and otherwise the minutes east of UTC plus zoneBias.
func temporal(id term.ID) xsdval.Value {
	p := id.Payload()
	zone, zoned := int(p&zoneMask), p&zoneMask != 0
	switch zone {
	case 0, 1:
		zone = 0
	default:
		zone -= zoneBias
	}
	if id.Tag() == term.TagDateTime {
		ms := int64(p >> dateTimeShift)
		return xsdval.FromClock(xsdval.DateTime, ms/1000+int64(zone)*60, int32(ms%1000)*1e6, zone, zoned)
	}
	k := xsdval.Date
	if id.Tag() == term.TagGYear {
		k = xsdval.GYear
	}
	return xsdval.FromClock(k, int64(p>>dateShift)*60+int64(zone)*60, 0, zone, zoned)
}

// Decide returns the outcome of a condition on the id of a variable. sure is false if the id alone does not decide.
type Decide func(id term.ID) (keep, sure bool)

// Fast returns the Decide of a comparison of a variable with a constant that inline ids can decide, or of a test of the
// kind of a term, which every id contains. It returns nil for other conditions.
func Fast(e algebra.Expr) Decide {
	c, ok := e.(algebra.Call)
	if ok && len(c.Args) == 1 {
		return fastKind(c, false)
	}
	if !ok || len(c.Args) != 2 {
		return nil
	}
	op := c.Func
	_, isVar := c.Args[0].(algebra.VarExpr)
	k, isConst := c.Args[1].(algebra.ConstExpr)
	if !isVar || !isConst {
		_, isVar = c.Args[1].(algebra.VarExpr)
		k, isConst = c.Args[0].(algebra.ConstExpr)
		if op != "=" && op != "!=" {
			op = map[string]string{"<": ">", ">": "<", "<=": ">=", ">=": "<="}[op]
		}
	}
	if !isVar || !isConst {
		return nil
	}
	test := comparison(op)
	if test == nil {
		return nil
	}
	id, ok := term.Inline(k.Term)
	if !ok {
		return nil
	}
	return decideOn(id, test)
}

// fastKind is Fast for ISIRI, ISBLANK and ISLITERAL, negated by any number of "!".
func fastKind(c algebra.Call, not bool) Decide {
	if inner, ok := c.Args[0].(algebra.Call); ok && c.Func == "!" && len(inner.Args) == 1 {
		return fastKind(inner, !not)
	}
	if _, ok := c.Args[0].(algebra.VarExpr); !ok {
		return nil
	}
	var kind term.Kind
	switch c.Func {
	case "ISIRI", "ISURI":
		kind = term.KindIRI
	case "ISBLANK":
		kind = term.KindBlank
	case "ISLITERAL":
		kind = term.KindLiteral
	default:
		return nil
	}
	return func(id term.ID) (keep, sure bool) {
		if id == 0 {
			return false, true // an error, negated or not
		}
		return (id.Kind() == kind) != not, id.Tag() != term.TagLocal
	}
}

const (
	zoneMask      = 1<<11 - 1 // the zone of inline dates
	dateTimeShift = 13        // bits below the instant of an inline dateTime: fraction digits and zone
	dateShift     = 11
	zoneBias      = 842
)

// decideOn returns the Decide of a comparison with the constant c, or nil.
func decideOn(c term.ID, test func(int) bool) Decide {
	tag := c.Tag()
	switch tag {
	case term.TagInteger, term.TagDecimal, term.TagString:
		return func(id term.ID) (bool, bool) {
			if id.Tag() != tag {
				return false, false
			}
			return test(cmp.Compare(id, c)), true
		}
	case term.TagDateTime, term.TagDate:
		shift := dateTimeShift
		if tag == term.TagDate {
			shift = dateShift
		}
		zoned := c&zoneMask != 0
		instant := c >> shift
		return func(id term.ID) (bool, bool) {
			if id.Tag() != tag || (id&zoneMask != 0) != zoned {
				return false, false
			}
			return test(cmp.Compare(id>>shift, instant)), true
		}
	}
	return nil
}

// comparison returns the test of an operator on the result of a comparison, or nil for other functions.
func comparison(op string) func(c int) bool {
	switch op {
	case "=":
		return func(c int) bool { return c == 0 }
	case "!=":
		return func(c int) bool { return c != 0 }
	case "<":
		return func(c int) bool { return c < 0 }
	case ">":
		return func(c int) bool { return c > 0 }
	case "<=":
		return func(c int) bool { return c <= 0 }
	case ">=":
		return func(c int) bool { return c >= 0 }
	}
	return nil
}

// DecidePair is Decide for two variables.
type DecidePair func(a, b term.ID) (keep, sure bool)

// FastPair returns the variables and the DecidePair of a comparison of two variables, or nil for other conditions.
func FastPair(e algebra.Expr) (a, b algebra.Var, decide DecidePair) {
	c, ok := e.(algebra.Call)
	if !ok || len(c.Args) != 2 {
		return "", "", nil
	}
	x, xok := c.Args[0].(algebra.VarExpr)
	y, yok := c.Args[1].(algebra.VarExpr)
	test := comparison(c.Func)
	if !xok || !yok || test == nil || x.Var == y.Var {
		return "", "", nil
	}
	equality := c.Func == "=" || c.Func == "!="
	return x.Var, y.Var, func(a, b term.ID) (bool, bool) {
		tag := a.Tag()
		if equality && (isNode(tag) || isNode(b.Tag())) && a != 0 && b != 0 && tag != term.TagLocal && b.Tag() != term.TagLocal {
			return (a == b) == (c.Func == "="), true
		}
		if b.Tag() != tag {
			return false, false
		}
		switch tag {
		case term.TagInteger, term.TagDecimal, term.TagString:
			return test(cmp.Compare(a, b)), true
		case term.TagDateTime:
			return test(cmp.Compare(a>>dateTimeShift, b>>dateTimeShift)), (a&zoneMask != 0) == (b&zoneMask != 0)
		case term.TagDate:
			return test(cmp.Compare(a>>dateShift, b>>dateShift)), (a&zoneMask != 0) == (b&zoneMask != 0)
		}
		return false, false
	}
}

// isNode reports whether t is the tag of IRIs or blank nodes, which equal only themselves.
func isNode(t term.Tag) bool { return t == term.TagIRI || t == term.TagBlank }

// InlineOrder reports whether ids with tag t are in the order of ORDER BY, so that comparing the ids compares the
// values. For dates this holds only if all have a zone, which the caller checks.
func InlineOrder(t term.Tag) bool {
	switch t {
	case term.TagInteger, term.TagDecimal, term.TagDouble, term.TagString, term.TagBoolean, term.TagDateTime, term.TagDate:
		return true
	}
	return false
}

// InlineID returns the inline id of a value. ok is false if it has none.
func (v Value) InlineID() (id term.ID, ok bool) {
	if v.id != 0 && v.id.Inline() {
		return v.id, true
	}
	if v.kind == XSD && v.t == "" && v.x.Kind == xsdval.Integer {
		if i, ok := v.x.Int64(); ok {
			return term.IntID(i)
		}
	}
	if v.kind == Str && len(v.s) > 7 || v.kind == IRI || v.kind == Lang {
		return 0, false
	}
	return term.Inline(v.Key())
}

// OfID is FromID for any id. The value of an id of the dictionary has that id, but not its text.
func OfID(id term.ID) Value {
	if v, ok := FromID(id); ok || id == 0 {
		return v
	}
	return Value{kind: IRI, id: id} // callers only read the id
}
