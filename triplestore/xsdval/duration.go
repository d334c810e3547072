package xsdval

import (
	"cmp"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// maxDuration is the maximum of the seconds and of the months of a duration.
const maxDuration = int64(1) << 52

// parseDuration parses -?PnYnMnDTnHnMnS (XSD 1.1 Part 2 §3.3.6) with the fields that the kind allows.
func parseDuration(k Kind, s string) (Value, bool) {
	rest, neg := strings.CutPrefix(s, "-")
	rest, ok := strings.CutPrefix(rest, "P")
	if !ok || rest == "" {
		return Value{}, false
	}
	date, clock, hasT := strings.Cut(rest, "T")
	if hasT && clock == "" {
		return Value{}, false
	}
	v := Value{Kind: k}
	fields := func(s, units string, add func(unit byte, n int64) bool) bool {
		next := 0
		for s != "" {
			num, n := Digits(s, 0, 16)
			if n == 0 || n > 15 || n == len(s) {
				return false
			}
			if s[n] == '.' {
				nanos, width := fractionNanos(s[n+1:])
				n += 1 + width
				if width == 0 || n == len(s) || s[n] != 'S' {
					return false
				}
				v.nanos = nanos
			}
			at := strings.IndexByte(units[next:], s[n])
			if at < 0 || !add(s[n], int64(num)) {
				return false
			}
			next += at + 1
			s = s[n+1:]
		}
		return true
	}
	ok = fields(date, "YMD", func(u byte, n int64) bool {
		switch u {
		case 'Y':
			v.months += n * 12
		case 'M':
			v.months += n
		case 'D':
			v.i += n * daySeconds
		}
		return n < maxDuration/daySeconds
	}) && fields(clock, "HMS", func(u byte, n int64) bool {
		switch u {
		case 'H':
			v.i += n * 3600
		case 'M':
			v.i += n * 60
		case 'S':
			v.i += n
		}
		return n < maxDuration/3600
	})
	if !ok || v.i > maxDuration || v.months > maxDuration {
		return Value{}, false
	}
	if k == YearMonthDuration && (hasT || strings.Contains(date, "D")) ||
		k == DayTimeDuration && strings.ContainsAny(date, "YM") {
		return Value{}, false
	}
	if neg {
		v.i, v.nanos, v.months = -v.i, -v.nanos, -v.months
	}
	return v, true
}

func formatDuration(v Value) string {
	sec, nanos, months := v.i, v.nanos, v.months
	var b []byte
	if sec < 0 || nanos < 0 || months < 0 {
		b = append(b, '-')
		sec, nanos, months = -sec, -nanos, -months
	}
	b = append(b, 'P')
	field := func(n int64, unit byte) {
		if n != 0 {
			b = append(strconv.AppendInt(b, n, 10), unit)
		}
	}
	if v.Kind != DayTimeDuration {
		field(months/12, 'Y')
		field(months%12, 'M')
		if v.Kind == YearMonthDuration {
			if months == 0 {
				b = append(b, '0', 'M')
			}
			return string(b)
		}
	}
	field(sec/daySeconds, 'D')
	if clock := sec % daySeconds; clock != 0 || nanos != 0 {
		b = append(b, 'T')
		field(clock/3600, 'H')
		field(clock/60%60, 'M')
		if s := clock % 60; s != 0 || nanos != 0 {
			b = appendFraction(strconv.AppendInt(b, s, 10), nanos)
			b = append(b, 'S')
		}
	} else if sec == 0 && months == 0 {
		b = append(b, "T0S"...)
	}
	return string(b)
}

// addTemporal adds (sign 1) or subtracts (sign -1) dates, times and durations.
func addTemporal(a, b Value, sign int64) (Value, bool) {
	if b.Kind.IsTemporal() && a.Kind.IsDuration() && sign > 0 {
		a, b = b, a
	}
	switch {
	case a.Kind.IsTemporal() && a.Kind == b.Kind && sign < 0 && a.Kind <= Time:
		if (a.tz == noTZ) != (b.tz == noTZ) {
			return Value{}, false
		}
		as, bs := a.i, b.i
		if a.tz != noTZ {
			as, bs = a.utc(), b.utc()
		}
		return seconds(DayTimeDuration, as-bs, int64(a.nanos)-int64(b.nanos)), true
	case (a.Kind == DateTime || a.Kind == Date) && b.Kind.IsDuration():
		if b.months != 0 {
			var ok bool
			if a, ok = a.addMonths(sign * b.months); !ok {
				return Value{}, false
			}
		}
		return a.addSeconds(sign*b.i, sign*int64(b.nanos))
	case a.Kind == Time && b.Kind == DayTimeDuration:
		return a.addSeconds(sign*b.i, sign*int64(b.nanos))
	case a.Kind.IsDuration() && b.Kind.IsDuration():
		k := Duration
		if a.Kind == b.Kind {
			k = a.Kind
		}
		r := seconds(k, a.i+sign*b.i, int64(a.nanos)+sign*int64(b.nanos))
		r.months = a.months + sign*b.months
		secSign := r.i
		if secSign == 0 {
			secSign = int64(r.nanos)
		}
		mixed := r.months > 0 && secSign < 0 || r.months < 0 && secSign > 0 // has no lexical form
		return r, !mixed && abs64(r.i) <= uint64(maxDuration) && abs64(r.months) <= uint64(maxDuration)
	}
	return Value{}, false
}

// seconds returns a duration of sec and nanos, both with the same sign.
func seconds(k Kind, sec, nanos int64) Value {
	sec += nanos / nanosPer
	nanos %= nanosPer
	if sec > 0 && nanos < 0 {
		sec, nanos = sec-1, nanos+nanosPer
	} else if sec < 0 && nanos > 0 {
		sec, nanos = sec+1, nanos-nanosPer
	}
	return Value{Kind: k, i: sec, nanos: int32(nanos)}
}

func (v Value) addSeconds(sec, nanos int64) (Value, bool) {
	n := int64(v.nanos) + nanos
	carry := floorDiv(n, nanosPer)
	v.i, v.nanos = v.i+sec+carry, int32(n-carry*nanosPer)
	if abs64(v.i) > uint64(maxYear)*366*daySeconds {
		return Value{}, false
	}
	return v.normal(), true
}

// scaleDuration multiplies or divides a dayTime or yearMonth duration by a number.
func scaleDuration(d, n Value, divide bool) (Value, bool) {
	if d.Kind != DayTimeDuration && d.Kind != YearMonthDuration || !n.Kind.Numeric() {
		return Value{}, false
	}
	f := n.Float64()
	if divide {
		if f == 0 {
			return Value{}, false
		}
		f = 1 / f
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Value{}, false
	}
	if d.Kind == YearMonthDuration {
		m := math.Floor(float64(d.months)*f + 0.5)
		if math.Abs(m) > float64(maxDuration) {
			return Value{}, false
		}
		return Value{Kind: d.Kind, months: int64(m)}, true
	}
	if i, ok := n.Int64(); ok && !divide && abs64(i) < 1<<20 && abs64(d.i) < 1<<40 { // exact
		return seconds(d.Kind, d.i*i, int64(d.nanos)*i), true
	}
	s := (float64(d.i) + float64(d.nanos)/nanosPer) * f
	if math.Abs(s) > float64(maxDuration) {
		return Value{}, false
	}
	whole := math.Trunc(s)
	return seconds(d.Kind, int64(whole), int64(math.Round((s-whole)*nanosPer))), true
}

// divideDurations returns the decimal quotient of two durations of one kind.
func divideDurations(a, b Value) (Value, bool) {
	if a.Kind == YearMonthDuration {
		return divide(decimal64(a.months, 0), decimal64(b.months, 0))
	}
	if a.Kind != DayTimeDuration {
		return Value{}, false
	}
	return divide(a.durationSeconds(), b.durationSeconds())
}

func (v Value) durationSeconds() Value {
	b := new(big.Int).Mul(big.NewInt(v.i), big.NewInt(nanosPer))
	return decimalBig(b.Add(b, big.NewInt(int64(v.nanos))), 9)
}

// compareDurations orders durations of a totally ordered kind: dayTime or yearMonth. Any two durations may be equal
// (F&O §9.4).
func compareDurations(a, b Value) (c int, ordered bool) {
	if a.months == b.months && a.i == b.i && a.nanos == b.nanos {
		return 0, true
	}
	if a.Kind != b.Kind || a.Kind == Duration {
		return 1, false
	}
	if a.Kind == YearMonthDuration {
		return cmp.Compare(a.months, b.months), true
	}
	return cmpInstant(a.i, a.nanos, b.i, b.nanos), true
}
