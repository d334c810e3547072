package xsdval

import "strings"

// Digits reads decimal digits from s[p:], at most limit, and returns their value and number.
func Digits[T ~string | ~[]byte](s T, p, limit int) (n, width int) {
	for width < limit && p+width < len(s) && s[p+width]-'0' <= 9 {
		n = n*10 + int(s[p+width]-'0')
		width++
	}
	return n, width
}

// scanner reads the fields of the temporal lexical forms from the start of s. ok becomes false at the first field that
// is malformed or out of range.
type scanner struct {
	s  string
	ok bool
}

// digits reads exactly n digits.
func (p *scanner) digits(n int) int {
	v, width := Digits(p.s, 0, n)
	if width < n {
		p.ok = false
		return 0
	}
	p.s = p.s[n:]
	return v
}

func (p *scanner) literal(text string) {
	var found bool
	if p.s, found = strings.CutPrefix(p.s, text); !found {
		p.ok = false
	}
}

// year reads a year of four to nine digits.
func (p *scanner) year() int64 {
	rest, negative := strings.CutPrefix(p.s, "-")
	y, width := Digits(rest, 0, 10)
	if width < 4 || width > 9 || width > 4 && rest[0] == '0' {
		p.ok = false
		return 0
	}
	p.s = rest[width:]
	if negative {
		y = -y
	}
	return int64(y)
}

func (p *scanner) month() int { return p.between(1, 12) }

// day reads a day of a month that has limit days.
func (p *scanner) day(limit int) int { return p.between(1, limit) }

// between reads two digits whose value is from low to high.
func (p *scanner) between(low, high int) int {
	n := p.digits(2)
	if n < low || n > high {
		p.ok = false
		return low
	}
	return n
}

// clock reads hh:mm:ss(.f+). If lenient, seconds may be missing, as in "2020-05-10T00:00Z" of the queries that the
// original archive published. Digits beyond nanoseconds are dropped.
func (p *scanner) clock(lenient bool) (sec int64, nanos int32) {
	h := p.digits(2)
	p.literal(":")
	m := p.digits(2)
	var s int
	if !(lenient && (p.s == "" || p.s[0] != ':')) {
		p.literal(":")
		s = p.digits(2)
		if strings.HasPrefix(p.s, ".") {
			var width int
			if nanos, width = fractionNanos(p.s[1:]); width == 0 {
				p.ok = false
			}
			p.s = p.s[1+width:]
		}
	}
	if h > 24 || m > 59 || s > 59 || h == 24 && (m > 0 || s > 0 || nanos > 0) {
		p.ok = false
	}
	return int64(h)*3600 + int64(m)*60 + int64(s), nanos
}

// fractionNanos reads the digits of a fraction of a second from the start of s and returns the nanoseconds and the
// number of digits.
func fractionNanos(s string) (nanos int32, width int) {
	n, used := Digits(s, 0, 9)
	for width = used; width < len(s) && s[width]-'0' <= 9; width++ {
	}
	for ; used < 9; used++ {
		n *= 10
	}
	return int32(n), width
}

// zone reads an optional time zone, in minutes.
func (p *scanner) zone() int16 {
	if p.s == "" {
		return noTZ
	}
	sign, rest := p.s[0], p.s[1:]
	p.s = rest
	if sign == 'Z' {
		return 0
	}
	h := p.digits(2)
	p.literal(":")
	m := p.digits(2)
	if sign != '+' && sign != '-' || m > 59 || h*60+m > maxTZ {
		p.ok = false
	}
	if sign == '-' {
		return -int16(h*60 + m)
	}
	return int16(h*60 + m)
}
