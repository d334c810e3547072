// Package expr evaluates SPARQL expressions: the operators, built-in functions and casts of SPARQL 1.1 §17, the
// aggregates of §18.5.1 and the order of ORDER BY (§15.1).
//
// Compile turns an algebra expression into a Program of closures over the columns of a batch; evaluation never
// fails in the Go sense: an error of the language is a Value of kind Err (unbound variables, type errors), and
// operators handle it as §17.2 says. The package promises to stay within bounded time and memory per value
// (no backtracking in regular expressions, computed strings limited in size). EXISTS is not an expression here: package
// plan turns it into a column of booleans beforehand.
package expr

import (
	"odarchive/triplestore/term"
	"odarchive/triplestore/xsdval"
)

// Kind says which sort of term a Value is.
type Kind byte

const (
	Err    Kind = iota // no value: unbound or an error
	Blank              //
	IRI                //
	Str                // xsd:string
	Lang               // language-tagged string
	XSD                // a literal whose value package xsdval holds
	Other              // any other literal: unknown datatype or ill-typed
	Triple             // RDF 1.2 triple term
)

// Value is one term, or an error, on its way through an expression.
type Value struct {
	x    xsdval.Value // XSD
	s    string       // IRI, label, lexical form; of an XSD value only where it came from a term; a triple term's key
	t    string       // language tag (with direction) or datatype IRI; "" for computed XSD values
	id   term.ID      // the term's id where it is known
	kind Kind
}

// Kind of the value; Err where there is none.
func (v Value) Kind() Kind { return v.kind }

// IsErr tells an error (or unbound) from a value.
func (v Value) IsErr() bool { return v.kind == Err }

// XSDValue is the value of a literal that has one; its Kind is None for all others.
func (v Value) XSDValue() xsdval.Value { return v.x }

var errValue = Value{}

// NewBool, NewInt, NewString, NewIRI and NewXSD make values.
func NewBool(b bool) Value          { return Value{kind: XSD, x: xsdval.Bool(b)} }
func NewInt(i int64) Value          { return Value{kind: XSD, x: xsdval.Int(i)} }
func NewString(s string) Value      { return Value{kind: Str, s: s} }
func NewIRI(s string) Value         { return Value{kind: IRI, s: s} }
func NewXSD(x xsdval.Value) Value   { return Value{kind: XSD, x: x} }
func newLang(s, tag string) Value   { return Value{kind: Lang, s: s, t: tag} }
func (v Value) with(s string) Value { v.s, v.id = s, 0; return v } // the same sort of string, other text

// FromKey is the value of a term; the empty key is an error value.
func FromKey(k term.Key) Value {
	switch k.Kind() {
	case term.KindIRI:
		return Value{kind: IRI, s: string(k[1:])}
	case term.KindBlank:
		return Value{kind: Blank, s: string(k[1:])}
	case term.KindTriple:
		return Value{kind: Triple, s: string(k)}
	case term.KindLiteral:
		switch k[0] {
		case '"':
			return Value{kind: Str, s: string(k[1:])}
		case '@':
			tag, lex := cutZero(string(k[1:]))
			return Value{kind: Lang, s: lex, t: tag}
		}
		dt, lex := cutZero(string(k[1:]))
		if x, ok := xsdval.Parse(lex, dt); ok {
			return Value{kind: XSD, s: lex, t: dt, x: x}
		}
		return Value{kind: Other, s: lex, t: dt}
	}
	return errValue
}

func cutZero(s string) (before, after string) {
	for i := 0; i < len(s); i++ {
		if s[i] == 0 {
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

// Key is the term the value stands for; "" for an error.
func (v Value) Key() term.Key {
	switch v.kind {
	case IRI:
		return term.IRI(v.s)
	case Blank:
		return term.Blank(v.s)
	case Str:
		return term.String(v.s)
	case Lang:
		return term.Key("@" + v.t + "\x00" + v.s)
	case XSD:
		if v.t == "" {
			if k, ok := v.id.Key(); ok {
				return k
			}
			return term.Typed(v.x.String(), v.x.Kind.IRI())
		}
		return term.Typed(v.s, v.t)
	case Other:
		return term.Typed(v.s, v.t)
	case Triple:
		return term.Key(v.s)
	}
	return ""
}

// ID is the id the value came with; 0 for computed values.
func (v Value) ID() term.ID { return v.id }

// lexical form of a literal (what STR gives), also of IRIs.
func (v Value) lexical() string {
	if v.kind == XSD && v.t == "" {
		if k, ok := v.id.Key(); ok {
			return k.Value()
		}
		return v.x.String()
	}
	return v.s
}

func (v Value) isLiteral() bool { return v.kind >= Str && v.kind <= Other }
func (v Value) isString() bool  { return v.kind == Str || v.kind == Lang }
func (v Value) isNumeric() bool { return v.kind == XSD && v.x.Kind.Numeric() }
func (v Value) isInteger() bool { return v.kind == XSD && v.x.Kind == xsdval.Integer }
func (v Value) datatype() string {
	switch v.kind {
	case Str:
		return term.XSDString
	case Lang:
		return v.Key().Datatype()
	case XSD:
		if v.t == "" {
			return v.x.Kind.IRI()
		}
	}
	return v.t
}

// EBV is the effective boolean value (§17.2.2); ok is false for a type error. SPARQL 1.1 leaves room for ill-typed numbers
// and texts with a language; SPARQL 1.2 and its tests (expression/not-not) make them type errors.
func (v Value) EBV() (b, ok bool) {
	switch v.kind {
	case XSD:
		return v.x.EffectiveBool()
	case Str:
		return v.s != "", true
	}
	return false, false
}

// IsTrue tells whether a FILTER keeps the solution.
func (v Value) IsTrue() bool {
	b, ok := v.EBV()
	return ok && b
}
