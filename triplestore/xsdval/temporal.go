package xsdval

import (
	"cmp"
	"math"
	"strconv"
	"strings"
)

const (
	daySeconds = 86400
	maxYear    = 999999999 // every instant is well inside an int64 of seconds
	maxTZ      = 14 * 60
	nanosPer   = 1_000_000_000
)

// referenceYear is a leap year, used for the missing year of gMonth, gDay and gMonthDay, and the date of a time.
const referenceYear = 1972

// parseTemporal parses the lexical forms of XSD 1.1 Part 2 §3.3.7-3.3.14.
func parseTemporal(k Kind, s string) (Value, bool) {
	p := &scanner{s: s, ok: true}
	y, m, d := int64(referenceYear), 1, 1
	var sec int64
	var nanos int32
	switch k {
	case DateTime, Date:
		y = p.year()
		p.literal("-")
		m = p.month()
		p.literal("-")
		d = p.day(daysIn(y, m))
		if k == DateTime {
			p.literal("T")
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
		p.literal("-")
		m = p.month()
	case GMonth:
		p.literal("--")
		m = p.month()
	case GMonthDay:
		p.literal("--")
		m = p.month()
		p.literal("-")
		d = p.day(daysIn(referenceYear, m))
	case GDay:
		p.literal("---")
		d = p.day(31)
	}
	tz := p.zone()
	if !p.ok || p.s != "" {
		return Value{}, false
	}
	return Value{Kind: k, i: Days(y, m, d)*daySeconds + sec, nanos: nanos, tz: tz}, true
}

// compareTemporal orders two values of one temporal kind. If only one has a time zone, the order is known only if it is
// the same for every zone (XSD 1.1 Part 2 §D.2.1); otherwise ok is false.
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

// utc returns the value's seconds in UTC.
func (v Value) utc() int64 { return v.i - int64(v.tz)*60 }

// cmpInstant compares instants in seconds and nanoseconds.
func cmpInstant(as int64, an int32, bs int64, bn int32) int {
	return cmp.Or(cmp.Compare(as, bs), cmp.Compare(an, bn))
}

// UnixMilli returns the instant of a dateTime in milliseconds since 1970. Without a zone it is taken as UTC.
func (v Value) UnixMilli() int64 {
	s := v.i
	if v.tz != noTZ {
		s = v.utc()
	}
	return (s-unixEpoch)*1000 + int64(v.nanos)/1e6
}

var unixEpoch = Days(1970, 1, 1) * daySeconds

// NewDateTime returns an xsd:dateTime in UTC from seconds and nanoseconds since 1970.
func NewDateTime(sec int64, nanos int32) Value {
	return Value{Kind: DateTime, i: sec + unixEpoch, nanos: nanos}
}

// FromClock returns a temporal value from local seconds since 0001-01-01T00:00:00, with a zone in minutes if zoned.
func FromClock(k Kind, sec int64, nanos int32, zone int, zoned bool) Value {
	v := Value{Kind: k, i: sec, nanos: nanos, tz: noTZ}
	if zoned {
		v.tz = int16(zone)
	}
	return v
}

// Parts are the fields of a temporal value in its own zone. Second is a decimal.
type Parts struct {
	Year                     int64
	Month, Day, Hour, Minute int
	Second                   Value
	Zone                     int // in minutes, if HasZone
	HasZone                  bool
}

// Parts returns the fields of a temporal value.
func (v Value) Parts() Parts {
	days := floorDiv(v.i, daySeconds)
	sec := v.i - days*daySeconds
	var p Parts
	p.Year, p.Month, p.Day = Civil(days)
	p.Hour, p.Minute = int(sec/3600), int(sec/60%60)
	p.Second = decimal64(sec%60*nanosPer+int64(v.nanos), 9)
	if v.tz != noTZ {
		p.Zone, p.HasZone = int(v.tz), true
	}
	return p
}

// Timezone returns the zone as a dayTimeDuration (§17.4.5.8). ok is false if there is none.
func (v Value) Timezone() (Value, bool) {
	if !v.Kind.IsTemporal() || v.tz == noTZ {
		return Value{}, false
	}
	return Value{Kind: DayTimeDuration, i: int64(v.tz) * 60}, true
}

// Adjust is fn:adjust-dateTime-to-timezone and its siblings for dates and times. zone is a dayTimeDuration of whole
// minutes. A value with a zone keeps its instant, and one without gets the zone. The zero Value as zone removes the
// zone.
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

// normal removes what the kind does not have: the time of a date, the day of a time.
func (v Value) normal() Value {
	switch v.Kind {
	case Date:
		v.i, v.nanos = floorDiv(v.i, daySeconds)*daySeconds, 0
	case Time:
		v.i = Days(referenceYear, 12, 31)*daySeconds + v.i - floorDiv(v.i, daySeconds)*daySeconds
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
		two(":", int((v.i%60+60)%60))
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

// addMonths adds months to a dateTime or date. The day is limited to the month's last (XPath F&O §10.7).
func (v Value) addMonths(n int64) (Value, bool) {
	days := floorDiv(v.i, daySeconds)
	y, m, d := Civil(days)
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
	v.i = Days(y, m, d)*daySeconds + v.i - days*daySeconds
	return v, true
}
