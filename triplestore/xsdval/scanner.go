package xsdval

import (
	"strconv"
	"strings"
)

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
