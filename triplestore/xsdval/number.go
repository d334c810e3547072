package xsdval

import (
	"cmp"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// maxDigits is the maximum number of digits of a parsed number, so that a hostile literal cannot make arithmetic
// expensive.
const maxDigits = 10000

func pow10(n int32) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// unscaled returns the digits of an exact number as an integer.
func (v Value) unscaled() *big.Int {
	if v.big != nil {
		return v.big
	}
	return big.NewInt(v.i)
}

// parseInteger parses xsd:integer: an optional sign and digits.
func parseInteger(s string) (Value, bool) {
	digits := s
	if digits != "" && (digits[0] == '+' || digits[0] == '-') {
		digits = digits[1:]
	}
	if digits == "" || len(digits) > maxDigits || !allDigits(digits) {
		return Value{}, false
	}
	if len(digits) <= 18 {
		i, _ := strconv.ParseInt(s, 10, 64)
		return Int(i), true
	}
	b, ok := new(big.Int).SetString(s, 10)
	if !ok {
		return Value{}, false
	}
	return BigInt(b), true
}

func allDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// parseDecimal parses xsd:decimal: digits with at most one point, at least one digit, no exponent.
func parseDecimal(s string) (Value, bool) {
	sign, rest := "", s
	if rest != "" && (rest[0] == '+' || rest[0] == '-') {
		sign, rest = rest[:1], rest[1:]
	}
	whole, frac, _ := strings.Cut(rest, ".")
	if whole == "" && frac == "" || !allDigits(whole) || !allDigits(frac) || len(whole)+len(frac) > maxDigits {
		return Value{}, false
	}
	frac = strings.TrimRight(frac, "0")
	digits := whole + frac
	if digits == "" {
		digits = "0"
	}
	if len(digits) <= 18 {
		i, _ := strconv.ParseInt(sign+digits, 10, 64)
		return decimal64(i, int32(len(frac))), true
	}
	b, ok := new(big.Int).SetString(sign+digits, 10)
	if !ok {
		return Value{}, false
	}
	return decimalBig(b, int32(len(frac))), true
}

// decimal64 returns i * 10^-scale without trailing zeros.
func decimal64(i int64, scale int32) Value {
	for scale > 0 && i%10 == 0 {
		i, scale = i/10, scale-1
	}
	return Value{Kind: Decimal, i: i, scale: scale}
}

// NewDecimal returns unscaled * 10^-scale.
func NewDecimal(unscaled int64, scale int) Value { return decimal64(unscaled, int32(scale)) }

// decimalBig returns b * 10^-scale without trailing zeros.
func decimalBig(b *big.Int, scale int32) Value {
	if b.IsInt64() {
		return decimal64(b.Int64(), scale)
	}
	ten, q, r := big.NewInt(10), new(big.Int), new(big.Int)
	for scale > 0 {
		q.QuoRem(b, ten, r)
		if r.Sign() != 0 {
			break
		}
		b, scale = new(big.Int).Set(q), scale-1
	}
	if b.IsInt64() {
		return Value{Kind: Decimal, i: b.Int64(), scale: scale}
	}
	return Value{Kind: Decimal, big: b, scale: scale}
}

// parseFloat parses xsd:double and xsd:float: a decimal with an optional exponent, INF, -INF, NaN.
func parseFloat(s string, bits int) (float64, bool) {
	switch s {
	case "INF", "+INF":
		return math.Inf(1), true
	case "-INF":
		return math.Inf(-1), true
	case "NaN":
		return math.NaN(), true
	}
	if s == "" || len(s) > maxDigits {
		return 0, false
	}
	for i := 0; i < len(s); i++ { // strconv also accepts 0x, _, inf and the like
		switch c := s[i]; {
		case c >= '0' && c <= '9', c == '+', c == '-', c == '.', c == 'e', c == 'E':
		default:
			return 0, false
		}
	}
	f, err := strconv.ParseFloat(s, bits)
	if err != nil && !math.IsInf(f, 0) && f != 0 {
		return 0, false
	}
	if err != nil && err.(*strconv.NumError).Err == strconv.ErrSyntax {
		return 0, false
	}
	return f, true
}

func formatFloat(f float64, bits int) string {
	switch {
	case math.IsInf(f, 1):
		return "INF"
	case math.IsInf(f, -1):
		return "-INF"
	case math.IsNaN(f):
		return "NaN"
	}
	s := strconv.FormatFloat(f, 'E', -1, bits) // d.dddE+dd
	mant, exp, _ := strings.Cut(s, "E")
	if !strings.Contains(mant, ".") {
		mant += ".0"
	}
	neg := strings.HasPrefix(exp, "-")
	exp = strings.TrimLeft(exp[1:], "0")
	if exp == "" {
		return mant + "E0"
	}
	if neg {
		exp = "-" + exp
	}
	return mant + "E" + exp
}

func formatDecimal(v Value) string {
	s := strconv.FormatInt(v.i, 10)
	if v.big != nil {
		s = v.big.String()
	}
	if v.scale == 0 {
		return s
	}
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	if n := int(v.scale) + 1 - len(s); n > 0 {
		s = strings.Repeat("0", n) + s
	}
	cut := len(s) - int(v.scale)
	return sign + s[:cut] + "." + s[cut:]
}

// compareNumbers orders two numbers by value. ok is false if one is NaN.
func compareNumbers(a, b Value) (int, bool) {
	if a.Kind == Integer && b.Kind == Integer && a.big == nil && b.big == nil {
		return cmp.Compare(a.i, b.i), true
	}
	if a.Kind >= Float || b.Kind >= Float { // promote to the wider float type
		x, y := a.Float64(), b.Float64()
		if a.Kind <= Float && b.Kind <= Float {
			x, y = float64(float32(x)), float64(float32(y))
		}
		if math.IsNaN(x) || math.IsNaN(y) {
			return 0, false
		}
		return cmp.Compare(x, y), true
	}
	if x, y, _, ok := align64(a, b); ok {
		return cmp.Compare(x, y), true
	}
	x, y, _ := align(a, b)
	return x.Cmp(y), true
}

// align64 is align for numbers that fit into 63 bits, as does their sum.
func align64(a, b Value) (x, y int64, scale int32, ok bool) {
	if a.big != nil || b.big != nil {
		return 0, 0, 0, false
	}
	x, y, scale = a.i, b.i, max(a.scale, b.scale)
	for s := a.scale; s < scale; s++ {
		if abs64(x) > 1<<58 {
			return 0, 0, 0, false
		}
		x *= 10
	}
	for s := b.scale; s < scale; s++ {
		if abs64(y) > 1<<58 {
			return 0, 0, 0, false
		}
		y *= 10
	}
	return x, y, scale, abs64(x) < 1<<62 && abs64(y) < 1<<62
}

// align scales two exact numbers to the same scale.
func align(a, b Value) (x, y *big.Int, scale int32) {
	x, y = a.unscaled(), b.unscaled()
	switch {
	case a.scale < b.scale:
		return new(big.Int).Mul(x, pow10(b.scale-a.scale)), y, b.scale
	case b.scale < a.scale:
		return x, new(big.Int).Mul(y, pow10(a.scale-b.scale)), a.scale
	}
	return x, y, a.scale
}
