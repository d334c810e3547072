// Package xsdval implements the values of the XML Schema datatypes that SPARQL computes with, exactly: integers of any
// size, decimals without rounding, IEEE floats, booleans, the date and time types and durations.
//
// Seconds are exact to the nanosecond: digits beyond it count neither in comparisons nor in arithmetic. XML Schema 1.1
// (part 2, §5.4) demands milliseconds of every implementation and leaves the rest to it; a Value with fractions of any
// length would be slower for all, and no clock writes them. A term keeps all its digits: only its value has nine.
//
// A Value is small and immutable and may be copied. Parse parses a lexical form, String returns the canonical form,
// Compare and Equal follow XPath Functions and Operators 3.1 (to which SPARQL 1.1 §17.3 refers), the arithmetic
// functions promote as XPath does (integer, decimal, float, double) and Cast converts as in §17.5. The package does not
// know RDF terms: strings, language tags and unknown datatypes are the caller's.
//
// Days, IsDate and Digits are the calendar and the digits below it, for readers of dates in other forms.
package xsdval

import (
	"math"
	"math/big"
	"strconv"
)

// XSD is the namespace of the datatypes.
const XSD = "http://www.w3.org/2001/XMLSchema#"

// Kind is the primitive datatype of a Value. Types derived from xsd:integer are Integer.
type Kind byte

const (
	None Kind = iota
	Boolean
	Integer
	Decimal
	Float
	Double
	DateTime
	Date
	Time
	GYear
	GYearMonth
	GMonth
	GMonthDay
	GDay
	Duration // general: months and seconds
	DayTimeDuration
	YearMonthDuration
)

var kindNames = [...]string{"", "boolean", "integer", "decimal", "float", "double", "dateTime", "date", "time",
	"gYear", "gYearMonth", "gMonth", "gMonthDay", "gDay", "duration", "dayTimeDuration", "yearMonthDuration"}

// String returns the local name of the datatype, "" for None.
func (k Kind) String() string { return kindNames[k] }

// IRI returns the IRI of the datatype, "" for None.
func (k Kind) IRI() string { return kindIRIs[k] }

var kindIRIs = func() (iris [len(kindNames)]string) {
	for i, n := range kindNames {
		if n != "" {
			iris[i] = XSD + n
		}
	}
	return iris
}()

// Numeric reports whether values of the kind are numbers.
func (k Kind) Numeric() bool { return k >= Integer && k <= Double }

// IsDuration reports whether the kind is one of the three duration types.
func (k Kind) IsDuration() bool { return k >= Duration }

// IsTemporal reports whether the kind is a date, a time or a part of a date.
func (k Kind) IsTemporal() bool { return k >= DateTime && k <= GDay }

// noTZ marks a temporal value without a time zone.
const noTZ int16 = math.MinInt16

// Value is one value. The zero Value is no value (Kind None).
//
//	Boolean            i is 0 or 1
//	Integer            i, or big where it does not fit
//	Decimal            i (or big) * 10^-scale, without trailing zeros
//	Float, Double      f
//	DateTime … GDay    i seconds since 0001-01-01T00:00:00 on the clock of the value itself, nanos, tz in minutes
//	durations          i seconds (with nanos, same sign), months
type Value struct {
	big    *big.Int
	i      int64
	f      float64
	months int64
	nanos  int32
	scale  int32
	tz     int16
	Kind   Kind
}

// Bool returns a boolean.
func Bool(b bool) Value {
	if b {
		return Value{Kind: Boolean, i: 1}
	}
	return Value{Kind: Boolean}
}

// Int returns an integer.
func Int(i int64) Value { return Value{Kind: Integer, i: i} }

// BigInt returns an integer of any size. It does not keep b.
func BigInt(b *big.Int) Value {
	if b.IsInt64() {
		return Int(b.Int64())
	}
	return Value{Kind: Integer, big: new(big.Int).Set(b)}
}

// NewDouble returns an xsd:double.
func NewDouble(f float64) Value { return Value{Kind: Double, f: f} }

// PlainDouble returns a lexical form of an xsd:double without an exponent, for numbers that people read, such as
// scores. It is not the canonical form (XSD 1.1, section 3.3.5.2), but as valid.
func PlainDouble(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// NewFloat returns an xsd:float.
func NewFloat(f float32) Value { return Value{Kind: Float, f: float64(f)} }

// IsTrue returns the value of a boolean.
func (v Value) IsTrue() bool { return v.i != 0 }

// Int64 returns the value of an integer. ok is false if v is another kind or does not fit.
func (v Value) Int64() (int64, bool) { return v.i, v.Kind == Integer && v.big == nil }

// Float64 returns the value of a number, rounded to the nearest double, and NaN for other kinds.
func (v Value) Float64() float64 {
	switch v.Kind {
	case Float, Double:
		return v.f
	case Integer:
		if v.big == nil {
			return float64(v.i)
		}
		f, _ := new(big.Float).SetInt(v.big).Float64()
		return f
	case Decimal:
		if v.big == nil && v.i > -1<<53 && v.i < 1<<53 && v.scale <= 22 {
			return float64(v.i) / math.Pow10(int(v.scale)) // both exact, so the quotient is correctly rounded
		}
		f, _ := new(big.Rat).SetFrac(v.unscaled(), pow10(v.scale)).Float64()
		return f
	}
	return math.NaN()
}

// EffectiveBool returns the effective boolean value of a boolean or number (SPARQL 1.1 §17.2.2). ok is false for other
// kinds.
func (v Value) EffectiveBool() (b, ok bool) {
	switch v.Kind {
	case Boolean:
		return v.i != 0, true
	case Integer, Decimal:
		return v.i != 0 || v.big != nil, true
	case Float, Double:
		return v.f != 0 && !math.IsNaN(v.f), true
	}
	return false, false
}
