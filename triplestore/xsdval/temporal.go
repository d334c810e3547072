package xsdval

import (
	"math"
	"strconv"
	"strings"
)

const (
	daySeconds = 86400
	maxYear    = 999999999 // keeps every instant well inside an int64 of seconds
	maxTZ      = 14 * 60
	nanosPer   = 1_000_000_000
)

// daysFromCivil counts days from 0001-01-01 in the proleptic Gregorian calendar (year 0 exists, XSD 1.1).
func daysFromCivil(y int64, m, d int) int64 {
	if m <= 2 {
		y--
	}
	era := floorDiv(y, 400)
	yoe := y - era*400
	mp := int64((m + 9) % 12)
	doy := (153*mp+2)/5 + int64(d) - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return era*146097 + doe - 306
}

func civilFromDays(z int64) (y int64, m, d int) {
	z += 306
	era := floorDiv(z, 146097)
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	d = int(doy - (153*mp+2)/5 + 1)
	m = int(mp) + 3
	y = yoe + era*400
	if m > 12 {
		m -= 12
		y++
	}
	return y, m, d
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func daysIn(y int64, m int) int {
	switch m {
	case 2:
		if y%4 == 0 && (y%100 != 0 || y%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// scanner reads the fixed-width fields of the temporal lexical forms.
type scanner struct {
	s  string
	ok bool
}

func (p *scanner) digits(n int) int {
	if len(p.s) < n || !allDigits(p.s[:n]) {
		p.ok = false
		return 0
	}
	v, _ := strconv.Atoi(p.s[:n])
	p.s = p.s[n:]
	return v
}

func (p *scanner) lit(c string) {
	if !strings.HasPrefix(p.s, c) {
		p.ok = false
		return
	}
	p.s = p.s[len(c):]
}

func (p *scanner) year() int64 {
	neg := strings.HasPrefix(p.s, "-")
	if neg {
		p.s = p.s[1:]
	}
	n := 0
	for n < len(p.s) && p.s[n] >= '0' && p.s[n] <= '9' {
		n++
	}
	if n < 4 || n > 9 || n > 4 && p.s[0] == '0' {
		p.ok = false
		return 0
	}
	y := int64(p.digits(n))
	if neg {
		y = -y
	}
	return y
}

func (p *scanner) month() int {
	m := p.digits(2)
	if m < 1 || m > 12 {
		p.ok = false
		return 1
	}
	return m
}

func (p *scanner) day(limit int) int {
	d := p.digits(2)
	if d < 1 || d > limit {
		p.ok = false
		return 1
	}
	return d
}

// clock reads hh:mm:ss(.f+). Seconds may be missing ("2020-05-10T00:00Z" is what the archive's published queries say).
func (p *scanner) clock(lenient bool) (sec int64, nanos int32) {
	h := p.digits(2)
	p.lit(":")
	m := p.digits(2)
	var s int
	if !(lenient && (p.s == "" || p.s[0] != ':')) {
		p.lit(":")
		s = p.digits(2)
		if strings.HasPrefix(p.s, ".") {
			n := 1
			for n < len(p.s) && p.s[n] >= '0' && p.s[n] <= '9' {
				n++
			}
			if n == 1 {
				p.ok = false
			}
			frac := p.s[1:n]
			p.s = p.s[n:]
			for len(frac) < 9 {
				frac += "0"
			}
			v, _ := strconv.Atoi(frac[:9]) // finer than a nanosecond is cut
			nanos = int32(v)
		}
	}
	if h > 24 || m > 59 || s > 59 || h == 24 && (m > 0 || s > 0 || nanos > 0) {
		p.ok = false
	}
	return int64(h)*3600 + int64(m)*60 + int64(s), nanos
}

func (p *scanner) zone() int16 {
	switch {
	case p.s == "":
		return noTZ
	case p.s == "Z":
		p.s = ""
		return 0
	}
	sign := int16(1)
	if strings.HasPrefix(p.s, "-") {
		sign = -1
	} else if !strings.HasPrefix(p.s, "+") {
		p.ok = false
		return noTZ
	}
	p.s = p.s[1:]
	h := p.digits(2)
	p.lit(":")
	m := p.digits(2)
	if m > 59 || h*60+m > maxTZ {
		p.ok = false
	}
	return sign * int16(h*60+m)
}

// referenceYear stands for the missing year of gMonth, gDay and gMonthDay, and the date of a time: a leap year.
const referenceYear = 1972

// parseTemporal reads the lexical forms of XSD 1.1 Part 2 §3.3.7-3.3.14.
func parseTemporal(k Kind, s string) (Value, bool) {
	p := &scanner{s: s, ok: true}
	y, m, d := int64(referenceYear), 1, 1
	var sec int64
	var nanos int32
	switch k {
	case DateTime, Date:
		y = p.year()
		p.lit("-")
		m = p.month()
		p.lit("-")
		d = p.day(daysIn(y, m))
		if k == DateTime {
			p.lit("T")
			sec, nanos = p.clock(true)
		}
	case Time:
		m, d = 12, 31
		sec, nanos = p.clock(false)
		sec %= daySeconds
	case GYear:
		y = p.year()
	case GYearMonth:
		y = p.year()
		p.lit("-")
		m = p.month()
	case GMonth:
		p.lit("--")
		m = p.month()
	case GMonthDay:
		p.lit("--")
		m = p.month()
		p.lit("-")
		d = p.day(daysIn(referenceYear, m))
	case GDay:
		p.lit("---")
		d = p.day(31)
	}
	tz := p.zone()
	if !p.ok || p.s != "" {
		return Value{}, false
	}
	return Value{Kind: k, i: daysFromCivil(y, m, d)*daySeconds + sec, nanos: nanos, tz: tz}, true
}

// compareTemporal orders two values of one temporal kind. Where only one has a time zone the order is known only
// if it is the same for every zone (XSD 1.1 Part 2 §D.2.1): otherwise ok is false.
func compareTemporal(a, b Value) (int, bool) {
	if a.tz == noTZ && b.tz == noTZ {
		return cmpInstant(a.i, a.nanos, b.i, b.nanos), true
	}
	if a.tz != noTZ && b.tz != noTZ {
		return cmpInstant(a.utc(), a.nanos, b.utc(), b.nanos), true
	}
	if a.tz == noTZ {
		c, ok := compareTemporal(b, a)
		return -c, ok
	}
	const spread = maxTZ * 60 // a has a zone, b has none
	if c := cmpInstant(a.utc(), a.nanos, b.i-spread, b.nanos); c < 0 {
		return -1, true
	}
	if c := cmpInstant(a.utc(), a.nanos, b.i+spread, b.nanos); c > 0 {
		return 1, true
	}
	return 0, false
}

// utc is the value's seconds on the UTC clock.
func (v Value) utc() int64 { return v.i - int64(v.tz)*60 }

func cmpInstant(as int64, an int32, bs int64, bn int32) int {
	if c := cmpInt(as, bs); c != 0 {
		return c
	}
	return cmpInt(int64(an), int64(bn))
}

// UnixMilli is the instant of a dateTime in milliseconds since 1970 (without a zone: taken as UTC).
func (v Value) UnixMilli() int64 {
	s := v.i
	if v.tz != noTZ {
		s = v.utc()
	}
	return (s-unixEpoch)*1000 + int64(v.nanos)/1e6
}

var unixEpoch = daysFromCivil(1970, 1, 1) * daySeconds

// NewDateTime makes an xsd:dateTime in UTC from seconds and nanoseconds since 1970.
func NewDateTime(sec int64, nanos int32) Value {
	return Value{Kind: DateTime, i: sec + unixEpoch, nanos: nanos}
}

// FromClock makes a temporal value from seconds since 0001-01-01T00:00:00 on its own clock and a zone in minutes.
func FromClock(k Kind, sec int64, nanos int32, zone int, zoned bool) Value {
	v := Value{Kind: k, i: sec, nanos: nanos, tz: noTZ}
	if zoned {
		v.tz = int16(zone)
	}
	return v
}

// Parts of a temporal value on its own clock; hasZone is false where it has none. Seconds are a decimal.
type Parts struct {
	Year                     int64
	Month, Day, Hour, Minute int
	Second                   Value
	Zone                     int // minutes
	HasZone                  bool
}

// Parts splits a temporal value.
func (v Value) Parts() Parts {
	days := floorDiv(v.i, daySeconds)
	sec := v.i - days*daySeconds
	var p Parts
	p.Year, p.Month, p.Day = civilFromDays(days)
	p.Hour, p.Minute = int(sec/3600), int(sec/60%60)
	p.Second = decimal64(sec%60*nanosPer+int64(v.nanos), 9)
	if v.tz != noTZ {
		p.Zone, p.HasZone = int(v.tz), true
	}
	return p
}

// Timezone is the zone as a dayTimeDuration (§17.4.5.8); ok is false where there is none.
func (v Value) Timezone() (Value, bool) {
	if !v.Kind.IsTemporal() || v.tz == noTZ {
		return Value{}, false
	}
	return Value{Kind: DayTimeDuration, i: int64(v.tz) * 60}, true
}

// Adjust is fn:adjust-dateTime-to-timezone (and its date and time siblings): the same instant in the given zone
// (a dayTimeDuration of whole minutes), a zone given to a value that has none, or, for the zero Value, taken away.
func (v Value) Adjust(zone Value) (Value, bool) {
	if v.Kind != DateTime && v.Kind != Date && v.Kind != Time {
		return Value{}, false
	}
	if zone.Kind == None {
		v.tz = noTZ
		return v, true
	}
	if zone.Kind != DayTimeDuration || zone.nanos != 0 || zone.i%60 != 0 || zone.i < -maxTZ*60 || zone.i > maxTZ*60 {
		return Value{}, false
	}
	if v.tz != noTZ {
		v.i = v.utc() + zone.i
	}
	v.tz = int16(zone.i / 60)
	return v.normal(), true
}

// normal drops what the kind does not hold: the clock of a date, the day of a time.
func (v Value) normal() Value {
	switch v.Kind {
	case Date:
		v.i, v.nanos = floorDiv(v.i, daySeconds)*daySeconds, 0
	case Time:
		v.i = daysFromCivil(referenceYear, 12, 31)*daySeconds + v.i - floorDiv(v.i, daySeconds)*daySeconds
	}
	return v
}

func formatTemporal(v Value) string {
	p := v.Parts()
	b := make([]byte, 0, 32)
	year := func() {
		y := p.Year
		if y < 0 {
			b = append(b, '-')
			y = -y
		}
		b = appendPadded(b, y, 4)
	}
	two := func(sep string, n int) { b = appendPadded(append(b, sep...), int64(n), 2) }
	switch v.Kind {
	case DateTime, Date:
		year()
		two("-", p.Month)
		two("-", p.Day)
	case GYear:
		year()
	case GYearMonth:
		year()
		two("-", p.Month)
	case GMonth:
		two("--", p.Month)
	case GMonthDay:
		two("--", p.Month)
		two("-", p.Day)
	case GDay:
		two("---", p.Day)
	}
	if v.Kind == DateTime {
		b = append(b, 'T')
	}
	if v.Kind == DateTime || v.Kind == Time {
		two("", p.Hour)
		two(":", p.Minute)
		two(":", int(floorDiv(v.i, 1)%60+60)%60)
		b = appendFraction(b, v.nanos)
	}
	if p.HasZone {
		switch z := p.Zone; {
		case z == 0:
			b = append(b, 'Z')
		default:
			sign := "+"
			if z < 0 {
				sign, z = "-", -z
			}
			two(sign, z/60)
			two(":", z%60)
		}
	}
	return string(b)
}

func appendPadded(b []byte, n int64, width int) []byte {
	s := strconv.FormatInt(n, 10)
	for i := len(s); i < width; i++ {
		b = append(b, '0')
	}
	return append(b, s...)
}

func appendFraction(b []byte, nanos int32) []byte {
	if nanos == 0 {
		return b
	}
	s := strconv.Itoa(int(nanos))
	s = strings.Repeat("0", 9-len(s)) + s
	return append(append(b, '.'), strings.TrimRight(s, "0")...)
}

// addMonths moves a dateTime or date by months, the day kept within the month (XPath F&O §10.7).
func (v Value) addMonths(n int64) (Value, bool) {
	days := floorDiv(v.i, daySeconds)
	y, m, d := civilFromDays(days)
	if n > math.MaxInt32*12 || n < -math.MaxInt32*12 {
		return Value{}, false
	}
	total := y*12 + int64(m-1) + n
	y = floorDiv(total, 12)
	m = int(total-y*12) + 1
	if y > maxYear || y < -maxYear {
		return Value{}, false
	}
	d = min(d, daysIn(y, m))
	v.i = daysFromCivil(y, m, d)*daySeconds + v.i - days*daySeconds
	return v, true
}
