package expr

import (
	"cmp"
	"strings"

	"odarchive/triplestore/term"
	"odarchive/triplestore/xsdval"
)

// equal implements the operator = (§17.4.1.7, RDFterm-equal for terms without a value). ok is false for a type error.
func equal(a, b Value) (eq, ok bool) {
	if a.kind == Err || b.kind == Err {
		return false, false
	}
	if a.kind == Other || b.kind == Other { // the value is unknown: only identical literals are surely equal
		if a.kind == b.kind && a.s == b.s && a.t == b.t {
			return true, true
		}
		return false, !a.isLiteral() || !b.isLiteral() || a.kind == Lang || b.kind == Lang
	}
	if a.kind != b.kind {
		return false, true
	}
	switch a.kind {
	case Lang:
		return a.s == b.s && a.t == b.t, true
	case XSD:
		if comparable(a.x.Kind, b.x.Kind) {
			return xsdval.Equal(a.x, b.x)
		}
		return false, true
	case Triple:
		return equalTriples(a, b)
	}
	return a.s == b.s, true
}

func comparable(a, b xsdval.Kind) bool {
	return a == b || a.Numeric() && b.Numeric() || a.IsDuration() && b.IsDuration()
}

func equalTriples(a, b Value) (eq, ok bool) {
	as, ap, ao, ok1 := term.Key(a.s).Parts()
	bs, bp, bo, ok2 := term.Key(b.s).Parts()
	if !ok1 || !ok2 || as != bs || ap != bp {
		return false, ok1 && ok2
	}
	return equal(FromKey(ao), FromKey(bo))
}

// Compare compares values as the operators < > <= >= do. ok is false for a type error.
func Compare(a, b Value) (c int, ok bool) {
	switch {
	case a.kind == Str && b.kind == Str, a.kind == Lang && b.kind == Lang && a.t == b.t: // the latter is an extension (§17.3.1)
		return strings.Compare(a.s, b.s), true
	case a.kind == XSD && b.kind == XSD:
		return xsdval.Compare(a.x, b.x)
	}
	return 0, false
}

// Order compares values by the total order of ORDER BY (§15.1): no value, blank nodes, IRIs, literals, triple terms.
// Literals that < can compare are ordered by value, others by kind of datatype and then by text.
func Order(a, b Value) int {
	if c := rank(a) - rank(b); c != 0 {
		return c
	}
	switch a.kind {
	case Err:
		return 0
	case XSD:
		if c, ok := orderXSD(a.x, b.x); ok && c != 0 {
			return c
		}
		return cmp.Or(strings.Compare(a.lexical(), b.lexical()), strings.Compare(a.datatype(), b.datatype()))
	case Triple:
		return orderTriples(term.Key(a.s), term.Key(b.s))
	case Other:
		return cmp.Or(strings.Compare(a.t, b.t), strings.Compare(a.s, b.s))
	}
	return cmp.Or(strings.Compare(a.s, b.s), strings.Compare(a.t, b.t))
}

// rank returns the same number for values that are comparable with each other.
func rank(v Value) int {
	if v.kind != XSD {
		return int(v.kind) << 5
	}
	k := v.x.Kind
	if k.Numeric() {
		k = xsdval.Integer
	} else if k.IsDuration() {
		k = xsdval.Duration
	}
	return int(XSD)<<5 | int(k)
}

func orderXSD(a, b xsdval.Value) (int, bool) {
	if c, ok := xsdval.Compare(a, b); ok {
		return c, true
	}
	if a.Kind.Numeric() { // NaN first
		return isNaN(b) - isNaN(a), true
	}
	if a.Kind.IsTemporal() {
		return cmp.Compare(a.UnixMilli(), b.UnixMilli()), true
	}
	return 0, false
}

func isNaN(v xsdval.Value) int {
	if f := v.Float64(); f != f {
		return 1
	}
	return 0
}

func orderTriples(a, b term.Key) int {
	as, ap, ao, _ := a.Parts()
	bs, bp, bo, _ := b.Parts()
	for _, p := range [3][2]term.Key{{as, bs}, {ap, bp}, {ao, bo}} {
		if c := Order(FromKey(p[0]), FromKey(p[1])); c != 0 {
			return c
		}
	}
	return 0
}
