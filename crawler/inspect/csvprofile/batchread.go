package csvprofile

// batch are consecutive values of a run that are written alike.
type batch struct {
	n, decimals    int // number of values, and of those with a fraction
	forms          forms
	minLen, maxLen int
	key            [runLen]uint64
	num            [runLen]float64
}

// add adds one value to the batch.
func (b *batch) add(key uint64, length int, f forms, x float64) {
	b.key[b.n&(runLen-1)], b.num[b.n&(runLen-1)] = key, x
	b.forms &= f
	b.minLen, b.maxLen = min(b.minLen, length), max(b.maxLen, length)
	b.n++
}

// addOther adds a value that has to be read the general way. It returns false if it is of another kind than the last
// one.
func (c *column) addOther(b *batch, cell []byte) bool {
	v := classify(cell)
	f, x := v.forms, v.num
	switch {
	case v.kind == kindDecimal && c.last == kindInteger || v.kind == kindInteger && c.last == kindDecimal:
	case v.kind != c.last || v.kind <= kindNull || v.kind == kindBoolean || x-x != 0:
		return false
	case v.kind == kindText:
		f = allForms
	}
	if v.kind == kindDecimal {
		b.decimals++
	}
	if c.st.alt {
		x = v.alt
	}
	b.add(prefix(cell), runes(cell), f, x)
	return true
}

// read adds values to the batch up to the first of another kind than the last one.
func (c *column) read(b *batch, r run) {
	sep, f := byte('.'), numDotted|numNoZeros
	if c.st.alt {
		sep, f = ',', numCommaed|numNoZeros
	}
	how := c.last
	if how == kindDecimal {
		how = kindInteger
	}
	if how == kindInteger && c.st.forms&unusual != 0 {
		how = kindEmpty
	}
	for i := 0; i < len(r.cells) && b.n < runLen; i += r.stride {
		cell := r.cells[i]
		if cap(cell) >= room {
			done := false
			switch how {
			case kindInteger:
				done = b.number(cell, sep, f)
			case kindDate:
				done = b.date(cell)
			case kindDateTime:
				done = b.dateTime(cell)
			case kindText:
				done = b.text(cell)
			}
			if done {
				continue
			}
		}
		if !c.addOther(b, cell) {
			return
		}
	}
}

// unusual are forms of numbers that only the general way finds.
const unusual = boolDigits | numYear | dateNoSep

// number adds digits with an optional leading minus and an optional point, or comma.
func (b *batch) number(cell []byte, sep byte, f forms) bool {
	if len(cell) > 16 {
		return false
	}
	digits := cell
	if cell[0] == '-' {
		digits = cell[1:]
	}
	k := key(digits)
	whole := firstByte(k, sep)
	x := 0.0
	if whole == 8 {
		n, ok := digitsOf(k, len(digits))
		if !ok || len(digits) > 8 || len(digits) == 0 {
			return false
		}
		whole, x, f = len(digits), float64(n), numStyles|numNoZeros
	} else {
		fraction := len(digits) - whole - 1
		if whole == 0 || fraction < 1 || fraction > 8 {
			return false
		}
		var n uint64
		ok1, ok2 := true, true
		if len(digits) <= 9 { // without the point they fit into a word
			front := ^uint64(0) << (64 - 8*whole)
			n, ok1 = digitsOf(k&front|(k<<8|uint64(digits[:9][8]))&^front, whole+fraction)
		} else {
			var m uint64
			n, ok1 = digitsOf(k, whole)
			m, ok2 = digitsOf(key(digits[whole+1:]), fraction)
			n = n*tens[fraction] + m
		}
		if !ok1 || !ok2 {
			return false
		}
		if fraction == 3 && whole <= 3 && digits[0] != '0' { // may be a thousand
			if sep == ',' {
				return false
			}
			f |= numGroupDot
		}
		x = float64(n) / powers[fraction]
		b.decimals++
	}
	if digits[0] == '0' && whole > 1 {
		f &^= numNoZeros
	}
	if len(digits) < len(cell) {
		x = -x
		k = key(cell)
	}
	b.add(k, len(cell), f, x)
	return true
}

// date adds a date in XSD's form.
func (b *batch) date(cell []byte) bool {
	if len(cell) != 10 {
		return false
	}
	days, ok := isoDay(cell)
	if ok {
		b.add(key(cell), 10, isoForms, days)
	}
	return ok
}

const isoForms = dateYear4 | dateDash | dateYMD | datePadded

// isoDay reads the date in the first ten bytes as days since 1970.
func isoDay(b []byte) (days float64, ok bool) {
	if b[4] != '-' || b[7] != '-' {
		return 0, false
	}
	k := key(b)
	n, ok := digitsOf(k&0xFFFFFFFF00000000|k<<8&0xFFFF0000|uint64(b[8])<<8|uint64(b[9]), 8)
	y, m, d := int(n/10000), int(n/100%100), int(n%100)
	if !ok || !isDate(y, m, d) {
		return 0, false
	}
	return float64(dayNumber(y, m, d)), true
}

// dateTime adds a date and time in XSD's form, in UTC or without a zone, without fractions of a second.
func (b *batch) dateTime(cell []byte) bool {
	f := isoForms | timeT | timeHMS | timePadded | timeNoZone
	switch {
	case len(cell) == 20 && cell[19] == 'Z':
		f ^= timeNoZone | timeZone
	case len(cell) != 19:
		return false
	}
	switch cell[10] {
	case 'T':
	case ' ':
		f ^= timeT | timeSpace
	default:
		return false
	}
	k := key(cell[11:])
	n, ok := digitsOf(k&0xFFFF000000000000|k<<8&0xFFFF00000000|k<<16&0xFFFF0000, 6)
	h, m, s := n/10000, n/100%100, n%100
	if !ok || cell[13] != ':' || cell[16] != ':' || h > 23 || m > 59 || s > 60 {
		return false
	}
	days, ok := isoDay(cell)
	if ok {
		b.add(key(cell), len(cell), f, days*86400+float64(h*3600+m*60+s))
	}
	return ok
}

// text adds a text that does not begin like any word that may be something else.
func (b *batch) text(cell []byte) bool {
	k := key(cell)
	if !plainText(k) {
		return false
	}
	length := len(cell)
	if length > 8 || k&highs != 0 {
		length = runes(cell)
	}
	b.add(k, length, allForms, 0)
	return true
}
