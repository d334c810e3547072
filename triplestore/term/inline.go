package term

import (
	"math"
	"strconv"
	"strings"
)

// Datatypes with inline ids.
const (
	xsd         = "http://www.w3.org/2001/XMLSchema#"
	xsdBoolean  = xsd + "boolean"
	xsdInteger  = xsd + "integer"
	xsdDecimal  = xsd + "decimal"
	xsdDouble   = xsd + "double"
	xsdDateTime = xsd + "dateTime"
	xsdDate     = xsd + "date"
	xsdGYear    = xsd + "gYear"
)

// Payloads of inline ids, from the highest bits to the lowest. Within a tag, ids compare as their values do.
//
//	String    7 bytes, zero-padded · 4 bits length
//	Boolean   0 or 1
//	Integer   value + 2^59
//	Decimal   value × 10^6 + 2^59                      canonical with a point: "1.0", "-0.25"
//	Double    the 60 highest bits of the IEEE 754 number, all inverted if negative, else with the sign bit inverted
//	DateTime  47 bits milliseconds since 0001-01-01T00:00:00Z · 2 bits number of fraction digits · 11 bits zone
//	Date      49 bits minutes since 0001-01-01T00:00:00Z, of the first moment of the day · 11 bits zone
//	GYear     the same for the first moment of the year
//
// The zone is 0 if there is none (the moment is then taken as UTC), 1 for "Z", otherwise 842 + minutes east of UTC.
const (
	intBias      = 1 << 59
	decimalScale = 1_000_000
	zoneBits     = 11
	zoneBias     = 842
	zoneMask     = 1<<zoneBits - 1
	yearOneMs    = -62135596800000 // 0001-01-01T00:00:00Z in Unix milliseconds
	maxDateMs    = 1 << 47
)

// Inline returns the id of a term that can be its own dictionary entry: a literal of one of the eight datatypes with a
// canonical lexical form and a value that fits in 60 bits. For other terms ok is false.
func Inline(k Key) (id ID, ok bool) {
	if len(k) == 0 || len(k) > 80 { // longer than any inline key
		return 0, false
	}
	switch k[0] {
	case '"':
		return inlineString(string(k[1:]))
	case '^':
	default:
		return 0, false
	}
	rest, ok := strings.CutPrefix(string(k[1:]), xsd)
	if !ok {
		return 0, false
	}
	name, lex, _ := strings.Cut(rest, "\x00")
	switch name {
	case "integer":
		return inlineInteger(lex)
	case "dateTime":
		return inlineDateTime(lex)
	case "date":
		return inlineDay(lex, TagDate)
	case "gYear":
		return inlineDay(lex, TagGYear)
	case "decimal":
		return inlineDecimal(lex)
	case "double":
		return inlineDouble(lex)
	case "boolean":
		switch lex {
		case "false":
			return Make(TagBoolean, 0), true
		case "true":
			return Make(TagBoolean, 1), true
		}
	}
	return 0, false
}

// Inline reports whether the id carries its own value.
func (id ID) Inline() bool { t := id.Tag(); return t >= TagString && t <= TagGYear }

// Key returns the term of an inline id. For other ids ok is false. It allocates only the key.
func (id ID) Key() (k Key, ok bool) {
	var buf [96]byte // longer than every inline key
	b := buf[:0]
	switch id.Tag() {
	case TagString:
		s, ok := id.Str()
		return String(s), ok
	case TagBoolean:
		v, valid := id.Bool()
		b, ok = strconv.AppendBool(append(b, "^"+xsdBoolean+"\x00"...), v), valid
	case TagInteger:
		v, _ := id.Int()
		b, ok = strconv.AppendInt(append(b, "^"+xsdInteger+"\x00"...), v, 10), true
	case TagDecimal:
		v, _, _ := id.Decimal()
		b, ok = append(append(b, "^"+xsdDecimal+"\x00"...), decimalLexical(v)...), true
	case TagDouble:
		v, _ := id.Double()
		b, ok = append(append(b, "^"+xsdDouble+"\x00"...), doubleLexical(v)...), true
	case TagDateTime:
		b, ok = id.appendDateTime(append(b, "^"+xsdDateTime+"\x00"...))
	case TagDate:
		b, ok = id.appendDay(append(b, "^"+xsdDate+"\x00"...))
	case TagGYear:
		b, ok = id.appendDay(append(b, "^"+xsdGYear+"\x00"...))
	}
	if !ok {
		return "", false
	}
	return Key(b), true
}

func inlineString(s string) (ID, bool) {
	if len(s) > 7 {
		return 0, false
	}
	var p uint64
	for i := range len(s) {
		p |= uint64(s[i]) << (52 - 8*i)
	}
	return Make(TagString, p|uint64(len(s))), true
}

// Str returns the text of an inline xsd:string.
func (id ID) Str() (string, bool) {
	n := int(id & 15)
	if id.Tag() != TagString || n > 7 {
		return "", false
	}
	var b [7]byte
	for i := range n {
		b[i] = byte(id >> (52 - 8*i))
	}
	return string(b[:n]), true
}

// Bool returns the value of an inline xsd:boolean.
func (id ID) Bool() (v, ok bool) {
	return id.Payload() == 1, id.Tag() == TagBoolean && id.Payload() <= 1
}

func inlineInteger(lex string) (ID, bool) {
	v, ok := canonicalInt(lex)
	if !ok || v < -intBias || v >= intBias {
		return 0, false
	}
	return Make(TagInteger, uint64(v+intBias)), true
}

// canonicalInt parses digits with an optional minus sign. Leading zeros, "-0" and more than 18 digits are invalid.
func canonicalInt(lex string) (int64, bool) {
	digits := strings.TrimPrefix(lex, "-")
	if digits == "" || len(digits) > 18 || digits[0] == '0' && lex != "0" {
		return 0, false
	}
	var v int64
	for i := range len(digits) {
		c := digits[i] - '0'
		if c > 9 {
			return 0, false
		}
		v = v*10 + int64(c)
	}
	if len(digits) != len(lex) {
		v = -v
	}
	return v, true
}

// Int returns the value of an inline xsd:integer.
func (id ID) Int() (int64, bool) { return int64(id.Payload()) - intBias, id.Tag() == TagInteger }

// IntID returns the inline id of an xsd:integer. ok is false if |v| is 2^59 or more.
func IntID(v int64) (id ID, ok bool) {
	if v < -intBias || v >= intBias {
		return 0, false
	}
	return Make(TagInteger, uint64(v+intBias)), true
}

func inlineDecimal(lex string) (ID, bool) {
	whole, frac, point := strings.Cut(lex, ".")
	if !point || len(frac) == 0 || len(frac) > 6 || frac[len(frac)-1] == '0' && frac != "0" {
		return 0, false
	}
	negative := strings.HasPrefix(whole, "-")
	w, ok := canonicalInt(strings.TrimPrefix(whole, "-"))
	if !ok || strings.HasPrefix(whole, "--") || w >= intBias/decimalScale {
		return 0, false
	}
	v := w * decimalScale
	unit := int64(decimalScale / 10)
	for i := range len(frac) {
		c := frac[i] - '0'
		if c > 9 {
			return 0, false
		}
		v += int64(c) * unit
		unit /= 10
	}
	if negative {
		if v == 0 {
			return 0, false // "-0.0"
		}
		v = -v
	}
	return Make(TagDecimal, uint64(v+intBias)), true
}

// Decimal returns the value of an inline xsd:decimal as unscaled / 10^scale. scale is always 6.
func (id ID) Decimal() (unscaled int64, scale int, ok bool) {
	return int64(id.Payload()) - intBias, 6, id.Tag() == TagDecimal
}

func decimalLexical(v int64) string {
	sign := ""
	if v < 0 {
		sign, v = "-", -v
	}
	frac := strconv.FormatInt(v%decimalScale+decimalScale, 10)[1:]
	frac = strings.TrimRight(frac, "0")
	if frac == "" {
		frac = "0"
	}
	return sign + strconv.FormatInt(v/decimalScale, 10) + "." + frac
}

func inlineDouble(lex string) (ID, bool) {
	if len(lex) == 0 || lex[0] != '-' && lex[0] != 'I' && (lex[0] < '0' || lex[0] > '9') {
		return 0, false
	}
	v, err := strconv.ParseFloat(lex, 64)
	if err != nil {
		return 0, false
	}
	id, ok := doubleID(v)
	if !ok || doubleLexical(v) != lex {
		return 0, false
	}
	return id, true
}

// doubleID returns the inline id of an xsd:double. ok is false for NaN and for values that need the last four bits.
func doubleID(v float64) (id ID, ok bool) {
	bits := math.Float64bits(v)
	if bits&15 != 0 || math.IsNaN(v) {
		return 0, false
	}
	if bits>>63 != 0 {
		bits = ^bits
	} else {
		bits |= 1 << 63
	}
	return Make(TagDouble, bits>>4), true
}

// Double returns the value of an inline xsd:double.
func (id ID) Double() (float64, bool) {
	bits := uint64(id) << 4
	if bits>>63 != 0 {
		bits &^= 1 << 63
	} else {
		bits = ^bits &^ 15
	}
	return math.Float64frombits(bits), id.Tag() == TagDouble
}

// doubleLexical returns the canonical form of XSD 1.0: "1.5E0", "-1.0E-7", "INF".
func doubleLexical(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "INF"
	case math.IsInf(v, -1):
		return "-INF"
	}
	mantissa, exp, _ := strings.Cut(strconv.FormatFloat(v, 'E', -1, 64), "E")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	sign := ""
	if exp[0] == '-' {
		sign = "-"
	}
	exp = strings.TrimLeft(exp[1:], "0")
	if exp == "" {
		exp, sign = "0", ""
	}
	return mantissa + "E" + sign + exp
}
