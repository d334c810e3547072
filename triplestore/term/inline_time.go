package term

import (
	"time"
)

// Time returns the moment of an inline xsd:dateTime, or the first moment of an xsd:date or xsd:gYear, in the time zone
// of the literal. If the literal has no zone, zoned is false and the time is in UTC.
func (id ID) Time() (t time.Time, zoned, ok bool) {
	p := id.Payload()
	switch id.Tag() {
	case TagDateTime:
		t = time.UnixMilli(int64(p>>(zoneBits+2)) + yearOneMs)
	case TagDate, TagGYear:
		t = time.UnixMilli(int64(p>>zoneBits)*60_000 + yearOneMs)
	default:
		return time.Time{}, false, false
	}
	switch zone := int(p & zoneMask); zone {
	case 0:
		return t.UTC(), false, true
	case 1:
		return t.UTC(), true, true
	default:
		return t.In(time.FixedZone("", (zone-zoneBias)*60)), true, true
	}
}

func inlineDateTime(lex string) (ID, bool) {
	// YYYY-MM-DDThh:mm:ss
	if len(lex) < 19 || lex[10] != 'T' || lex[13] != ':' || lex[16] != ':' {
		return 0, false
	}
	days, ok := parseDay(lex[:10])
	h, m, s := twoDigits(lex[11:]), twoDigits(lex[14:]), twoDigits(lex[17:])
	if !ok || h > 23 || m > 59 || s > 59 {
		return 0, false
	}
	ms := days*86_400_000 + int64(h*3600+m*60+s)*1000
	rest := lex[19:]
	digits := 0
	if rest != "" && rest[0] == '.' {
		unit := int64(100)
		rest = rest[1:]
		for rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			ms += int64(rest[0]-'0') * unit
			unit /= 10
			digits++
			rest = rest[1:]
		}
		if digits == 0 || digits > 3 {
			return 0, false
		}
	}
	zone, east, ok := parseZone(rest)
	ms -= int64(east) * 60_000
	if !ok || ms < 0 || ms >= maxDateMs {
		return 0, false
	}
	return Make(TagDateTime, uint64(ms)<<(zoneBits+2)|uint64(digits)<<zoneBits|zone), true
}

func (id ID) appendDateTime(b []byte) ([]byte, bool) {
	zone := int(id & zoneMask)
	ms := int64(id.Payload()>>(zoneBits+2)) + int64(eastOf(zone))*60_000
	b, ok := appendDate(b, ms/86_400_000, true)
	if ms %= 86_400_000; !ok || ms < 0 {
		return b, false
	}
	s := ms / 1000
	b = appendTwo(append(b, 'T'), s/3600)
	b = appendTwo(append(b, ':'), s/60%60)
	b = appendTwo(append(b, ':'), s%60)
	if digits := id >> zoneBits & 3; digits > 0 {
		f := ms % 1000
		b = append(b, '.', '0'+byte(f/100), '0'+byte(f/10%10), '0'+byte(f%10))
		b = b[:len(b)-3+int(digits)]
	}
	return appendZone(b, zone)
}

// inlineDay parses a date "YYYY-MM-DD" or a year "YYYY", each with an optional zone.
func inlineDay(lex string, tag Tag) (ID, bool) {
	n := 10
	if tag == TagGYear {
		n = 4
	}
	if len(lex) < n {
		return 0, false
	}
	day := lex[:n]
	if tag == TagGYear {
		day += "-01-01"
	}
	days, ok := parseDay(day)
	zone, east, zok := parseZone(lex[n:])
	minutes := days*1440 - int64(east)
	if !ok || !zok || minutes < 0 {
		return 0, false
	}
	return Make(tag, uint64(minutes)<<zoneBits|zone), true
}

func (id ID) appendDay(b []byte) ([]byte, bool) {
	zone := int(id & zoneMask)
	minutes := int64(id.Payload()>>zoneBits) + int64(eastOf(zone))
	b, ok := appendDate(b, minutes/1440, id.Tag() == TagDate)
	if !ok || minutes < 0 {
		return b, false
	}
	return appendZone(b, zone)
}

// appendDate appends the day that is days after 0001-01-01, as YYYY-MM-DD if whole is set and as YYYY if not. ok is
// false for years beyond 9999.
func appendDate(b []byte, days int64, whole bool) ([]byte, bool) {
	if days < 0 || days > 3_652_058 { // 9999-12-31
		return b, false
	}
	year, month, day := time.Unix(days*86_400+yearOneMs/1000, 0).UTC().Date()
	b = appendTwo(appendTwo(b, int64(year/100)), int64(year%100))
	if whole {
		b = appendTwo(append(appendTwo(append(b, '-'), int64(month)), '-'), int64(day))
	}
	return b, true
}

func appendTwo(b []byte, n int64) []byte { return append(b, '0'+byte(n/10), '0'+byte(n%10)) }

// parseDay returns the number of days from 0001-01-01 to a valid "YYYY-MM-DD".
func parseDay(s string) (days int64, ok bool) {
	if s[4] != '-' || s[7] != '-' {
		return 0, false
	}
	y1, y2, mo, d := twoDigits(s), twoDigits(s[2:]), twoDigits(s[5:]), twoDigits(s[8:])
	if y1 > 99 || y2 > 99 || mo < 1 || mo > 12 || d < 1 {
		return 0, false
	}
	y := y1*100 + y2
	t := time.Date(y, time.Month(mo), d, 0, 0, 0, 0, time.UTC)
	if y < 1 || t.Day() != d { // a month has no such day
		return 0, false
	}
	return (t.Unix() - yearOneMs/1000) / 86_400, true
}

// twoDigits parses two digits. The result is 100 or more if they are not digits.
func twoDigits(s string) int {
	a, b := s[0]-'0', s[1]-'0'
	if a > 9 || b > 9 {
		return 1000
	}
	return int(a)*10 + int(b)
}

func parseZone(s string) (zone uint64, east int, ok bool) {
	switch {
	case s == "":
		return 0, 0, true
	case s == "Z":
		return 1, 0, true
	case len(s) != 6 || s[3] != ':' || s[0] != '+' && s[0] != '-':
		return 0, 0, false
	}
	h, m := twoDigits(s[1:]), twoDigits(s[4:])
	east = h*60 + m
	if h > 14 || m > 59 || east > 840 || s == "-00:00" {
		return 0, 0, false
	}
	if s[0] == '-' {
		east = -east
	}
	return uint64(east + zoneBias), east, true
}

// eastOf returns the offset of an inline zone in minutes east of UTC.
func eastOf(zone int) int {
	if zone < 2 {
		return 0
	}
	return zone - zoneBias
}

func appendZone(b []byte, zone int) ([]byte, bool) {
	switch {
	case zone == 0:
		return b, true
	case zone == 1:
		return append(b, 'Z'), true
	case zone < zoneBias-840 || zone > zoneBias+840:
		return b, false
	}
	east, sign := zone-zoneBias, byte('+')
	if east < 0 {
		east, sign = -east, '-'
	}
	return append(b, sign, '0'+byte(east/600), '0'+byte(east/60%10), ':', '0'+byte(east%60/10), '0'+byte(east%10)), true
}
