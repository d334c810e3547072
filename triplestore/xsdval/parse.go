package xsdval

import (
	"cmp"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// integerRange is the value space of a type derived from xsd:integer. An empty bound is open.
type integerRange struct{ min, max string }

// datatypes maps the local names of xsd: to kinds.
var datatypes = func() map[string]Kind {
	m := map[string]Kind{"dateTimeStamp": DateTime}
	for k, n := range kindNames {
		if n != "" {
			m[n] = Kind(k)
		}
	}
	for n := range derived {
		m[n] = Integer
	}
	return m
}()

var derived = map[string]integerRange{
	"long": {"-9223372036854775808", "9223372036854775807"}, "int": {"-2147483648", "2147483647"},
	"short": {"-32768", "32767"}, "byte": {"-128", "127"},
	"nonNegativeInteger": {"0", ""}, "positiveInteger": {"1", ""}, "nonPositiveInteger": {"", "0"}, "negativeInteger": {"", "-1"},
	"unsignedLong": {"0", "18446744073709551615"}, "unsignedInt": {"0", "4294967295"},
	"unsignedShort": {"0", "65535"}, "unsignedByte": {"0", "255"},
}

// KindOf returns the kind of a datatype IRI, None if this package has no values for it (as for xsd:string).
func KindOf(datatype string) Kind {
	local, ok := strings.CutPrefix(datatype, XSD)
	if !ok {
		return None
	}
	return datatypes[local]
}

// Parse parses a literal. ok is false if this package has no values for the datatype, and if the lexical form is not in
// the datatype's lexical space (an ill-typed literal). The seconds of a dateTime may be missing.
func Parse(lexical, datatype string) (v Value, ok bool) {
	local, ok := strings.CutPrefix(datatype, XSD)
	if !ok {
		return Value{}, false
	}
	k := datatypes[local]
	v, ok = ParseKind(lexical, k)
	if !ok {
		return Value{}, false
	}
	if r, is := derived[local]; is && !r.holds(v) {
		return Value{}, false
	}
	if local == "dateTimeStamp" && v.tz == noTZ {
		return Value{}, false
	}
	return v, true
}

func (r integerRange) holds(v Value) bool {
	above := func(bound string, sign int) bool {
		if bound == "" {
			return true
		}
		b, _ := new(big.Int).SetString(bound, 10)
		return v.unscaled().Cmp(b)*sign >= 0
	}
	return above(r.min, 1) && above(r.max, -1)
}

// ParseKind parses the lexical form of one kind. It ignores surrounding white space (XSD whiteSpace facet).
func ParseKind(s string, k Kind) (Value, bool) {
	if s != "" && (s[0] <= ' ' || s[len(s)-1] <= ' ') {
		s = strings.Trim(s, " \t\r\n")
	}
	switch k {
	case Boolean:
		switch s {
		case "true", "1":
			return Bool(true), true
		case "false", "0":
			return Bool(false), true
		}
		return Value{}, false
	case Integer:
		return parseInteger(s)
	case Decimal:
		return parseDecimal(s)
	case Double:
		f, ok := parseFloat(s, 64)
		return NewDouble(f), ok
	case Float:
		f, ok := parseFloat(s, 32)
		return Value{Kind: Float, f: f}, ok
	case Duration, DayTimeDuration, YearMonthDuration:
		return parseDuration(k, s)
	case None:
		return Value{}, false
	}
	return parseTemporal(k, s)
}

// String returns the canonical lexical form (XSD 1.1; a double as 1.0E0, a decimal without trailing zeros).
func (v Value) String() string {
	switch k := v.Kind; {
	case k == None:
		return ""
	case k == Boolean:
		return strconv.FormatBool(v.i != 0)
	case k == Integer && v.big == nil:
		return strconv.FormatInt(v.i, 10)
	case k == Integer:
		return v.big.String()
	case k == Decimal:
		return formatDecimal(v)
	case k == Float:
		return formatFloat(v.f, 32)
	case k == Double:
		return formatFloat(v.f, 64)
	case k.IsDuration():
		return formatDuration(v)
	}
	return formatTemporal(v)
}

// Text returns the value cast to a string (XPath F&O §19.1.2): as String, but floats from a millionth to below a
// million have no exponent.
func (v Value) Text() string {
	if v.Kind == Float || v.Kind == Double {
		bits, smallest := 64, 1e-6
		if v.Kind == Float {
			bits, smallest = 32, float64(float32(smallest))
		}
		if a := math.Abs(v.f); v.f == 0 || a >= smallest && a < 1e6 {
			return strconv.FormatFloat(v.f, 'f', -1, bits)
		}
	}
	return v.String()
}

// Compare orders two values as the SPARQL operators < and > do. ok is false if they have no order: different kinds,
// NaN, a time zone on one side only if it matters, general durations.
func Compare(a, b Value) (c int, ok bool) {
	switch {
	case a.Kind.Numeric() && b.Kind.Numeric():
		return compareNumbers(a, b)
	case a.Kind.IsDuration() && b.Kind.IsDuration():
		return compareDurations(a, b)
	case a.Kind != b.Kind || a.Kind == None:
		return 0, false
	case a.Kind == Boolean:
		return cmp.Compare(a.i, b.i), true
	}
	return compareTemporal(a, b)
}

// Equal is the operator =. ok is false if equality is a type error or unknown.
func Equal(a, b Value) (eq, ok bool) {
	switch {
	case a.Kind.Numeric() && b.Kind.Numeric():
		c, ok := compareNumbers(a, b)
		return ok && c == 0, true // NaN is unequal to everything
	case a.Kind.IsDuration() && b.Kind.IsDuration():
		return a.months == b.months && a.i == b.i && a.nanos == b.nanos, true
	}
	c, ok := Compare(a, b)
	return c == 0, ok
}

// Cast converts v as the constructor function of kind to does (XPath F&O §19). ok is false if that is an error.
func Cast(v Value, to Kind) (Value, bool) {
	if v.Kind == to {
		return v, true
	}
	switch to {
	case Boolean:
		b, ok := v.EffectiveBool()
		return Bool(b), ok
	case Integer, Decimal:
		return castExact(v, to)
	case Float, Double:
		f := v.Float64()
		if v.Kind == Boolean {
			f = float64(v.i)
		}
		if to == Float {
			return NewFloat(float32(f)), v.Kind.Numeric() || v.Kind == Boolean
		}
		return NewDouble(f), v.Kind.Numeric() || v.Kind == Boolean
	case Duration, DayTimeDuration, YearMonthDuration:
		if !v.Kind.IsDuration() {
			return Value{}, false
		}
		switch to {
		case DayTimeDuration:
			v.months = 0
		case YearMonthDuration:
			v.i, v.nanos = 0, 0
		}
		v.Kind = to
		return v, true
	}
	return castTemporal(v, to)
}

func castExact(v Value, to Kind) (Value, bool) {
	switch v.Kind {
	case Boolean:
		v = Value{Kind: to, i: v.i}
	case Integer:
		v.Kind = to
	case Decimal:
		q := new(big.Int).Quo(v.unscaled(), pow10(v.scale)) // towards zero
		return BigInt(q), true
	case Float, Double:
		if math.IsNaN(v.f) || math.IsInf(v.f, 0) {
			return Value{}, false
		}
		if to == Integer {
			b, _ := new(big.Float).SetFloat64(math.Trunc(v.f)).Int(nil)
			return BigInt(b), true
		}
		d, ok := parseDecimal(strconv.FormatFloat(v.f, 'f', -1, 64))
		return d, ok
	default:
		return Value{}, false
	}
	return v, true
}

// castTemporal keeps the fields that both kinds have: a dateTime has all, a date all but the time.
func castTemporal(v Value, to Kind) (Value, bool) {
	if v.Kind != DateTime && (v.Kind != Date || to == Time) || !to.IsTemporal() {
		return Value{}, false
	}
	p := v.Parts()
	y, m, d := p.Year, p.Month, p.Day
	sec := v.i - floorDiv(v.i, daySeconds)*daySeconds
	switch to {
	case Time:
		y, m, d = referenceYear, 12, 31
	case GYear:
		m, d = 1, 1
	case GYearMonth:
		d = 1
	case GMonth:
		y, d = referenceYear, 1
	case GMonthDay:
		y = referenceYear
	case GDay:
		y, m = referenceYear, 1
	}
	if to != DateTime && to != Time {
		sec, v.nanos = 0, 0
	}
	return Value{Kind: to, i: Days(y, m, d)*daySeconds + sec, nanos: v.nanos, tz: v.tz}, true
}
