package expr

import (
	"math/bits"

	"odarchive/triplestore/term"
)

const (
	micro  = 1_000_000 // units of inline decimals in 1
	halfID = 1 << 59   // added to inline numbers
)

// unscaled returns the value of a decimal × 10^6.
func unscaled(id term.ID) int64 { return int64(id.Payload()) - halfID }

// micros returns a number × 10^6. ok is false if it is none that is exact and inline, or too large.
func micros(id term.ID) (v int64, ok bool) {
	switch id.Tag() {
	case term.TagInteger:
		i, _ := id.Int()
		return i * micro, i > -halfID/micro && i < halfID/micro
	case term.TagDecimal, tagComputed:
		return unscaled(id), true
	}
	return 0, false
}

// decimalOf returns the id of a computed decimal, v / 10^6.
func decimalOf(v int64) term.ID {
	if v < -halfID || v >= halfID {
		return Unsure
	}
	return term.Make(tagComputed, uint64(v+halfID))
}

func integerOf(v int64) term.ID {
	if id, ok := term.IntID(v); ok {
		return id
	}
	return Unsure
}

// integers returns the values of two inline integers.
func integers(a, b term.ID) (x, y int64, ok bool) {
	x, ok1 := a.Int()
	y, ok2 := b.Int()
	return x, y, ok1 && ok2
}

// decimals returns two numbers × 10^6.
func decimals(a, b term.ID) (x, y int64, ok bool) {
	x, ok1 := micros(a)
	y, ok2 := micros(b)
	return x, y, ok1 && ok2
}

func add(a, b term.ID) term.ID {
	if a == 0 || b == 0 {
		return 0
	}
	if x, y, ok := integers(a, b); ok {
		return integerOf(x + y)
	}
	if x, y, ok := decimals(a, b); ok {
		return decimalOf(x + y)
	}
	return Unsure
}

func subtract(a, b term.ID) term.ID {
	if a == 0 || b == 0 {
		return 0
	}
	if x, y, ok := integers(a, b); ok {
		return integerOf(x - y)
	}
	if x, y, ok := decimals(a, b); ok {
		return decimalOf(x - y)
	}
	return Unsure
}

func multiply(a, b term.ID) term.ID {
	if a == 0 || b == 0 {
		return 0
	}
	if x, y, ok := integers(a, b); ok {
		if p, ok := product(x, y); ok {
			return integerOf(p)
		}
	} else if x, y, ok := decimals(a, b); ok {
		if p, ok := product(x, y); ok && p%micro == 0 {
			return decimalOf(p / micro)
		}
	}
	return Unsure
}

// product returns x * y. ok is false if it does not fit.
func product(x, y int64) (p int64, ok bool) {
	hi, lo := bits.Mul64(uint64(max(x, -x)), uint64(max(y, -y)))
	return x * y, hi == 0 && lo < 1<<62
}

// divide returns quotients that six fraction digits hold.
func divide(a, b term.ID) term.ID {
	if a == 0 || b == 0 {
		return 0
	}
	x, y, ok := integers(a, b)
	if !ok {
		x, y, ok = decimals(a, b)
	}
	switch {
	case !ok:
		return Unsure
	case y == 0:
		return 0
	}
	if p, ok := product(x, micro); ok && p%y == 0 {
		return decimalOf(p / y)
	}
	return Unsure
}

// floorTo rounds a decimal × 10^6 down to a whole number.
func floorTo(v int64) int64 {
	if r := v % micro; r < 0 {
		return v - r - micro
	} else {
		return v - r
	}
}

// wholeNumber applies f, which computes on decimals × 10^6, to a number. If rounds is true, f keeps whole numbers.
func wholeNumber(a term.ID, f func(int64) int64, rounds bool) term.ID {
	switch a.Tag() {
	case term.TagNone:
		return 0
	case term.TagInteger:
		if rounds {
			return a
		}
		v, _ := a.Int()
		return integerOf(max(v, -v))
	case term.TagDecimal, tagComputed:
		return decimalOf(f(unscaled(a)))
	}
	return Unsure
}
