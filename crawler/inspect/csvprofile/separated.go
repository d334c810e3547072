package csvprofile

import (
	"strconv"
	"unsafe"
)

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

// float reads digits with an optional sign, of which the last fraction are decimals. Up to 15 digits the result is
// exact (Clinger, 1990); more digits, or an exponent, need strconv.
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
