package csvprofile

import (
	"strconv"
	"unsafe"
)

// number reads integers, decimals with point or comma, grouped thousands, exponents and percentages.
func number(b []byte) (value, bool) {
	// The most frequent case first: only digits.
	p, neg := 0, false
	switch {
	case b[0] == '-':
		neg, p = true, 1
	case b[0] == '+':
		p = 1
	case len(b) > 3 && b[0] == 0xE2 && b[1] == 0x88 && b[2] == 0x92: // U+2212 minus
		neg, p = true, 3
	}
	start := p
	n, short := uint64(0), false
	if len(b)-p <= 8 {
		n, short = digits8(b[p:])
	}
	if short {
		p = len(b)
	}
	for p < len(b) && b[p]-'0' <= 9 {
		n = n*10 + uint64(b[p]-'0')
		p++
	}
	digits := p - start
	if p == len(b) {
		if digits == 0 {
			return value{}, false
		}
		v := value{kind: kindInteger, forms: numStyles}
		if b[start] != '0' || digits == 1 {
			v.forms |= numNoZeros
			if start == 0 {
				switch {
				case digits == 1 && n <= 1:
					v.forms |= boolDigits
				case digits == 4 && n >= 1000 && n <= 2199:
					v.forms |= numYear
				case digits == 8 && n >= 15000101 && n <= 22991231 && isDate(int(n/10000), int(n/100%100), int(n%100)):
					v.forms |= dateYMD | dateNoSep | dateYear4 | datePadded
				}
			}
		}
		if digits > 18 {
			v.num, _ = strconv.ParseFloat(string(b), 64)
			neg = false
		} else {
			v.num = float64(n)
		}
		if neg {
			v.num = -v.num
		}
		v.alt = v.num
		return v, true
	}
	if b[p] == '.' && digits > 0 && len(b) <= 16 {
		if v, ok := pointed(b, start, p, n, neg); ok {
			return v, true
		}
	}
	switch b[p] {
	case '.', ',', '\'', ' ', '%', 'e', 'E', 0xC2, 0xE2:
		return separated(b, start, neg)
	}
	return value{}, false // a date or a code
}

// pointed reads digits with a point among them, the most frequent decimals. n is the value of those before the point.
func pointed(b []byte, start, point int, n uint64, neg bool) (value, bool) {
	fraction := len(b) - point - 1
	if fraction <= 8 {
		f, ok := digits8(b[point+1:])
		if !ok {
			return value{}, false
		}
		n = n*tens[fraction] + f
	} else {
		for _, c := range b[point+1:] {
			if c-'0' > 9 {
				return value{}, false
			}
			n = n*10 + uint64(c-'0')
		}
	}
	v := value{kind: kindDecimal, forms: numDotted}
	if b[start] != '0' || point-start == 1 {
		v.forms |= numNoZeros
	}
	v.num = float64(n) / powers[fraction]
	if neg {
		v.num = -v.num
	}
	v.alt = v.num
	if fraction == 3 && point-start <= 3 && b[start] != '0' {
		v.forms |= numGroupDot
		v.alt = v.num * 1000
	}
	return v, true
}

// tens are powers of ten.
var tens = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}

// digits8 reads a number of at most eight digits.
func digits8(b []byte) (uint64, bool) { return digitsOf(prefix(b), len(b)) }

// digitsOf reads the first n bytes of a word as digits, all at once: it combines them into pairs, fours and eights.
func digitsOf(word uint64, n int) (uint64, bool) {
	unused := uint(64 - 8*n)
	x := word>>unused ^ 0x3030303030303030>>unused
	if (x|(x+0x0606060606060606))&0xF0F0F0F0F0F0F0F0 != 0 {
		return 0, false
	}
	x = x&0x00FF00FF00FF00FF + x>>8&0x00FF00FF00FF00FF*10
	x = x&0x0000FFFF0000FFFF + x>>16&0x0000FFFF0000FFFF*100
	return x&0xFFFFFFFF + x>>32*10000, true
}

// separated reads a number that contains something other than digits. Its digits begin at start, after the sign.
func separated(b []byte, start int, neg bool) (value, bool) {
	var s separators
	v := value{kind: kindDecimal, forms: numStyles | numNoZeros}
	end := len(b)
	if b[end-1] == '%' {
		end = withoutPercent(b, start)
		v.forms |= numPercent
	}
	if neg {
		s.append('-')
	}
	if !s.scan(b, start, end) {
		return v, false
	}
	styles, decimal := s.styles(b[s.first] == '0')
	if styles == 0 {
		return v, false
	}
	switch {
	case s.exponent:
		v.kind = kindDouble
	case !decimal, s.count == 1 && s.last == ',' && styles&numGroupComma != 0: // thousands, unless the column has decimal commas
		v.kind = kindInteger
	}
	v.forms &^= numStyles &^ styles
	if s.intDigits > 1 && b[s.first] == '0' {
		v.forms &^= numNoZeros
	}
	whole, ok := float(s.clean[:s.n], 0, s.exponent)
	v.num, v.alt = whole, whole
	if !decimal {
		return v, ok
	}
	if v.num, ok = s.fraction(); !ok {
		return v, false
	}
	v.alt = v.num
	switch {
	case s.count > 1:
	case s.last == '.': // one separator may also group thousands
		v.alt = whole
	default:
		v.num = whole
	}
	return v, true
}

// withoutPercent returns the end of a number before its percent sign and the blanks in front of that.
func withoutPercent(b []byte, start int) int {
	end := len(b) - 1
	for end > start && b[end-1] == ' ' {
		end--
	}
	if end > start+1 && b[end-1] == 0xA0 && b[end-2] == 0xC2 {
		end -= 2
	}
	return end
}

// separators is a number taken apart: its digits, and what separates them.
type separators struct {
	clean [48]byte // sign, digits, and exponent, without separators
	n     int      // length of clean

	first     int  // offset of the first digit
	intDigits int  // digits before the first separator
	run       int  // digits since the last separator
	exponent  bool // there is one

	count                        int  // separators
	dots, commas, blanks, quotes int  // by kind
	last                         byte // kind of the last separator: '.', ',', '\'' or ' '
	lastAt                       int  // its place in clean
	thousands                    bool // runs of digits between separators have length three
}

func (s *separators) append(c byte) {
	s.clean[s.n] = c
	s.n++
}

// scan reads b[start:end]. ok is false if something in it belongs to no number.
func (s *separators) scan(b []byte, start, end int) (ok bool) {
	s.first, s.thousands = -1, true
	for p := start; p < end; p++ {
		c := b[p]
		if s.n >= len(s.clean)-1 {
			return false
		}
		if c-'0' <= 9 {
			s.append(c)
			s.run++
			if s.first < 0 {
				s.first = p
			}
			if s.count == 0 {
				s.intDigits++
			}
			continue
		}
		if c|0x20 == 'e' {
			return s.scanExponent(b[p:end])
		}
		width := s.separator(b[p:end])
		if width == 0 {
			return false
		}
		p += width - 1
		if s.count > 0 && s.run != 3 {
			s.thousands = false
		}
		s.count++
		s.run = 0
		s.lastAt = s.n
	}
	return s.first >= 0
}

// separator counts the separator at the start of b and returns its length, 0 if there is none.
func (s *separators) separator(b []byte) (width int) {
	s.last, width = b[0], 1
	switch c := b[0]; {
	case c == '.':
		s.dots++
	case c == ',':
		s.commas++
	case c == '\'':
		s.quotes++
	case c == ' ':
		s.blanks++
	case c == 0xC2 && len(b) > 1 && b[1] == 0xA0: // no-break space
		s.blanks++
		s.last, width = ' ', 2
	case c == 0xE2 && len(b) > 2 && b[1] == 0x80 && (b[2] == 0xAF || b[2] == 0x89): // narrow no-break space, thin space
		s.blanks++
		s.last, width = ' ', 3
	case c == 0xE2 && len(b) > 2 && b[1] == 0x80 && b[2] == 0x99: // right single quotation mark
		s.quotes++
		s.last, width = '\'', 3
	default:
		return 0
	}
	return width
}

// scanExponent reads an exponent that is the rest of the number.
func (s *separators) scanExponent(b []byte) (ok bool) {
	if s.first < 0 || len(b) < 2 || s.count > 1 || s.quotes+s.blanks > 0 || s.n+len(b) >= len(s.clean) {
		return false
	}
	digits := b[1:]
	if digits[0] == '-' || digits[0] == '+' {
		digits = digits[1:]
	}
	if len(digits) < 1 || len(digits) > 4 {
		return false
	}
	for _, c := range digits {
		if c-'0' > 9 {
			return false
		}
	}
	s.exponent = true
	s.n += copy(s.clean[s.n:], b)
	return true
}

// styles returns the ways in which the number may be written, none if it is no number, and reports whether the last
// separator may be a decimal one. leadingZero says that the first digit is a zero.
func (s *separators) styles(leadingZero bool) (f forms, decimal bool) {
	groupable := s.intDigits >= 1 && s.intDigits <= 3 && !leadingZero && !s.exponent && s.thousands
	switch {
	case s.count == 0: // an exponent or a percentage
		return numStyles, false
	case s.count == 1 && s.last == '.':
		if f = numDotted; s.run == 3 && groupable {
			f |= numGroupDot
		}
		return f, true
	case s.count == 1 && s.last == ',':
		if f = numCommaed; s.run == 3 && groupable {
			f |= numGroupComma
		}
		return f, true
	case !groupable:
		return 0, false
	case s.run == 3 && s.count == s.dots:
		return numGroupDot, false
	case s.run == 3 && s.count == s.commas:
		return numGroupComma, false
	case s.run == 3 && s.count == s.blanks:
		return numSpaceDot | numSpaceComma, false
	case s.run == 3 && s.count == s.quotes:
		return numApostrophe, false
	case s.dots == 1 && s.last == '.' && s.count == s.commas+1:
		return numGroupComma, true
	case s.dots == 1 && s.last == '.' && s.count == s.blanks+1:
		return numSpaceDot, true
	case s.dots == 1 && s.last == '.' && s.count == s.quotes+1:
		return numApostrophe, true
	case s.commas == 1 && s.last == ',' && s.count == s.dots+1:
		return numGroupDot, true
	case s.commas == 1 && s.last == ',' && s.count == s.blanks+1:
		return numSpaceComma, true
	}
	return 0, false
}

// fraction returns the value of the number if the last separator is the decimal one.
func (s *separators) fraction() (float64, bool) {
	if !s.exponent {
		return float(s.clean[:s.n], s.n-s.lastAt, false)
	}
	copy(s.clean[s.lastAt+1:s.n+1], s.clean[s.lastAt:s.n])
	s.clean[s.lastAt] = '.'
	return float(s.clean[:s.n+1], 0, true)
}

// float reads digits with an optional sign, of which the last fraction are decimals. Up to 15 digits the result is exact
// (Clinger, 1990); more digits, or an exponent, need strconv.
func float(b []byte, fraction int, exponent bool) (float64, bool) {
	if !exponent && len(b) <= 15 && fraction < len(powers) {
		n, i := int64(0), 0
		if b[0] == '-' {
			i = 1
		}
		for _, c := range b[i:] {
			n = n*10 + int64(c-'0')
		}
		x := float64(n) / powers[fraction]
		if i == 1 {
			x = -x
		}
		return x, true
	}
	if fraction > 0 {
		b = append(append(append(make([]byte, 0, 64), b[:len(b)-fraction]...), '.'), b[len(b)-fraction:]...)
	}
	x, err := strconv.ParseFloat(unsafe.String(&b[0], len(b)), 64)
	return x, err == nil || x != 0
}

// powers of ten that a float64 holds exactly.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}
