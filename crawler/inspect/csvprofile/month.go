package csvprofile

import "odarchive/triplestore/xsdval"

// monthName reads a month's name, short or long, in one of several languages, and returns its number and length, 0 if
// there is none.
func monthName(b []byte) (month, width int) {
	w := 0
	for w < len(b) && (b[w]|0x20 >= 'a' && b[w]|0x20 <= 'z' || b[w] >= 0x80) {
		w++
	}
	if w < 3 || w > 12 {
		return 0, 0
	}
	var low [12]byte
	m := monthNumber(string(appendLower(low[:0], b[:w])))
	if m == 0 {
		return 0, 0
	}
	if w < len(b) && b[w] == '.' && w <= 4 {
		w++
	}
	return m, w
}

func monthNumber(s string) int {
	switch s {
	case "jan", "january", "januar", "jän", "jänner", "janvier", "enero", "gennaio", "januari", "janeiro":
		return 1
	case "feb", "february", "februar", "feber", "février", "febrero", "febbraio", "februari", "fevereiro":
		return 2
	case "mar", "march", "mär", "märz", "mrz", "mars", "marzo", "maart", "março":
		return 3
	case "apr", "april", "avril", "abril", "aprile":
		return 4
	case "may", "mai", "mayo", "maggio", "mei", "maio":
		return 5
	case "jun", "june", "juni", "juin", "junio", "giugno", "junho":
		return 6
	case "jul", "july", "juli", "juillet", "julio", "luglio", "julho":
		return 7
	case "aug", "august", "août", "agosto", "augustus":
		return 8
	case "sep", "sept", "september", "septembre", "septiembre", "settembre", "setembro":
		return 9
	case "oct", "october", "okt", "oktober", "octobre", "octubre", "ottobre", "outubro":
		return 10
	case "nov", "november", "novembre", "noviembre", "novembro":
		return 11
	case "dec", "december", "dez", "dezember", "décembre", "diciembre", "dicembre", "dezembro":
		return 12
	}
	return 0
}

// dayMonthName reads "2 Jan 2006", "02-Jan-06" and "2. Januar 2006". The day has been read up to p.
func dayMonthName(b []byte, day, width, p int) (value, bool) {
	if width > 2 || day < 1 || day > 31 {
		return value{}, false
	}
	sep := b[p]
	p++
	if sep == '.' && p < len(b) && b[p] == ' ' {
		p++
		sep = ' '
	}
	m, w := monthName(b[p:])
	if m == 0 {
		return value{}, false
	}
	p += w
	if p >= len(b) || b[p] != sep && b[p] != ' ' && b[p] != ',' {
		return value{}, false
	}
	p++
	if p < len(b) && b[p] == ' ' {
		p++
	}
	y, wy := xsdval.Digits(b, p, 5)
	v := value{kind: kindDate, forms: dateDMonY | dateYear4}
	if sep == '-' {
		v.forms = dateDMonYDsh | dateYear4
	}
	if wy == 2 {
		v.forms = v.forms&^dateYear4 | dateYear2
		y = fullYear(y)
	} else if wy != 4 {
		return value{}, false
	}
	if width == 2 {
		v.forms |= datePadded
	}
	if !isDate(y, m, day) {
		return value{}, false
	}
	v.num = float64(dayNumber(y, m, day))
	v.alt = v.num
	if p += wy; p < len(b) {
		return withClock(b, p, v)
	}
	return v, true
}

// monthFirst reads "Jan 2, 2006" and "January 2 2006".
func monthFirst(b []byte) (value, bool) {
	m, w := monthName(b)
	if m == 0 || w >= len(b) || b[w] != ' ' && b[w] != '-' {
		return value{}, false
	}
	p := w + 1
	if y, wy := xsdval.Digits(b, p, 5); (wy == 4 || wy == 2 && b[w] == '-') && p+wy == len(b) { // Jan 2006, Jan-06
		f := dateMonDY | dateYear4
		if wy == 2 {
			f, y = dateMonDY|dateYear2, fullYear(y)
		}
		if b[w] == '-' {
			f |= dateDash
		}
		x := float64(y*12 + m)
		return value{kind: kindYearMonth, forms: f, num: x, alt: x}, true
	}
	if b[w] != ' ' {
		return value{}, false
	}
	d, wd := xsdval.Digits(b, p, 3)
	if wd == 0 || wd > 2 {
		return value{}, false
	}
	p += wd
	if p < len(b) && b[p] == ',' {
		p++
	}
	if p >= len(b) || b[p] != ' ' {
		return value{}, false
	}
	p++
	y, wy := xsdval.Digits(b, p, 5)
	if wy != 4 || !isDate(y, m, d) {
		return value{}, false
	}
	v := value{kind: kindDate, forms: dateMonDY | dateYear4}
	if wd == 2 {
		v.forms |= datePadded
	}
	v.num = float64(dayNumber(y, m, d))
	v.alt = v.num
	if p += wy; p < len(b) {
		return withClock(b, p, v)
	}
	return v, true
}
