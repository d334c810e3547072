package csvprofile

import (
	"strconv"
	"unsafe"
)

// number reads integers, decimals with point or comma, grouped thousands, exponents and percentages.
func number(b []byte) (value, bool) {
	// The commonest case first: a run of digits.
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
	return value{}, false // what no number has: a date, a code
}

// pointed reads the commonest decimals, digits with a point in them, of which those before the point make n.
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

// digitsOf reads the first n bytes of a word as digits, all at once: they are lanes, which are joined to pairs, fours, and
// all.
func digitsOf(word uint64, n int) (uint64, bool) {
	unused := uint(64 - 8*n)
	x := word>>unused ^ 0x3030303030303030>>unused
	if (x|x+0x0606060606060606)&0xF0F0F0F0F0F0F0F0 != 0 {
		return 0, false
	}
	x = x&0x00FF00FF00FF00FF + x>>8&0x00FF00FF00FF00FF*10
	x = x&0x0000FFFF0000FFFF + x>>16&0x0000FFFF0000FFFF*100
	return x&0xFFFFFFFF + x>>32*10000, true
}

// separated reads a number with something other than digits in it; the sign ends at start.
func separated(b []byte, start int, neg bool) (value, bool) {
	v := value{kind: kindDecimal, forms: numStyles | numNoZeros}
	end := len(b)
	if b[end-1] == '%' {
		end--
		for end > start && b[end-1] == ' ' {
			end--
		}
		if end > start+1 && b[end-1] == 0xA0 && b[end-2] == 0xC2 {
			end -= 2
		}
		v.forms |= numPercent
	}
	var clean [48]byte // digits with a point
	w := 0
	if neg {
		clean[w] = '-'
		w++
	}
	var dots, commas, groups, apos int
	lastSep, lastByte := -1, byte(0)
	intDigits, run := 0, 0 // digits before the first separator, digits since the last one
	first := -1
	exponent := false
	groupOK := true // every run between separators has three digits
	seps := 0
	for p := start; p < end; p++ {
		c := b[p]
		if w >= len(clean)-1 {
			return v, false
		}
		switch {
		case c-'0' <= 9:
			clean[w] = c
			w++
			run++
			if first < 0 {
				first = p
			}
			if seps == 0 {
				intDigits++
			}
			continue
		case c == '.':
			dots++
		case c == ',':
			commas++
		case c == '\'':
			apos++
		case c == ' ':
			groups++
		case c == 0xC2 && p+1 < end && b[p+1] == 0xA0:
			groups++
			p++
		case c == 0xE2 && p+2 < end && b[p+1] == 0x80 && (b[p+2] == 0xAF || b[p+2] == 0x89):
			groups++
			p += 2
		case c == 0xE2 && p+2 < end && b[p+1] == 0x80 && b[p+2] == 0x99:
			apos++
			p += 2
		case (c == 'e' || c == 'E') && first >= 0 && p+1 < end && seps <= 1 && apos+groups == 0:
			q := p + 1
			if b[q] == '-' || b[q] == '+' {
				q++
			}
			if q >= end || end-q > 4 {
				return v, false
			}
			for i := q; i < end; i++ {
				if b[i]-'0' > 9 {
					return v, false
				}
			}
			exponent = true
			if w+end-p >= len(clean) {
				return v, false
			}
			w += copy(clean[w:], b[p:end])
			p = end
			continue
		default:
			return v, false
		}
		if seps > 0 && run != 3 {
			groupOK = false
		}
		seps++
		run = 0
		lastSep, lastByte = w, c
		if c >= 0x80 {
			lastByte = ' '
		}
	}
	if first < 0 {
		return v, false
	}
	if exponent {
		v.kind = kindDouble
	}
	// Which styles remain?
	ok := forms(0)
	decimalAt := lastSep
	switch {
	case seps == 0: // an exponent or a percentage
		ok = numStyles
		decimalAt = -1
		if !exponent {
			v.kind = kindInteger
		}
	case seps == 1 && lastByte == '.':
		ok = numDotted
		if run == 3 && intDigits >= 1 && intDigits <= 3 && b[first] != '0' && !exponent {
			ok |= numGroupDot
		}
	case seps == 1 && lastByte == ',':
		ok = numCommaed
		if run == 3 && intDigits >= 1 && intDigits <= 3 && b[first] != '0' && !exponent {
			ok |= numGroupComma
			v.kind = kindInteger // thousands, unless other cells of the column show a decimal comma
		}
	case exponent || intDigits == 0 || intDigits > 3 || b[first] == '0':
		return v, false
	case seps == dots && groupOK && run == 3:
		ok, decimalAt, v.kind = numGroupDot, -1, kindInteger
	case seps == commas && groupOK && run == 3:
		ok, decimalAt, v.kind = numGroupComma, -1, kindInteger
	case seps == groups && groupOK && run == 3:
		ok, decimalAt, v.kind = numSpaceDot|numSpaceComma, -1, kindInteger
	case seps == apos && groupOK && run == 3:
		ok, decimalAt, v.kind = numApostrophe, -1, kindInteger
	case dots == 1 && lastByte == '.' && groupOK && seps == commas+1:
		ok = numGroupComma
	case dots == 1 && lastByte == '.' && groupOK && seps == groups+1:
		ok = numSpaceDot
	case dots == 1 && lastByte == '.' && groupOK && seps == apos+1:
		ok = numApostrophe
	case commas == 1 && lastByte == ',' && groupOK && seps == dots+1:
		ok = numGroupDot
	case commas == 1 && lastByte == ',' && groupOK && seps == groups+1:
		ok = numSpaceComma
	default:
		return v, false
	}
	v.forms &^= numStyles &^ ok
	if intDigits > 1 && b[first] == '0' {
		v.forms &^= numNoZeros
	}
	whole, ok1 := float(clean[:w], 0, exponent)
	if decimalAt < 0 {
		v.num, v.alt = whole, whole
		return v, ok1
	}
	part, ok2 := whole, ok1
	if exponent {
		copy(clean[decimalAt+1:w+1], clean[decimalAt:w])
		clean[decimalAt] = '.'
		part, ok2 = float(clean[:w+1], 0, true)
	} else {
		part, ok2 = float(clean[:w], w-decimalAt, false)
	}
	if !ok2 {
		return v, false
	}
	v.num, v.alt = part, part
	if seps == 1 { // one separator may also group thousands
		if lastByte == '.' {
			v.alt = whole
		} else {
			v.num = whole
		}
	}
	return v, true
}

// float reads digits with an optional sign, the last fraction of which stand behind the point. Up to 15 digits the
// result is exact (Clinger, 1990); more digits, or an exponent, go the long way.
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
