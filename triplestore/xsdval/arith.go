package xsdval

import (
	"math"
	"math/big"
	"math/bits"
)

// divisionDigits is the number of fractional digits of a decimal quotient. XPath leaves it to the implementation, but
// asks for 18 total digits.
const divisionDigits = 18

// maxResultBits is the maximum size of a computed integer or decimal. Exceeding it is an error.
const maxResultBits = 1 << 17

// Add returns a + b, by SPARQL 1.1 §17.3 for numbers and XPath F&O §9-10 for dates and durations. For Add, Sub, Mul and
// Div, ok is false if the operator is not defined for the operands (a type error), on division of exact numbers by
// zero, and if the result exceeds the size limits.
func Add(a, b Value) (Value, bool) {
	if a.Kind == Integer && b.Kind == Integer && a.big == nil && b.big == nil {
		if s := a.i + b.i; (s > a.i) == (b.i > 0) {
			return Int(s), true
		}
	}
	if a.Kind.Numeric() && b.Kind.Numeric() {
		return numeric(a, b, '+')
	}
	return addTemporal(a, b, 1)
}

// Sub returns a - b.
func Sub(a, b Value) (Value, bool) {
	if a.Kind.Numeric() && b.Kind.Numeric() {
		return numeric(a, b, '-')
	}
	return addTemporal(a, b, -1)
}

// Mul returns a * b.
func Mul(a, b Value) (Value, bool) {
	if a.Kind.Numeric() && b.Kind.Numeric() {
		return numeric(a, b, '*')
	}
	if b.Kind.IsDuration() {
		a, b = b, a
	}
	return scaleDuration(a, b, false)
}

// Div returns a / b.
func Div(a, b Value) (Value, bool) {
	if a.Kind.Numeric() && b.Kind.Numeric() {
		return numeric(a, b, '/')
	}
	if a.Kind.IsDuration() && a.Kind == b.Kind {
		return divideDurations(a, b)
	}
	return scaleDuration(a, b, true)
}

func numeric(a, b Value, op byte) (Value, bool) {
	if a.Kind >= Float || b.Kind >= Float {
		x, y := a.Float64(), b.Float64()
		var f float64
		switch op {
		case '+':
			f = x + y
		case '-':
			f = x - y
		case '*':
			f = x * y
		default:
			f = x / y
		}
		if a.Kind <= Float && b.Kind <= Float {
			return NewFloat(float32(f)), true
		}
		return NewDouble(f), true
	}
	if op == '*' {
		if a.big == nil && b.big == nil {
			if hi, lo := bits.Mul64(abs64(a.i), abs64(b.i)); hi == 0 && lo < 1<<63 {
				return exact(a, b, Value{i: a.i * b.i, scale: a.scale + b.scale}), true
			}
		}
		x, y := a.unscaled(), b.unscaled()
		if x.BitLen()+y.BitLen() > maxResultBits {
			return Value{}, false
		}
		return exact(a, b, Value{big: new(big.Int).Mul(x, y), scale: a.scale + b.scale}), true
	}
	if op == '/' {
		return divide(a, b)
	}
	if x, y, scale, ok := align64(a, b); ok {
		if op == '-' {
			y = -y
		}
		return exact(a, b, Value{i: x + y, scale: scale}), true
	}
	x, y, scale := align(a, b)
	r := new(big.Int)
	if op == '+' {
		r.Add(x, y)
	} else {
		r.Sub(x, y)
	}
	return exact(a, b, Value{big: r, scale: scale}), r.BitLen() <= maxResultBits
}

// exact converts r to the type of an exact result: integer only if both operands are.
func exact(a, b, r Value) Value {
	if a.Kind == Integer && b.Kind == Integer {
		if r.big != nil {
			return BigInt(r.big)
		}
		return Int(r.i)
	}
	if r.big != nil {
		return decimalBig(r.big, r.scale)
	}
	return decimal64(r.i, r.scale)
}

func divide(a, b Value) (Value, bool) {
	if q, ok := divide64(a, b); ok {
		return q, true
	}
	y := b.unscaled()
	if y.Sign() == 0 {
		return Value{}, false
	}
	shift := divisionDigits - a.scale + b.scale
	x := a.unscaled()
	if shift >= 0 {
		x = new(big.Int).Mul(x, pow10(shift))
	} else {
		y = new(big.Int).Mul(y, pow10(-shift))
	}
	return decimalBig(new(big.Int).Quo(x, y), divisionDigits), true
}

// divide64 is divide for quotients that have few enough digits. ok is false for others, and for a division by zero.
func divide64(a, b Value) (Value, bool) {
	x, y, _, ok := align64(a, b)
	if !ok || y == 0 {
		return Value{}, false
	}
	whole, rest := x/y, x%y
	if rest == 0 {
		return decimal64(whole, 0), true
	}
	digits, unit := int32(divisionDigits), int64(1e18)
	hi, lo := bits.Mul64(abs64(rest), uint64(unit))
	frac, _ := bits.Div64(hi, lo, abs64(y)) // below 10^18, since rest is below y
	for frac%10 == 0 && frac > 0 {
		frac, unit, digits = frac/10, unit/10, digits-1
	}
	if hi, lo := bits.Mul64(abs64(whole), uint64(unit)); hi != 0 || lo >= 1<<62 {
		return Value{}, false
	}
	v := int64(abs64(whole))*unit + int64(frac)
	if (x < 0) != (y < 0) {
		v = -v
	}
	return decimal64(v, digits), true
}

func abs64(i int64) uint64 {
	if i < 0 {
		return uint64(-i)
	}
	return uint64(i)
}

// Neg returns -v. ok is false if v is not a number.
func Neg(v Value) (Value, bool) {
	switch v.Kind {
	case Integer, Decimal:
		if v.big == nil && v.i != math.MinInt64 {
			v.i = -v.i
			return v, true
		}
		r := Value{big: new(big.Int).Neg(v.unscaled()), scale: v.scale}
		return exact(v, v, r), true
	case Float, Double:
		v.f = -v.f
		return v, true
	}
	return Value{}, false
}

// Abs returns the absolute value of a number (§17.4.4), of the same type. ok is false if v is not a number.
func Abs(v Value) (Value, bool) {
	switch v.Kind {
	case Integer, Decimal:
		if v.unscaled().Sign() < 0 {
			return Neg(v)
		}
		return v, true
	case Float, Double:
		v.f = math.Abs(v.f)
		return v, true
	}
	return Value{}, false
}

// Ceil returns the next whole number upwards.
func Ceil(v Value) (Value, bool) { return toWhole(v, math.Ceil, 1, 0) }

// Floor returns the next whole number downwards.
func Floor(v Value) (Value, bool) { return toWhole(v, math.Floor, 0, 0) }

// Round rounds halves towards positive infinity (fn:round).
func Round(v Value) (Value, bool) {
	return toWhole(v, func(f float64) float64 {
		r := math.Floor(f)
		if f-r >= 0.5 {
			r++
		}
		return r
	}, 0, 1)
}

// toWhole rounds a decimal down, after adding a unit less one digit (if up is 1) or half a unit (if half is 1).
func toWhole(v Value, float func(float64) float64, up, half int64) (Value, bool) {
	switch v.Kind {
	case Integer:
		return v, true
	case Float, Double:
		if !math.IsNaN(v.f) && !math.IsInf(v.f, 0) {
			v.f = math.Copysign(float(v.f), v.f)
		}
		return v, true
	case Decimal:
		if v.scale == 0 {
			return v, true
		}
		unit := pow10(v.scale)
		x := new(big.Int).Set(v.unscaled())
		if up != 0 {
			x.Add(x, unit).Sub(x, big.NewInt(1))
		}
		if half != 0 {
			x.Add(x, new(big.Int).Quo(unit, big.NewInt(2)))
		}
		return decimalBig(x.Div(x, unit), 0), true // Div is Euclidean, which rounds down for a positive unit
	}
	return Value{}, false
}
