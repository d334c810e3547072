package csvprofile

import "strconv"

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
