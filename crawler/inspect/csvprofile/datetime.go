package csvprofile

import (
	"bytes"

	"odarchive/triplestore/xsdval"
)

// isDate reports whether a day exists in the Gregorian calendar.
func isDate(y, m, d int) bool { return xsdval.IsDate(int64(y), m, d) }

// unixDay is 1970-01-01.
var unixDay = xsdval.Days(1970, 1, 1)

// dayNumber returns the number of days from 1970-01-01 to a date.
func dayNumber(y, m, d int) int { return int(xsdval.Days(int64(y), m, d) - unixDay) }

// dateOrTime reads a cell that begins with a digit as a date, a time, or both.
func dateOrTime(b []byte) (value, bool) {
	a, wa := xsdval.Digits(b, 0, 5)
	if wa == 0 || wa > 4 || wa >= len(b) {
		if wa == 5 { // 20060102T150405
			return compact(b)
		}
		return value{}, false
	}
	p := wa
	sep := b[p]
	if sep == ':' {
		v, ok := clock(b, 0)
		if v.forms&timeZone != 0 && v.forms&timeHM != 0 && bytes.IndexByte(b, '-') > 0 {
			return value{}, false // 9:00-12:30 is a span of time rather than a time in a zone
		}
		return v, ok
	}
	var v value
	v.forms = dateYear4
	switch sep {
	case '-':
		v.forms |= dateDash
	case '/':
		v.forms |= dateSlash
	case '.':
		v.forms |= dateDot
	case ' ':
	default:
		return value{}, false
	}
	if p+1 < len(b) && (b[p+1]|0x20 >= 'a' && b[p+1]|0x20 <= 'z' || b[p+1] == ' ' && sep == '.' || b[p+1] >= 0x80) {
		return dayMonthName(b, a, wa, p)
	}
	if sep == ' ' {
		return value{}, false
	}
	m, wm := xsdval.Digits(b, p+1, 3)
	if wm == 0 || wm > 2 {
		return value{}, false
	}
	p += 1 + wm
	if wa == 4 && p == len(b) { // 2006-01
		if sep != '.' && wm == 2 && m >= 1 && m <= 12 && a >= 1000 {
			x := float64(a*12 + m)
			return value{kind: kindYearMonth, forms: v.forms | dateYMD, num: x, alt: x}, true
		}
		return value{}, false
	}
	if p >= len(b) || b[p] != sep {
		return value{}, false
	}
	d, wd := xsdval.Digits(b, p+1, 5)
	p += 1 + wd
	switch {
	case wa == 4 && wd >= 1 && wd <= 2:
		if !isDate(a, m, d) {
			return value{}, false
		}
		v.forms |= dateYMD
		if wm == 2 && wd == 2 {
			v.forms |= datePadded
		}
		v.num = float64(dayNumber(a, m, d))
		v.alt = v.num
	case wa <= 2 && (wd == 4 || wd == 2):
		y := d
		if wd == 2 {
			v.forms = v.forms&^dateYear4 | dateYear2
			y = fullYear(d)
		}
		if wa == 2 && wm == 2 {
			v.forms |= datePadded
		}
		dmy, mdy := isDate(y, m, a), isDate(y, a, m)
		if wd == 2 && wa == 2 && wm == 2 && !dmy && !mdy && isDate(fullYear(a), m, d) {
			v.forms |= dateYMD
			v.num = float64(dayNumber(fullYear(a), m, d))
			v.alt = v.num
			break
		}
		if !dmy && !mdy {
			return value{}, false
		}
		if dmy {
			v.forms |= dateDMY
			v.num = float64(dayNumber(y, m, a))
			v.alt = v.num
		}
		if mdy {
			v.forms |= dateMDY
			v.alt = float64(dayNumber(y, a, m))
			if !dmy {
				v.num = v.alt
			}
		}
	default:
		return value{}, false
	}
	v.kind = kindDate
	if p == len(b) {
		return v, true
	}
	return withClock(b, p, v)
}

// fullYear returns the year that two digits stand for.
func fullYear(y int) int {
	if y < 50 {
		return 2000 + y
	}
	return 1900 + y
}

// compact reads 20060102T150405 and 20060102 150405.
func compact(b []byte) (value, bool) {
	if len(b) < 13 || b[8] != 'T' && b[8] != ' ' {
		return value{}, false
	}
	n, w := xsdval.Digits(b, 0, 8)
	if w != 8 || !isDate(n/10000, n/100%100, n%100) {
		return value{}, false
	}
	h, wh := xsdval.Digits(b, 9, 6)
	rest := b[9+wh:]
	if wh == 4 {
		h *= 100
	}
	if wh != 6 && wh != 4 || h/10000 > 23 || h/100%100 > 59 || h%100 > 60 || len(rest) > 0 && string(rest) != "Z" {
		return value{}, false
	}
	f := dateYMD | dateNoSep | dateYear4 | datePadded | timeHMS | timePadded | timeCompact | timeNoZone
	if b[8] == 'T' {
		f |= timeT
	} else {
		f |= timeSpace
	}
	if len(rest) > 0 {
		f ^= timeNoZone | timeZone
	}
	if wh == 4 {
		f = f&^timeHMS | timeHM
	}
	s := float64(dayNumber(n/10000, n/100%100, n%100))*86400 + float64(h/10000*3600+h/100%100*60+h%100)
	return value{kind: kindDateTime, forms: f, num: s, alt: s}, true
}

// withClock reads the time after the date v, which ends at p.
func withClock(b []byte, p int, v value) (value, bool) {
	switch b[p] {
	case 'T':
		v.forms |= timeT
	case ' ':
		v.forms |= timeSpace
		if p+1 < len(b) && b[p+1] == ' ' {
			p++
		}
	default:
		return value{}, false
	}
	t, ok := clock(b, p+1)
	if !ok {
		return value{}, false
	}
	v.kind = kindDateTime
	v.forms |= t.forms
	v.num = v.num*86400 + t.num
	v.alt = v.alt*86400 + t.num
	return v, true
}

// clock reads b[p:]: hh:mm or hh:mm:ss, with fractions, AM or PM, and a zone.
func clock(b []byte, p int) (value, bool) {
	h, wh := xsdval.Digits(b, p, 3)
	if wh == 0 || wh > 2 || h > 24 || p+wh >= len(b) || b[p+wh] != ':' {
		return value{}, false
	}
	p += wh + 1
	m, wm := xsdval.Digits(b, p, 3)
	if wm != 2 || m > 59 {
		return value{}, false
	}
	p += 2
	v := value{kind: kindTime, forms: timeHM}
	padded := forms(0)
	if wh == 2 {
		padded = timePadded
	}
	s := 0
	if p < len(b) && b[p] == ':' {
		var ws int
		s, ws = xsdval.Digits(b, p+1, 3)
		if ws != 2 || s > 60 {
			return value{}, false
		}
		p += 3
		v.forms = timeHMS
		if p < len(b) && (b[p] == '.' || b[p] == ',') {
			_, wf := xsdval.Digits(b, p+1, 12)
			if wf == 0 {
				return value{}, false
			}
			p += 1 + wf
			v.forms |= timeFraction
		}
	}
	if h == 24 && (m > 0 || s > 0) {
		return value{}, false
	}
	if rest := b[p:]; len(rest) >= 2 && len(rest) <= 5 {
		switch string(rest) {
		case " AM", "AM", " am", "am", " a.m.":
			v.forms |= time12
			h %= 12
			p = len(b)
		case " PM", "PM", " pm", "pm", " p.m.":
			v.forms |= time12
			h = h%12 + 12
			p = len(b)
		}
	}
	v.forms |= padded
	v.num = float64(h*3600 + m*60 + s)
	if p == len(b) {
		v.forms |= timeNoZone
		return v, true
	}
	off, ok := zone(b[p:])
	if !ok {
		return value{}, false
	}
	v.num -= off
	v.forms |= timeZone
	if z := b[p:]; !(len(z) == 1 && z[0] == 'Z' || len(z) == 6 && z[3] == ':') {
		v.forms |= timeZoneWord
	}
	return v, true
}

// zone returns Z, UTC, +hh:mm, +hhmm or +hh as seconds east of Greenwich.
func zone(b []byte) (float64, bool) {
	if len(b) > 1 && b[0] == ' ' {
		b = b[1:]
	}
	switch string(b) {
	case "Z", "z", "UTC", "GMT":
		return 0, true
	}
	if len(b) < 3 || b[0] != '+' && b[0] != '-' {
		return 0, false
	}
	h, wh := xsdval.Digits(b, 1, 2)
	rest := b[1+wh:]
	m := 0
	if len(rest) > 0 && rest[0] == ':' {
		rest = rest[1:]
	}
	if len(rest) > 0 {
		var wm int
		m, wm = xsdval.Digits(rest, 0, 3)
		if wm != 2 || len(rest) != 2 {
			return 0, false
		}
	}
	if wh != 2 || h > 14 || m > 59 {
		return 0, false
	}
	s := float64(h*3600 + m*60)
	if b[0] == '-' {
		s = -s
	}
	return s, true
}
