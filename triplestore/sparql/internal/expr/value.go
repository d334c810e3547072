// Package expr evaluates SPARQL expressions: the operators, built-in functions and casts of SPARQL 1.1 §17, the
// aggregates of §18.5.1 and the order of ORDER BY (§15.1).
//
// Compile turns an algebra expression into a Program of closures over the columns of a batch. Evaluation never returns
// a Go error: unbound variables and type errors are Values of kind Err, which operators handle as in §17.2. Time and
// memory per value are bounded: a regular expression that needs too long sets Env.Failed, and computed strings are
// limited in size. EXISTS is not an expression here; package plan turns it into a column of booleans.
package expr

import (
	"strings"

	"odarchive/triplestore/term"
	"odarchive/triplestore/xsdval"
)

// Kind is the kind of a Value.
type Kind byte

const (
	Err    Kind = iota // no value: unbound or an error
	Blank              //
	IRI                //
	Str                // xsd:string
	Lang               // language-tagged string
	XSD                // a literal with a value of package xsdval
	Other              // any other literal: ill-typed, or of an unknown datatype
	Triple             // RDF 1.2 triple term
)

// Value is a term in the evaluation of an expression, or an error.
type Value struct {
	x    xsdval.Value // of kind XSD
	s    string       // IRI, label, lexical form, or key of a triple term; unset for computed XSD values
	t    string       // language tag with direction, or datatype IRI; "" for computed XSD values
	id   term.ID      // of the term, if known
	kind Kind
}

// Kind returns the kind of the value.
func (v Value) Kind() Kind { return v.kind }

// IsErr reports whether v is an error, like an unbound variable.
func (v Value) IsErr() bool { return v.kind == Err }

var errValue = Value{}

// NewBool returns the value of an xsd:boolean.
func NewBool(b bool) Value { return Value{kind: XSD, x: xsdval.Bool(b)} }

// NewInt returns the value of an xsd:integer.
func NewInt(i int64) Value { return Value{kind: XSD, x: xsdval.Int(i)} }

func newString(s string) Value    { return Value{kind: Str, s: s} }
func newIRI(s string) Value       { return Value{kind: IRI, s: s} }
func newXSD(x xsdval.Value) Value { return Value{kind: XSD, x: x} }
func newLang(s, tag string) Value { return Value{kind: Lang, s: s, t: tag} }

// with returns the string v with another text.
func (v Value) with(s string) Value { v.s, v.id = s, 0; return v }

// FromKey returns the value of a term, or an error for the empty key.
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
			tag, lex, _ := strings.Cut(string(k[1:]), "\x00")
			return Value{kind: Lang, s: lex, t: tag}
		}
		dt, lex, _ := strings.Cut(string(k[1:]), "\x00")
		if x, ok := xsdval.Parse(lex, dt); ok {
			return Value{kind: XSD, s: lex, t: dt, x: x}
		}
		return Value{kind: Other, s: lex, t: dt}
	}
	return errValue
}

// Key returns the term that the value stands for, or "" for an error.
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

// ID returns the id that the value was made from, or 0 for computed values.
func (v Value) ID() term.ID { return v.id }

// lexical returns the lexical form of a literal, or an IRI, as STR does.
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

// datatype returns the IRI of the datatype of a literal.
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

// ebv returns the effective boolean value (§17.2.2). ok is false for a type error. SPARQL 1.1 is vague about ill-typed
// numbers and strings with a language, which are type errors in SPARQL 1.2 and its tests (expression/not-not).
func (v Value) ebv() (b, ok bool) {
	switch v.kind {
	case XSD:
		return v.x.EffectiveBool()
	case Str:
		return v.s != "", true
	}
	return false, false
}

// IsTrue reports whether a FILTER keeps the solution.
func (v Value) IsTrue() bool {
	b, ok := v.ebv()
	return ok && b
}
